"""Elementals of complex operands: derivatives by mpmath, cuts where NumPy jumps."""

from __future__ import annotations

from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.elementals import by_name
from derivative_covers.errors import DomainError
from tests._own import OWN

DIGITS = 90

EXACT: dict[str, Any] = {
    "exp": mpmath.exp,
    "exp2": lambda z: mpmath.power(2, z),
    "expm1": lambda z: mpmath.exp(z) - 1,
    "log": mpmath.log,
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "log1p": lambda z: mpmath.log(1 + z),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "arcsin": mpmath.asin,
    "arccos": mpmath.acos,
    "arctan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "arcsinh": mpmath.asinh,
    "arccosh": mpmath.acosh,
    "arctanh": mpmath.atanh,
    "square": lambda z: z * z,
    "reciprocal": lambda z: 1 / z,
    "sqrt": mpmath.sqrt,
    "sinc": lambda z: mpmath.sinc(mpmath.pi * z),
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "erfi": mpmath.erfi,
    "ndtr": lambda z: mpmath.erfc(-z / mpmath.sqrt(2)) / 2,
    "negative": lambda z: -z,
    "positive": lambda z: z,
}
AXES = (-3.0, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 3.0)
ENTIRE = {"exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh", "square", "sinc"}


def points(name: str) -> Any:
    """Generic points, points near the axes on either side, large and small ones."""
    rng = np.random.default_rng(sum(map(ord, name)))
    z = rng.normal(size=24) * 2 + 1j * rng.normal(size=24) * 2
    side = rng.choice([-1, 1], 12) * 1e-3
    near = np.concatenate([rng.normal(size=6) * 2 + 1j * side[:6],
                           side[6:] + 1j * rng.normal(size=6) * 2])  # fmt: skip
    size = 10.0 ** np.array([-12, -6, -3, 1, 1])
    far = size * np.exp(2j * np.pi * rng.random(5))
    if name not in ENTIRE | {"erf", "erfc", "erfi", "ndtr"}:
        far = np.append(far, 1e9 * np.exp(2j * np.pi * rng.random(2)))
    if name in ("tan", "tanh"):
        far = np.append(far[:5], [200 + 3j, -400j + 1, 300 - 2j, 0.3 + 100j])
    return np.concatenate([z, near, far])


def taylor(f: Any, z: complex, digits: int = DIGITS) -> tuple[complex, complex]:
    """First and second derivative by central differences."""
    with mpmath.workdps(digits):
        at = mpmath.mpc(z)
        h = mpmath.mpf(10) ** -25 * max(abs(at), mpmath.mpf(10) ** -3)
        up, here, down = f(at + h), f(at), f(at - h)
        return complex((up - down) / (2 * h)), complex((up - 2 * here + down) / h**2)


@pytest.mark.parametrize("name", sorted(EXACT))
def test_partials_are_the_derivatives(name: str) -> None:
    rule = by_name(name).rule.of_complex
    z = points(name)
    with np.errstate(all="ignore"):
        v = np.asarray(by_name(name).value(np, z))
        d, c = (np.broadcast_to(p, z.shape) for p in rule.partials(np, z, v))
    digits = 400 if name in ("tan", "tanh") else DIGITS  # 1 - tanh(200)**2
    exact = np.array([taylor(EXACT[name], complex(x), digits) for x in z])
    usable = np.isfinite(exact[:, 0]) & (np.abs(exact[:, 0]) > 1e-290)
    assert usable.sum() > 30
    # Near a pole or a branch point, z itself is known to its rounding only.
    for got, order in ((d, 0), (c, 1)):
        want = exact[usable, order]
        scale = np.abs(want)
        if order:  # c = d' cancels where d has a critical point
            scale = scale + np.abs(exact[usable, 0]) / (1 + np.abs(z[usable]))
        off = np.abs(got[usable] - want) / scale
        assert off.max() < 2e-13, (name, order, z[usable][np.argmax(off)], off.max())


def test_every_holomorphic_elemental_is_tested() -> None:
    tested = {*EXACT, "add", "subtract", "multiply", "divide", "power", "float_power"}
    own = {e.name for e in OWN if e.holomorphic}
    assert own - tested <= {"copy", "detach"}
    for name in ("absolute", "sign", "maximum", "hypot", "arctan2", "cbrt", "norm"):
        assert not by_name(name).holomorphic


def jumps(f: Any, z: complex) -> bool:
    """Whether a function is not holomorphic at a point: its negative moments differ."""
    w = np.exp(2j * np.pi * (np.arange(8) + 0.5) / 8)
    with np.errstate(all="ignore"):
        v = np.asarray(f(z + 1e-5 * w))
    if not np.isfinite(v).all():
        return True
    size = np.abs(v - v.mean()).max() + 1e-12
    return any(abs(np.mean(v * w**k)) > 1e-3 * size for k in (1, 2, 3))


CUT = [n for n in EXACT if by_name(n).rule.of_complex.domain is not None]


@pytest.mark.parametrize("name", sorted(CUT))
def test_the_domain_ends_at_the_cuts_of_numpy(name: str) -> None:
    op = by_name(name)
    domain = op.rule.of_complex.domain
    value = partial(op.value, np)
    for t in AXES:
        for z in (complex(t, 0.0), complex(t, -0.0), complex(0.0, t), complex(-0.0, t)):
            inside = bool(domain(np, np.complex128(z)))
            assert inside is not jumps(value, z), (name, z)


