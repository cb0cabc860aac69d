"""Formulas of elementals on power series of balls, and where they are defined."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, floor, inf, trunc

import flint
import numpy as np
from flint import arb, arb_series

LINE = (-inf, inf)


def const(s, c):
    return arb_series([c], prec=3)


def lift(f):
    """A function of series from a formula that needs the expansion point's sign."""
    return f


def size(s):
    return s if s[0] > 0 else -s


def root(s):
    return s.sqrt()


def ln(c):
    return arb(c).log()


def exp_(s):
    return s.exp()


def sinh(s):
    e = s.exp()
    return (e - 1 / e) / 2


def cosh(s):
    e = s.exp()
    return (e + 1 / e) / 2


def tanh(s):
    # by the addition theorem at the expansion point
    t = arb_series([0, s[1], s[2]], prec=3)
    a = s[0].tanh()
    b = sinh(t) / cosh(t)
    slope = 1 / s[0].cosh() ** 2
    return a + slope * b / (1 + a * b)


def shifted(value):
    """Value at the point by its own function; the rest of the series as given."""
    return value


def _around(s, v0, rest):
    return arb_series([v0, rest[1], rest[2]], prec=3)


def cbrt(s):
    a = size(s)
    r = (a.log() / 3).exp()
    return r if s[0] > 0 else -r


def arcsinh(s):
    a = size(s)
    r = (a + (a * a + 1).sqrt()).log()
    r = _around(s, abs(s[0]).asinh(), r)
    return (
        r
        if s[0] > 0
        else -r
        if s[0] < 0
        else _around(s, s[0].asinh(), (s + (s * s + 1).sqrt()).log())
    )


def arccosh(s):
    return _around(s, s[0].acosh(), (s + ((s - 1) * (s + 1)).sqrt()).log())


def arctanh(s):
    return _around(s, s[0].atanh(), ((1 + s) / (1 - s)).log() / 2)


def expit(s):
    return 1 / (1 + (-s).exp()) if s[0] > -1000 else s.exp() / (1 + s.exp())


def log_expit(s):
    if s[0] > 0:
        e = (-s).exp()
        return _around(s, -e[0].log1p(), -(1 + e).log())
    e = s.exp()
    return _around(s, s[0] - e[0].log1p(), s - (1 + e).log())


def logit(s):
    return s.log() - (1 - s).log()


def erfinv(s):
    v = s[0].erfinv()
    x = arb_series([v, 1], prec=3)
    return _inverse(x.erf(), v, s)


def _inverse(f, v, s):
    # f(v + t) = f0 + f1 t + f2 t^2; invert
    d = 1 / f[1]
    c = -f[2] * d**3
    t1 = d * s[1]
    return arb_series([v, t1, d * s[2] + c * s[1] * s[1]], prec=3)


def erfcinv(s):
    v = s[0].erfcinv()
    return _inverse(arb_series([v, 1], prec=3).erfc(), v, s)


def ndtri(s):
    v = -(2 * s[0]).erfcinv() * arb(2).sqrt()
    return _inverse((arb_series([-v, -1], prec=3) / arb(2).sqrt()).erfc() / 2, v, s)


def ndtr(s):
    return (-s / arb(2).sqrt()).erfc() / 2


def log_ndtr(s):
    r = ndtr(s).log()
    if s[0] > 1:
        return _around(s, (-((s[0] / arb(2).sqrt()).erfc() / 2)).log1p(), r)
    return r


def dawsn(s):
    return arb.pi().sqrt() / 2 * (-s * s).exp() * s.erfi()


def power(x, y):
    if x[0] > 0:
        return (y * x.log()).exp()
    n = int(y[0].unique_fmpz())
    if n < 0:
        return 1 / power(x, arb_series([-n], prec=3))
    found = const(x, 1)
    if n > 64:
        r = ((-x).log() * n).exp()
        return r if n % 2 == 0 else -r
    for _ in range(n):
        found = found * x
    return found


def logaddexp(x, y):
    a, b = (x, y) if x[0] > y[0] else (y, x)
    e = (b - a).exp()
    return _around(a, a[0] + e[0].log1p(), a + (1 + e).log())


