"""Elementals on numbers of any registered type: values and partials.

The rules of the registry are written for floating-point arrays: their constants are
floats, and they guard against overflow and cancellation. Here stand the plain formulas,
in the operations of the type, small integers and its own functions, so that what is
exact or rigorous in the type stays so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..elements import converted, decided_sign, decided_zero, namespace
from ..errors import UnsupportedOperationError

__all__ = ["Form", "Functions", "constant_power", "form_of", "unsupported"]


class Functions:
    """The functions of a type, for one elemental, which errors name."""

    def __init__(self, T: type[Any], elemental: str) -> None:
        self._type, self._elemental, self._known = T, elemental, namespace(T)

    def __getattr__(self, name: str) -> Any:
        found = self._known.get(name)
        if found is None:
            raise unsupported(self._elemental, self._type, name)
        return found

    def has(self, name: str) -> bool:
        """Whether the type has a function of this name."""
        return name in self._known

    def of(self, c: Any) -> Any:
        """A plain constant in the type."""
        return converted(self._type, c)


def unsupported(elemental: str, T: type[Any], name: str) -> UnsupportedOperationError:
    """The exception for an elemental that a type does not have."""
    what = f" (its namespace has no {name!r})" if name else ""
    msg = (
        f"{elemental} has no rule for numbers of type {T.__name__}{what}. Record with "
        "floats, with a type that has it, or over a box (Interval); functions that a "
        "type lacks are registered with extend.namespace."
    )
    return UnsupportedOperationError(msg)


def whole_power(f: Functions, x: Any, n: int) -> Any:
    """An integer power."""
    return f.integer_power(x, n) if f.has("integer_power") else x**n


class Form(NamedTuple):
    """One elemental.

    Attributes:
        value: ``value(f, *operands)``, with ``f`` the functions of the type.
        partials: ``partials(f, *operands, v)``: ``(d, c)`` or ``(d1, d2, c11, c12, c22)``.
        inside: Whether operands are surely in the open domain.
        kink: Whether they may be at a kink, jump or tie.
    """

    value: Callable[..., Any]
    partials: Callable[..., tuple[Any, ...]]
    inside: Callable[..., bool] | None = None
    kink: Callable[..., bool] | None = None


def _positive(x: Any) -> bool:
    return decided_sign(x) > 0


def _nonzero(x: Any) -> bool:
    return decided_sign(x) != 0


def _may_be_zero(x: Any) -> bool:
    return decided_sign(x) == 0


def _in_unit(x: Any) -> bool:
    return _positive(1 - x) and _positive(1 + x)


def _linear(slope: int) -> Callable[..., tuple[Any, ...]]:
    return lambda f, x, v: (slope, 0)


def _sqrt(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1 / (2 * v)
    return d, -d / (2 * x)


def _norm(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return _sqrt(f, x, v) if _positive(x) else (0, 0)


def _cbrt(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1 / (3 * v * v)
    return d, -2 * d / (3 * x)


def _log_of(base: int) -> Form:
    def partials(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
        d = 1 / (x * f.log(f.of(base)))
        return d, -d / x

    return Form(lambda f, x: f.log(x) / f.log(f.of(base)), partials, _positive)


def _power_of(base: int) -> Form:
    def partials(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
        rate = f.log(f.of(base))
        return v * rate, v * rate * rate

    return Form(lambda f, x: f.exp(x * f.log(f.of(base))), partials)


def _scaled(down: bool) -> Form:
    """Degrees and radians: one of the factors is pi."""

    def factor(f: Any) -> Any:
        pi = f.pi()
        return pi / 180 if down else 180 / pi

    return Form(lambda f, x: x * factor(f), lambda f, x, v: (factor(f), 0))


def _tan(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1 + v * v
    return d, 2 * v * d


def _tanh(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1 - v * v
    return d, -2 * v * d


def _arcsin(sign: int) -> Callable[..., tuple[Any, Any]]:
    def partials(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
        d = sign / f.sqrt((1 - x) * (1 + x))
        return d, x * d / ((1 - x) * (1 + x))

    return partials


def _arctan(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1 / (1 + x * x)
    return d, -2 * x * d * d


def _arcsinh(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1 / f.sqrt(1 + x * x)
    return d, -x * d / (1 + x * x)


def _arccosh(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1 / f.sqrt((x - 1) * (x + 1))
    return d, -x * d / ((x - 1) * (x + 1))


def _arctanh(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1 / ((1 - x) * (1 + x))
    return d, 2 * x * d * d


def _bell(sign: int) -> Callable[..., tuple[Any, Any]]:
    def partials(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
        d = 2 * sign * f.exp(-x * x) / f.sqrt(f.pi())
        return d, -2 * x * d

    return partials


def _expit(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = v * (1 - v)
    return d, d * (1 - 2 * v)


def _divide(f: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    r = 1 / y
    return r, -v * r, 0, -r * r, 2 * v * r * r


def _general_power(f: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    log, r = f.log(x), 1 / x
    d = y * v * r
    return d, v * log, (y - 1) * d * r, (1 + y * log) * v * r, v * log * log


def _power_value(f: Any, x: Any, y: Any) -> Any:
    return f.power(x, y) if f.has("power") else f.exp(y * f.log(x))


def constant_power(c: Any) -> Form:
    """``x**c`` with a plain number, or one of the type, for the exponent."""
    whole = float(c).is_integer() if isinstance(c, (int, float)) else False
    if not whole:

        def partials(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
            y = f.of(c) if isinstance(c, (int, float)) else c
            d = y * v / x
            return d, (y - 1) * d / x

        def value(f: Any, x: Any) -> Any:
            return _power_value(f, x, f.of(c) if isinstance(c, (int, float)) else c)

        return Form(value, partials, _positive)
    n = int(c)

    def integer(f: Any, x: Any, v: Any) -> tuple[Any, Any]:
        d = 0 if n == 0 else 1 if n == 1 else n * whole_power(f, x, n - 1)
        c = (
            0
            if n in (0, 1)
            else 2
            if n == 2
            else n * (n - 1) * whole_power(f, x, n - 2)
        )
        return d, c

    return Form(
        lambda f, x: whole_power(f, x, n), integer, None if n >= 0 else _nonzero
    )


def _hypot(f: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    if not _positive(v):
        return 0, 0, 0, 0, 0
    p, q = x / v, y / v
    return p, q, q * q / v, -p * q / v, p * p / v


def _arctan2(f: Any, y: Any, x: Any, v: Any) -> tuple[Any, ...]:
    h = x * x + y * y
    p, q = x / h, -y / h
    c = 2 * p * q
    return p, q, c, (y * y - x * x) / (h * h), -c


def _logaddexp(f: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    p, q = f.exp(x - v), f.exp(y - v)
    return p, q, p * q, -p * q, p * q


def _larger(sign: int, name: str) -> Form:
    def value(f: Any, x: Any, y: Any) -> Any:
        if f.has(name):
            return getattr(f, name)(x, y)
        return x if sign * decided_sign(x - y) >= 0 else y

    def partials(f: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
        first = sign * decided_sign(x - y) >= 0
        return int(first), int(not first), 0, 0, 0

    return Form(value, partials, None, lambda x, y: _may_be_zero(x - y))


_MAXIMUM, _MINIMUM = _larger(1, "maximum"), _larger(-1, "minimum")
_COPY = Form(lambda f, x: x, _linear(1))

_FORMS: dict[str, Form] = {
    "copy": _COPY,
    "positive": _COPY,
    "tie": _COPY._replace(kink=lambda x: True),
    "detach": Form(lambda f, x: x, _linear(0)),
    "negative": Form(lambda f, x: -x, _linear(-1)),
    "add": Form(lambda f, x, y: x + y, lambda f, x, y, v: (1, 1, 0, 0, 0)),
    "subtract": Form(lambda f, x, y: x - y, lambda f, x, y, v: (1, -1, 0, 0, 0)),
    "multiply": Form(lambda f, x, y: x * y, lambda f, x, y, v: (y, x, 0, 1, 0)),
    "divide": Form(lambda f, x, y: x / y, _divide, lambda x, y: _nonzero(y)),
    "power": Form(_power_value, _general_power, lambda x, y: _positive(x)),
    "square": Form(lambda f, x: whole_power(f, x, 2), lambda f, x, v: (2 * x, 2)),
    "reciprocal": Form(
        lambda f, x: 1 / x, lambda f, x, v: (-v * v, 2 * v * v * v), _nonzero
    ),
    "sqrt": Form(lambda f, x: f.sqrt(x), _sqrt, _positive),
    "norm": Form(
        lambda f, x: f.sqrt(x) if _nonzero(x) or not decided_zero(x) else x,
        _norm,
        lambda x: decided_sign(x) >= 0,
        _may_be_zero,
    ),
    "cbrt": Form(lambda f, x: f.cbrt(x), _cbrt, _nonzero),
    "hypot": Form(
        lambda f, x, y: f.sqrt(whole_power(f, x, 2) + whole_power(f, y, 2)),
        _hypot,
        None,
        lambda x, y: _may_be_zero(x) and _may_be_zero(y),
    ),
    "absolute": Form(
        lambda f, x: abs(x), lambda f, x, v: (decided_sign(x), 0), None, _may_be_zero
    ),
    "sign": Form(
        lambda f, x: f.of(decided_sign(x)), lambda f, x, v: (0, 0), None, _may_be_zero
    ),
    "maximum": _MAXIMUM,
    "minimum": _MINIMUM,
    "fmax": _MAXIMUM,
    "fmin": _MINIMUM,
    "exp": Form(lambda f, x: f.exp(x), lambda f, x, v: (v, v)),
    "expm1": Form(lambda f, x: f.expm1(x), lambda f, x, v: (f.exp(x),) * 2),
    "exp2": _power_of(2),
    "exp10": _power_of(10),
    "log": Form(
        lambda f, x: f.log(x), lambda f, x, v: (1 / x, -1 / (x * x)), _positive
    ),
    "log2": _log_of(2),
    "log10": _log_of(10),
    "log1p": Form(
        lambda f, x: f.log1p(x),
        lambda f, x, v: (1 / (1 + x), -1 / ((1 + x) * (1 + x))),
        lambda x: _positive(1 + x),
    ),
    "logaddexp": Form(lambda f, x, y: f.log(f.exp(x) + f.exp(y)), _logaddexp),
    "deg2rad": _scaled(True),
    "rad2deg": _scaled(False),
    "sin": Form(lambda f, x: f.sin(x), lambda f, x, v: (f.cos(x), -v)),
    "cos": Form(lambda f, x: f.cos(x), lambda f, x, v: (-f.sin(x), -v)),
    "tan": Form(lambda f, x: f.tan(x), _tan),
    "arcsin": Form(lambda f, x: f.arcsin(x), _arcsin(1), _in_unit),
    "arccos": Form(lambda f, x: f.arccos(x), _arcsin(-1), _in_unit),
    "arctan": Form(lambda f, x: f.arctan(x), _arctan),
    "arctan2": Form(
        lambda f, y, x: f.arctan2(y, x),
        _arctan2,
        lambda y, x: _positive(x) or _nonzero(y),
    ),
    "sinh": Form(lambda f, x: f.sinh(x), lambda f, x, v: (f.cosh(x), v)),
    "cosh": Form(lambda f, x: f.cosh(x), lambda f, x, v: (f.sinh(x), v)),
    "tanh": Form(lambda f, x: f.tanh(x), _tanh),
    "arcsinh": Form(lambda f, x: f.arcsinh(x), _arcsinh),
    "arccosh": Form(lambda f, x: f.arccosh(x), _arccosh, lambda x: _positive(x - 1)),
    "arctanh": Form(lambda f, x: f.arctanh(x), _arctanh, _in_unit),
    "erf": Form(lambda f, x: f.erf(x), _bell(1)),
    "erfc": Form(lambda f, x: f.erfc(x), _bell(-1)),
    "expit": Form(lambda f, x: 1 / (1 + f.exp(-x)), _expit),
}
_FORMS["float_power"] = _FORMS["power"]


def form_of(name: str, T: type[Any]) -> Form:
    """The form of an elemental.

    Raises:
        UnsupportedOperationError: If there is none.
    """
    found = _FORMS.get(name)
    if found is None:
        raise unsupported(name, T, "")
    return found
