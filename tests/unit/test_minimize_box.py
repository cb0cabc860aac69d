"""Global minima over boxes: results, what is refused, executors, and going on."""

from __future__ import annotations

import math
import pickle
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    ConstantProgramError,
    DomainError,
    InputTypeError,
    OptionError,
    ShapeError,
    StorageError,
    UndecidedError,
    UnsupportedOperationError,
)
from derivative_covers.extend import unarynode
from derivative_covers.parallel import minimize_box
from derivative_covers.parallel.minimum import _search
from tests.suites._box_functions import rosenbrock, six_hump_camel, spike


def same(a, b) -> bool:
    """Whether two results have the same bits, parts included."""
    leaves = zip(vars(a.leaves).values(), vars(b.leaves).values(), strict=True)
    return (
        (a.lower, a.upper, a.boxes, a.proved) == (b.lower, b.upper, b.boxes, b.proved)
        and np.array_equal(a.x, b.x)
        and all(np.array_equal(x, y) for x, y in leaves)
    )


def test_a_dent_that_samples_miss() -> None:
    found = minimize_box(spike, [(-2, 2)])
    x = 0.123456 + np.linspace(-1e-4, 1e-4, 20001)[:, None]
    true = np.min(spike(x.T))
    assert found.proved
    assert found.lower <= true <= found.upper + 1e-12 <= found.lower + 1.1e-6


def test_minima_at_the_boundary_and_of_other_shapes() -> None:
    corner = minimize_box(lambda x: x[0] ** 3 - 2 * x[1] + x[0], [(-1, 2), (0, 3)])
    assert corner.proved
    assert (corner.x == [-1, 3]).all()
    assert corner.lower <= -8 <= corner.upper <= corner.lower + 1e-6
    number = minimize_box(lambda x: (x - 1) ** 2 + np.cos(3 * x), (0.0, 2.0))
    grid = np.linspace(0, 2, 200001)
    least = np.min((grid - 1) ** 2 + np.cos(3 * grid))
    assert np.shape(number.x) == ()
    assert number.lower <= least <= number.upper + 1e-9
    matrix = minimize_box(
        lambda x, c: np.sum((x - c) ** 4),
        (-np.ones((2, 2)), np.ones((2, 2))),
        args=(np.array([[0.3, 2.0], [0.0, -0.5]]),),
    )
    assert matrix.proved
    assert matrix.x.shape == (2, 2)
    assert matrix.lower <= 1 <= matrix.upper <= 1 + 1e-6
    fixed = minimize_box(lambda x: x[0] * x[1] ** 2, [(3, 3), (-1, 2)])
    assert fixed.proved
    assert fixed.x[0] == 3
    assert "x[1]" in repr(fixed)


def test_scipy_helps_a_search_that_ends_without_a_proof(monkeypatch) -> None:
    box = [(-2, 2.5)] * 8
    with_scipy = minimize_box(rosenbrock, box, max_boxes=600)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    without = minimize_box(rosenbrock, box, max_boxes=600)
    assert 0 <= with_scipy.upper < 1e-6 < without.upper
    assert with_scipy.lower <= 0
    assert without.lower <= 0
    assert rosenbrock(without.x) == pytest.approx(without.upper)


def test_functions_that_call_math_are_rewritten() -> None:
    def f(x):
        terms = np.zeros(2)
        terms[0] = math.exp(x[0]) - x[0]
        terms[1] = x[1] ** 2
        return np.sum(terms)

    found = minimize_box(f, [(-1, 2), (-1, 1)], numpy="rewrite")
    assert found.proved
    assert found.lower <= 1 <= found.upper


def test_the_parts_of_two_variables_are_drawn() -> None:
    found = minimize_box(lambda x: x[0] ** 2 + x[1] * x[2], [(-1, 2), (1, 1), (-1, 1)])
    axes = found.plot()
    assert axes.get_ylabel() == "x[2]"
    area = sum(p.get_width() * p.get_height() for p in axes.patches)
    assert area == pytest.approx(6)
    with pytest.raises(ShapeError, match="needs two"):
        minimize_box(np.sum, [(0, 1)]).plot()


