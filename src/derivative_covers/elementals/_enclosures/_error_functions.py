"""Error functions, the normal distribution and Dawson's integral."""

from __future__ import annotations

from math import inf
from typing import Any

from ._registry import add_shape
from ._shapes import Shape

__all__: list[str] = []

_ROOT_HALF = "0.707106781186547524400844362104849039284835937688474"
_FAR = (-1e3, 1e3)


def _erf(x: Any) -> tuple[Any, ...]:
    d = 2 / x.pi().sqrt() * (-x * x).exp()
    return x.erf(), d, -2 * x * d


def _erfc(x: Any) -> tuple[Any, ...]:
    _, d, c = _erf(x)
    return x.erfc(), -d, -c


def _erfcx_value(x: Any) -> Any:
    """``exp(x**2) erfc(x)``; by its enveloping series, DLMF 7.12.1, where that is exact.

    The rest is bounded by the first term that is left out.
    """
    if not x > 100000:
        return (x * x).exp() * x.erfc()
    z = -1 / (2 * x * x)
    total, term = 0 * x + 1, 0 * x + 1
    for k in range(1, 16):
        term = term * z * (2 * k - 1)
        if k < 15:
            total += term
    rest = abs(term)
    return (total + rest.union(-rest)) / (x * x.pi().sqrt())


def _erfcx(x: Any) -> tuple[Any, ...]:
    v = _erfcx_value(x)
    d = 2 * x * v - 2 / x.pi().sqrt()
    return v, d, 2 * v + 2 * x * d


def _erfi(x: Any) -> tuple[Any, ...]:
    d = 2 / x.pi().sqrt() * (x * x).exp()
    return x.erfi(), d, 2 * x * d


def _erfinv(x: Any) -> tuple[Any, ...]:
    v = x.erfinv()
    d = x.pi().sqrt() / 2 * (v * v).exp()
    return v, d, 2 * v * d * d


def _erfcinv(x: Any) -> tuple[Any, ...]:
    v = x.erfcinv()
    d = -x.pi().sqrt() / 2 * (v * v).exp()
    return v, d, 2 * v * d * d


def _root_two(x: Any) -> Any:
    return (0 * x + 2).sqrt()


def _ndtr(x: Any) -> tuple[Any, ...]:
    d = (-x * x / 2).exp() / (2 * x.pi()).sqrt()
    return (-x / _root_two(x)).erfc() / 2, d, -x * d


def _ndtri(x: Any) -> tuple[Any, ...]:
    v = -_root_two(x) * (2 * x).erfcinv()
    d = (2 * x.pi()).sqrt() * (v * v / 2).exp()
    return v, d, v * d * d


def _log_ndtr(x: Any) -> tuple[Any, ...]:
    t = -x / _root_two(x)
    if x > -10:
        tail = t.erfc() / 2
        v = (-((-t).erfc() / 2)).log1p() if x > 0 else tail.log()
        h = (-x * x / 2).exp() / (2 * x.pi()).sqrt() / tail
    else:
        scaled = _erfcx_value(t)
        v = (scaled / 2).log() - x * x / 2
        h = (2 / x.pi()).sqrt() / scaled
    return v, h, -h * (h + x)


def _dawsn(x: Any) -> tuple[Any, ...]:
    one = 0 * x + 1
    v = x * (-x * x).hypgeom_1f1(one, one * 3 / 2)
    d = 1 - 2 * x * v
    return v, d, -2 * (v + x * d)


def _both(*texts: str) -> tuple[str, ...]:
    return tuple(sign + text for text in texts for sign in ("-", ""))


for _shape in (
    Shape(
        "erf",
        _erf,
        ((), (0.0,), _both(_ROOT_HALF)),
        {-inf: (-1.0, 0.0, 0.0), inf: (1.0, 0.0, 0.0)},
        reach=_FAR,
    ),
    Shape(
        "erfc",
        _erfc,
        ((), (0.0,), _both(_ROOT_HALF)),
        {-inf: (2.0, 0.0, 0.0), inf: (0.0, 0.0, 0.0)},
        reach=_FAR,
    ),
    Shape(
        "erfcx",
        _erfcx,
        limits={-inf: (inf, -inf, inf), inf: (0.0, 0.0, 0.0)},
        reach=(-1e3, inf),
    ),
    Shape(
        "erfi",
        _erfi,
        ((), (0.0,), ()),
        {-inf: (-inf, inf, -inf), inf: (inf, inf, inf)},
        reach=_FAR,
    ),
    Shape(
        "erfinv",
        _erfinv,
        ((), (0.0,), ()),
        {-1.0: (-inf, inf, -inf), 1.0: (inf, inf, inf)},
        domain=(-1.0, 1.0),
        open=(True, True),
    ),
    Shape(
        "erfcinv",
        _erfcinv,
        ((), (1.0,), ()),
        {0.0: (inf, -inf, inf), 2.0: (-inf, -inf, -inf)},
        domain=(0.0, 2.0),
        open=(True, True),
    ),
    Shape(
        "ndtr",
        _ndtr,
        ((), (0.0,), (-1.0, 1.0)),
        {-inf: (0.0, 0.0, 0.0), inf: (1.0, 0.0, 0.0)},
        reach=_FAR,
    ),
    Shape(
        "ndtri",
        _ndtri,
        ((), (0.5,), ()),
        {0.0: (-inf, inf, -inf), 1.0: (inf, inf, inf)},
        domain=(0.0, 1.0),
        open=(True, True),
    ),
    # The hazard of the normal distribution is convex: Sampford, Some inequalities on
    # Mill's ratio and related functions, Ann. Math. Stat. 24 (1953).
    Shape(
        "log_ndtr",
        _log_ndtr,
        limits={-inf: (-inf, inf, -1.0), inf: (0.0, 0.0, 0.0)},
        reach=(-inf, 1e3),
    ),
    Shape(
        "dawsn",
        _dawsn,
        (
            _both("0.92413887300459176701282327150434597569629156"),
            (0.0, *_both("1.5019752682686114988603487080291225997338619")),
            _both(
                "0.595679356059333100630411377067742789009427866",
                "1.95560809150755178594707439106760067921355415",
            ),
        ),
        {-inf: (0.0, 0.0, 0.0), inf: (0.0, 0.0, 0.0)},
    ),
):
    add_shape(_shape)
