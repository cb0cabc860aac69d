"""Structured inputs, options and checks where a first attempt goes astray."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import InputTypeError, OptionError, ShapeError
from derivative_covers.extend import elemental


class Pair(NamedTuple):
    a: Any
    b: Any


class Swapped(NamedTuple):
    b: Any
    a: Any


def cubes(x: Any) -> Any:
    return np.sum(x**3)


# -- structure -----------------------------------------------------------------------------


def test_fields_of_another_order_are_not_taken_by_position() -> None:
    f = lambda p: p.a**2 * p.b  # noqa: E731
    x0 = Pair(1.0, 2.0)
    expected = dc.hvp(f, x0, Pair(1.0, 0.0))
    assert (float(expected.a), float(expected.b)) == (4.0, 2.0)
    assert dc.hvp(f, x0, (1.0, 0.0)) == expected  # a plain tuple goes by position
    with pytest.raises(ShapeError, match=r"v has the fields \('b', 'a'\).*'a', 'b'"):
        dc.hvp(f, x0, Swapped(0.0, 1.0))


@pytest.mark.parametrize("bad", ["text", None, 1j, {"c": 1.0}, [[1.0], [1.0, 2.0]]])
def test_numbers_of_a_wrong_type_are_named(bad: Any) -> None:
    kinds = (InputTypeError, ShapeError)
    with pytest.raises(kinds, match=r"^v\['a'\] (holds|is)"):
        dc.hvp(lambda p: p["a"] ** 2, {"a": 1.0}, {"a": bad})
    with pytest.raises(kinds, match=r"^v (holds|is)"):
        dc.hvp(cubes, [1.0, 2.0], bad)
    with pytest.raises(kinds, match=r"^scales\['a'\] (holds|is)"):
        dc.cover_hessian(lambda p: p["a"] ** 2, {"a": 1.0}, scales={"a": bad})


def test_lists_of_dictionaries_and_empty_parts_say_what_to_do() -> None:
    with pytest.raises(InputTypeError, match=r"x0\['l'\] holds.*dict.*use a tuple"):
        dc.gradient(lambda p: p["l"][0]["a"], {"l": [{"a": 1.0}]})
    found = dc.gradient(lambda p: p["l"][0]["a"] ** 2, {"l": ({"a": 3.0},)})
    assert found == {"l": ({"a": 6.0},)}
    with pytest.raises(ShapeError, match=r"x0\['b'\] is empty.*Leave it out"):
        dc.gradient(lambda p: p["a"], {"a": 1.0, "b": np.zeros((0, 3))})


@pytest.mark.parametrize(
    ("x0", "match"),
    [
        ({"a": 1.0, "b": 2.0}, r"x0 is of type dict.*tuple\(x0\.values\(\)\)"),
        (Pair(1.0, 2.0), r"x0 is of type Pair.*tuple\(x0\)"),
    ],
)
def test_one_argument_for_a_function_of_two(x0: Any, match: str) -> None:
    f = lambda a, b: a * b  # noqa: E731
    with pytest.raises(InputTypeError, match=match):
        dc.gradient(f, x0)
    values = tuple(x0.values()) if isinstance(x0, dict) else tuple(x0)
    assert dc.gradient(f, values) == (2.0, 1.0)


def test_results_that_are_no_array_say_what_to_do() -> None:
    x0 = {"a": 1.0, "b": [1.0, 2.0]}
    with pytest.raises(ShapeError, match=r"different shapes.*numpy\.concatenate"):
        dc.jacobian(lambda p: (p["a"], p["b"]), x0)
    joined = dc.jacobian(
        lambda p: np.concatenate([np.ravel(e) for e in p.values()]), x0
    )
    assert joined["a"].tolist() == [1.0, 0.0, 0.0]
    with pytest.raises(InputTypeError, match=r"type dict.*result\.values\(\)"):
        dc.jacobian(lambda p: p, x0)


def test_programs_may_change_their_arguments() -> None:
    def f(p: Any) -> Any:
        p["c"] = 2 * p.pop("a")
        p["b"][0] = p["c"]
        return np.sum(p["b"] ** 2)

    x0 = {"a": 3.0, "b": np.array([1.0, 2.0])}
    found = dc.gradient(f, x0)
    assert float(found["a"]) == 24.0
    assert found["b"].tolist() == [0.0, 4.0]
    assert dc.check(f, x0).ok
    assert list(x0) == ["a", "b"]
    assert x0["b"].tolist() == [1.0, 2.0]  # type: ignore[attr-defined]


def test_many_parts() -> None:
    x0 = {f"k{i}": float(i % 7) + 0.5 for i in range(5000)}
    found = dc.gradient(lambda p: sum(v * v for v in p.values()), x0)
    assert list(found) == list(x0)
    assert all(float(found[key]) == 2 * value for key, value in x0.items())


# -- options -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"kinks": np.ones(2)}, OptionError),
        ({"kinks": ["branch"]}, OptionError),
        ({"numpy": np.ones(2)}, OptionError),
        ({"kwargs": {1: 2.0}}, InputTypeError),
        ({"args": 3}, InputTypeError),
        ({"args": 3, "kwargs": 4}, InputTypeError),
    ],
)
def test_recording_options_of_a_wrong_type(options: Any, kind: Any) -> None:
    with pytest.raises(kind, match=next(iter(options))):
        dc.gradient(cubes, [1.0], **options)
    with pytest.raises(kind, match=next(iter(options))):
        dc.check(cubes, [1.0], **options)


@pytest.mark.parametrize(
    "option",
    [
        {"seed": -1},
        {"seed": "a"},
        {"seed": None},
        {"rtol": "a"},
        {"rtol": [1e-3]},
        {"rtol": np.nan},
    ],
)
def test_check_options_of_a_wrong_type(option: Any) -> None:
    with pytest.raises(OptionError, match=next(iter(option))):
        dc.check(cubes, [1.0], **option)


def test_values_of_object_arrays_anywhere() -> None:
    def f(p: Any) -> Any:
        kept = np.array([p["a"], 2.0], dtype=object)
        inside = dc.value({"kept": [kept]})["kept"][0]
        assert inside.dtype == np.float64
        return p["a"] * np.sum(np.exp(inside))

    expected = np.exp(1.0) + np.exp(2.0)
    assert float(dc.gradient(f, {"a": 1.0})["a"]) == pytest.approx(expected, rel=1e-15)
    ragged = np.array([[1, 2], [1]], dtype=object)
    assert dc.value(ragged).tolist() == [[1, 2], [1]]
    assert dc.value(np.array([None, "a"], dtype=object)).tolist() == [None, "a"]


# -- checks: no false alarm ------------------------------------------------------------------

SMOOTH: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "narrow peak": (
        lambda x: np.exp(-(((x[0] - 1) / 1e-3) ** 2)) + x[1],
        [1.0005, 1e6],
    ),
    "very narrow peak": (
        lambda x: np.exp(-(((x[0] - 1) / 1e-6) ** 2)) + x[0],
        [1 + 5e-7],
    ),
    "pole near": (lambda x: 1 / (x[0] - 1), [1 + 1e-6]),
    "tangent near its pole": (lambda x: np.tan(x[0]), [np.pi / 2 - 1e-6]),
    "end of a domain near": (lambda x: np.sqrt(x[0] - 1), [1 + 1e-9]),
    "fast oscillation": (lambda x: np.sum(np.sin(1e7 * x)), [0.795, 0.621, 2.221]),
    "all but cancelled": (lambda x: (1e15 + x[0] * x[1]) - 1e15, [0.7, -0.69]),
    "sigmoids far out": (
        lambda x: np.sum(1 / (1 + np.exp(-x))),
        [-253.8, 386.4, -203.7],
    ),
    "products of extremes": (lambda x: x[0] * x[1], [1e-300, 1e200]),
    "huge": (lambda x: np.sum(x**4) * 1e200, [1e3, -2e3]),
    "tiny": (lambda x: np.sum(x**4) * 1e-250, [0.3, -2.0]),
    "a norm near zero": (
        lambda x: np.linalg.norm(x - 1),
        [1 + 1e-8, 1 - 2e-8, 1 + 1e-9],
    ),
    "maxima nearly tied": (lambda x: np.max(x), [1.0, 1 + 1e-9, 1 - 1e-9]),
    "constant rows": (lambda x: [1.0 + 0 * x[0], x[1] ** 2, 0 * x[0]], [0.4, 2.0]),
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_false_alarm(name: str, seed: int) -> None:
    f, x0 = SMOOTH[name]
    dc.check(f, x0, seed=seed).raise_if_failed()


def test_programs_may_fail_beside_the_point() -> None:
    def f(x: Any) -> Any:
        assert 0.99 <= dc.value(x[0]) <= 1.01, "out of range"
        return x[0] ** 2

    def g(x: Any) -> Any:
        return np.log(x[0]) if dc.value(x[0]) >= 1 else [][1]

    for program in (f, g):
        report = dc.check(program, [1.0])
        assert report.ok
        assert any(row.computed != 0 for row in report.rows)


# -- checks: no miss -------------------------------------------------------------------------


@elemental(partials=lambda xp, x, v: (xp.cos(x), -(1 + 1e-4) * xp.sin(x)))
def review_second(xp: Any, x: Any) -> Any:
    return xp.sin(x)


@elemental(partials=lambda xp, x, v: ((1 + 1e-5) * xp.cos(x), -xp.sin(x)))
def review_first(xp: Any, x: Any) -> Any:
    return xp.sin(x)


@elemental(partials=lambda xp, x, v: (3 * x**2, 6 * xp.abs(x)))
def review_negative(xp: Any, x: Any) -> Any:
    return x**3


@elemental(
    partials=lambda xp, x, y, v: (2 * x * y, x * x, 2 * y, 2 * x * (1 + 1e-4), 0 * x)
)
def review_mixed(xp: Any, x: Any, y: Any) -> Any:
    return x * x * y


WRONG: dict[str, tuple[Any, str, str]] = {
    "second partial": (lambda x: review_second(x[0]) * x[1], "Hessian product", "sec"),
    "first partial": (lambda x: review_first(x[0]) * x[1], "gradient", "first"),
    "for negative": (lambda x: review_negative(x[0]) + x[1], "Hessian product", "sec"),
    "mixed partial": (lambda x: review_mixed(x[0], x[1]), "Hessian product", "second"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("factor", [1.0, 1e8])
def test_small_faults_are_found(name: str, factor: float) -> None:
    f, what, reason = WRONG[name]
    scales = np.array([factor, 1 / factor])
    report = dc.check(lambda x: f(x * scales), np.array([-0.7, 1.3]) / scales)
    assert report.worst.verdict == "wrong"
    assert report.worst.what == what
    assert reason in report.worst.reason


def test_a_jump_is_still_found() -> None:
    report = dc.check(
        lambda x: x[0] + (1e-3 if dc.value(x[0]) > 1 else 0.0) + 0 * x[0], [1.0]
    )
    assert report.worst.what == "continuity"