@pytest.mark.parametrize("y", [3, 4, 5, -1, -3, 0, 1, 0.5, -1.5, 2.5, 7.5, 0.3 - 0.7j])
def test_powers_of_constant_exponent(y: Any) -> None:
    x = points("power")[:36]
    rule = by_name("power").rule_first().of_complex
    e = np.complex128(y)
    with np.errstate(all="ignore"):
        d, c = rule.partials(np, x, e, np.power(x, e))
    exact = np.array([taylor(lambda z: mpmath.power(z, y), complex(q)) for q in x])
    np.testing.assert_allclose(np.broadcast_to(d, x.shape), exact[:, 0], rtol=2e-13)
    np.testing.assert_allclose(
        np.broadcast_to(c, x.shape), exact[:, 1], rtol=2e-13, atol=1e-25
    )


def test_powers_of_recorded_exponent_and_quotients() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 20)) + 1j * rng.normal(size=(2, 20))

    def mixed(f: Any, a: complex, b: complex) -> complex:
        with mpmath.workdps(DIGITS):
            h = mpmath.mpf(10) ** -20
            a, b = mpmath.mpc(a), mpmath.mpc(b)
            found = (
                f(a + h, b + h) - f(a + h, b - h) - f(a - h, b + h) + f(a - h, b - h)
            )
            return complex(found / (4 * h * h))

    for name, f in (("power", mpmath.power), ("divide", lambda a, b: a / b)):
        op = by_name(name)
        parts = op.rule.of_complex.partials(np, x, y, op.value(np, x, y))
        for k in range(x.size):
            a, b = complex(x[k]), complex(y[k])
            d1, c11 = taylor(lambda z, b=b, f=f: f(z, mpmath.mpc(b)), a)
            d2, c22 = taylor(lambda z, a=a, f=f: f(mpmath.mpc(a), z), b)
            want = (d1, d2, c11, mixed(f, a, b), c22)
            got = [complex(np.broadcast_to(p, x.shape)[k]) for p in parts]
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)


POWER_ENDS = [
    (lambda x: x[0] ** 0.5, -1.0, False),
    (lambda x: x[0] ** 2.5, complex(-1.0, -0.0), False),
    (lambda x: x[0] ** 3, -1.0, True),
    (lambda x: x[0] ** -3, -1.0, True),
    (lambda x: x[0] ** -3, 0.0, False),
    (lambda x: x[0] ** 3, 0.0, True),
    (lambda x: x[0] ** 1j, 0.0, False),
    (lambda x: x[0] ** 1j, -2.0, False),
    (lambda x: (-2.0) ** x[0], -2.0, True),
    (lambda x: 1j ** x[0], 0.0, True),
    (lambda x: x[0] ** x[0], -2.0, False),
    (lambda x: x[0] ** x[0], 2j, True),
    (lambda x: 1 / x[0], 0.0, False),
    (lambda x: x[0] / x[0], 0.0, False),
]


@pytest.mark.parametrize(("f", "at", "fine"), POWER_ENDS)
def test_ends_of_powers_and_quotients(f: Any, at: complex, fine: bool) -> None:
    tape_at = np.array([at, 1.0], dtype=complex)
    if fine:
        assert np.isfinite(dc.gradient(f, tape_at)).all()
        return
    with pytest.raises(DomainError):
        dc.gradient(f, tape_at)


def test_a_cut_counts_only_where_the_output_depends_on_it() -> None:
    at = np.array([-1.0, 2.0], dtype=complex)
    with pytest.raises(DomainError, match="holomorphic"):
        dc.gradient(lambda x: np.log(x[0]) * x[1], at)
    grad = dc.gradient(lambda x: 0.0 * np.log(x[0]) + x[1], at)
    np.testing.assert_array_equal(grad, [0, 1])
    grad = dc.gradient(lambda x: np.sum(np.where([False, True], np.log(x), x)), at)
    np.testing.assert_array_equal(grad, [1, 0.5])


def test_partials_in_single_precision() -> None:
    for name in sorted(EXACT):
        op, z = by_name(name), points(name)[:36].astype(np.complex64)
        with np.errstate(all="ignore"):
            for x in (z, z[0]):
                v = op.value(np, x)
                found = op.rule.of_complex.partials(np, x, v)
                assert v.dtype == np.complex64
                assert all(isinstance(p, float) or p.dtype == v.dtype for p in found)
            wide = z.astype(np.complex128)
            exact = op.rule.of_complex.partials(np, wide, op.value(np, wide))
            for p, q in zip(
                op.rule.of_complex.partials(np, z, op.value(np, z)), exact, strict=True
            ):
                p, q = np.broadcast_to(p, z.shape), np.broadcast_to(q, z.shape)
                size = np.abs(q) + np.abs(np.broadcast_to(exact[0], z.shape)) / (
                    1 + abs(z)
                )
                off = np.abs(p - q)[size < 1e30] / size[size < 1e30]
                assert off.max() < 1e-3, (name, off.max())
