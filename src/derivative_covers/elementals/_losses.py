"""Huber's loss, its smooth relative, and elementary functions that SciPy names itself."""

from __future__ import annotations

from math import log
from typing import Any

from ._arithmetic import CALCULUS
from ._spec import Rule
from ._special import finite, row

__all__ = ["ELEMENTALS"]

SOURCE = "Huber, Robust Estimation of a Location Parameter, Ann. Math. Stat. 35 (1964)"


def _huber(xp: Any, delta: Any, r: Any, v: Any) -> tuple[Any, ...]:
    far = xp.abs(r) > delta
    sign = xp.where(far, xp.sign(r), 0.0 * r)
    size = xp.abs(sign)
    return (
        xp.where(far, xp.abs(r) - delta, 0.0),
        xp.where(far, sign * delta, r),
        -size,
        sign,
        1.0 - size,
    )


def _pseudo_huber(xp: Any, delta: Any, r: Any, v: Any) -> tuple[Any, ...]:
    # In quotients by the hypotenuse, which neither cancel nor overflow.
    h = xp.hypot(delta, r)
    sine, cosine = r / h, delta / h
    near = sine * (r / (h + delta))  # 1 - cosine
    cube = sine * sine * sine
    return (
        r * (r / (h + delta)) * near,
        delta * sine,
        -near * near * (2.0 + cosine),
        cube,
        cosine * cosine * cosine,
    )


def _positive_first(xp: Any, delta: Any, r: Any) -> Any:
    return (delta > 0.0) & (r == r)


def _exp10(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return v * _LN10, v * (_LN10 * _LN10)


_LN10 = log(10.0)

ELEMENTALS = (
    row(
        "huber",
        Rule(_huber, _positive_first, lambda xp, delta, r: xp.abs(r) == xp.abs(delta)),
        SOURCE,
        arity=2,
    ),
    row(
        "pseudo_huber",
        Rule(_pseudo_huber, _positive_first),
        "Charbonnier et al., Deterministic Edge-Preserving Regularization, IEEE Trans. "
        "Image Process. 6 (1997)",
        arity=2,
    ),
    row("cosm1", Rule(lambda xp, x, v: (-xp.sin(x), -xp.cos(x)), finite), CALCULUS),
    row("exp10", Rule(_exp10), "DLMF 4.7(ii)"),
)
