"""The special functions of SciPy: recording them, their domains, kinks and limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

import derivative_covers as dc
from derivative_covers.elementals import by_name, by_ufunc
from derivative_covers.errors import (
    DomainError,
    NondifferentiableError,
    UnsupportedOperationError,
)
from tests._own import OWN

INF, NAN = math.inf, math.nan
SPECIAL = [
    e for e in OWN if e.ufuncs and all(name.startswith("special.") for name in e.ufuncs)
]
ORDERS = ("jv", "yv", "iv", "kv", "expn")
UNARY = [e.name for e in SPECIAL if e.arity == 1]
BINARY = [e.name for e in SPECIAL if e.arity == 2 and e.name not in ORDERS]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def up(x: float) -> float:
    return float(np.nextafter(x, INF))


def down(x: float) -> float:
    return float(np.nextafter(x, -INF))


def applied(name: str) -> Any:
    """The ufunc, or one of its outputs, that an elemental answers to."""
    own, _, k = by_name(name).ufuncs[0].removeprefix("special.").partition("[")
    ufunc = getattr(special, own)
    return (lambda x: ufunc(x)[int(k[:-1])]) if k else ufunc


# Recording.


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", UNARY)
def test_scalars_arrays_and_types_agree(name: str, dtype: Any) -> None:
    f = applied(name)
    x0 = np.linspace(0.2, 0.45, 5).astype(dtype)
    w = np.arange(1.0, 6.0).astype(dtype)
    arrays = dc.tape_function(lambda x: np.sum(w * f(x)), x0)
    scalars = dc.tape_function(
        lambda x: sum(float(c) * f(t) for c, t in zip(w, x, strict=True)), x0
    )
    wide = dc.tape_function(lambda x: np.sum(w * f(x)), x0.astype(float))
    v = np.linspace(-1.0, 1.0, 5).astype(dtype)
    for sweep in (dc.gradient, lambda *t: dc.hvp(*t, v)):
        one, other = sweep(*arrays), sweep(*scalars)
        assert one.dtype == other.dtype == dtype
        tol = 1e-13 if dtype is np.float64 else 3e-5
        np.testing.assert_allclose(one, other, rtol=tol, atol=tol)
        np.testing.assert_allclose(one, sweep(*wide), rtol=tol, atol=tol)
    assert arrays[0].vals[arrays[1]] == pytest.approx(np.sum(w * f(x0)), rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_every_kind_agree(name: str, dtype: Any) -> None:
    f = applied(name)
    x0 = np.array([0.3, 0.6, 0.8, 1.3, 1.7, 1.9], dtype)

    def arrays(x: Any) -> Any:
        return np.sum(f(x[:3], x[3:])) + np.sum(f(x[:3], 1) * f(0.5, x[3:]))

    def scalars(x: Any) -> Any:
        return sum(f(x[i], x[i + 3]) + f(x[i], 1) * f(0.5, x[i + 3]) for i in range(3))

    tol = 1e-13 if dtype is np.float64 else 3e-5
    one, other = dc.hessian(arrays, x0), dc.hessian(scalars, x0)
    assert one.dtype == other.dtype == dtype
    np.testing.assert_allclose(one, other, rtol=tol, atol=tol)
    np.testing.assert_allclose(one, dc.hessian(arrays, x0 * 1.0), rtol=tol, atol=tol)
    step = 1e-6
    wide = x0.astype(float)
    for i in range(6):
        e = step * np.eye(6)[i]
        slope = (arrays(wide + e) - arrays(wide - e)) / (2 * step)
        assert dc.gradient(arrays, wide)[i] == pytest.approx(slope, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_is_a_constant(name: str) -> None:
    f = getattr(special, name)
    f1 = f(2, 1.0 + 1e-6) - f(2, 1.0 - 1e-6)
    for g in (lambda x: f(2, x[0]), lambda x: f(2.0, x).sum(), lambda x: f([2], x)[0]):
        assert dc.gradient(g, [1.0])[0] == pytest.approx(f1 / 2e-6, rel=1e-8)
    for g in (lambda x: f(x[0], 1.0), lambda x: f(x, x).sum()):
        with pytest.raises(UnsupportedOperationError, match=rf"special\.{name}.*order"):
            dc.gradient(g, [2.0])


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("digamma", "digamma"),
        ("jn", "jv"),
        ("yn", "yv"),
        ("kn", "kv"),
        ("expm1", "expm1"),
        ("log1p", "log1p"),
        ("exp2", "exp2"),
        ("cbrt", "cbrt"),
    ],
)
def test_other_names(name: str, target: str) -> None:
    ufunc = getattr(special, name)
    assert by_ufunc(f"special.{ufunc.__name__}").name == target


@pytest.mark.parametrize("name", ["sici", "fresnel"])
def test_several_outputs(name: str) -> None:
    f = getattr(special, name)
    x0 = np.array([0.4, 0.9])
    both = f(x0)
    for pick in (lambda x: x, lambda x: x[1], lambda x: x[:0], lambda x: x * 0.0 + 1.0):
        assert isinstance(dc.value(f(pick(x0))), tuple)

    def stored(x: Any) -> Any:
        a, b = np.zeros_like(x), np.zeros_like(x)
        first, second = f(x, out=(a, b))
        assert first is a
        assert second is b
        return np.sum(a * b) + np.sum(f(x, out=(None, a))[0])

    plain = dc.hessian(lambda x: np.sum(f(x)[0] * f(x)[1]) + np.sum(f(x)[0]), x0)
    np.testing.assert_array_equal(dc.hessian(stored, x0), plain)
    scalar = dc.hessian(lambda x: sum(f(t)[0] * f(t)[1] + f(t)[0] for t in x), x0)
    np.testing.assert_allclose(scalar, plain, rtol=1e-14)
    tape, out = dc.tape_function(lambda x: f(x)[1].sum() + f(x[0])[0], x0)
    assert tape.vals[out] == both[1].sum() + both[0][0]
    for target in ((np.zeros(2), None), (None, np.zeros(2))):
        with pytest.raises(UnsupportedOperationError, match="plain array"):
            dc.gradient(lambda x, t=target: f(x, out=t)[0].sum(), x0)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: special.airy(x[0])[0], "airy"),
        (lambda x: special.airy(x)[0].sum(), "airy"),
        (lambda x: special.betainc(1.0, 2.0, x[0]), "betainc"),
        (lambda x: special.betainc(1.0, 2.0, x).sum(), "betainc"),
        (lambda x: special.hyp2f1(x[0], 1.0, 2.0, 0.3), "hyp2f1"),
        (lambda x: special.struve(1.0, x[0]), "struve"),
    ],
)
def test_ufuncs_without_a_rule(f: Any, name: str) -> None:
    with pytest.raises(UnsupportedOperationError, match=rf"{name}' has no derivative"):
        dc.gradient(f, [0.3, 0.4])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: special.polygamma(1, x).sum(),
        lambda x: special.polygamma(1, x[0]),
        lambda x: special.zeta(2.0, x).sum(),
        lambda x: special.zeta(2.0, x[0]),
        lambda x: special.logsumexp(x),
        lambda x: special.logsumexp([x[0], x[1]]),
        lambda x: special.softmax(x)[0],
        lambda x: special.log_softmax(x)[0],
        lambda x: special.lambertw(x[0]),
        lambda x: special.spherical_jn(0, x[0]),
        lambda x: special.erf(np.array([x[0], x[1]])).sum(),
    ],
)
def test_functions_that_are_no_ufuncs_never_drop_a_derivative(f: Any) -> None:
    with pytest.raises(TypeError):
        dc.gradient(f, [0.3, 0.4])


def test_functions_made_of_supported_ones() -> None:
    x0 = np.array([0.3, -0.4])
    np.testing.assert_allclose(
        dc.gradient(lambda x: special.softplus(x).sum(), x0), special.expit(x0)
    )


# Namespaces.


def test_a_namespace_without_special_functions_is_named() -> None:
    xp = ModuleType("cupy")
    for name in ("erf", "sine_integral"):
        with pytest.raises(UnsupportedOperationError, match="'cupy'; known"):
            by_name(name).value(xp, 1.0)
    with pytest.raises(
        UnsupportedOperationError, match=r"jax\.scipy\.special has no j1"
    ):
        by_name("j0").rule.partials(jnp, jnp.ones(2), jnp.ones(2))


@pytest.mark.parametrize("name", ["erf", "log_ndtr", "gamma", "digamma", "i1e", "beta"])
def test_rules_run_in_jax(name: str) -> None:
    e = by_name(name)
    x = np.array([1.25, 1.75, 3.3], np.float32)
    operands = [x, x[::-1] * np.float32(0.8)][: e.arity]
    traced = [jnp.asarray(t) for t in operands]
    v = e.value(jnp, *traced)
    np.testing.assert_allclose(v, e.value(np, *operands), rtol=2e-4)
    for expected, got in zip(
        e.rule.partials(np, *operands, np.asarray(v)),
        e.rule.partials(jnp, *traced, v),
        strict=True,
    ):
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=1e-6)


# Domains and kinks.

POSITIVE = ([5e-324, 1e300], [0.0, -0.0, -5e-324, -1.5, NAN])
FINITE = ([0.0, -1e308, 1e308], [INF, -INF, NAN])
DOMAINS: dict[str, tuple[list[float], list[float]]] = {
    "erfinv": ([0.0, down(1.0), up(-1.0)], [1.0, -1.0, up(1.0), NAN]),
    "erfcinv": ([5e-324, down(2.0)], [0.0, 2.0, -1.0, NAN]),
    "ndtri": ([5e-324, down(1.0)], [0.0, 1.0, -1.0, NAN]),
    "logit": ([5e-324, down(1.0)], [0.0, 1.0, -1.0, NAN]),
    "gamma": ([5e-324, -5e-324, -1.5, 170.0], [0.0, -1.0, -170.0, -1e300, NAN]),
    "gammaln": ([5e-324, -5e-324, -1.5, 1e300], [0.0, -1.0, -1e300, NAN]),
    "digamma": ([5e-324, -5e-324, -1.5, 1e300], [0.0, -1.0, -1e300, NAN]),
    "cosine_integral": ([5e-324, -5e-324], [0.0, INF, NAN]),
    "expi": ([5e-324, -5e-324], [0.0, INF, NAN]),
    **dict.fromkeys(("loggamma", "entr", "exp1", "y0", "y1"), POSITIVE),
    **dict.fromkeys(("k0", "k1", "k0e", "k1e"), POSITIVE),
    **dict.fromkeys(("j0", "j1", "i0", "i1", "i0e", "i1e", "exprel", "cosm1"), FINITE),
    **dict.fromkeys(("sine_integral", "fresnel_sine", "fresnel_cosine"), FINITE),
}
QUADRANT = ([(5e-324, 1e300)], [(0.0, 1.0), (1.0, 0.0), (-0.5, 1.0), (NAN, 1.0)])
PAIR_DOMAINS: dict[str, tuple[list[Any], list[Any]]] = {
    **dict.fromkeys(("beta", "betaln", "rel_entr", "kl_div"), QUADRANT),
    "xlogy": ([(0.0, 5e-324), (-1.0, 1e300)], [(0.0, 0.0), (1.0, -1.0), (1.0, NAN)]),
    "xlog1py": ([(0.0, up(-1.0))], [(0.0, -1.0), (1.0, -2.0), (1.0, NAN)]),
    "boxcox": ([(5e-324, 0.0), (2.0, -3.0)], [(0.0, 1.0), (-1.0, 2.0), (NAN, 1.0)]),
    "boxcox1p": ([(up(-1.0), 0.0)], [(-1.0, 1.0), (-2.0, 2.0), (NAN, 1.0)]),
    "inv_boxcox": ([(5.0, 0.0), (-0.9, 1.0)], [(-1.0, 1.0), (2.0, -0.5), (NAN, 1.0)]),
    "inv_boxcox1p": ([(5.0, 0.0), (-0.9, 1.0)], [(-1.0, 1.0), (2.0, -0.5), (NAN, 1.0)]),
    "huber": ([(5e-324, 0.0), (1.0, 9.0)], [(0.0, 1.0), (-1.0, 0.5), (1.0, NAN)]),
    "pseudo_huber": (
        [(5e-324, 0.0), (1.0, 9.0)],
        [(0.0, 1.0), (-1.0, 0.5), (1.0, NAN)],
    ),
}
ORDER_DOMAINS: dict[str, tuple[list[Any], list[Any]]] = {
    **dict.fromkeys(
        ("jv", "iv"), ([(2, -1.0), (0, 0.0), (0.5, 0.1)], [(0.5, 0.0), (0.5, -1.0)])
    ),
    **dict.fromkeys(("yv", "kv"), ([(2, 5e-324)], [(2, 0.0), (0.5, -1.0), (1, NAN)])),
    "expn": ([(1, 5e-324), (7, 2.0)], [(0, 1.0), (2, 0.0), (2, -1.0)]),
}


def test_every_domain_is_tested() -> None:
    found = {e.name for e in SPECIAL if e.arity == 1 and e.rule.domain}
    assert found == set(DOMAINS)
    assert set(BINARY) == set(PAIR_DOMAINS)
    assert set(ORDERS) == set(ORDER_DOMAINS)


@pytest.mark.parametrize("name", [*DOMAINS, *PAIR_DOMAINS, *ORDER_DOMAINS])
def test_domain(name: str) -> None:
    inside, outside = {**DOMAINS, **PAIR_DOMAINS, **ORDER_DOMAINS}[name]
    e = by_name(name)
    domain = (e.rule_second() if name in ORDERS else e.rule).domain
    assert domain is not None
    assert domain(np, *np.array(inside, float).reshape(len(inside), -1).T).all()
    assert not domain(np, *np.array(outside, float).reshape(len(outside), -1).T).any()


def test_ends_and_kinks_say_so() -> None:
    for f, x in (
        (lambda x: special.logit(x[0]), 1.0),
        (lambda x: special.gamma(x).sum(), -2.0),
        (lambda x: special.entr(x[0]), 0.0),
        (lambda x: special.xlogy(1.0, x[0]), 0.0),
        (lambda x: special.erfinv(x).sum(), -1.0),
        (lambda x: special.huber(0.0, x).sum() + x[0], 1.0),
    ):
        with pytest.raises(DomainError):
            dc.gradient(f, [x])
    for f, x in (
        (lambda x: special.huber(1.0, x[0]), 1.0),
        (lambda x: special.huber(1.0, x).sum(), -1.0),
        (lambda x: special.i0e(x).sum(), 0.0),
        (lambda x: special.i1e(x[0]), 0.0),
    ):
        with pytest.raises(NondifferentiableError):
            dc.gradient(f, [x])
    assert {e.name for e in SPECIAL if e.rule.kink} == {"huber", "i0e", "i1e"}


# Limits.


def test_a_weight_of_zero_leaves_nothing() -> None:
    """The usual convention of statistics: 0 log 0 = 0, whatever the probability."""
    k = np.array([0.0, 2.0])
    for f in (special.xlogy, special.xlog1py):
        grad = dc.gradient(lambda p, f=f: f(k, p).sum(), [0.0, 1.0])
        assert grad.tolist() == [0.0, 2.0 if f is special.xlogy else 1.0]
    assert dc.gradient(lambda x: special.xlogy(x[0], 3.0), [0.0]) == [math.log(3.0)]
    assert dc.gradient(lambda y: special.rel_entr(0.0, y).sum() + y[0], [2.0]) == [1.0]
    assert dc.gradient(lambda y: special.kl_div(0.0, y[0]), [2.0]) == [1.0]


def test_far_tails() -> None:
    x = [-1e10]
    tape, out = dc.tape_function(lambda x: special.log_ndtr(x[0]), x)
    assert dc.gradient(tape, out) == pytest.approx([1e10], rel=1e-15)
    assert dc.hessian(tape, out)[0] == pytest.approx([-1.0], rel=1e-15)
    for far in (800.0, -800.0):
        assert dc.gradient(lambda x: special.expit(x[0]), [far]) == [0.0]
    assert dc.gradient(lambda x: special.log_expit(x[0]), [-800.0]) == [1.0]
    ends = np.array([INF, -INF])
    for name in ("erf", "erfc", "ndtr", "expit"):
        e = by_name(name)
        for part in e.rule.partials(np, ends, e.value(np, ends)):
            assert np.all(part == 0.0)


def test_transformations_where_the_power_vanishes() -> None:
    def f(x: Any) -> Any:
        return special.boxcox(x[0], x[1])

    log = math.log(3.0)
    for power in (0.0, 5e-324, -1e-300, 1e-17):
        grad, hess = dc.gradient(f, [3.0, power]), dc.hessian(f, [3.0, power])
        np.testing.assert_allclose(grad, [1 / 3, log**2 / 2], rtol=1e-15)
        bend = [[-1 / 9, log / 3], [log / 3, log**3 / 3]]
        np.testing.assert_allclose(hess, bend, rtol=1e-14)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("tiny", [0.0, 5e-324, -1e-310, 1e-200])
def test_nothing_is_undefined_near_zero(name: str, tiny: float) -> None:
    e = by_name(name)
    x = np.array([tiny])
    inside = e.rule.domain is None or e.rule.domain(np, x).all()
    v = e.value(np, x)
    if inside and np.isfinite(v).all():
        found = e.rule.partials(np, x, v)
        assert not np.isnan(
            np.concatenate([np.broadcast_to(p, 1) for p in found])
        ).any()
    else:
        assert name in DOMAINS


@pytest.mark.parametrize("tiny", [1e-100, 1e-200])
@pytest.mark.parametrize("name", ["k0", "k0e", "k1", "k1e", "y0", "y1"])
def test_poles_at_zero(name: str, tiny: float) -> None:
    """``K0 ~ -log(x)``, ``K1 ~ 1 / x``; ``Y`` is that times ``-2 / pi``."""
    factor = -2.0 / math.pi if name[0] == "y" else 1.0
    e = by_name(name)
    x = np.array([tiny])
    d, c = e.rule.partials(np, x, e.value(np, x))
    with np.errstate(over="ignore"):
        slope = -1.0 / x if name[1] == "0" else -1.0 / x / x
        bend = 1.0 / x / x if name[1] == "0" else 2.0 / x / x / x
    np.testing.assert_allclose(d, factor * slope, rtol=1e-14)
    np.testing.assert_allclose(c, factor * bend, rtol=1e-14)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_fresnel_integrals_of_large_arguments(sign: float) -> None:
    """Whole and half numbers, whose squares are known modulo four."""
    for x, sine, cosine in (
        (1e8, 0.0, 1.0),
        (1e8 + 1.0, 1.0, 0.0),
        (2.0**26 + 0.5, math.sin(math.pi / 8), math.cos(math.pi / 8)),
        (1e100, 0.0, 1.0),
    ):
        at = np.array([sign * x])
        for name, d in (("fresnel_sine", sine), ("fresnel_cosine", cosine)):
            got, _ = by_name(name).rule.partials(np, at, at)
            assert got[0] == pytest.approx(d, rel=1e-13, abs=1e-15)
