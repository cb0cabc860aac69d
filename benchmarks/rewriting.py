"""What `with_numpy` adds to a recording, and what an operation of a long loop costs."""

from __future__ import annotations

import sys
import time
import types
from itertools import count
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc
import derivative_covers.numpy as dnp

from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "rewriting"
SOURCE = """
def filled(x):
    y = np.zeros(3)
    y[:] = x
    return y


def f(x):
    return np.sum(filled(x) ** 2)
"""
X = np.array([1.0, 2.0, 3.0])


def _module(name: str, namespace: Any) -> Any:
    """A package of two functions that know a namespace as `np`, met by nobody yet.

    What a later recording costs grows with the functions reached in the same package.
    """
    module = sys.modules[name] = types.ModuleType(name)
    vars(module)["np"] = namespace
    exec(SOURCE, vars(module))
    return module


def _seconds(f: Any) -> float:
    start = time.perf_counter()
    dc.tape_function(f, X)
    return time.perf_counter() - start


_BARE = """
def {name}(s, o):
    c = o.__class__
    if c is Bare:
        v = s.v {sign} o.v
        put(({code}, s.i, o.i, v))
    elif c is float or c is int:
        v = s.v {sign} o
        put(({code}, s.i, o, v))
    else:
        raise TypeError
    r = Bare()
    r.i = ahead()
    r.v = v
    return r
"""


def _bare(point: list[float]) -> float:
    """Seconds an operation of the least recorder in Python that keeps the same rows."""
    rows: list[Any] = []
    names: dict[str, Any] = {"put": rows.extend, "ahead": count(len(point)).__next__}
    signs = {"__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/"}
    for code, (name, sign) in enumerate(signs.items()):
        exec(_BARE.format(name=name, sign=sign, code=code), names)
    made = {name: names[name] for name in signs}
    bare = names["Bare"] = type("Bare", (), {"__slots__": ("i", "v"), **made})
    xs = [bare() for _ in point]
    for i, (x, v) in enumerate(zip(xs, point, strict=True)):
        x.i, x.v = i, v
    start = time.perf_counter()
    _loop(xs)
    columns = np.fromiter(rows, np.float64, len(rows)).reshape(-1, 4)
    return (time.perf_counter() - start) / len(columns)


def _loop(x: Any) -> Any:
    """Forty operations in each of ten thousand turns."""
    a, b, c = x[0], x[1], x[2]
    s = a
    for _ in range(10000):
        t = a * b
        for _ in range(9):
            t = t + c
            t = t * 0.5
            t = t - a
            t = t * b
        t = t / a
        t = t * 0.25
        s = s + t
    return s


def rows(*, quick: bool) -> Iterator[Row]:
    """First and later recordings of two functions, and a loop of scalar operations."""
    dc.tape_function(dc.with_numpy(_module("benchmarks_warm", np).f), X)
    first, later = [], []
    for k in range(10 if quick else 40):
        f = dc.with_numpy(_module(f"benchmarks_user{k}", np).f)
        first.append(_seconds(f))
        later.append(min(_seconds(f) for _ in range(5)))
    extra = [(a - b) * 1e3 for a, b in zip(first, later, strict=True)]
    what = "first recording of two rewritten functions, beyond a later one"
    yield Row(ITEM, what, median(extra), "ms", 1.0, note=f"quartiles {spread(extra)}")

    rewritten = dc.with_numpy(_module("benchmarks_again", np).f)
    own = _module("benchmarks_own", dnp).f
    a, b = interleaved(
        [lambda: dc.tape_function(rewritten, X), lambda: dc.tape_function(own, X)],
        3 if quick else 9,
    )
    added = [(p - q) * 1e6 for p, q in zip(a.seconds, b.seconds, strict=True)]
    note = f"of {a.median * 1e6:.3g} us, quartiles {spread(added)}"
    what = "a later one, beyond the same functions on the namespace"
    yield Row(ITEM, what, median(added), "us", note=note)

    point = [0.3, 0.2, 0.1]
    n = dc.nnodes(dc.tape_function(_loop, point)[0])
    times, bare = [], []
    for _ in range(3 if quick else 9):
        bare.append(_bare(point) * 1e6)
        start = time.perf_counter()
        dc.tape_function(_loop, point)
        times.append((time.perf_counter() - start) / n * 1e6)
    note = f"least {min(times):.3g}, quartiles {spread(times)}"
    what = "recording, an operation of 40 in a loop of 1e4"
    yield Row(ITEM, what, median(times), "us", 0.45, n=n, note=note)
    ratios = [a / b for a, b in zip(times, bare, strict=True)]
    note = f"that takes {median(bare):.3g} us, quartiles {spread(ratios)}"
    what = "the same, over the least recorder in Python that keeps the same rows"
    yield Row(ITEM, what, median(ratios), n=n, note=note)
