"""Definitions of Bessel functions, integrals, transformations and losses, and points."""

from __future__ import annotations

from itertools import product
from typing import Any

from mpmath import mp, mpf

from tests._many_digits import both, near
from tests._special_tools import FAINT, SMALL, below, one, relative, two

# Bessel functions. Those that oscillate are exact to the size of their envelope.
WAVES = (
    *SMALL,
    *both((1.99, 2.0, 2.404825557695773, 3.8317059702075125, 24.9, 25.1, 100.0)),
    1e3,
)


def wave(x: float) -> float:
    return min(1.0, abs(x) ** -0.5) if abs(x) > 0.5 else 0.0


def besselk(order: float, x: Any, scaled: bool = False) -> Any:
    """The trapezoidal rule of DLMF 10.32.9: quicker than mpmath's limit of orders."""
    digits = mpf(12 + 2.4 * mp.dps)
    large = x > 2 * digits
    step = (
        mp.pi * mp.sqrt(2 / (x * digits)) if large else 2 * mp.pi / (digits + 0.46 * x)
    )
    n = int(2 * mp.asinh(mp.sqrt(digits / (2 * x))) / step * 1.2) + 2
    terms = (
        mp.exp(-2 * x * mp.sinh(t / 2) ** 2) * mp.cosh(order * t)
        for t in (k * step for k in range(1, n))
    )
    total = step * (mpf(1) / 2 + mp.fsum(terms))
    return total if scaled else mp.exp(-x) * total


ENVELOPE = {"v": wave, "d1": wave, "c11": wave}
SCALED = (7.9, 29.0, 30.0, 30.01, 50.0, 1e3, 1e10, 1e100)
for k in (0, 1):
    one(f"j{k}", lambda x, k=k: mp.besselj(k, x), WAVES, (-40, 40), **ENVELOPE)
    one(
        f"y{k}",
        lambda x, k=k: mp.bessely(k, x),
        (1e-20, 1e-8, 0.1, *(x for x in WAVES if x > 1)),
        (1e-3, 40),
        reach=below,
        **ENVELOPE,
    )
    one(
        f"i{k}",
        lambda x, k=k: mp.besseli(k, x),
        (*SMALL, *both((1.99, 2.0, 7.9, 8.1, 30.0, 300.0, 700.0))),
        (-20, 20),
    )
    one(
        f"k{k}",
        lambda x, k=k: besselk(k, x),
        (1e-8, 1.99, 2.0, 2.01, 300.0, 700.0),
        (1e-3, 100),
        below,
        n=8,
    )
    one(
        f"i{k}e",
        lambda x, k=k: mp.exp(-abs(x)) * mp.besseli(k, x),
        both((1e-20, 0.1, 1.99, 2.0, *SCALED)),
        (1e-3, 60),
        relative,
        n=8,
        d1=lambda x: 1e-2 if abs(x) < 3 else 0,
        c11=lambda x: 1e-2 if abs(x) < 5 else 0,
    )
    one(
        f"k{k}e",
        lambda x, k=k: besselk(k, x, scaled=True),
        (1e-8, 0.1, 1.99, 2.0, 2.01, *SCALED),
        (1e-3, 60),
        relative,
        n=8,
    )
for order in (-1.0, 0.0, 1.0, 2.0, 5.0, 0.5, 2.7):
    some = (1e-8, 0.1, 0.9, 2.0, 5.0, 12.0, 30.0)
    at = both((0.0, *some)) if order == int(order) else some
    if order >= 0:
        one(
            "jv",
            lambda x, k=order: mp.besselj(k, x),
            at,
            (1, 30),
            below,
            order,
            8,
            **ENVELOPE,
        )
    if order in {0.0, 2.0, 0.5}:
        one(
            "yv",
            lambda x, k=order: mp.bessely(k, x),
            some,
            (1, 30),
            below,
            order,
            4,
            **ENVELOPE,
        )
        one(
            "kv",
            lambda x, k=order: besselk(k, x),
            (*some, 300.0),
            (1, 30),
            below,
            order,
            4,
        )
    one("iv", lambda x, k=order: mp.besseli(k, x), at, (1, 30), below, order, 8)

# Integrals.
one(
    "exp1",
    mp.e1,
    (*FAINT, 0.99, 1.0, 1.01, 20.0, 100.0, 700.0, 738.0),
    (1e-3, 50),
    reach=below,
)
one(
    "expi",
    mp.ei,
    (
        *both((*FAINT, 0.99, 20.0, 39.0, 41.0, 700.0)),
        0.37250741078136663,
        1.0,
        *near(1.0),
        709.5,
        -738.0,
    ),
    (1e-3, 50),
    reach=below,
    v=lambda x: 1 if 0.3 < x < 0.5 else 0,
)
for order in (1.0, 2.0, 3.0, 7.0, 60.0):
    one(
        "expn",
        lambda x, k=order: mp.expint(int(k), x),
        (1e-20, 1e-3, 1.0, 5.0, 100.0, 700.0),
        (0.1, 20),
        below,
        order,
        8,
    )
