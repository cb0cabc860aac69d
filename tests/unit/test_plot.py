"""Pictures: what is drawn is what the numbers say, read back from the axes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse

import derivative_covers as dc
from derivative_covers import errors, plot
from derivative_covers.checkpoint import Revolve

H = np.array([[4.0, -1.0, 0.0], [-1.0, 0.25, 0.5], [0.0, 0.5, 0.0]])
COVER = np.array([2.0, 1.0, 10.0])


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    mpl.use("agg")
    yield
    plt.close("all")


def texts(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_cover_shows_the_logarithms_of_the_factors(kind: Any) -> None:
    ax = plot.cover(COVER, kind(H), names=["a", "long", "c"])
    drawn = ax.images[0].get_array()
    with np.errstate(divide="ignore"):
        expected = np.log10(np.outer(COVER, COVER) / np.abs(H))
    some = H != 0
    np.testing.assert_allclose(drawn[some], expected[some], atol=1e-14)
    assert np.ma.getmaskarray(np.ma.masked_invalid(drawn))[~some].all()
    assert texts(ax.get_xticklabels()) == ["a", "long", "c"]
    assert texts(ax.get_yticklabels()) == ["a", "long", "c"]
    middle = 10 ** np.median(expected[some])
    assert f"a factor of {middle:.3g} " in ax.get_title(loc="left")
    ax.figure.canvas.draw()


def test_cover_marks_what_is_not_covered() -> None:
    ax = plot.cover([2.0, 0.4, 0.0], H)
    # (0, 1), (1, 1) and (1, 2) with their mirror images; 0.4 ** 2 < 0.25
    assert "5 entries" in ax.get_title(loc="left")
    assert (ax.images[0].get_array() < 0).sum() == 5
    drawn = np.asarray(ax.images[0].cmap(ax.images[0].norm(-1.0)))
    np.testing.assert_array_equal(drawn, [1.0, 0.0, 0.0, 1.0])
    assert plot.cover([0.0], [[0.0]]).get_title(loc="left") == "all entries are zero"


def test_pictures_take_names_from_parameters() -> None:
    def f(p: Any) -> Any:
        return p["k"] ** 2 * np.sum(p["w"] ** 2)

    p = {"k": 2.0, "w": np.ones(2)}
    cover, hessian = dc.cover_hessian(f, p), dc.hessian(f, p)
    names = ["k", "w[0]", "w[1]"]
    assert texts(plot.cover(cover, hessian).get_xticklabels()) == names
    assert texts(plot.scales(cover).get_yticklabels()) == names
    assert texts(plot.scales(cover.h).get_yticklabels()) == names
    assert texts(plot.scales(np.asarray(cover), p).get_yticklabels()) == names


def test_scales_are_the_inverses() -> None:
    left, right = plt.subplots(1, 2)[1]
    assert plot.scales([4.0, 0.0, 0.5], ["a", "b", "c"], ax=right) is right
    assert not left.lines
    np.testing.assert_array_equal(right.lines[0].get_xdata(), [0.25, 2.0])
    np.testing.assert_array_equal(right.lines[0].get_ydata(), [0, 2])
    assert texts(right.get_yticklabels()) == ["a", "b (none)", "c"]
    assert not right.lines[0].get_clip_on()  # whole points at the ends of the axis
    assert right.get_title(loc="left") == "natural step of each variable"
    many = np.append(np.random.default_rng(3).lognormal(size=999), 0.0)
    ax = plot.scales(many)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.sort(1 / many[:-1]))
    assert ax.get_title(loc="left").startswith("1,000 variables, 1 of them")


def test_tightness_is_the_share_of_entries_below_a_factor() -> None:
    rng = np.random.default_rng(5)
    A = rng.normal(size=(30, 30))
    A = A + A.T
    h = np.sqrt(np.abs(A).max()) * rng.uniform(1, 3, 30)
    ax = plot.tightness({"one": h, "two": 2 * h}, A)
    factors = np.outer(h, h) / np.abs(A)
    for line, scale in zip(ax.lines, (1, 4), strict=False):
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        near = 1 + 1e-12  # entries come in pairs, of which the second ends the step
        shares = [(scale * factors <= at * near).mean() for at in x]
        reached = [y[x <= at * near].max() for at in x]
        np.testing.assert_allclose(reached, shares, atol=1e-12)
    assert texts(ax.get_legend().get_texts())[1] == (
        f"two: median factor {4 * 10 ** np.median(np.log10(factors)):.3g}"
    )
    loose = plot.tightness([1.0, 0.1, 1.0], H)
    assert "NOT a cover of 6 entries" in texts(loose.get_legend().get_texts())[0]


def test_tape_draws_each_node_and_each_edge_once() -> None:
    def f(p: Any) -> Any:
        return p["a"] * np.exp(-2.5 * p["b"][0]) + np.sum(p["b"] ** 2)

    tape, out = dc.tape_function(f, {"a": 3.0, "b": [0.5, 1.0]})
    ax = plot.tape(tape)
    boxes = [text for text in ax.texts if text.get_text()]
    assert len(boxes) == tape.nnodes
    values = [float(text.get_text().split("\n")[1]) for text in boxes]
    np.testing.assert_allclose(values, tape.vals, rtol=1e-5)
    assert [text.get_text().split("\n")[0] for text in boxes][:3] == [
        "a",
        "b[0]",
        "b[1]",
    ]
    assert any("multiply(-2.5, ·)" in text.get_text() for text in boxes)
    edges = {(int(p), k) for k in range(tape.nnodes) for p in tape.parents[k]}
    place = {text.get_position(): k for k, text in enumerate(boxes)}
    assert len(place) == tape.nnodes  # no two on one place
    arrows = [text for text in ax.texts if not text.get_text()]
    assert {(place[a.xyann], place[a.xy]) for a in arrows} == edges  # type: ignore[attr-defined]
    assert all(a.xyann[0] < a.xy[0] for a in arrows)  # type: ignore[attr-defined]
    green, orange = (boxes[k].get_bbox_patch().get_facecolor() for k in (0, out))  # type: ignore[union-attr]
    assert green != orange
    ax.figure.canvas.draw()
    box, _ = dc.tape_function(lambda x: x[0] * 2, dc.Interval.box([(1, 3)]))
    assert any(text.endswith("[2, 6]") for text in texts(plot.tape(box).texts))


def test_schedule_is_the_picture_of_the_plan() -> None:
    plan = Revolve(slots=3).plan(12)
    mine, its = plot.schedule(plan), plan.plot()
    for one, other in zip(mine.lines, its.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())


def test_what_cannot_be_drawn_is_said() -> None:
    tape, _ = dc.tape_function(lambda x: np.sum(x**2), np.ones(80))
    two = dc.forward_cover(lambda x: [x[0] ** 2, x[0]], [1.0])
    pair = dc.cover_jacobian(lambda x: [x[0], x[0]], [1.0])
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: plot.cover(COVER, np.eye(2)), errors.ShapeError, "3 x 3"),
        (lambda: plot.cover(COVER, "no"), errors.InputTypeError, "matrix of numbers"),
        (lambda: plot.cover(np.ones(3000), None), errors.ShapeError, "at most 2000"),
        (lambda: plot.cover(COVER, H * np.nan), errors.OptionError, "H holds a NaN"),
        (lambda: plot.cover(COVER, H, names=["a"]), errors.ShapeError, "3 are needed"),
        (lambda: plot.scales([np.nan]), errors.OptionError, "NaN"),
        (lambda: plot.scales([-1.0]), errors.OptionError, "negative"),
        (lambda: plot.scales([]), errors.ShapeError, "empty"),
        (lambda: plot.scales("h"), errors.InputTypeError, "str"),
        (lambda: plot.scales(pair), errors.InputTypeError, "JacobianCover"),
        (lambda: plot.scales(two), errors.ShapeError, r"result\.h\[0\]"),
        (lambda: plot.scales([1.0], ax=3), errors.InputTypeError, "got int"),
        (lambda: plot.tightness({}, H), errors.OptionError, "empty"),
        (lambda: plot.tightness(COVER, 0 * H), errors.OptionError, "zero"),
        (lambda: plot.tape(tape), errors.ShapeError, "smaller program"),
        (lambda: plot.tape(3), errors.InputTypeError, "Tape is needed"),
        (lambda: plot.schedule(Revolve(3)), errors.InputTypeError, "got Revolve"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()
    assert not plt.get_fignums()


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(errors.MissingPackageError, match=r"pip install .\.\[plot\]"):
        plot.scales([1.0])
