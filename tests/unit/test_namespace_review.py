"""Programs that ask for types and print values, on the namespace and rewritten."""

from __future__ import annotations

import copy
import functools
import numbers
import pickle
import sys
import types

import numpy as np
import pytest

import derivative_covers as dc
import derivative_covers.numpy as dnp
from derivative_covers.rewrite import with_numpy
from tests._differences import agrees

X = np.array([0.6, 1.3, 0.4])
TABLE = np.linspace(1.0, 2.0, 3)
PRINTED: list[str] = []


def same(f, x=X):
    """The rewritten function has the value of the plain one, and its derivatives."""
    agrees(with_numpy(f), x)
    tape, out = dc.tape_function(f, x, numpy="rewrite")
    assert tape.vals[out] == f(np.array(x))


def by_identity(x):
    return x @ x if type(x) is np.ndarray else x.sum()


def by_equality(x):
    s = x[0] * 0.1
    if type(x) == np.ndarray and type(TABLE) is np.ndarray:  # noqa: E721
        s = s + x @ x
    if type(x[0]) is np.float64 and type(TABLE[0]) is np.float64:
        s = s * x[1]
    if type(np.zeros(2)) in (list, np.ndarray) and type(x[0] * 2.0) not in (int, str):
        s = s + x[2] ** 3
    return s


def by_table(x):
    rules = {np.ndarray: lambda v: v @ v, np.float64: lambda v: 3.0 * v, list: sum}
    parts = [x, x[1], list(x)]
    return rules[type(parts[0])](parts[0]) * sum(rules[type(p)](p) for p in parts[1:])


RULES = [by_identity, np.sin]
NAMED = {"f": by_identity}
SPACE = types.SimpleNamespace(f=by_identity)


@functools.lru_cache
def cached(n):
    return np.zeros(n)


def by_kind_of_container(x):
    kinds = type(RULES), type(NAMED), type(SPACE), type({by_identity}), type(np.sin)
    plain = kinds == (list, dict, types.SimpleNamespace, set, np.ufunc)
    plain = plain and type(cached) is type(functools.lru_cache(len))
    plain = plain and type(by_identity) is types.FunctionType
    return RULES[0](x) if plain else x[0]


class Shape:
    made = 0

    def __init__(self, size):
        self.size = size
        type(self).made += 1

    def __eq__(self, other):
        return type(self) is type(other) and self.size == other.size

    __hash__ = None

    def grown(self, by):
        return type(self)(np.full(2, self.size) * by)


def by_class(x):
    shape = Shape(1.0)
    both = shape == Shape(1.0) and type(shape) is Shape and type(shape).__name__
    return np.sum(shape.grown(x[0]).size) * x[1] if both == "Shape" else x[2]


def made_by_type(x):
    made = type("Made", (), {"weight": 2.0})
    other = type("Other", (made,), {})
    return made.weight * (x @ x) * isinstance(other(), made)


@pytest.mark.parametrize(
    "f",
    [by_identity, by_equality, by_table, by_kind_of_container, by_class, made_by_type],
)
def test_the_type_of_a_recorded_value_is_the_type_that_it_stands_for(f):
    same(f)


def test_type_in_single_precision():
    def f(x):
        return x @ x if type(x[0]) is np.float32 else x[0]

    x = X.astype(np.float32)
    tape, out = dc.tape_function(with_numpy(f), x)
    assert tape.vals[out] == f(x)
    assert dc.gradient(tape, out) == pytest.approx(2 * x)


def test_a_global_name_type_of_the_module_goes_first():
    scope = {"__name__": "its_own", "np": np, "type": lambda v: v * 3.0}
    exec("def f(x):\n    return type(x[0]) * x[1]", scope)
    agrees(with_numpy(scope["f"]), X)
    del scope["type"]
    exec("def g(x):\n    return x[1] if type(x) is np.ndarray else x[0]", scope)
    assert dc.gradient(with_numpy(scope["g"]), X).tolist() == [0.0, 1.0, 0.0]


def test_names_called_and_passed_on_are_told_apart():
    def f(x):
        kinds = (float, type)
        assert isinstance(kinds[0], type)
        assert isinstance(2.0, kinds[0])
        y = np.zeros(3, dtype=float)
        y[:] = [float(v) for v in x]
        return y @ y if type(y) is type(x) else x[0]

    same(f)


@pytest.mark.parametrize("count", [100, 126, 127, 128, 300])
def test_functions_with_many_names(count):
    reads = "\n".join(f"    s += N{k}" for k in range(count))
    scope = {"__name__": "its_own", "np": np} | {f"N{k}": 0.5 for k in range(count)}
    body = "    s = x[0] * 0.0\n{0}\n    s = s + float(x[1]) * x[2]\n    return s"
    exec("def f(x):\n" + body.format(reads), scope)
    branch = "    return s * x[0] if type(x) is np.ndarray else s"
    exec("def g(x):\n    s = x[0] * 0.0\n" + reads + "\n" + branch, scope)
    agrees(with_numpy(scope["f"]), X)
    agrees(with_numpy(scope["g"]), X)


def prints(x):
    PRINTED.append("%.3f and %s of %d%%" % (x[0], x[1], 7))  # noqa: UP031
    PRINTED.append("%8.2e" % x[2])  # noqa: UP031
    PRINTED.append("%(first).2f" % {"first": x[0]})  # noqa: UP031
    PRINTED.append("%.4f" % float(x @ x))  # noqa: UP031
    text = "%g %%"
    text %= x[1]
    PRINTED.append(text)
    return (x @ x) * (7 % 4)