TURNS = (
    *SMALL,
    *both((0.5, 0.99, 1.0, 1.01, 3.9, 4.1, 4.493409457909064, 100.0)),
    1e4,
    1e8,
    1e15,
)


def falling(x: float) -> float:
    return min(1.0, 1 / abs(x)) if abs(x) > 1 else 0.0


one("sine_integral", mp.si, TURNS, (-40, 40), d1=falling, c11=falling)
one(
    "cosine_integral",
    lambda x: mp.ci(abs(x)),
    (*both(FAINT), 0.6165054856207162, *(x for x in TURNS if abs(x) > 0.2)),
    (1e-3, 40),
    reach=below,
    v=lambda x: min(1.0, 1 / abs(x)),
    d1=falling,
    c11=falling,
)
ARCS = (
    *SMALL,
    *both((0.5, 1.0, 2**0.5, 1.27, 1.28, 3.0)),
)
one(
    "fresnel_sine",
    mp.fresnels,
    ARCS,
    (-10, 10),
    reach=lambda x: 1 / max(1.0, abs(x)),
    c11=lambda x: 1e-2 * abs(x) if abs(x) > 1 else 0,
)
one(
    "fresnel_cosine",
    mp.fresnelc,
    ARCS,
    (-10, 10),
    reach=lambda x: 1 / max(1.0, abs(x)),
    c11=lambda x: 1e-2 * abs(x) if abs(x) > 1 else 0,
)

# Transformations and losses.
BASES = (1e-200, 0.9, near(1.0)[0], 1.0, 1.0001, 3.0, 1e200)
EXPONENTS = (0.0, *both((1e-300, 1e-10, 1e-4, 0.1, 1.0)), 3.0)
POWERS = [*product(BASES, EXPONENTS), (2.0, 30.0), (0.5, 40.0), (1e4, -7.5)]


def box(x: Any, power: Any) -> Any:
    return mp.log(x) if power == 0 else mp.expm1(power * mp.log(x)) / power


def unbox(y: Any, power: Any) -> Any:
    return mp.exp(y) if power == 0 else mp.exp(mp.log1p(power * y) / power)


two("boxcox", box, POWERS, lambda x, y: (x, 1e-3))
two(
    "boxcox1p",
    lambda x, power: box(1 + x, power),
    [(mpf(x) - 1 if x < 1e10 else x, p) for x, p in POWERS if x > 1e-100]
    + [(1e-200, 0.3), (-1e-20, 0.0)],
    lambda x, y: (1 + mpf(x), 1e-3),
)
BOXED = [
    *product(
        (-0.5, -1e-5, 1e-200, 1e-3, 0.4, 2.0),
        (0.0, *both((1e-300, 1e-10, 1e-4, 0.1, 0.45)), 0.3, 0.35, 1.0, -2.2),
    ),
    (1e6, 0.5),
    (1e10, 2.0),
    (-300.0, 1e-5),
    (5.0, 0.03),
    (0.15, 0.999),
]
BOXED = [(y, p) for y, p in BOXED if y * p > -0.95]
for shift in (0, 1):
    two(
        "inv_boxcox" + "1p" * shift,
        lambda y, power, shift=shift: unbox(y, power) - shift,
        BOXED,
        lambda y, power: (
            min(1e-3, (1 + mpf(y) * power) / (abs(power) or 1)),
            min(1e-3, (1 + mpf(y) * power) / abs(y)),
        ),
        # SciPy 1.17 takes y itself where the product vanishes, whatever y is.
        v=lambda y, power, s=shift: (
            1e20 if s and power and abs(y * power) < 1e-150 else 0
        ),
    )
one(
    "exprel",
    lambda x: mp.expm1(x) / x if x else mpf(1),
    (*SMALL, *both((0.5, 0.99, 1.0, 1.01, 40.0, 700.0)), -1e10, -1e100),
    (-30, 30),
)
one(
    "cosm1",
    lambda x: mp.cos(x) - 1,
    (*SMALL, *both((1.5, 3.0, 6.28, 1e5))),
    (-9, 9),
    c11=lambda x: 1e-2,
    d1=lambda x: 1e-2 if abs(x) > 1 else 0,
)
one("exp10", lambda x: mpf(10) ** x, (*SMALL, 308.0, -320.0, -300.5), (-300, 300))


def huber(delta: Any, r: Any) -> Any:
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


LOSSES = [
    *product(
        (1e-200, 1e-3, 1.0, 7.0, 1e100), both((1.1e-200, 1.1e-3, 0.999, 7.01, 1.1e100))
    ),
    *((1.0, y) for y in near(1.0)),
]
two(
    "huber",
    huber,
    [*LOSSES, (1.0, 0.0)],
    lambda d, r: (abs(mpf(d) - abs(mpf(r))) / 4,) * 2,
)
two(
    "pseudo_huber",
    lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1),
    [
        # SciPy squares the quotient.
        *((d, r) for d, r in LOSSES if abs(r) < 1e150 * d),
        (1.0, 0.0),
        (1e-5, 3.0),
        (3.0, 1e-5),
    ],
    lambda d, r: (d, d),
)