def test_kinks_and_ends_of_domains_are_bounded_by_values() -> None:
    found = minimize_box(lambda x: abs(x[0] - 0.3) + (x[1] - 0.2) ** 2, [(-1, 1)] * 2)
    assert found.proved
    assert found.lower <= 0 <= found.upper <= 1e-6
    root = minimize_box(lambda x: np.sqrt(x[0]) - x[0] ** 2, [(0, 1.2)])
    assert root.proved
    assert root.lower <= np.sqrt(1.2) - 1.44 <= root.upper
    # zeros of either sign, which are equal, say which sign is taken
    signs = minimize_box(
        lambda x: np.sum(np.copysign(x, [0.0, -0.0]) * [1.0, 2.0]), [(0, 1)] * 2
    )
    assert signs.lower <= -2 <= signs.upper <= signs.lower + 1e-6
    # a detached value has a derivative by decree, from which nothing follows
    bent = minimize_box(lambda x: dc.stop_gradient(x[0] ** 2) + x[0], [(-2, 1)])
    assert bent.proved
    assert bent.lower <= -0.25 <= bent.upper


def test_branches_are_decided_on_parts_or_refused() -> None:
    def pieces(x):  # where both branches agree, no part decides
        return (x[0] - 1) ** 2 if x[0] > 0.1 else 2 - x[0]

    with pytest.raises(UndecidedError) as caught:
        minimize_box(pieces, [(-1, 1)])
    assert "over the part from" in "".join(caught.value.__notes__)
    # the recording over the whole is undecided, that over each part is not
    apart = minimize_box(
        lambda x: x[0] + x[1] if x[0] * x[0] - x[0] > -0.5 else x[1], [(-1, 1)] * 2
    )
    assert apart.proved
    assert apart.upper == -2


def test_a_minimum_where_two_recordings_meet_is_kept() -> None:
    lo, hi = -1.0, 1.0
    knot = (1 - _search._SHIFT) * lo + _search._SHIFT * hi  # where the box is cut first
    found = minimize_box(
        lambda x: np.interp(x[0], [lo, knot, hi], [1.0, 0.0, 3.0]), [(lo, hi)]
    )
    assert found.proved
    assert found.x == knot
    assert -1e-14 < found.lower <= 0 <= found.upper < 1e-14
    # constant on one of the two parts, and below it on the other
    flat = minimize_box(lambda x: np.interp(x[0], [knot, hi], [0.0, -1.0]), [(lo, hi)])
    assert flat.proved
    assert flat.x == hi
    assert -1 - 1e-14 < flat.lower <= -1 <= flat.upper < -1 + 1e-14


def test_a_gap_below_the_last_digit_is_proved_where_there_is_none() -> None:
    found = minimize_box(lambda x: x[0] ** 2 - 2 * x[0], [(-2, 2)], tol=1e-300)
    assert found.proved
    assert found.lower == found.upper == -1


def test_too_few_boxes_are_said_and_can_be_continued(tmp_path) -> None:
    box = [(-3, 3), (-2, 2)]
    whole = minimize_box(six_hump_camel, box)
    assert whole.proved
    few = minimize_box(six_hump_camel, box, max_boxes=100, folder=tmp_path)
    assert not few.proved
    assert few.lower < -1.0316284535 < few.upper
    assert few.boxes <= 100
    volume = np.prod(few.leaves.hi - few.leaves.lo, axis=1).sum()
    assert volume == pytest.approx(24, rel=1e-12)
    first = minimize_box(six_hump_camel, box, folder=tmp_path)
    again = minimize_box(six_hump_camel, box, folder=tmp_path)
    assert first.proved
    assert same(first, again)
    with pytest.raises(StorageError, match="another function, box or tol"):
        minimize_box(six_hump_camel, box, tol=1e-5, folder=tmp_path)
    with pytest.raises(StorageError, match="another function, box or tol"):
        # which differs where no point of a few would show it
        minimize_box(
            lambda x: six_hump_camel(x) - np.maximum(99 * x[0] - 290, 0),
            box,
            folder=tmp_path,
        )
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(StorageError):
        minimize_box(six_hump_camel, box, folder=tmp_path)


