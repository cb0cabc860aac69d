"""Definitions of error, logistic, gamma and entropy functions, and points."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

from tests._many_digits import both, near
from tests._special_tools import FAINT, SMALL, one, relative, two, whole


def more_digits(x: Any) -> Any:
    """Work with the digits that ``1 - x`` needs."""
    return mpmath.workdps(mp.dps + 10 + max(0, int(-mp.log10(abs(x)))))


def erfcinv(y: Any) -> Any:
    if y > 1:
        return -erfcinv(2 - y)
    with more_digits(y):
        return mp.erfinv(1 - y)


# Error functions.
one("erf", mp.erf, (*SMALL, 2.0, -9.0, 20.0), (-6, 6), n=12)
one("erfc", mp.erfc, (*SMALL, 2.0, 9.0, 26.5, -3.0, -20.0), (-6, 27))
one(
    "erfcx",
    lambda x: mp.exp(x * x) * mp.erfc(x),
    (
        *SMALL,
        1.99,
        2.0,
        2.01,
        3.0,
        7.0,
        50.0,
        1e3,
        3.99,
        4.01,
        1e8,
        1e20,
        -5.0,
        -20.0,
        -26.0,
    ),
    (-4, 30),
)
one("erfi", mp.erfi, (*SMALL, *both((2.0, 9.0, 26.0))), (-6, 6))
INSIDE = (0.5, 0.999, 1 - 1e-9, near(1.0)[0])
one(
    "erfinv",
    lambda x: -erfcinv(1 + x) if abs(x) < 0.9 else mp.sign(x) * erfcinv(1 - abs(x)),
    (*SMALL, *both(INSIDE)),
    (-1, 1),
    reach=lambda x: 1 - abs(mpf(x)),
)
one(
    "erfcinv",
    erfcinv,
    (*FAINT[2:], 1e-150, 1e-3, *near(1.0), 1.0, 1.5, 1.999, near(2.0)[0]),
    (0, 2),
    reach=lambda x: min(mpf(x), 2 - mpf(x)),
)
one("ndtr", mp.ncdf, (*SMALL, 2.0, 8.0, 20.0, -37.0, -38.4), (-12, 8))
one(
    "ndtri",
    lambda p: -mp.sqrt(2) * erfcinv(2 * p),
    (*FAINT[2:], 1e-150, 1e-3, *near(0.5), 0.5, 0.9, 1 - 1e-10, near(1.0)[0]),
    (0, 1),
    reach=lambda x: min(mpf(x), 1 - mpf(x)),
)


def log_ndtr(x: Any) -> Any:
    if x > 0:
        return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


one(
    "log_ndtr",
    log_ndtr,
    (
        *SMALL,
        -1.0,
        -2.0,
        -2.82,
        -2.83,
        -2.9,
        -5.0,
        -14.0,
        -37.0,
        -39.0,
        -100.0,
        -1e5,
        -1e10,
        -1e20,
        5.0,
        20.0,
        37.0,
    ),
    (-8, 8),
)
one(
    "dawsn",
    lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    (*SMALL, *both((0.9, 1.5, 5.9, 6.0, 6.1, 8.0, 20.0, 1e3, 1e6, 1e10, 1e50))),
    (-8, 8),
    d1=lambda x: 1e-2 if abs(x) < 2 else 0,
    c11=lambda x: 1e-2 if 1 < abs(x) < 2 else 0,
)

# Logistic functions.
TAILS = both((2.0, 20.0, 36.0, 40.0, 300.0, 709.0, 740.0))
one("expit", lambda x: 1 / (1 + mp.exp(-x)), (*SMALL, *TAILS, 800.0, -800.0), (-40, 40))
one(
    "log_expit",
    lambda x: -mp.log1p(mp.exp(-x)) if x > 0 else x - mp.log1p(mp.exp(x)),
    (*SMALL, *TAILS, 800.0, -800.0, -1e10, -1e300),
    (-40, 40),
)
one(
    "logit",
    lambda x: mp.log(x) - mp.log1p(-x),
    (*FAINT, 0.3, 0.499999, 0.5, 0.500001, *near(0.5), 0.999, near(1.0)[0]),
    (0, 1),
    reach=lambda x: min(mpf(x), 1 - mpf(x)),
    # SciPy's logarithm of a quotient is exact near 1/2 only from 0.3 to 0.65.
)

# The gamma function.
POLES = (-0.5, -0.504, -1.5, -1e-10, -1.0 - 1e-9, -2.0 + 1e-9, -3.7, -10.5, -20.3)


def lgamma(x: Any) -> Any:
    return mp.loggamma(x).real if x > 0 else mp.log(abs(mp.gamma(x)))


BY_ONE = (1.0, 1.4616321449683622, *near(1.0), 2.0, *near(2.0), 3.0, 1.4, 1.5)
one(
    "gamma",
    mp.gamma,
    (*FAINT[1:], *POLES, *BY_ONE, 100.5, 170.0, 171.6, -100.5, -170.5),
    (1e-3, 171),
    reach=whole,
    d1=lambda x: abs(mp.gamma(x)) * (3 if x > 0 else 10),
)
one(
    "gammaln",
    lgamma,
    (
        *FAINT[2:],
        *POLES,
        *BY_ONE,
        12.0,
        13.5,
        1e3,
        1e5,
        1e10,
        1e50,
        1e100,
        1e300,
        -100.25,
        -1000.5,
    ),
    (1e-3, 1e3),
    reach=whole,
    # SciPy is exact to the size of a logarithm near 1 and 2 and below 0.
    v=lambda x: 1 if x < 3 else 0,
    d1=lambda x: 1 if x < 0 else 0.1 if x < 2 else 0,
)
one(
    "loggamma",
    lgamma,
    (*FAINT[2:], *BY_ONE, 12.0, 13.5, 1e3, 1e10, 1e100, 1e300),
    (1e-3, 1e3),
    reach=whole,
    v=lambda x: 1 if x < 3 else 0,
    d1=lambda x: 0.1 if x < 2 else 0,
)
one(
    "rgamma",
    mp.rgamma,
    (
        *SMALL,
        *(x for x in POLES),
        *BY_ONE,
        -1.0,
        -2.0,
        -10.0,
        0.5,
        30.0,
        100.5,
        170.0,
        -100.5,
        -160.5,
    ),
    (-5, 20),
    v=lambda x: 1 if x < 0 else 0,
    d1=lambda x: abs(mp.gamma(1 - min(x, 0.5))) if x < 2 else 0,
    c11=lambda x: 10 * abs(mp.gamma(1 - min(x, 0.5))) if x < 4 else 0,
)
one(
    "digamma",
    mp.digamma,
    (
        *FAINT,
        *POLES,
        *BY_ONE,
        9.9,
        10.1,
        1e3,
        1e5,
        1e8,
        2e8,
        1e10,
        1e50,
        1e100,
        -100.25,
        -1000.5,
    ),
    (1e-3, 1e3),
    reach=whole,
    # SciPy rounds the distance from a pole.
    v=lambda x: 1 + 1e-5 / whole(x) ** 2 if x < 0 else 0.1 if x < 2 else 0,
    c11=lambda x: 10 if x < 0 else 0,
)

SIZES = (40.0, 1e-8, 7.5, 0.00999, 0.01, 1.0, 0.3, 2.0, 300.0)
UNEVEN = ((1e-12, 3.0), (0.2, 1e-12), (1e-12, 1e-11), (500.0, 1e-3))


def smaller(x: float, y: float) -> tuple[Any, Any]:
    return min(1.0, x), min(1.0, y)


two(
    "beta",
    mp.beta,
    [
        *combinations_with_replacement(SIZES, 2),
        *UNEVEN,
        (1e10, 3.0),
        (1e10, 1e-5),
    ],
    smaller,
)
two(
    "betaln",
    lambda x, y: mp.loggamma(x) + mp.loggamma(y) - mp.loggamma(x + y),
    # SciPy subtracts logarithms.
    [
        *combinations_with_replacement(SIZES, 2),
        *UNEVEN,
        (1e10, 3.0),
        (1e10, 1e-5),
        (1e10, 1e9),
    ],
    smaller,
    v=lambda x, y: max(x, y) if x + y < 1e6 else 1,
)


# Entropies.
WEIGHTS = (1e-310, 1e-200, 0.3, 7.0, 1e200)
PAIRS = [
    *product(WEIGHTS, repeat=2),
    *((x, y) for x in (0.7, 3e-200) for y in (*near(x), x * 1.0001, x * 0.49, x * 1.9)),
]


def both_relative(x: float, y: float) -> tuple[Any, Any]:
    return abs(x) or 1.0, abs(y)


two(
    "xlogy",
    lambda x, y: x * mp.log(y),
    [*PAIRS, *((-x, y) for x, y in PAIRS[:8]), (0.0, 0.4), (0.0, 1e-300)],
    both_relative,
)
two(
    "xlog1py",
    lambda x, y: x * mp.log1p(y),
    [*PAIRS, *((x, -y) for x, y in PAIRS if y < 1), (0.0, 0.4), (2.0, near(-1.0)[1])],
    lambda x, y: (abs(x) or 1.0, min(1.0, 1 + mpf(y))),
)
one(
    "entr",
    lambda x: -x * mp.log(x),
    (*FAINT, 0.3, *near(1.0), 1.0, 1e20, 1e200),
    (1e-3, 1e3),
    reach=relative,
    d1=lambda x: 1e-2 if 0.3 < x < 0.4 else 0,
)


def ratio_size(x: float, y: float) -> float:
    return 1e-2 if 0.3 < mpf(x) / mpf(y) < 0.4 else 0


two(
    "rel_entr",
    lambda x, y: x * (mp.log(x) - mp.log(y)),
    PAIRS,
    both_relative,
    d1=ratio_size,
)
two(
    "kl_div",
    lambda x, y: x * (mp.log(x) - mp.log(y)) - x + y,
    # SciPy's quotient must not overflow, and it subtracts nearly equal numbers.
    [(x, y) for x, y in PAIRS if abs(np.log10(x) - np.log10(y)) < 290],
    both_relative,
    v=lambda x, y: x + y,
)