def logaddexp2(x, y):
    c = ln(2)
    r = logaddexp(x * c, y * c)
    return r / c


def arctan2(y, x):
    v = arb.atan2(y[0], x[0])
    r = (y / x).atan() if abs(y[0]) < abs(x[0]) else -(x / y).atan()
    return _around(y, v, r)


def quotient(x, y):
    (p, q), (r, s) = (t[0].man_exp() for t in (x, y))
    n, d = int(p), int(r)
    shift = int(q) - int(s)
    return Fraction(n * 2 ** max(shift, 0), d * 2 ** max(-shift, 0))


def mod(x, y):
    return x - y * arb(floor(quotient(x, y)))


def fmod(x, y):
    return x - y * arb(trunc(quotient(x, y)))


def cosm1(s):
    h = (s / 2).sin()
    return -2 * h * h


TRUTHS = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "negative": lambda x: -x,
    "deg2rad": lambda x: x * arb.pi() / 180,
    "rad2deg": lambda x: x * 180 / arb.pi(),
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "sqrt": lambda x: x.sqrt(),
    "norm": lambda x: x.sqrt(),
    "cbrt": cbrt,
    "power": power,
    "hypot": lambda x, y: (x * x + y * y).sqrt(),
    "exp": exp_,
    "exp2": lambda x: (x * ln(2)).exp(),
    "exp10": lambda x: (x * ln(10)).exp(),
    "expm1": lambda x: _around(x, x[0].expm1(), x.exp()),
    "log": lambda x: x.log(),
    "log2": lambda x: x.log() / ln(2),
    "log10": lambda x: x.log() / ln(10),
    "log1p": lambda x: _around(x, x[0].log1p(), (1 + x).log()),
    "logaddexp": logaddexp,
    "logaddexp2": logaddexp2,
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.tan(),
    "cosm1": cosm1,
    "arcsin": lambda x: x.asin(),
    "arccos": lambda x: x.acos(),
    "arctan": lambda x: x.atan(),
    "arctan2": arctan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "arcsinh": arcsinh,
    "arccosh": arccosh,
    "arctanh": arctanh,
    "expit": expit,
    "log_expit": log_expit,
    "logit": logit,
    "absolute": lambda x: x if x[0] > 0 else -x,
    "maximum": lambda x, y: x if x[0] > y[0] else y,
    "minimum": lambda x, y: x if x[0] < y[0] else y,
    "mod": mod,
    "fmod": fmod,
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "erfcx": lambda x: (x * x).exp() * x.erfc(),
    "erfi": lambda x: x.erfi(),
    "erfinv": erfinv,
    "erfcinv": erfcinv,
    "ndtr": ndtr,
    "ndtri": ndtri,
    "log_ndtr": log_ndtr,
    "dawsn": dawsn,
}


def _power_boxes(rng, pattern, boxes):
    x, y = boxes
    if pattern == 2:
        n = len(x[0])
        whole = rng.choice(
            [
                -3.0,
                -2.0,
                -1.0,
                0.0,
                1.0,
                2.0,
                3.0,
                4.0,
                5.0,
                7.0,
                16.0,
                0.5,
                -0.5,
                1.5,
                2.5,
                0.1,
                1 / 3,
            ],
            n,
        )
        e = np.where(rng.random(n) < 0.7, whole, y[0])
        flip = (e == np.floor(e)) & (rng.random(n) < 0.5)
        mixed = flip & (rng.random(n) < 0.3)
        lo = np.where(flip, -x[1], x[0])
        hi = np.where(flip, np.where(mixed, x[1], -x[0]), x[1])
        x, y = (lo, hi), (e, e)
    return [x, y]