def test_values_are_printed_as_they_are():
    PRINTED.clear()
    prints(X)
    plain = list(PRINTED)
    PRINTED.clear()
    tape, out = dc.tape_function(with_numpy(prints), X)
    assert plain == PRINTED
    assert tape.vals[out] == 3 * (X @ X)
    agrees(with_numpy(prints), X)


def test_texts_of_rewritten_code_are_texts():
    kept = []

    def f(x):
        text = "%d" if 5 % 2 else ""
        kept.append(text)
        assert type(text) is str
        assert {"%d": 1}[text] == 1
        return x @ x

    same(f)
    assert all(type(pickle.loads(pickle.dumps(text))) is str for text in kept)
    assert all(copy.deepcopy(text) == "%d" for text in kept)


def test_the_namespace_types_equal_those_of_recorded_values():
    def f(x):
        assert type(x) == dnp.ndarray  # noqa: E721
        assert type(TABLE) == dnp.ndarray  # noqa: E721
        assert type(x[0]) == dnp.float64  # noqa: E721
        assert type(x[0]) != dnp.float32  # noqa: E721
        assert type(x) in (list, dnp.ndarray)
        assert type(x) != dnp.float64  # noqa: E721
        return x @ x

    agrees(f, X)
    assert hash(dnp.ndarray) == hash(np.ndarray)
    assert {dnp.ndarray: 1}[np.ndarray] == 1
    assert list not in {dnp.ndarray: 1}


def test_recorded_numbers_are_real_numbers():
    def f(x):
        assert isinstance(x[0], numbers.Real)
        assert isinstance(x[0], numbers.Number)
        assert not isinstance(x[0], numbers.Integral)
        assert not isinstance(x, numbers.Number)
        return x @ x

    agrees(f, X)


def test_aliases_of_the_namespace_are_one_function():
    pairs = [
        (a, np.__dict__[a].__name__)
        for a in np.__all__
        if isinstance(np.__dict__[a], (np.ufunc, type(np.sum)))
    ]
    aliases = [
        (a, b) for a, b in pairs if a != b and getattr(np, b, None) is np.__dict__[a]
    ]
    assert ("abs", "absolute") in aliases
    for a, b in aliases:
        assert getattr(dnp, a) is getattr(dnp, b)
        assert pickle.loads(pickle.dumps(getattr(dnp, a))) is getattr(dnp, b)


def test_joins_under_another_name_can_be_filled():
    def f(x):
        y = dnp.concat([dnp.zeros(1), dnp.ones(2)])
        y[0] = x[0]
        return y @ x

    agrees(f, X)


def test_every_name_of_numpy_is_reachable():
    assert [n for n in dir(np) if not hasattr(dnp, n)] == []
    assert sys.modules["derivative_covers.numpy"] is dnp


class Fit:
    def __init__(self):
        self.defaults = np.array([1.0, 2.0, 3.0, 4.0])
        self.free = np.array([True, False, True, True])

    def full(self, x):
        p = self.defaults.copy()
        p[self.free] = x
        return p

    def __call__(self, x):
        return np.sum((self.full(x) - 0.5) ** 2)


def copies(x):
    a = TABLE.copy()
    b = TABLE.reshape(3, 1).T.copy()[0].copy()
    a[1] = x[0]
    b += x
    c, d, e = {"k": x}.copy(), [x].copy(), x.copy()
    e[0] = x[1] ** 2
    n = np.arange(3).copy()
    n[0] = 2
    f = np.asfortranarray(np.outer(TABLE, TABLE)).copy(order="F")
    return a @ b * (c["k"] @ d[0]) + e @ x[n] + f[0, 1] * x[0]


@pytest.mark.parametrize("f", [Fit(), copies])
def test_copies_of_plain_arrays_take_recorded_values(f):
    before = TABLE.copy()
    same(f)
    assert np.array_equal(before, TABLE)


def test_copies_in_every_place_of_a_program():
    def f(x):
        try:
            with np.errstate(all="ignore"):
                parts = [TABLE.copy() for _ in range(2)]
        finally:
            last = TABLE.copy()
        for part in parts:
            part[:2] = x[:2]
        while last[0] == 1.0:
            last = last.copy()
            last[0] = x[2]
        return sum(p @ p for p in parts) + (last.copy() if x[0] > 0 else x) @ x

    same(f)


@pytest.mark.parametrize("count", [100, 127, 128, 255, 256, 300])
def test_copies_in_functions_with_many_names(count):
    reads = "\n".join(f"    s += N{k}" for k in range(count))
    scope = {"__name__": "its_own", "np": np} | {f"N{k}": 0.5 for k in range(count)}
    scope["T"] = TABLE
    exec(
        f"def f(x):\n    s = x[0] * 0.0\n{reads}\n    a = T.copy()\n"
        "    a[0] = x[1]\n    b = a.copy()\n    b[1] = x[0]\n    return a @ b * s",
        scope,
    )
    agrees(with_numpy(scope["f"]), X)


def test_what_cannot_be_copied_says_so():
    def f(x):
        return (3).copy() * x[0]

    with pytest.raises(AttributeError, match="'int' object has no attribute 'copy'"):
        dc.gradient(with_numpy(f), X)


def test_copies_outside_of_a_recording_are_plain():
    kept = []

    def f(x):
        kept.append(TABLE.copy())
        return x @ x

    with_numpy(f)(X)
    assert type(kept[0]) is np.ndarray
