"""Long programs forward: what was propagated is forgotten, what is needed is not."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers import forward as fw
from derivative_covers.extend import (
    BinaryCurvature,
    dead_slot,
    declared_scale,
    forward_channels,
    forward_scale,
    noderef,
    pushnode,
)
from derivative_covers.forward import _tape

STORAGES = ["dense", "sparse"]
X = np.array([0.7, -0.3, 1.2, 0.4])


@pytest.fixture
def short(monkeypatch):
    """Windows of a few nodes, so that every program has many."""
    monkeypatch.setattr(_tape, "WINDOW", 3)
    monkeypatch.setattr(_tape.ForwardTape, "run_limit", 3)


def pendulum(x):
    angle, speed = x[0], x[1]
    for k in range(12):
        speed = speed - 0.1 * np.sin(angle) * (1 + 0.01 * k)
        angle = angle + 0.1 * speed * x[2]
    return angle * x[3]


def chain(x):
    y = x.copy()
    total = 0.0
    for k in range(5):
        y[1:] += 0.1 * y[:-1] ** 2
        y = np.sin(y) + y[::-1] * 0.3
        z = np.stack([y, x * y])
        total = total + np.sum(z[k % 2]) + np.max(z) * y[k % 4]
    return total + np.linalg.norm(y) + np.cumsum(y)[2] * (y @ x)


def lists(x):
    entries = [x[k % 4] * k for k in range(1, 20)]
    table = np.array([[a * b for a in entries[:5]] for b in entries[5:9]])
    return np.sum(entries[3] * table) + table[2, 3] ** 2


def matrix(x):
    A = np.outer(x, x) + np.eye(4) * 3.0
    y = np.linalg.solve(A, x)
    return np.linalg.slogdet(A)[1] + y @ y + np.linalg.inv(A)[1, 2]


# Each window ends in a look at all that lives, so long programs have wider ones.
PROGRAMS = [(pendulum, 7), (chain, 7), (lists, 1), (matrix, 1)]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(("f", "window"), PROGRAMS)
def test_windows_change_nothing(f, window, storage, monkeypatch):
    whole = dc.forward_cover(f, X, storage=storage)
    H = dc.hessian(f, X)
    assert dc.iscover(whole, H)
    least = dc.cover_hessian(f, X, merge="quadrature").h
    assert (whole.h >= least * (1 - 1e-11)).all()
    monkeypatch.setattr(_tape, "WINDOW", window)
    monkeypatch.setattr(_tape.ForwardTape, "run_limit", window)
    cut = dc.forward_cover(f, X, storage=storage)
    np.testing.assert_allclose(cut.h, whole.h, rtol=1e-13)
    np.testing.assert_allclose(cut.gradient, whole.gradient, rtol=1e-11)
    assert cut.value == whole.value
    assert cut.asked == whole.asked


@pytest.mark.parametrize("storage", STORAGES)
def test_memory_does_not_grow_with_the_program(storage, monkeypatch):
    monkeypatch.setattr(_tape, "WINDOW", 256)
    monkeypatch.setattr(_tape.ForwardTape, "run_limit", 256)

    def loop(steps):
        def f(x):
            y, z = x[0], x[-1]
            for _ in range(steps):
                y, z = y + 1e-3 * z, z - 1e-3 * np.sin(y)
            return y * z

        return f

    def peak(steps):
        tracemalloc.start()
        dc.forward_cover(loop(steps), np.ones(200), storage=storage)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    dc.forward_cover(loop(1), np.ones(200), storage=storage)
    # 6000 elementals more: kept, their channels would hold 19 megabytes, dense.
    assert peak(1600) < 1.1 * peak(400)


@pytest.mark.parametrize("storage", STORAGES)
def test_a_hundred_thousand_array_entries_leave_nothing_behind(storage):
    held = []

    def f(x):
        y = x
        for k in range(600):
            y = y + 1e-3 * np.sin(y) * y[::-1]
            if k % 100 == 99:
                tape = noderef(y[0])[0]
                held.append((tape.held, tape.store.nbytes))
        return np.sum(y)

    found = dc.forward_cover(f, np.linspace(0.0, 1.0, 50), storage=storage)
    assert np.isfinite(found.h).all()
    counts, sizes = zip(*held, strict=True)
    assert max(counts[2:]) <= 50 + 4 * 50  # the inputs, and a few arrays in work
    assert sizes[-1] == sizes[2]


def test_what_variables_stand_for_is_kept_wherever_they_are(short):
    class Box:
        pass

    def f(x):
        box = Box()
        box.kept = {"a": [x[0] * x[1]], "b": (x[2:] ** 2)}
        view = (x * 2.0)[::-2]
        closure = (lambda y: lambda: y)(x[1] ** 3)
        y = x[3]
        for _ in range(50):
            y = y * 1.01 + 0.001 * x[0]
        gc.collect()
        return (box.kept["a"][0] + np.sum(box.kept["b"]) + np.sum(view)) * closure() + y

    found = dc.forward_cover(f, X)
    np.testing.assert_allclose(found.gradient, dc.gradient(f, X), rtol=1e-13)
    assert dc.iscover(found, dc.hessian(f, X))


def test_frozen_objects_are_kept(short):
    def f(x):
        y = x[0] * x[1]
        gc.freeze()
        try:
            z = x[2]
            for _ in range(30):
                z = z * 1.01
            return y * z
        finally:
            gc.unfreeze()

    np.testing.assert_allclose(
        dc.forward_cover(f, X).gradient, dc.gradient(f, X), rtol=1e-13
    )


def test_channels_can_be_read_on_the_way(short):
    def f(x):
        y = x[0] * x[1]
        z = x[2]
        for _ in range(20):
            z = z * 1.5
        channels = forward_channels(y)
        assert isinstance(channels, fw.ForwardChannels)
        np.testing.assert_array_equal(channels.gradient.dense(4), [-0.3, 0.7, 0, 0])
        np.testing.assert_allclose(
            channels.square.dense(4), [0.3 / 0.7, 0.7 / 0.3, 0, 0], rtol=1e-15
        )
        assert declared_scale(forward_scale(y)) == 0.3 * 1.0 + 0.7 * 2.0
        assert dead_slot(forward_scale(y - y))
        a = forward_channels(np.sum(x * x)).gradient.dense(4)
        np.testing.assert_array_equal(a, 2 * X)
        return y * z

    for storage in STORAGES:
        dc.forward_cover(f, X, storage=storage, scales=[1.0, 2.0, 1.0, 1.0])


def test_dead_and_faulty_nodes_of_earlier_windows(short):
    def dead(x):
        gone = x[1] - x[1] + 5.0
        y = x[0]
        for _ in range(20):
            y = y * 1.0625
        return y * gone

    found = dc.forward_cover(dead, X)
    np.testing.assert_array_equal(found.h, np.zeros(4))

    def faulty(x, use):
        with np.errstate(all="ignore"):
            bad = np.log(x - x[1])
        y = x[0]
        for _ in range(20):
            y = y * 1.01
        return y + bad[2] + bad[use]

    assert np.isfinite(dc.forward_cover(lambda x: faulty(x, 0), X).h).all()
    with pytest.raises(errors.DomainError, match=r"log\(0.0\)") as raised:
        dc.forward_cover(lambda x: faulty(x, 1), X)
    tape, _ = dc.tape_function(lambda x: np.log(x - x[1])[2], X)
    assert raised.value.node == tape.nnodes - 3

    def hidden(x):
        gone = np.exp(np.log(x[0] - x[0] + 0.0 * x[1]))
        y = x[1]
        for _ in range(20):
            y = y * 1.01
        return y + gone

    with pytest.raises(errors.DomainError, match="left its domain"):
        dc.forward_cover(hidden, X)


def test_declared_scales_reach_across_windows(short):
    def f(x):
        y, z = x[0], x[1]
        for _ in range(20):
            y, z = y * 2.0, z * 0.5
        return y * z

    x, w = [0.0, 1.0], [4.0, 1.0]
    found = dc.forward_cover(f, x, scales=w)
    assert found.asked
    np.testing.assert_array_equal(found.h, dc.cover_hessian(f, x, scales=w).h)


def test_explicit_nodes_of_earlier_windows(short):
    def f(x):
        tape, i = noderef(x[0])
        j = noderef(x[1])[1]
        y = pushnode(tape, 1.0, [i, j], [1.0, 3.0], BinaryCurvature(0.0, 1.0, 0.0))
        for k in range(20):
            y = y * 1.01 + x[k % 4]
        return dc.submap(lambda v: v[0] * np.sin(v[1]), np.stack([y, x[2]]))[0]

    tape, out = dc.tape_function(f, X)
    found = dc.forward_cover(f, X)
    np.testing.assert_allclose(found.gradient, dc.gradient(tape, out), rtol=1e-13)
    least = dc.cover_hessian(tape, out, merge="quadrature").h
    assert (found.h >= least * (1 - 1e-12)).all()


def test_rewritten_functions_and_the_package_namespace(short):
    @dc.with_numpy
    def filled(x):
        a = np.zeros(4)
        for k in range(4):
            a[k] = x[k] * x[k - 1]
        return np.sum(a**2)

    least = dc.cover_hessian(filled, X, merge="quadrature").h
    np.testing.assert_allclose(dc.forward_cover(filled, X).h, least, rtol=1e-12)


def test_nothing_is_left_behind(short):
    """The tape and its rows are freed without the garbage collector."""
    seen = []

    def f(x):
        y = x
        for _ in range(10):
            y = y * 1.5 + np.sin(x)
        seen.append(weakref.ref(noderef(y[0])[0]))
        return np.sum(y)

    gc.collect()
    gc.disable()
    try:
        dc.forward_cover(f, X)
        assert seen[0]() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("storage", STORAGES)
def test_variables_of_a_subclass_are_held_on_to(storage, short):
    class Mine(dc.TVar):
        pass

    def f(x):
        product = x[0] * x[1]
        own = Mine(*noderef(product))
        del product
        y = x
        for _ in range(6):
            y = np.cos(y) * x
        return own * own * x[2] + np.sum(y)

    found = dc.forward_cover(f, X, storage=storage)
    np.testing.assert_allclose(found.gradient, dc.gradient(f, X), rtol=1e-12)


def test_a_variable_made_from_an_id_reads_the_value_of_that_node(short):
    """The blocks of the window do not begin at the first node."""

    def f(x):
        product = x[0] * x[1]
        y = x
        for _ in range(6):
            y = np.outer(np.cos(y), np.ones(50))[:, 7] * x
        again = dc.TVar(*noderef(product))
        assert float(again.v) == float(product.v)
        first = dc.TVar(noderef(product)[0], 0)
        assert float(first.v) == X[0]
        return again * first * np.sum(y)

    found = dc.forward_cover(f, X)
    np.testing.assert_allclose(found.gradient, dc.gradient(f, X), rtol=1e-12)


def test_ids_alone_hold_on_to_nothing(short):
    def forgotten(x):
        tape, k = noderef(x[0] * x[1])
        y = x
        for _ in range(6):
            y = np.cos(y) * x
        return dc.TVar(tape, k) * y[0]

    with pytest.raises(errors.TapeError, match="Keep the variables themselves"):
        dc.forward_cover(forgotten, X)

    def values(x):
        y = x
        for _ in range(6):
            y = np.cos(y) * x
        return y[0] * noderef(y[0])[0].vals[5]

    with pytest.raises(errors.TapeError, match="keeps no values"):
        dc.forward_cover(values, X)


@pytest.mark.parametrize("window", [3, 1000])
def test_the_first_fault_is_the_one_that_is_named(window, monkeypatch):
    monkeypatch.setattr(_tape, "WINDOW", window)
    with pytest.raises(errors.DomainError, match=r"^node 3: log\(-1\.0\)"):
        dc.forward_cover(lambda x: np.log(x[0] - 2) * x[1], [1.0, 2.0])
