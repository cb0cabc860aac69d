"""The check of elementals: built-in ones pass, each kind of fault is caught."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from derivative_covers import elementals as core
from derivative_covers import errors
from derivative_covers.extend import Elemental, Rule, by_name
from derivative_covers.testing import ConformanceError, check_elemental

MODULES = (
    core._arithmetic,
    core._power,
    core._exponential,
    core._trigonometric,
    core._hyperbolic,
    core._piecewise,
)
# These two have derivatives other than their value's on purpose.
ON_PURPOSE = ("tie", "detach")
BUILT_IN = [e for m in MODULES for e in m.ELEMENTALS if e.name not in ON_PURPOSE]


@pytest.mark.parametrize("op", BUILT_IN, ids=lambda op: op.name)
def test_built_in_elementals_pass(op):
    points = None
    if op.name in {"float_power", "power"}:
        points = [(0.7, 1.3), (2.5, -0.4), (1.5, 2.0), (0.2, 3.1)]
    check_elemental(op, points)


@pytest.mark.parametrize(
    ("name", "reference", "points"),
    [
        ("tanh", mpmath.tanh, None),
        ("log1p", mpmath.log1p, [1e-12, 0.5, 7.0]),
        ("arcsinh", mpmath.asinh, None),
        ("arctan2", mpmath.atan2, [(0.3, -0.7), (-2.0, 0.5)]),
        ("hypot", mpmath.hypot, [(3e-5, 4.0), (-2.0, 0.5)]),
        ("power", mpmath.power, [(0.3, -0.7), (2.0, 0.5)]),
    ],
)
def test_built_in_elementals_agree_with_fifty_digits(name, reference, points):
    check_elemental(by_name(name), points, reference=reference, rtol=1e-11)


def made(value=None, partials=None, arity=1, ufuncs=(), first=None, **rule):
    """sin, or x * exp(y), with one part replaced."""
    if arity == 1:
        return Elemental(
            "wrong",
            1,
            value or (lambda xp, x: xp.sin(x)),
            Rule(partials or (lambda xp, x, v: (xp.cos(x), -v)), **rule),
            "",
            ufuncs,
        )

    def two(xp, x, y, v):
        e = xp.exp(y)
        return e, v, 0.0, e, v

    return Elemental(
        "wrong",
        2,
        value or (lambda xp, x, y: x * xp.exp(y)),
        Rule(partials or two, **rule),
        "",
        ufuncs,
        first=first,
    )


def test_the_unbroken_ones_pass():
    check_elemental(made())
    check_elemental(made(arity=2))
    check_elemental(made(), reference=mpmath.sin)
    check_elemental(made(arity=2), reference=lambda x, y: x * mpmath.exp(y))


def narrowing(xp, x, v):
    return np.float64(1.0) * xp.asarray(xp.cos(x), dtype=np.float64), -v


def block(**entries):
    """Partials of x * exp(y) with entries replaced."""

    def partials(xp, x, y, v):
        e = xp.exp(y)
        right = {"d1": e, "d2": v, "c11": 0.0, "c12": e, "c22": v}
        return tuple({**right, **{k: f(v) for k, f in entries.items()}}.values())

    return partials


FAULTS = {
    "sign of d": (
        made(partials=lambda xp, x, v: (-xp.cos(x), -v)),
        r"d at .* differences",
    ),
    "factor of c": (
        made(partials=lambda xp, x, v: (xp.cos(x), -2 * v)),
        r"c at .* diff",
    ),
    "d1": (made(arity=2, partials=block(d1=lambda v: v)), r"d1 at"),
    "d2": (made(arity=2, partials=block(d2=lambda v: 2 * v)), r"d2 at"),
    "c11": (made(arity=2, partials=block(c11=lambda v: v)), r"c11 at"),
    "c12": (made(arity=2, partials=block(c12=lambda v: 1.0)), r"c12 at"),
    "c22": (made(arity=2, partials=block(c22=lambda v: -v)), r"c22 at"),
    "value not finite": (
        made(lambda xp, x: xp.sqrt(x), lambda xp, x, v: (0.5 / v, -0.25 / v**3)),
        r"value at \(-0\.001\) is nan, inside the domain",
    ),
    "partials not finite": (
        made(
            lambda xp, x: xp.abs(x) * x,
            lambda xp, x, v: (
                2 * v / x,
                2.0 * xp.sign(x) * xp.where(x > 5, xp.inf, 1.0),
            ),
        ),
        r"c at \(6\.3\) is inf",
    ),
    "value of arrays and scalars": (
        made(lambda xp, x: xp.sin(x) if np.ndim(x) else xp.sin(x) * (1 + 1e-15)),
        r"value at .* of scalars and .* in an array",
    ),
    "partials of arrays and scalars": (
        made(
            partials=lambda xp, x, v: (xp.cos(x) * (1 + 1e-15 * (np.ndim(x) == 0)), -v)
        ),
        r"d at .* of scalars and .* in an array",
    ),
    "float32 value": (
        made(lambda xp, x: xp.sin(xp.asarray(x, dtype=np.float64))),
        r"value of float32 has type float64",
    ),
    "float32 partials": (
        made(partials=narrowing),
        r"entry 0 of the rule has type float64",
    ),
    "shape of partials": (
        made(
            partials=lambda xp, x, v: (xp.cos(x)[:2] if np.ndim(x) else xp.cos(x), -v)
        ),
        r"entry 0 of the rule has shape \(2,\)",
    ),
    "number of partials": (
        made(partials=lambda xp, x, v: (xp.cos(x),)),
        r"the rule gives 1 entries; 2 are needed",
    ),
    "domain gives numbers": (
        made(domain=lambda xp, x: 1.0 + 0.0 * x),
        r"domain of the rule gives float64; booleans",
    ),
    "domain of another shape": (
        made(domain=lambda xp, x: np.ones((2, 3), dtype=bool)),
        r"domain of the rule gives shape \(2, 3\)",
    ),
    "domain of arrays and scalars": (
        made(domain=lambda xp, x: (x > 0) if np.ndim(x) else np.bool_(True)),
        r"domain of the rule differs on arrays and scalars",
    ),
    "kink gives numbers": (
        made(kink=lambda xp, x: 0.0 * x),
        r"kink of the rule gives float64; booleans",
    ),
    "domain raises": (
        made(domain=lambda xp, x: xp.no_such_function(x)),
        r"domain of the rule raises AttributeError",
    ),
    "rule raises": (
        made(partials=lambda xp, x, v: (xp.cos(x) if x > 0 else 1.0, -v)),
        r"the rule raises ValueError",
    ),
    "rule of one operand": (
        made(arity=2, first=Rule(lambda xp, x, y, v: (2 * xp.exp(y), 0.0))),
        r"d of the rule with operand 1 constant .* full rule",
    ),
    "constant as one number": (
        made(
            arity=2,
            first=Rule(
                lambda xp, x, y, v: (
                    xp.exp(y) * (1.0 if np.ndim(y) == np.ndim(x) else 2),
                    0.0,
                )
            ),
        ),
        r"d of .* differs where the constant is one number",
    ),
    "ufunc": (made(ufuncs=("cos",)), r"but the ufunc cos gives"),
    "no rule at all": (
        made(partials=lambda xp, x, v: by_name("no such")),
        r"no rule gives any partials",
    ),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_each_kind_of_fault_is_caught(kind):
    op, message = FAULTS[kind]
    with pytest.raises(ConformanceError, match=message):
        check_elemental(op)


def test_a_wrong_value_is_caught_by_the_reference():
    op = made(lambda xp, x: xp.sin(x) + 1e-6, lambda xp, x, v: (xp.cos(x), -xp.sin(x)))
    check_elemental(op)  # its derivatives are right
    with pytest.raises(ConformanceError, match=r"value at .* but the reference give"):
        check_elemental(op, reference=mpmath.sin)


def test_a_small_error_is_caught_by_the_reference():
    op = made(partials=lambda xp, x, v: (xp.cos(x), -v * (1 + 1e-8)))
    check_elemental(op)
    with pytest.raises(ConformanceError, match="c at"):
        check_elemental(op, reference=mpmath.sin)


def test_all_faults_are_listed():
    op = made(
        lambda xp, x: xp.sin(xp.asarray(x, dtype=np.float64)),
        lambda xp, x, v: (-xp.cos(x), v),
        domain=lambda xp, x: 1.0 + 0.0 * x,
    )
    with pytest.raises(AssertionError) as caught:
        check_elemental(op)
    assert isinstance(caught.value, errors.DerivativeError)
    assert len(caught.value.faults) >= 4
    for k, fault in enumerate(caught.value.faults, start=1):
        assert f"{k}. {fault}" in str(caught.value)


def test_arguments_are_checked():
    with pytest.raises(errors.InputTypeError, match="got a function"):
        check_elemental(lambda x: x)
    with pytest.raises(errors.ShapeError, match=r"\(k, 2\) is needed"):
        check_elemental(by_name("hypot"), [1.0, 2.0])
    with pytest.raises(errors.ShapeError, match=r"\(k,\) is needed"):
        check_elemental(by_name("exp"), [])
    with pytest.raises(errors.ShapeError, match="no point lies in the domain"):
        check_elemental(by_name("log"), [-1.0, 0.0])
