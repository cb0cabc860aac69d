"""`with_numpy` in several threads, and what it keeps alive."""

from __future__ import annotations

import functools
import gc
import threading
import time
import weakref

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.rewrite import with_numpy
from tests.unit._rewrite_programs import helpers, objects, programs, state

X = np.array([0.6, 1.3, 0.4])


def value(f, x=X):
    tape, out = dc.tape_function(f, x)
    return float(tape.vals[out])


def collected(refs, living=0):
    """Whether all but so many of the objects can be collected.

    ``gc.collect`` does nothing while another thread collects, such as one that talks to
    the process that distributes the tests. So it is called until it has worked.
    """
    deadline = time.monotonic() + 20.0
    while sum(r() is not None for r in refs) > living:
        if time.monotonic() > deadline:
            return False
        gc.collect()
    return True


@pytest.mark.parametrize("f", [objects.model, programs.cached_helper, state.counts])
def test_eight_threads(f):
    g, plain = with_numpy(f), float(f(X))
    tape, out = dc.tape_function(g, X)
    expected = dc.gradient(tape, out)
    wrong = []
    barrier = threading.Barrier(8)

    def work():
        barrier.wait()
        for _ in range(100):
            try:
                tape, out = dc.tape_function(g, X)
                right = float(tape.vals[out]) == plain
                if not right or not np.array_equal(dc.gradient(tape, out), expected):
                    wrong.append(float(tape.vals[out]))
                if float(f(X)) != plain:
                    wrong.append("plain")
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_threads_rewrite_at_the_same_time():
    results = []

    def work(f, barrier):
        barrier.wait()
        results.append(value(with_numpy(f)))

    for k in range(100):
        scope = {"__name__": f"made_{k}", "np": np}
        exec(
            "class M:\n    def v(self, x):\n        return np.zeros(1)[0] + h(x)\n"
            "def h(x):\n    return np.ones(1)[0] * x[0]\nm = M()\n"
            "def f(x):\n    return m.v(x) * h(x)\n",
            scope,
        )
        barrier = threading.Barrier(8)
        threads = [
            threading.Thread(target=work, args=(scope["f"], barrier)) for _ in range(8)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert results == [X[0] * X[0]] * 800


def test_nothing_is_kept_alive():
    def make():
        data = np.zeros(1000)
        steps = [helpers.fill]

        class Local:
            def value(self, x):
                return steps[0](x).sum() + data[0]

            @property
            def width(self):
                return data

            @staticmethod
            def fixed():
                return data

        local = Local()

        def inner(x, n=2):
            return local.value(x) if n == 0 else inner(x, n - 1)

        return inner, local, Local

    refs = []
    for _ in range(5):
        made = make()
        assert value(with_numpy(made[0])) == X.sum()
        refs += map(weakref.ref, made)
    del made
    assert collected(refs)


def test_values_kept_from_a_recording_serve_the_next():
    class Lazy:
        weights = None

        @functools.cached_property
        def grid(self):
            return np.linspace(0.5, 1.0, 3)

        def value(self, x):
            if self.weights is None:
                self.weights = np.ones(3)
            return (helpers.fill(x) * self.weights * self.grid).sum()

    lazy = Lazy()
    f = with_numpy(lazy.value)
    first = value(f)
    assert value(f) == first == lazy.value(X) == Lazy().value(X)


def test_few_objects_without_weak_references_are_kept():
    class Data:
        """Counts how many live."""

    def f(x, steps, slotted):
        return steps[0](x).sum() * slotted.apply(x)

    g = with_numpy(f)

    def once():
        data, slotted = Data(), objects.Slotted(2.0)
        value(lambda x: g(x, [helpers.fill, data], slotted))
        return weakref.ref(data)

    refs = [once() for _ in range(600)]
    assert collected(refs, living=299)
