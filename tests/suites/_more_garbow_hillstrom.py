"""Least-squares problems of Moré, Garbow and Hillstrom, in any array namespace.

"Testing Unconstrained Optimization Software", ACM TOMS 7 (1981) 17-41: residuals, data,
starting points and minima as published there. Numbers in the names of residuals are
those of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PROBLEMS", "Problem"]

Residuals = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Problem:
    """One problem.

    Attributes:
        name: The paper's name.
        function: The residuals, of a namespace and a point.
        start: The published starting point.
        minimum: The published sum of squares at a minimiser.
        minimiser: Where it is, if the paper says so or it is plain; None otherwise.
    """

    name: str
    function: Residuals
    start: Any
    minimum: float = 0.0
    minimiser: Any = None

    def residuals(self, x: Any) -> Any:
        """The residuals with NumPy."""
        return self.function(np, x)


def _numbers(text: str) -> Any:
    return np.array(text.split(), dtype=float)


BARD = _numbers(
    "0.14 0.18 0.22 0.25 0.29 0.32 0.35 0.39 0.37 0.58 0.73 0.96 1.34 2.10 4.39"
)
HALF_GAUSSIAN = [0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521]
GAUSSIAN = np.array([*HALF_GAUSSIAN, 0.3989, *HALF_GAUSSIAN[::-1]])
MEYER = _numbers(
    "34780 28610 23650 19630 16370 13720 11540 9744 8261 7030 6005 5147 4427 3820 3307 "
    "2872"
)
KOWALIK_U = _numbers("4 2 1 0.5 0.25 0.167 0.125 0.1 0.0833 0.0714 0.0625")
KOWALIK_Y = _numbers(
    "0.1957 0.1947 0.1735 0.1600 0.0844 0.0627 0.0456 0.0342 0.0323 0.0235 0.0246"
)
OSBORNE_1 = (
    _numbers(
        "844 908 932 936 925 908 881 850 818 784 751 718 685 658 628 603 580 558 538 522 "
        "506 490 478 467 457 448 438 431 424 420 414 411 406"
    )
    / 1000
)
OSBORNE_2 = (
    _numbers(
        "1366 1191 1112 1013 991 885 831 847 786 725 746 679 608 655 616 606 602 626 651 "
        "724 649 649 694 644 624 661 612 558 533 495 500 423 395 375 372 391 396 405 428 "
        "429 523 562 607 653 672 708 633 668 645 632 591 559 597 625 739 710 729 720 636 "
        "581 428 292 162 98 54"
    )
    / 1000
)


def rosenbrock_1(xp: Any, x: Any) -> Any:
    return xp.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def freudenstein_roth_2(xp: Any, x: Any) -> Any:
    return xp.stack(
        [
            -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1],
            -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1],
        ]
    )


def powell_badly_scaled_3(xp: Any, x: Any) -> Any:
    return xp.stack([1e4 * x[0] * x[1] - 1, xp.exp(-x[0]) + xp.exp(-x[1]) - 1.0001])


def brown_badly_scaled_4(xp: Any, x: Any) -> Any:
    return xp.stack([x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2])


def beale_5(xp: Any, x: Any) -> Any:
    y = (1.5, 2.25, 2.625)
    return xp.stack([c - x[0] * (1 - x[1] ** i) for i, c in enumerate(y, start=1)])


def jennrich_sampson_6(xp: Any, x: Any) -> Any:
    i = np.arange(1.0, 11.0)
    return 2 + 2 * i - (xp.exp(i * x[0]) + xp.exp(i * x[1]))


def helical_valley_7(xp: Any, x: Any) -> Any:
    # The paper's branches of the arctangent, for points with a first entry of any sign.
    turn = xp.arctan(x[1] / x[0]) / (2 * np.pi) + xp.where(x[0] < 0, 0.5, 0.0)
    radius = xp.sqrt(x[0] ** 2 + x[1] ** 2)
    return xp.stack([10 * (x[2] - 10 * turn), 10 * (radius - 1), x[2]])


def bard_8(xp: Any, x: Any) -> Any:
    u = np.arange(1.0, 16.0)
    v = 16 - u
    return BARD - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))


def gaussian_9(xp: Any, x: Any) -> Any:
    t = (8 - np.arange(1.0, 16.0)) / 2
    return x[0] * xp.exp(-x[1] * (t - x[2]) ** 2 / 2) - GAUSSIAN


def meyer_10(xp: Any, x: Any) -> Any:
    t = 45 + 5 * np.arange(1.0, 17.0)
    return x[0] * xp.exp(x[1] / (t + x[2])) - MEYER


def gulf_11(xp: Any, x: Any) -> Any:
    t = np.arange(1.0, 100.0) / 100
    y = 25 + (-50 * np.log(t)) ** (2 / 3)
    return xp.exp(-(xp.abs(y - x[1]) ** x[2]) / x[0]) - t


def box_12(xp: Any, x: Any) -> Any:
    t = 0.1 * np.arange(1.0, 11.0)
    known = np.exp(-t) - np.exp(-10 * t)
    return xp.exp(-t * x[0]) - xp.exp(-t * x[1]) - x[2] * known


def powell_singular_13(xp: Any, x: Any) -> Any:
    return xp.stack(
        [
            x[0] + 10 * x[1],
            5**0.5 * (x[2] - x[3]),
            (x[1] - 2 * x[2]) ** 2,
            10**0.5 * (x[0] - x[3]) ** 2,
        ]
    )


def wood_14(xp: Any, x: Any) -> Any:
    return xp.stack(
        [
            10 * (x[1] - x[0] ** 2),
            1 - x[0],
            90**0.5 * (x[3] - x[2] ** 2),
            1 - x[2],
            10**0.5 * (x[1] + x[3] - 2),
            (x[1] - x[3]) / 10**0.5,
        ]
    )


def kowalik_osborne_15(xp: Any, x: Any) -> Any:
    u = KOWALIK_U
    return KOWALIK_Y - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])


def brown_dennis_16(xp: Any, x: Any) -> Any:
    t = np.arange(1.0, 21.0) / 5
    rising = x[0] + t * x[1] - np.exp(t)
    turning = x[2] + x[3] * np.sin(t) - np.cos(t)
    return rising**2 + turning**2


def osborne_17(xp: Any, x: Any) -> Any:
    t = 10 * np.arange(33.0)
    return OSBORNE_1 - (x[0] + x[1] * xp.exp(-t * x[3]) + x[2] * xp.exp(-t * x[4]))


def biggs_18(xp: Any, x: Any) -> Any:
    t = 0.1 * np.arange(1.0, 14.0)
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    decays = x[2] * xp.exp(-t * x[0]) - x[3] * xp.exp(-t * x[1])
    return decays + x[5] * xp.exp(-t * x[4]) - y


def osborne_19(xp: Any, x: Any) -> Any:
    t = np.arange(65.0) / 10
    found = x[0] * xp.exp(-t * x[4])
    for k in (1, 2, 3):
        found = found + x[k] * xp.exp(-((t - x[k + 7]) ** 2) * x[k + 4])
    return OSBORNE_2 - found


def watson_20(xp: Any, x: Any) -> Any:
    n = len(x)
    t = np.arange(1.0, 30.0)[:, None] / 29
    powers = t ** np.arange(n)
    slopes = np.arange(1, n) * t ** np.arange(n - 1)
    found = slopes @ x[1:] - (powers @ x) ** 2 - 1
    return xp.concatenate([found, xp.stack([x[0], x[1] - x[0] ** 2 - 1])])


def extended_rosenbrock_21(xp: Any, x: Any) -> Any:
    return xp.concatenate([10 * (x[1::2] - x[::2] ** 2), 1 - x[::2]])


def penalty_23(xp: Any, x: Any) -> Any:
    return xp.concatenate([1e-5**0.5 * (x - 1), xp.sum(x**2, keepdims=True) - 0.25])


def variably_dimensioned_25(xp: Any, x: Any) -> Any:
    total = xp.sum(np.arange(1.0, len(x) + 1) * (x - 1))
    return xp.concatenate([x - 1, xp.stack([total, total**2])])


def trigonometric_26(xp: Any, x: Any) -> Any:
    i = np.arange(1.0, len(x) + 1)
    return len(x) - xp.sum(xp.cos(x)) + i * (1 - xp.cos(x)) - xp.sin(x)


def brown_almost_linear_27(xp: Any, x: Any) -> Any:
    linear = x[:-1] + xp.sum(x) - (len(x) + 1)
    return xp.concatenate([linear, xp.stack([xp.prod(x) - 1])])


def _with_zero_ends(xp: Any, x: Any) -> Any:
    return xp.concatenate([np.zeros(1), x, np.zeros(1)])


def boundary_value_28(xp: Any, x: Any) -> Any:
    h = 1 / (len(x) + 1)
    t = h * np.arange(1.0, len(x) + 1)
    u = _with_zero_ends(xp, x)
    return 2 * x - u[:-2] - u[2:] + h**2 * (x + t + 1) ** 3 / 2


def integral_equation_29(xp: Any, x: Any) -> Any:
    h = 1 / (len(x) + 1)
    t = h * np.arange(1.0, len(x) + 1)
    kernel = np.minimum.outer(t, t) * (1 - np.maximum.outer(t, t))
    return x + h / 2 * (kernel @ (x + t + 1) ** 3)


def broyden_tridiagonal_30(xp: Any, x: Any) -> Any:
    u = _with_zero_ends(xp, x)
    return (3 - 2 * x) * x - u[:-2] - 2 * u[2:] + 1


def broyden_banded_31(xp: Any, x: Any) -> Any:
    n = len(x)
    offset = np.arange(n)[None, :] - np.arange(n)[:, None]
    near = ((offset >= -5) & (offset <= 1) & (offset != 0)).astype(float)
    return x * (2 + 5 * x**2) + 1 - near @ (x * (1 + x))


def linear_full_rank_32(xp: Any, x: Any) -> Any:
    mean = 2 * xp.sum(x) / 10 + 1
    return xp.concatenate([x - mean, -mean * np.ones(10 - len(x))])


def linear_rank_one_33(xp: Any, x: Any) -> Any:
    i = np.arange(1.0, 11.0)
    return i * xp.sum(np.arange(1.0, len(x) + 1) * x) - 1


def chebyquad_35(xp: Any, x: Any) -> Any:
    n = len(x)
    z = 2 * x - 1
    T = [1 + 0 * z, z]
    for _ in range(1, n):
        T.append(2 * z * T[-1] - T[-2])
    integrals = [0.0 if i % 2 else -1 / (i**2 - 1) for i in range(n + 1)]
    return xp.stack([xp.mean(T[i]) - integrals[i] for i in range(1, n + 1)])


def _grid(n: int) -> Any:
    return np.arange(1.0, n + 1) / (n + 1)


_T = _grid(10)

PROBLEMS = (
    Problem("Rosenbrock", rosenbrock_1, [-1.2, 1.0], 0, [1.0, 1.0]),
    Problem("Freudenstein and Roth", freudenstein_roth_2, [0.5, -2.0], 48.9842),
    Problem("Powell badly scaled", powell_badly_scaled_3, [0.0, 1.0]),
    Problem("Brown badly scaled", brown_badly_scaled_4, [1.0, 1.0], 0, [1e6, 2e-6]),
    Problem("Beale", beale_5, [1.0, 1.0], 0, [3.0, 0.5]),
    Problem("Jennrich and Sampson", jennrich_sampson_6, [0.3, 0.4], 124.362),
    Problem("Helical valley", helical_valley_7, [-1.0, 0.0, 0.0], 0, [1.0, 0.0, 0.0]),
    Problem("Bard", bard_8, [1.0, 1.0, 1.0], 8.21487e-3),
    Problem("Gaussian", gaussian_9, [0.4, 1.0, 0.0], 1.12793e-8),
    Problem("Meyer", meyer_10, [0.02, 4000.0, 250.0], 87.9458),
    Problem("Gulf research", gulf_11, [5.0, 2.5, 0.15], 0, [50.0, 25.0, 1.5]),
    Problem("Box", box_12, [0.0, 10.0, 20.0], 0, [1.0, 10.0, 1.0]),
    Problem("Powell singular", powell_singular_13, [3.0, -1.0, 0.0, 1.0], 0, [0.0] * 4),
    Problem("Wood", wood_14, [-3.0, -1.0, -3.0, -1.0], 0, [1.0] * 4),
    Problem(
        "Kowalik and Osborne", kowalik_osborne_15, [0.25, 0.39, 0.415, 0.39], 3.07505e-4
    ),
    Problem("Brown and Dennis", brown_dennis_16, [25.0, 5.0, -5.0, -1.0], 85822.2),
    Problem("Osborne 1", osborne_17, [0.5, 1.5, -1.0, 0.01, 0.02], 5.46489e-5),
    Problem(
        "Biggs EXP6",
        biggs_18,
        [1.0, 2.0, 1.0, 1.0, 1.0, 1.0],
        0,
        [1.0, 10.0, 1.0, 5.0, 4.0, 3.0],
    ),
    Problem(
        "Osborne 2",
        osborne_19,
        [1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5],
        4.01377e-2,
    ),
    Problem("Watson", watson_20, np.zeros(6), 2.28767e-3),
    Problem(
        "Extended Rosenbrock",
        extended_rosenbrock_21,
        [-1.2, 1.0] * 5,
        0,
        np.ones(10),
    ),
    Problem("Penalty I", penalty_23, np.arange(1.0, 11.0), 7.08765e-5),
    Problem(
        "Variably dimensioned",
        variably_dimensioned_25,
        1 - np.arange(1.0, 11.0) / 10,
        0,
        np.ones(10),
    ),
    Problem("Trigonometric", trigonometric_26, np.full(10, 0.1), 0, np.zeros(10)),
    Problem(
        "Brown almost-linear", brown_almost_linear_27, np.full(10, 0.5), 0, np.ones(10)
    ),
    Problem("Discrete boundary value", boundary_value_28, _T * (_T - 1)),
    Problem("Discrete integral equation", integral_equation_29, _T * (_T - 1)),
    Problem("Broyden tridiagonal", broyden_tridiagonal_30, -np.ones(10)),
    Problem("Broyden banded", broyden_banded_31, -np.ones(10)),
    Problem("Linear, full rank", linear_full_rank_32, np.ones(5), 5, -np.ones(5)),
    Problem("Linear, rank one", linear_rank_one_33, np.ones(5), 90 / 42),
    Problem("Chebyquad", chebyquad_35, _grid(8), 3.51687e-3),
)