POSITIVE = (0.0, inf)
DOMAINS = {
    "add": {"all": (LINE, LINE)},
    "subtract": {"all": (LINE, LINE)},
    "multiply": {"all": (LINE, LINE)},
    "divide": {"all": (LINE, POSITIVE)},
    "reciprocal": POSITIVE,
    "sqrt": POSITIVE,
    "norm": POSITIVE,
    "log": POSITIVE,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "log1p": (-1.0, inf),
    "exp": (-inf, inf, 2e3),
    "exp2": (-inf, inf, 2e3),
    "exp10": (-inf, inf, 2e3),
    "expm1": (-inf, inf, 2e3),
    "sinh": (-inf, inf, 2e3),
    "cosh": (-inf, inf, 2e3),
    "tanh": (-inf, inf, 2e3),
    "expit": (-inf, inf, 2e3),
    "log_expit": (-inf, inf, 2e3),
    "erf": (-inf, inf, 1e3),
    "erfc": (-inf, inf, 1e3),
    "erfi": (-inf, inf, 1e3),
    "erfcx": (-inf, inf, 1e5),
    "ndtr": (-inf, inf, 1e3),
    "log_ndtr": (-inf, inf, 1e4),
    "dawsn": (-inf, inf, 1e4),
    "arcsin": (-1.0, 1.0),
    "arccos": (-1.0, 1.0),
    "arctanh": (-1.0, 1.0),
    "erfinv": (-1.0, 1.0),
    "erfcinv": (0.0, 2.0),
    "ndtri": (0.0, 1.0),
    "logit": (0.0, 1.0),
    "arccosh": (1.0, inf),
    "power": {"all": (POSITIVE, (-inf, inf, 40.0)), "prepare": _power_boxes},
    "hypot": {"all": (LINE, LINE)},
    "logaddexp": {"all": ((-inf, inf, 1e3), (-inf, inf, 1e3))},
    "logaddexp2": {"all": ((-inf, inf, 1e3), (-inf, inf, 1e3))},
    "arctan2": {"all": (LINE, LINE)},
    "maximum": {"all": (LINE, LINE)},
    "minimum": {"all": (LINE, LINE)},
    "mod": {"all": (LINE, LINE)},
    "fmod": {"all": (LINE, LINE)},
}


def off_zero(formula):
    """The formula, undefined at zero: quotients of series lose a term there."""
    return lambda s: formula(s) if s[0] != 0 else arb_series([arb.nan()] * 3)


def compose(s, v, d, c):
    t = s - s[0]
    return v + d * t + c / 2 * t * t


def bessel(kind):
    """By the first recurrence and the differential equation: DLMF 10.2.1, 10.25.1, 10.6.2."""

    def truth(n, s):
        x = s[0]
        order = n[0] if isinstance(n, arb_series) else arb(n)
        f = getattr(x, "bessel_" + kind)
        v = f(order)
        d = order / x * v + (1 if kind == "i" else -1) * f(order + 1)
        sign = 1 if kind in "ik" else -1
        c = -d / x + (sign + order * order / (x * x)) * v
        return compose(s, v, d, c)

    return truth


def scaled(kind, order):
    def truth(s):
        a = s if s[0] > 0 or kind == "k" else -s
        f = bessel(kind)(order, a)
        r = (a if kind == "k" else -a).exp() * f
        return r if s[0] > 0 or kind == "k" or order == 0 else -r

    return truth


def gammaln(s):
    if s[0] > 0:
        return s.lgamma()
    g = s.gamma()
    return (g if g[0] > 0 else -g).log()


def digamma(s):
    if s[0] > 0:
        long = arb_series([s[0], 1], prec=4)
    else:
        long = arb_series([1 - s[0], -1], prec=4)
    flint.ctx.cap = 4
    p = long.lgamma()
    p = arb_series([p[1], 2 * p[2], 3 * p[3]], prec=3)
    flint.ctx.cap = 3
    if s[0] > 0:
        return compose(s, p[0], p[1], 2 * p[2])
    return compose(s, -p[0], -p[1], -2 * p[2]) - arb.pi() * s.cot_pi()


def expn(n, s):
    x, e, k = s[0], (-s[0]).exp(), n[0]
    v = x.expint(k)
    less = (e - (k - 1) * v) / x
    return compose(s, v, -less, (e - (k - 2) * less) / x)


def cosine_integral(s):
    return (s if s[0] > 0 else -s).ci()


