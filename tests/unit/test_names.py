"""Names of variables, and results as tables: what a table says is what the result holds."""

from __future__ import annotations

import pickle
from collections import namedtuple
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import checkpoint as cp
from derivative_covers import errors
from derivative_covers.results import labels

Rates = namedtuple("Rates", ["on", "off"])
P = {"k_on": 1.5, "k_off": 0.5, "w": np.array([[1.0, 2.0], [3.0, 4.0]])}
NAMES = ["k_on", "k_off", "w[0, 0]", "w[0, 1]", "w[1, 0]", "w[1, 1]"]


def energy(p: Any) -> Any:
    return p["k_on"] ** 2 * np.sum(p["w"] ** 2) + np.exp(p["k_off"])


def parts(p: Any) -> Any:
    return np.stack([p["k_on"] * p["k_off"], np.sum(p["w"] ** 2)])


def table(result: Any) -> dict[str, list[str]]:
    """The rows of a text by their name; names may hold single blanks."""
    rows = [line.split("  ", 1) for line in repr(result).splitlines()[1:]]
    return {row[0]: row[1].split() for row in rows if len(row) == 2 and row[0]}


def test_names_follow_the_structure() -> None:
    tree = {
        "a": 1.0,
        "b": {"c": np.ones((2, 1)), 3: (1.0, [2.0])},
        "r": Rates(1.0, 2.0),
    }
    expected = ["a", "b.c[0, 0]", "b.c[1, 0]", "b[3][0]", "b[3][1][0]", "r.on", "r.off"]
    found = labels(tree)
    assert list(found) == expected
    assert found[-1] == "r.off"
    assert found[1:3] == expected[1:3]
    with pytest.raises(IndexError):
        found[7]
    assert list(labels(np.ones((2, 2)))) == ["x[0, 0]", "x[0, 1]", "x[1, 0]", "x[1, 1]"]
    assert list(labels(2.0)) == ["x"]
    assert len(labels(np.empty(10**9, dtype=np.bool_))) == 10**9


def test_results_at_parameters_carry_their_names() -> None:
    results: list[Any] = [
        dc.cover_hessian(energy, P),
        dc.cover_nls(parts, P),
        dc.cover_jacobian(parts, P),
        dc.forward_cover(energy, P),
        dc.forward_cover(parts, P),
    ]
    for result in results:
        assert list(result.names) == NAMES
        assert all(
            any(name in line for line in repr(result).splitlines()) for name in NAMES
        )
    flat = np.concatenate([np.ravel(a) for a in P.values()])
    inner = dc.cover_hessian(energy, P)
    rows = table(inner)
    for k, name in enumerate(NAMES):
        h = np.asarray(inner)[k]
        gradient = np.concatenate([np.ravel(a) for a in inner.gradient.values()])[k]
        inverse = f"{1 / h:.6g}" if h else "none"
        assert rows[name] == [f"{gradient:.6g}", f"{h:.6g}", inverse]
    report = dc.check(lambda x: np.sum(x**2), flat, names=P)
    assert {row.where for row in report.rows if row.what == "gradient"} >= set(NAMES)
    assert "k_on" in repr(report) + report._repr_html_()


def test_names_can_be_given() -> None:
    cover = dc.cover_hessian(lambda x: x[0] ** 2 * x[1], [1.0, 2.0])
    named = cover.named(["k_on", "<b>"])
    assert list(cover.names) == ["x[0]", "x[1]"]
    assert list(named.names) == ["k_on", "<b>"]
    assert named.h is cover.h
    assert list(table(named)) == ["k_on", "<b>"]
    assert "<th>k_on</th>" in named._repr_html_()
    assert "&lt;b&gt;" in named._repr_html_()
    assert "<b>" not in named._repr_html_()
    again = pickle.loads(pickle.dumps(named))
    assert repr(again) == repr(named)
    assert list(table(cover.named(["two\nlines", "c"]))) == ["two\\nlines", "c"]
    assert list(cover.named({"a": 1.0, "b": [2.0]}).names) == ["a", "b[0]"]
    for given, error, message in (
        (["a"], errors.ShapeError, "1 entries; 2 are needed"),
        ({"a": [1.0] * 3}, errors.ShapeError, "3 entries; 2 are needed"),
        (["a", "a"], errors.OptionError, "'a' stands for two"),
        ("ab", errors.InputTypeError, "list of strings"),
        ([1, 2], errors.InputTypeError, "list of strings"),
        (7, errors.InputTypeError, "list of strings"),
    ):
        with pytest.raises(error, match=message):
            cover.named(given)


