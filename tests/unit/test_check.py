"""dc.check: right derivatives are never called wrong, and wrong ones are found."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    CheckError,
    DomainError,
    InputTypeError,
    NondifferentiableError,
    OptionError,
)
from derivative_covers.extend import (
    Elemental,
    Rule,
    UnaryCurvature,
    noderef,
    pushnode,
    register,
)

RNG = np.random.default_rng(3)
DATA = RNG.normal(size=200)


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


RIGHT: dict[str, tuple[Callable[..., Any], Any]] = {
    "rosenbrock": (rosenbrock, [-1.2, 1.0, 0.7]),
    "rosenbrock at its minimum": (rosenbrock, [1.0, 1.0]),
    "zeros": (lambda x: np.exp(x[0]) * x[1] + x[0] ** 2, [0.0, 0.0]),
    "number": (lambda x: math.pi * x**3, 2.0),
    "matrix": (lambda x: np.sum(x @ x.T), np.arange(6.0).reshape(2, 3)),
    "units": (lambda x: np.log(x[0]) * x[1] + 1 / x[2], [1e-9, 1e9, 1e-3]),
    "near the end of the domain": (lambda x: np.sqrt(x[0] - 1), [1 + 1e-10]),
    "kinks all around": (lambda x: np.sum(np.abs(x - DATA)), np.full(200, 0.01)),
    "cancellation": (lambda x: (np.sum(x**2) + 1e9) - 1e9, [1.0, 3.0]),
    "tiny": (lambda x: 1e-200 * x[0] ** 2 * x[1], [1.0, 2.0]),
    "large": (lambda x: 1e200 * x[0] ** 2 * x[1], [1.0, 2.0]),
    "steep": (lambda x: np.exp(50 * x[0]), [1.0]),
    "oscillating": (lambda x: np.sin(1e4 * x[0]), [1.0]),
    "linear": (lambda x: 3 * x[0] - x[1], [1.0, 0.0]),
    "relu": (lambda x: np.sum(np.maximum(x, 0)), DATA),
    "vector": (lambda x: np.exp(np.outer(x, x)), [0.3, -0.4]),
    "list": (lambda x: [x[0] * x[1], 3 * x[1], 2.0], [0.3, -0.4]),
    "many outputs": (lambda x: np.sin(x * x[0]), np.linspace(0.1, 1, 60)),
    "dictionary": (lambda p: p["a"] * np.sum(p["b"] ** 2), {"a": 2.0, "b": [3.0, 0.0]}),
    "arguments": (lambda a, b: np.sum(a * np.sin(b)), (2.0, [0.3, -1.0])),
    "single": (lambda x: np.sum(np.exp(np.sin(x))), DATA[:5].astype(np.float32)),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [0, 1])
def test_right_derivatives_pass(name: str, seed: int) -> None:
    f, x0 = RIGHT[name]
    report = dc.check(f, x0, seed=seed)
    assert report.ok, report
    report.raise_if_failed()
    assert not report.failures
    assert report.kinks == ()
    kinds = {row.what for row in report.rows}
    assert {"value", "continuity", "Hessian product", "second difference"} <= kinds
    assert "cover (sum)" in kinds
    for row in report.rows:
        if row.what == "continuity":
            assert abs(row.computed - row.reference) <= row.error
            assert row.excess <= 1
    assert ("Jacobian" in kinds) != ("gradient" in kinds)
    assert repr(report).startswith(
        f"check: all of {len(report.rows)} comparisons agree"
    )


@pytest.mark.parametrize("name", ["rosenbrock", "matrix", "vector", "dictionary"])
def test_differences_are_accurate(name: str) -> None:
    report = dc.check(*RIGHT[name])
    slopes = [row for row in report.rows if row.what in ("gradient", "Jacobian")]
    for row in slopes:
        assert row.verdict == "ok"
        assert abs(row.computed - row.reference) <= 1e-7 * (1 + abs(row.computed))


# -- what has to be found ---------------------------------------------------------------

register(
    Elemental(
        "check test: wrong first",
        1,
        lambda xp, x: xp.sin(x),
        Rule(lambda xp, x, v: (1.01 * xp.cos(x), -v)),
        "a test",
    )
)
register(
    Elemental(
        "check test: wrong second",
        1,
        lambda xp, x: xp.sin(x),
        Rule(lambda xp, x, v: (xp.cos(x), -1.05 * v)),
        "a test",
    )
)


def apply(name: str, x: Any) -> Any:
    return x._apply(f"check test: {name}", x) if isinstance(x, dc.TVar) else np.sin(x)


def test_a_wrong_rule() -> None:
    report = dc.check(lambda x: apply("wrong first", x[0]) * x[1], [0.5, 2.0])
    assert not report.ok
    assert report.worst.what == "gradient"
    assert report.worst.where == "x0[0]"
    assert report.worst.computed == pytest.approx(2.02 * math.cos(0.5), rel=1e-14)
    assert report.worst.reference == pytest.approx(2 * math.cos(0.5), rel=1e-9)
    assert "check test: wrong first" in report.worst.reason
    assert "first partial" in report.worst.reason
    with pytest.raises(CheckError, match=r"FAILED[\s\S]*wrong first"):
        report.raise_if_failed()
    assert issubclass(CheckError, AssertionError)


def test_wrong_second_partials() -> None:
    report = dc.check(lambda x: apply("wrong second", x[0]) * x[1], [0.5, 2.0])
    wrong = {row.what for row in report.failures}
    assert wrong >= {"Hessian product", "second difference"}
    assert "gradient" not in wrong
    assert "second partial" in report.worst.reason


def test_wrong_partials_of_an_explicit_node() -> None:
    def cube(x: Any) -> Any:
        if not isinstance(x, dc.TVar):
            return x**3
        tape, k = noderef(x)
        v = dc.value(x)
        return pushnode(tape, v**3, [k], [2 * v**2], UnaryCurvature(6 * v))

    report = dc.check(lambda x: cube(x[0]) + x[1], [2.0, 1.0])
    assert report.worst.where == "x0[0]"
    assert "pushnode" in report.worst.reason


def test_curvature_that_was_left_out_breaks_the_cover() -> None:
    def square(x: Any) -> Any:
        if not isinstance(x, dc.TVar):
            return x**2
        tape, k = noderef(x)
        v = dc.value(x)
        return pushnode(tape, v**2, [k], [2 * v], UnaryCurvature(0.5))

    report = dc.check(lambda x: square(x[0]), [2.0])
    assert "cover (sum)" in {row.what for row in report.failures}


def test_a_lost_derivative() -> None:
    report = dc.check(lambda x: x[0] ** 2 * dc.value(x[1]), [2.0, 3.0])
    worst = report.worst
    assert (worst.what, worst.where, worst.computed) == ("gradient", "x0[1]", 0.0)
    assert worst.reference == pytest.approx(4.0, rel=1e-9)
    assert "value(x)" in worst.reason
    assert "FAILED" in repr(report)
    assert "x0[1]" in repr(report)


def test_a_lost_derivative_has_its_place_in_the_structure() -> None:
    def f(p: Any, q: Any) -> Any:
        return np.sum(p["w"] * dc.value(p["w"])[0]) + q

    report = dc.check(f, ({"w": [2.0, 3.0]}, 1.0))
    assert report.worst.where == "x0[0]['w'][0]"


def test_a_lost_derivative_among_many_inputs_is_named() -> None:
    n = 5000

    def f(x: Any) -> Any:
        y = x.copy()
        y[1234] = dc.value(x)[1234]
        return np.sum(np.exp(np.sin(y)))

    report = dc.check(f, RNG.normal(size=n))
    assert report.worst.where == "x0[1234]"
    assert report.worst.computed == 0.0


def test_a_lost_output_is_named() -> None:
    def f(x: Any) -> Any:
        return np.stack(
            [np.stack([x[0], x[1]]), np.stack([x[0] * 2, dc.value(x[0]) * x[1]])]
        )

    report = dc.check(f, [2.0, 3.0])
    assert report.worst.what == "Jacobian"
    assert report.worst.where == "x0[0], output [1, 1]"


def test_stop_gradient_is_named() -> None:
    report = dc.check(lambda x: x[0] * dc.stop_gradient(x[0]), [2.0])
    assert "stop_gradient" in report.worst.reason


def test_a_constant_recording() -> None:
    report = dc.check(lambda x: np.sum(dc.value(x)), [1.0, 2.0])
    assert not report.ok
    assert "lost" in report.worst.reason
    constant = dc.check(lambda x: 3.0, [1.0, 2.0])
    assert not constant.ok
    assert "constant" in constant.worst.reason


def test_a_jump_that_the_recording_did_not_see() -> None:
    def f(x: Any) -> Any:
        return x[0] ** 2 + 1 if dc.value(x[0]) > 1 else x[0]

    report = dc.check(f, [1.0, 2.0])
    worst = report.worst
    assert worst.what == "continuity"
    assert "jumps" in worst.reason
    assert worst.computed == 1.0
    assert worst.reference == pytest.approx(2.0, abs=1e-9)
    assert worst.error == pytest.approx(0.5, rel=1e-3)
    assert worst.excess == pytest.approx(2.0, rel=1e-3)


def test_a_kink_that_the_recording_did_not_see() -> None:
    report = dc.check(lambda x: x[0] if dc.value(x[0]) > 1 else 2 * x[0] - 1, [1.0])
    assert not report.ok
    assert "kink" in report.worst.reason


def test_another_value() -> None:
    def f(x: Any) -> Any:
        return x[0] ** 2 if isinstance(x, np.ndarray) else x[0] ** 2 + 1

    report = dc.check(f, [2.0])
    assert report.worst.what == "value"
    assert (report.worst.computed, report.worst.reference) == (5.0, 4.0)
    assert "another value" in report.worst.reason


def test_another_number_of_outputs() -> None:
    report = dc.check(
        lambda x: x if isinstance(x, np.ndarray) else np.sum(x), [2.0, 1.0]
    )
    assert "outputs" in report.worst.reason


def test_random_programs() -> None:
    rng = np.random.default_rng(0)
    report = dc.check(lambda x: np.sum(x) + rng.normal(), [2.0, 1.0])
    assert not report.ok
    assert "random" in report.worst.reason


def test_noise_is_undecided_not_wrong() -> None:
    report = dc.check(lambda x: np.sum(x**2) + 1e16, [1.0, 3.0])
    assert report.ok
    verdicts = {row.verdict for row in report.rows if row.what == "gradient"}
    assert verdicts == {"undecided"}
    assert "undecided" in repr(report)


# -- kinks, options, wrong arguments ----------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x0"),
    [
        (lambda x: np.sum(np.abs(x)), [0.0, 3.0]),
        (lambda x: np.max(x), [3.0, 3.0, 1.0]),
        (lambda x: np.linalg.norm(x), [0.0, 0.0]),
        (lambda x: np.sum(np.clip(x, 0.0, 1.0) ** 2), [0.0, 1.0, 0.5]),
    ],
)
def test_slopes_at_kinks_lie_between_both_sides(f: Any, x0: Any) -> None:
    report = dc.check(f, x0, kinks="branch")
    assert report.ok, report
    assert report.kinks
    assert "skipped" in {row.verdict for row in report.rows}
    assert "kinks" in repr(report)
    with pytest.raises((NondifferentiableError, DomainError)):
        dc.check(f, x0)


def test_further_arguments_and_the_rewritten_namespace() -> None:
    def f(x: Any, data: Any, power: int = 1) -> Any:
        out = np.zeros(2)
        out[0] = x[0] ** power
        out[1] = x[1] * data
        return np.sum(out**2)

    report = dc.check(f, [2.0, 3.0], args=(4.0,), kwargs={"power": 3}, numpy="rewrite")
    assert report.ok, report


def test_the_point_is_left_alone() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        x[0] = 0.0  # the program may write into its own argument
        return np.sum(y) + x[1]

    x0 = np.array([1.0, 2.0])
    assert dc.check(f, x0).ok
    assert x0.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("option", "match"),
    [
        ({"entries": -1}, "entries is -1"),
        ({"entries": 1.5}, "entries is 1.5"),
        ({"directions": 0}, "directions is 0"),
        ({"directions": True}, "directions is True"),
        ({"rtol": 0.0}, "rtol is 0.0"),
        ({"kinks": "none"}, "kinks is 'none'"),
    ],
)
def test_options_that_cannot_be_used(option: Any, match: str) -> None:
    with pytest.raises(OptionError, match=match):
        dc.check(rosenbrock, [1.0, 2.0], **option)


def test_programs_that_cannot_be_used() -> None:
    with pytest.raises(InputTypeError, match="must be a function"):
        dc.check(3.0, [1.0])  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="plain program returned"):
        dc.check(lambda x: "text" if isinstance(x, np.ndarray) else x[0], [1.0])


def test_rows_are_numbers() -> None:
    report = dc.check(rosenbrock, [1.0, 2.0], entries=0, directions=2)
    rows = [row for row in report.rows if row.what == "gradient"]
    assert [row.where for row in rows] == ["direction 0", "direction 1"]
    assert all(isinstance(row.computed, float) for row in report.rows)
    assert all(isinstance(row.error, float) and row.error >= 0 for row in report.rows)


def test_second_derivatives_that_overflow_are_skipped_in_the_open() -> None:
    report = dc.check(lambda x: np.sqrt(x[0] ** 2 + x[1] ** 2), [1e-160, 2e-160])
    skipped = [row for row in report.rows if row.verdict == "skipped"]
    assert "not finite" in skipped[0].reason
    assert "not finite" in repr(report)