# At a power of zero a quotient of series would lose its last coefficient.
def transformed(x, power):
    log = x.log()
    if power[0] == 0:
        return log * (1 + power * log / 2 + (power * log) ** 2 / 6)
    return ((power * log).exp() - 1) / power


def inverse(y, power):
    if power[0] == 0:
        return (y * (1 - power * y / 2 + (power * y) ** 2 / 3)).exp()
    return ((1 + power * y).log() / power).exp()


def huber(delta, r):
    a = r if r[0] > 0 else -r
    return delta * (a - delta / 2) if a[0] > delta[0] else r * r / 2


def pseudo_huber(delta, r):
    q = r / delta
    return delta * delta * ((1 + q * q).sqrt() - 1)


def whole(function):
    def truth(s):
        p, q = s[0].man_exp()
        return const(s, function(int(p) * Fraction(2) ** int(q)))

    return truth


def sign(s):
    return 1 if s[0] > 0 else -1 if s[0] < 0 else 0


def beta(a, b):
    return betaln(a, b).exp()


@lru_cache(8)
def _lgamma(middle, radius, bits):
    found = arb_series([arb(middle, arb(radius)), 1], prec=3).lgamma()
    return found[0], found[1], 2 * found[2]


def positive_lgamma(s):
    """Once for all directions at a point."""
    x = s[0].mid(), s[0].rad()
    return compose(s, *_lgamma(*(end.man_exp() for end in x), flint.ctx.prec))


def betaln(a, b):
    return positive_lgamma(a) + positive_lgamma(b) - positive_lgamma(a + b)


TRUTHS |= {
    "sinc": off_zero(lambda x: x.sin_pi() / (x * arb.pi())),
    "gamma": lambda x: x.gamma(),
    "gammaln": gammaln,
    "loggamma": gammaln,
    "rgamma": lambda x: x.rgamma(),
    "digamma": digamma,
    "beta": beta,
    "betaln": betaln,
    "xlogy": lambda x, y: x * y.log(),
    "xlog1py": lambda x, y: x * (1 + y).log(),
    "entr": lambda x: -x * x.log(),
    "rel_entr": lambda x, y: x * (x / y).log(),
    "kl_div": lambda x, y: x * (x / y).log() - x + y,
    **{f"{kind}{n}": partial(bessel(kind), n) for kind in "jyik" for n in (0, 1)},
    **{f"{kind}{n}e": scaled(kind, n) for kind in "ik" for n in (0, 1)},
    **{kind + "v": bessel(kind) for kind in "jyik"},
    "exp1": lambda x: -(-x).ei(),
    "expi": lambda x: x.ei(),
    "expn": expn,
    "sine_integral": lambda x: x.si(),
    "cosine_integral": cosine_integral,
    "fresnel_sine": lambda x: x.fresnel_s(),
    "fresnel_cosine": lambda x: x.fresnel_c(),
    "boxcox": transformed,
    "boxcox1p": lambda x, p: transformed(1 + x, p),
    "inv_boxcox": inverse,
    "inv_boxcox1p": lambda y, p: inverse(y, p) - 1,
    "exprel": off_zero(lambda x: (x.exp() - 1) / x),
    "huber": huber,
    "pseudo_huber": pseudo_huber,
    "copy": lambda x: x,
    "positive": lambda x: x,
    "detach": lambda x: const(x, x[0]),
    "float_power": power,
    "fmax": TRUTHS["maximum"],
    "fmin": TRUTHS["minimum"],
    "sign": lambda x: const(x, sign(x)),
    "floor": whole(floor),
    "ceil": whole(ceil),
    "trunc": whole(trunc),
    "rint": whole(round),
    "copysign": lambda x, y: x * sign(x) * (sign(y) or 1),
    "heaviside": lambda x, y: y if x[0] == 0 else const(x, 1 if x[0] > 0 else 0),
}


def _orders(rng, pattern, boxes):
    n = len(boxes[0][0])
    order = rng.choice([0.0, 1.0, 2.0, 3.0, 0.5, 1.3, 7.0], n)
    return [(order, order), boxes[1]]