def test_of_many_variables_the_extremes_are_shown() -> None:
    n = 300
    c = np.random.default_rng(1).permutation(n) + 1.0
    cover = dc.cover_hessian(lambda x: np.sum(c * x**2) / 2, np.ones(n))
    text, html = repr(cover), cover._repr_html_()
    assert len(text.splitlines()) == 13
    assert html.count("<tr>") == 12
    order = np.argsort(-c)
    expected = [f"x[{k}]" for k in (*order[:5], *order[-5:])]
    assert [name for name in table(cover) if name.startswith("x[")] == expected
    assert "... 290 between" in text


def test_tables_of_other_numbers() -> None:
    def f(x: Any) -> Any:
        return x[0] ** 2 * x[1]

    exact = dc.cover_hessian(f, [Fraction(1, 3), Fraction(2)])
    assert "Fraction(4, 3)" in repr(exact)
    box = dc.cover_hessian(f, dc.Interval.box([(1, 2), (3, 4)]))
    assert "[6, 16]" in repr(box)
    assert list(box.named(["u", "v"]).names) == ["u", "v"]
    assert "6+12j" in repr(dc.cover_hessian(f, [1 + 2j, 3.0]))
    assert list(table(dc.cover_hessian(lambda x: x**2, 3.0))) == ["x"]


def test_every_result_has_a_table() -> None:
    def f(x: Any) -> Any:
        return x[0] ** 2 * x[1]

    chain = cp.Chain(
        [lambda s, p, k: {"a": (s["a"][0] * p["r"],)}, lambda s, p, k: s["a"][0]]
    )
    sweep = cp.cover_sweep(
        chain, {"a": (2.0,)}, schedule=cp.StoreAll(), params={"r": 3.0}
    )
    reverse = cp.reverse_sweep(
        chain, {"a": (2.0,)}, schedule=cp.StoreAll(), params={"r": 3.0}
    )
    results: list[tuple[Any, str]] = [
        (dc.compose_hessian_cover([1.0], [1.0], [1.0], [3.0], [[4.0]]), "h_quad"),
        (dc.matrix.cover([[0.0, 0.0], [3.0, 12.0]]), "column[1]"),
        (dc.bounds.alphabb(f, [(1, 2), (3, 4)]), "alpha"),
        (sweep, "r "),
        (reverse, "a[0] "),
    ]
    for result, word in results:
        first, *_ = repr(result).splitlines()
        assert first.startswith(type(result).__name__)
        assert word in repr(result)
        assert "<table>" in result._repr_html_()
    assert table(sweep)["a[0]"][0] == "3"
    assert table(reverse)["r"] == ["2"]


def test_names_cannot_change_places():
    cover = dc.cover_hessian(lambda p: p["z"] ** 2 * p["a"], {"z": 1.0, "a": 2.0})
    with pytest.raises(errors.OptionError, match="order a, z"):
        cover.named({"a": 2.0, "z": 1.0})
    with pytest.raises(errors.InputTypeError, match="list of strings"):
        cover.named({"b", "c"})
    with pytest.raises(errors.OptionError, match=r"a\.b"):
        cover.named({"a": {"b": 1.0}, "a.b": 2.0})
    assert cover.names != [1, 2]
