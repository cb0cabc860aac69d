"""States: from what users write to nests of C-contiguous float arrays, and back."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.checkpoint.states._states import (
    canonical,
    copy,
    fingerprint,
    finite,
    flat,
    given,
    leaves,
    matched,
    mutation,
    present,
    protect,
    rebuild,
    space,
    unprotect,
    zeros_like,
)
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    ShapeError,
    StateMutationError,
)

Pair = namedtuple("Pair", "u v")


def nest():
    return {
        "u": np.arange(6.0).reshape(2, 3),
        "p": Pair(np.float64(7.0), [np.arange(3.0)[::-1], 8.0]),
        3: (np.ones((1, 2), dtype=np.float32),),
    }


# -- what becomes of what is given ------------------------------------------------------


def test_a_plain_array_is_its_own_state():
    x = np.ones((2, 3))
    assert canonical(x, "x") is x


def test_leaves_of_any_nest_become_arrays():
    found = canonical(nest(), "x")
    assert type(found["p"]) is Pair
    assert isinstance(found["p"].v, list)
    assert all(type(a) is np.ndarray for a in leaves(found))
    assert [a.shape for a in leaves(found)] == [(2, 3), (), (3,), (), (1, 2)]
    np.testing.assert_array_equal(flat(found), [0, 1, 2, 3, 4, 5, 7, 2, 1, 0, 8, 1, 1])


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (2.5, np.float64),
        (np.float64(2.5), np.float64),
        (np.float32(2.5), np.float32),
        (np.float16(2.5), np.float16),
        (np.longdouble(2.5), np.longdouble),
        (np.array(2.5, dtype=np.float32), np.float32),
        (np.array(2.5, dtype=">f8"), np.float64),
        (np.array(2.5, dtype=">f4"), np.float32),
        (np.array([[2.5]], dtype=np.longdouble), np.longdouble),
    ],
)
def test_floats_of_every_type_keep_it(x, dtype):
    found = canonical(x, "x")
    assert type(found) is np.ndarray
    assert found.dtype is np.dtype(dtype)
    assert found.shape == np.shape(x)
    assert float(found.ravel()[0]) == 2.5


@pytest.mark.parametrize(
    "make",
    [
        lambda a: np.asfortranarray(a),
        lambda a: a.T,
        lambda a: a[::2],
        lambda a: a[:, ::-1],
        lambda a: a[:2],
        lambda a: np.broadcast_to(a[0], (3, 4)),
        lambda a: a.reshape(2, -1),
        lambda a: a[0, 0].reshape(()),
    ],
)
def test_views_and_other_orders_are_copied_in_c_order(make):
    a = np.arange(16.0).reshape(4, 4)
    x = make(a)
    found = canonical(x, "x")
    np.testing.assert_array_equal(found, x)
    assert found.base is None
    assert found.flags.c_contiguous
    assert found.flags.writeable
    assert not np.shares_memory(found, a)


def test_a_buffer_behind_a_view_does_not_change_the_state():
    buffer = np.zeros(4)
    found = canonical((buffer[:2], [buffer[2:]]), "x")
    buffer[:] = 9.0
    assert flat(found).tolist() == [0.0] * 4


def test_containers_are_new():
    x = {"a": [np.ones(2)]}
    found = canonical(x, "x")
    x["a"].append(np.ones(3))
    assert space(found).size == 2
    shown = present(found)
    shown["a"][0] = None
    shown["b"] = None
    assert space(found).size == 2


def test_mappings_and_tuples_of_other_classes_become_plain():
    class Mine(tuple):
        __slots__ = ()

    found = canonical(OrderedDict(a=Mine((1.0, 2.0))), "x")
    assert type(found) is dict
    assert type(found["a"]) is tuple


def test_objects_that_numpy_reads_are_copied():
    class Held:
        def __init__(self):
            self.a = np.ones(3)

        def __array__(self, dtype=None, copy=None):
            return self.a

    held = Held()
    found = canonical(held, "x")
    held.a[:] = 5.0
    assert found.tolist() == [1.0] * 3


def test_a_view_subclass_is_read_as_an_array(tmp_path):
    x = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=(3,))
    x[:] = 2.0
    found = canonical(x, "x")
    x[:] = 5.0
    assert type(found) is np.ndarray
    assert found.tolist() == [2.0] * 3


def test_empty_leaves_beside_others_are_legal():
    found = canonical({"a": np.zeros((0, 3)), "b": 1.0, "c": ()}, "x")
    assert flat(found).tolist() == [1.0]
    assert flat(zeros_like(found)).tolist() == [0.0]
    assert space(found).size == 1
    assert matched(found, space(found), "y")["a"].shape == (0, 3)


@pytest.mark.parametrize("x", [{}, (), [], np.zeros((0, 3)), {"a": [np.zeros(0)]}])
def test_a_state_without_entries_is_refused(x):
    with pytest.raises(ShapeError, match="the output of step 4 has no entry"):
        canonical(x, "the output", 4)
    with pytest.raises(ShapeError, match="x0 has no entry"):
        given(x, "x0")


@dataclass
class Point:
    a: float = 1.0


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (None, "the output of step 4 is None.*return statement"),
        ("abc", "'abc' of type str"),
        (b"abc", "of type bytes"),
        (object(), "of type object"),
        (Point(), "dataclasses.asdict"),
        (1j, "1j"),
        (np.ones(2) * 1j, "complex128.*real and the imaginary"),
        (np.complex128(1j), "complex"),
        (1, "the number 1.*1.0 in the place of 1"),
        (True, "the number True"),
        (np.int64(3), "the number np.int64"),
        (np.arange(3), "an array of int64.*astype"),
        (np.array([True]), "an array of bool"),
        (10**400, "the number 1000"),
        (np.array([1.0, None]), "Python objects.*rewrite"),
        (np.array(["a"]), "dtype <U1"),
        (np.zeros(2, dtype="f8,f8"), "real floats"),
        (np.ma.array([1.0], mask=[True]), "MaskedArray"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "real floats"),
        ({1.5: 1.0}, "the key 1.5"),
        ({("a", "b"): 1.0}, r"the key \('a', 'b'\)"),
        ([1.0, {"a": None}], r"the output\[1\]\['a'\] of step 4 is None"),
        ({"set": {1.0}}, r"the output\['set'\] of step 4 is \{1.0\} of type set"),
    ],
)
def test_what_is_no_state_is_refused(x, words):
    with pytest.raises(InputTypeError, match=words):
        canonical(x, "the output", 4)


def test_an_object_that_cannot_be_read_is_refused():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("call detach first")  # noqa: EM101

    with pytest.raises(InputTypeError, match="call detach first"):
        canonical(Broken(), "the output", 4)


def test_a_variable_that_leaked_is_refused():
    kept = []
    dc.tape_function(lambda x: (kept.append(x), kept.append(x[0]), x.sum())[2], [1.0])
    for variable in kept:
        with pytest.raises(InputTypeError, match="another recording"):
            canonical(variable, "the output", 4)
    assert canonical(dc.TVar(2.0), "x") == 2.0


# -- points and parameters --------------------------------------------------------------


def test_integers_become_floats_in_a_point_alone():
    found = given({"a": 3, "b": np.arange(2), "c": np.float32(1.0), "d": True}, "x0")
    assert [a.dtype.name for a in leaves(found)] == ["float64"] * 2 + [
        "float32",
        "float64",
    ]
    assert flat(found).tolist() == [3.0, 0.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("x", [[1.0, 2.0], [1], [np.float64(1.0)], [True, 2]])
def test_a_list_of_numbers_is_refused_as_a_point(x):
    with pytest.raises(InputTypeError, match=r"numpy.array\(x0\).*tuple\(x0\)"):
        given(x, "x0")
    with pytest.raises(InputTypeError, match=r"x0\['a'\]\[0\] is a list of numbers"):
        given({"a": (x,)}, "x0")


def test_lists_of_arrays_are_nests():
    assert len(given([np.ones(2), 1.0], "x0")) == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_point_must_be_finite(bad):
    with pytest.raises(DomainError, match=r"x0\['a'\]\[1, 0\] is") as caught:
        given({"a": np.array([[1.0], [bad]])}, "x0")
    assert str(caught.value.values[0]) == str(bad)
    with pytest.raises(DomainError, match="x0 is"):
        given(bad, "x0")


def test_a_point_keeps_its_array():
    x = np.ones(3)
    assert given(x, "x0") is x


# -- operations -------------------------------------------------------------------------


def test_callbacks_get_numbers_as_scalars():
    found = present(canonical(nest(), "x"))
    assert type(found["p"].u) is np.float64
    assert type(found["p"].v[1]) is np.float64
    assert found["u"].shape == (2, 3)
    assert type(present(np.array(1.0, dtype=np.float32))) is np.float32


def test_rebuild_inverts_leaves():
    x = canonical(nest(), "x")
    again = rebuild(x, leaves(x))
    assert space(again) == space(x)
    assert all(a is b for a, b in zip(leaves(again), leaves(x), strict=True))


def test_copies_are_apart_and_read_only():
    x = canonical(nest(), "x")
    found = copy(x)
    for a, b in zip(leaves(found), leaves(x), strict=True):
        assert not np.shares_memory(a, b)
        assert not a.flags.writeable
        assert a.dtype == b.dtype
    assert fingerprint(found) == fingerprint(x)


def test_finite_looks_at_every_leaf():
    x = canonical(nest(), "x")
    assert finite(x)
    assert finite({"k": np.arange(3), "bits": np.ones(2, dtype=np.uint8)})
    x["p"].v[0][1] = np.inf
    assert not finite(x)
    assert not finite(np.array(np.nan))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x["u"].__setitem__((0, 0), np.nextafter(0.0, 1.0)),
        lambda x: x["u"].__setitem__((0, 0), -0.0),
        lambda x: x.update(u=x["u"].reshape(3, 2).copy()),
        lambda x: x.update(u=x["u"].astype(np.float32)),
        lambda x: x["p"].v[1].__setitem__((), 8.5),
    ],
)
def test_fingerprints_tell_states_apart(change):
    x = canonical(nest(), "x")
    before = fingerprint(x)
    assert before == fingerprint(copy(x))
    assert 0 <= before < 2**64
    change(x)
    assert fingerprint(x) != before


def test_fingerprints_ignore_padding():
    one = np.ones(2, dtype=np.longdouble)
    other = one.copy()
    padding = other.view(np.uint8).reshape(2, -1)[:, 10:]
    padding ^= 255
    np.testing.assert_array_equal(one, other)
    assert fingerprint(one) == fingerprint(other)
    assert fingerprint(one) != fingerprint(np.nextafter(one, 2))


def test_fingerprints_of_empty_and_integer_arrays():
    assert fingerprint(np.zeros((0, 2))) != fingerprint(np.zeros((2, 0)))
    assert fingerprint({"a": np.arange(3)}) != fingerprint({"a": np.arange(3.0)})


# -- spaces -----------------------------------------------------------------------------


def test_spaces_are_values():
    x = canonical(nest(), "x")
    found = space(x)
    assert found.size == 13
    assert found.nbytes == 11 * 8 + 2 * 4
    assert found == space(copy(x))
    assert hash(found) == hash(space(copy(x)))
    assert found != space(canonical({**nest(), "u": np.ones((3, 2))}, "x"))
    assert space(np.ones(2)) != space(np.ones(2, dtype=np.float32))
    assert space([np.ones(2)]) != space((np.ones(2),))
    assert found.describe() == (
        "{'u': float64 of shape (2, 3), 'p': Pair(a float64 number, [float64 of shape "
        "(3,), a float64 number]), 3: (float32 of shape (1, 2))}"
    )
    assert "(9 in all)" in space((np.ones(1),) * 9).describe()


def test_spaces_build_states_from_vectors():
    x = canonical(nest(), "x")
    found = space(x).build(flat(x))
    assert fingerprint(found) == fingerprint(x)
    assert not np.shares_memory(found["u"], x["u"])
    assert flat(space(x).zeros()).tolist() == [0.0] * 13


def test_cotangents_take_the_form_of_their_state():
    x = canonical(nest(), "x")
    ybar = {3: [np.ones((1, 2))], "p": (1, (np.arange(3), 2.0)), "u": np.ones((2, 3))}
    found = matched(ybar, space(x), "xbar", 4)
    assert space(found) == space(x)
    assert flat(found).tolist() == [1, 1, 1, 1, 1, 1, 1, 0, 1, 2, 2, 1, 1]
    a = np.ones(3)
    assert matched(a, space(np.zeros(3)), "xbar") is a
    assert matched(a, space(np.zeros(3, dtype=np.float32)), "xbar").dtype == np.float32


@pytest.mark.parametrize(
    ("xbar", "words"),
    [
        (np.ones(3), r"xbar of step 4 is float64 of shape \(3,\); \{'a': float64 of"),
        ({"a": np.ones(2)}, "is needed"),
        (
            {"a": np.ones(3), "b": 1.0},
            r"step 4\['a'\] is .*\(3,\).*shape \(2,\) is need",
        ),
        ({"a": np.ones(2), "b": [1.0]}, r"step 4\['b'\]"),
        ({"a": np.ones(2), "c": 1.0}, "is needed"),
        ({"a": np.ones((2, 1)), "b": 1.0}, r"\(2, 1\)"),
        ({"a": np.ones(2), "b": np.ones(1)}, r"shape \(1,\); a float64 number is need"),
    ],
)
def test_cotangents_of_another_form_are_refused(xbar, words):
    target = space({"a": np.ones(2), "b": np.array(1.0)})
    with pytest.raises(ShapeError, match=words):
        matched(xbar, target, "xbar", 4)


def test_a_missing_cotangent_is_refused():
    with pytest.raises(InputTypeError, match="xbar of step 4 is None"):
        matched(None, space(np.ones(2)), "xbar", 4)


# -- protection -------------------------------------------------------------------------


def test_protected_states_cannot_be_written_to():
    x = canonical(nest(), "x")
    still = np.ones(2)
    still.flags.writeable = False
    x["r"] = still
    locked = protect(x)
    for a in leaves(x):
        assert not a.ndim or not a.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        x["u"] += 1
    unprotect(locked)
    assert x["u"].flags.writeable
    assert x["p"].v[0].flags.writeable
    assert not still.flags.writeable
    assert protect(still) == []


def test_complaints_about_read_only_memory_are_recognised():
    x = np.ones(2)
    locked = protect(x)
    for write in (lambda: np.add(x, 1, out=x), lambda: x.sort(), lambda: x.fill(0.0)):
        with pytest.raises(ValueError, match="read-only") as caught:
            write()
        found = mutation(caught.value, 7)
        assert isinstance(found, StateMutationError)
        assert "step 7" in str(found)
        assert "x = x.copy()" in str(found)
    unprotect(locked)
    assert mutation(ValueError("shapes do not match"), 7) is None
    assert mutation(RuntimeError("read-only"), 7) is None
    assert mutation(StateMutationError("read-only"), 7) is None


def test_numba_wants_a_writable_array():
    import numba  # noqa: PLC0415

    @numba.njit("f8[:](f8[:])")
    def step(x):
        return x * 2

    x = np.ones(3)
    locked = protect(x)
    with pytest.raises(TypeError) as caught:
        step(x)
    unprotect(locked)
    assert isinstance(mutation(caught.value, 7), StateMutationError)


@pytest.mark.parametrize("n", [20, 8193, 30_000])
def test_finiteness_of_long_arrays(n: int) -> None:
    a = np.full(n, 1e200)  # whose squares overflow
    assert finite(a)
    assert finite(a.reshape(-1, 1))
    for bad in (np.nan, np.inf):
        for at in (0, n // 2, n - 1):
            b = np.ones(n)
            b[at] = bad
            assert not finite(b)
            assert not finite((b, np.ones(2)))
