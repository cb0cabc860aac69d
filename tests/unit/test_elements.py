"""The element-type contract for plain numbers, and conversion of what callers give."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from derivative_covers.elements import (
    as_element,
    boundtype,
    decided_one,
    decided_sign,
    decided_zero,
    element_type,
    magnitude,
    magtype,
    separation,
)
from derivative_covers.errors import InputTypeError, ShapeError

FLOATS = (np.float64, np.float32)


@dataclass(frozen=True)
class Range:
    """A set of numbers, as a stranger to the package would register one."""

    lo: float
    hi: float


@magnitude.register(Range)
def _(x):
    return max(abs(x.lo), abs(x.hi))


@magtype.register(Range)
def _(T):
    return np.float64


@separation.register(Range)
def _(x, y):
    a = x if isinstance(x, Range) else Range(x, x)
    b = y if isinstance(y, Range) else Range(y, y)
    return max(a.lo - b.hi, b.lo - a.hi, 0.0)


@pytest.mark.parametrize("T", FLOATS)
def test_magnitude_is_the_absolute_value_in_the_same_type(T):
    assert magnitude(T(-2.5)) == T(2.5)
    assert type(magnitude(T(-2.5))) is T
    array = magnitude(np.array([[-1.0, 2.0], [np.inf, -0.0]], dtype=T))
    assert array.dtype == T
    np.testing.assert_array_equal(array, [[1, 2], [np.inf, 0]])
    assert not np.signbit(array[1, 1])


@pytest.mark.parametrize("name", ["dtype", "type", "string"])
@pytest.mark.parametrize("T", FLOATS)
def test_magtype_and_boundtype_of_a_point_type_are_itself(T, name):
    given = {"dtype": np.dtype(T), "type": T, "string": np.dtype(T).name}[name]
    assert magtype(given) is T
    assert boundtype(given) is T


def test_python_floats_count_as_float64():
    assert magtype(float) is np.float64
    assert boundtype(float) is np.float64


@pytest.mark.parametrize(
    ("x", "sign"),
    [(3.0, 1), (-1e-320, -1), (0.0, 0), (-0.0, 0), (np.nan, 0), (np.inf, 1), (-2, -1)],
)
@pytest.mark.parametrize("T", [float, *FLOATS])
def test_decided_sign_is_zero_where_nothing_is_decided(x, sign, T):
    if T is np.float32 and abs(x) < 1e-300:
        sign = 0
    got = decided_sign(T(x))
    assert got == sign
    assert type(got) is int


def test_decided_one_and_zero():
    for c in (1, 1.0, np.float32(1), np.int64(1), True):
        assert decided_one(c) is True
        assert decided_zero(c) is False
    for c in (0, 0.0, -0.0, np.float32(0)):
        assert decided_zero(c) is True
        assert decided_one(c) is False
    for c in (np.nan, np.nextafter(1.0, 2.0), 5e-324):
        assert not decided_one(c)
        assert not decided_zero(c)


def test_separation_of_numbers_and_arrays():
    assert separation(np.float32(1), np.float32(-2)) == 3
    assert type(separation(np.float32(1), np.float32(-2))) is np.float32
    np.testing.assert_array_equal(separation(np.array([1.0, 2.0]), 2.0), [1, 0])
    np.testing.assert_array_equal(separation(2.0, np.array([1.0, 2.0])), [1, 0])


def test_a_registered_type_takes_part_alone_and_in_object_arrays():
    x = Range(-3.0, 1.0)
    assert magnitude(x) == 3.0
    assert magtype(Range) is np.float64
    assert boundtype(Range) is np.float64
    assert separation(x, Range(2.0, 4.0)) == 1.0
    assert separation(5.0, x) == separation(x, 5.0) == 4.0
    boxes = np.array([x, Range(0.0, 7.0)], dtype=object)
    assert list(magnitude(boxes)) == [3.0, 7.0]
    assert list(separation(boxes, 8.0)) == [7.0, 1.0]


@pytest.mark.parametrize("x", ["1", None, np.longdouble(1), np.float16(1)])
def test_unregistered_values_are_refused_by_name(x):
    for function in (magnitude, decided_sign, decided_one, decided_zero):
        with pytest.raises(InputTypeError, match=type(x).__name__):
            function(x)
    with pytest.raises(InputTypeError, match=r"separation\.register"):
        separation(x, x)


def test_unregistered_types_are_refused():
    for T in (np.clongdouble, np.float16, "int64", str):
        with pytest.raises(InputTypeError, match="magtype"):
            magtype(T)
        with pytest.raises(InputTypeError, match="magtype"):
            boundtype(T)
    with pytest.raises(InputTypeError, match="not an element type"):
        magtype("no such dtype")
    with pytest.raises(InputTypeError, match="longdouble"):
        magnitude(np.array([1j], dtype=np.clongdouble))


@pytest.mark.parametrize(
    ("x0", "name"),
    [
        ([1.0, 2.0], "float64"),
        (np.zeros((2, 3), np.float32), "float32"),
        (np.float32(1), "float32"),
        (1.5, "float64"),
        ([1, 2], "float64"),
        (np.uint8(3), "float64"),
        ([True, False], "float64"),
        (np.zeros(3, ">f8"), "float64"),
        ([], "float64"),
        ([1, 2j], "complex128"),
        (np.ones(2, np.complex64), "complex64"),
    ],
)
def test_element_type_follows_the_input(x0, name):
    assert element_type(x0) == np.dtype(name)
    assert element_type(x0).isnative


@pytest.mark.parametrize(
    ("x0", "came"),
    [
        (np.float16(1), "float16"),
        (np.longdouble(1), "longdouble|float128|float96|float64"),
        (np.clongdouble(1j), "clongdouble|complex256|complex192"),
        (["a"], "<U1"),
        ([None], "NoneType"),
        (np.array([1.0, "x"], dtype=object), "float"),
        (np.array(["2020-01-01"], "M8[D]"), "datetime64"),
    ],
)
def test_element_type_refuses_and_says_what_came_and_what_to_do(x0, came):
    with pytest.raises(InputTypeError, match=came) as info:
        element_type(x0)
    assert "float64 or float32" in str(info.value)
    assert isinstance(info.value, TypeError)


def test_ragged_input_is_a_shape_error():
    with pytest.raises(ShapeError, match="equally long"):
        element_type([[1.0], [1.0, 2.0]])


@pytest.mark.parametrize("T", FLOATS)
@pytest.mark.parametrize("value", [1, True, 2.5, Fraction(1, 4), np.int8(3)])
def test_as_element_converts_scalars(T, value):
    got = as_element(value, np.dtype(T))
    assert type(got) is T
    assert got == T(float(value))


def test_as_element_converts_arrays_and_keeps_those_that_fit():
    x = np.arange(3.0)
    assert as_element(x, np.float64) is x
    got = as_element([[1, 2], [3, 4]], np.float32)
    assert got.dtype == np.float32
    assert got.shape == (2, 2)
    assert np.isinf(as_element(1e300, np.float32))


def test_as_element_refuses_what_is_not_a_real_number():
    for value in (1j, "1", [None], np.array([1j])):
        with pytest.raises(InputTypeError, match="real numbers"):
            as_element(value, np.float64)
    with pytest.raises(InputTypeError, match="does not fit"):
        as_element(10**400, np.float64)
    with pytest.raises(InputTypeError, match="masked"):
        as_element(np.ma.masked_greater([1.0, 9.0], 5.0), np.float64)