def test_a_search_that_was_killed_ends_with_the_same_bits(tmp_path) -> None:
    class Killed(Executor):
        def submit(self, call, /, *args, **kwargs):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            done = Future()
            done.set_result(call(*args, **kwargs))
            return done

    killed = Killed()
    killed.left = 3
    box = [(-3, 3), (-2, 2)]
    with pytest.raises(KeyboardInterrupt):
        minimize_box(six_hump_camel, box, executor=killed, folder=tmp_path)
    assert list(tmp_path.iterdir())
    resumed = minimize_box(six_hump_camel, box, folder=tmp_path)
    assert same(resumed, minimize_box(six_hump_camel, box))


def test_executors_change_no_bit() -> None:
    class Elsewhere(Executor):
        """As another process: nothing but pickles goes in and out."""

        def submit(self, call, /, *args, **kwargs):
            call, args = pickle.loads(pickle.dumps((call, args)))
            done = Future()
            done.set_result(pickle.loads(pickle.dumps(call(*args, **kwargs))))
            return done

    box = [(-3, 3), (-2, 2)]
    here = minimize_box(six_hump_camel, box)
    assert same(here, minimize_box(six_hump_camel, box, executor=Elsewhere()))
    with ThreadPoolExecutor(2) as pool:
        assert same(here, minimize_box(six_hump_camel, box, executor=pool))


def black_box(x):  # a cube, enclosed over one box
    v = dc.value(x[0])
    return unarynode(x[0], v**3, 3 * v**2, 6 * v)


@pytest.mark.parametrize(
    ("f", "box", "options", "error", "match"),
    [
        (np.sum, [(0, np.inf)], {}, OptionError, "bounded box"),
        (np.sum, [(0, np.nan)], {}, OptionError, "NaN"),
        (np.sum, [(1, 0)], {}, OptionError, "lo"),
        (np.sum, [], {}, ShapeError, "empty"),
        (np.sum, 3.0, {}, InputTypeError, "is no box"),
        (lambda x: x, [(0, 1)] * 2, {}, ShapeError, "scalar result"),
        (lambda x: 3.0, [(0, 1)], {}, ConstantProgramError, "depend"),
        (np.sum, [(0, 1)], {"tol": 0}, OptionError, "tol is 0"),
        (np.sum, [(0, 1)], {"tol": np.nan}, OptionError, "tol is nan"),
        (np.sum, [(0, 1)], {"tol": "1"}, OptionError, "tol is '1'"),
        (np.sum, [(0, 1)], {"max_boxes": 0}, OptionError, "max_boxes"),
        (np.sum, [(0, 1)], {"executor": 3}, InputTypeError, "executor"),
        (np.sum, [(0, 1)], {"folder": 3}, InputTypeError, "folder"),
        (lambda x: np.log(x[0]), [(0, 1)], {}, DomainError, "no finite value"),
        (lambda x: np.sqrt(x[0]), [(-1, 1)], {}, DomainError, "no finite value"),
        (lambda x: 1 / x[0], [(-1, 1)], {}, DomainError, "no finite value"),
        (lambda x: -np.exp(999 * x[0]), [(0, 1)], {}, DomainError, "no finite value"),
        (lambda x: x[0] * np.inf, [(0, 1)], {}, DomainError, "finite constants"),
        (
            black_box,
            [(1, 2)],
            {},
            UnsupportedOperationError,
            "the operations themselves",
        ),
        (
            lambda x: np.linalg.det(x[0] * np.eye(2)),
            [(1, 2)],
            {},
            UnsupportedOperationError,
            "box",
        ),
    ],
)
def test_wrong_inputs_are_refused(f, box, options, error, match) -> None:
    with pytest.raises(error, match=match):
        minimize_box(f, box, **options)