def _whole_orders(rng, pattern, boxes):
    n = len(boxes[0][0])
    order = rng.integers(1, 7, n).astype(float)
    return [(order, order), boxes[1]]


def _invertible(rng, pattern, boxes):
    y, p = boxes
    scale = 1.5 * np.maximum(np.abs(p[0]), np.abs(p[1])) + 1e-3
    return (
        [
            (
                np.clip(y[0], -1 / (1.6 * scale), 3.0),
                np.clip(y[1], -1 / (1.7 * scale), 5.0),
            ),
            (np.maximum(p[0], 1e-3), np.maximum(p[1], 1e-3)),
        ]
        if pattern == 1
        else [
            (
                np.where(p[0] * y[0] > -0.9, y[0], 0.25),
                np.where(p[0] * y[0] > -0.9, y[0], 0.25),
            )
            if pattern == 3
            else (np.clip(y[0], -0.2, 2), np.clip(y[1], -0.1, 4)),
            (np.clip(p[0], -0.2, 2), np.clip(p[1], -0.2, 3))
            if pattern == 2
            else (np.clip(p[0], 1e-3, 2), np.clip(p[1], 1e-3, 3)),
        ]
    )


MILD = (-inf, inf, 300.0)
SMALL = (0.0, inf, 1e4)
DOMAINS |= {
    "sinc": (-inf, inf, 1e3),
    "gamma": (-inf, inf, 300.0),
    "gammaln": (-inf, inf, 300.0),
    "digamma": (-inf, inf, 300.0),
    "loggamma": POSITIVE,
    "rgamma": (-inf, inf, 200.0),
    "beta": {"all": (SMALL, SMALL)},
    "betaln": {"all": (SMALL, SMALL)},
    "xlogy": {"all": (LINE, POSITIVE)},
    "xlog1py": {"all": (LINE, (-1.0, inf))},
    "entr": POSITIVE,
    "rel_entr": {"all": (POSITIVE, POSITIVE)},
    "kl_div": {"all": (POSITIVE, POSITIVE)},
    "j0": (-inf, inf, 1e3),
    "j1": (-inf, inf, 1e3),
    "y0": (0.0, inf, 1e3),
    "y1": (0.0, inf, 1e3),
    "i0": (-inf, inf, 2e3),
    "i1": (-inf, inf, 2e3),
    "k0": (0.0, inf, 2e3),
    "k1": (0.0, inf, 2e3),
    "i0e": (-inf, inf, 1e4),
    "i1e": (-inf, inf, 1e4),
    "k0e": (0.0, inf, 1e4),
    "k1e": (0.0, inf, 1e4),
    **{
        name: {
            "all": ((0.0, 8.0), (0.0, inf, 300.0)),
            "patterns": (3,),
            "prepare": _orders,
        }
        for name in ("jv", "yv", "iv", "kv")
    },
    "exp1": (0.0, inf, 2e3),
    "expi": (-inf, inf, 2e3),
    "expn": {
        "all": ((1.0, 8.0), (0.0, inf, 1e3)),
        "patterns": (3,),
        "prepare": _whole_orders,
    },
    "sine_integral": (-inf, inf, 1e3),
    "cosine_integral": (-inf, inf, 1e3),
    "fresnel_sine": (-inf, inf, 50.0),
    "fresnel_cosine": (-inf, inf, 50.0),
    "boxcox": {"all": ((0.0, inf, 1e6), (-inf, inf, 20.0))},
    "boxcox1p": {"all": ((-1.0, inf, 1e6), (-inf, inf, 20.0))},
    "inv_boxcox": {"all": (MILD, MILD), "prepare": _invertible},
    "inv_boxcox1p": {"all": (MILD, MILD), "prepare": _invertible},
    "exprel": (-inf, inf, 2e3),
    "huber": {"all": (POSITIVE, LINE)},
    "pseudo_huber": {"all": (POSITIVE, LINE)},
    "float_power": DOMAINS["power"],
    "fmax": DOMAINS["maximum"],
    "fmin": DOMAINS["maximum"],
    "copysign": {"all": (LINE, LINE)},
    "heaviside": {"all": (LINE, LINE)},
}
