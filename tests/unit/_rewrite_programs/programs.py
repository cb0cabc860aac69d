"""One way of reaching NumPy each; every program takes three numbers and gives one."""
# ruff: noqa: ICN001, PLC0415

import functools
import itertools
import math
import operator
from functools import lru_cache, partial, reduce
from math import atan2, exp

import numba
import numpy
import numpy as np
import numpy.linalg
import numpy.linalg as la
from numpy import array as make
from numpy import linalg, ndarray, zeros
from numpy import sin as sine
from scipy import special
from scipy.special import logsumexp, softmax

from . import helpers, star
from .helpers import fill, scaled

PROGRAMS = []
A = np.array([[1.0, 2.0, 0.5], [0.25, 1.0, -1.0], [3.0, 0.0, 2.0]])
POINTS = [0.5, 1.25, -0.75]
OPS = {"sin": np.sin, "fill": fill, "inner": {"norm": np.linalg.norm}}
STEPS = [np.sin, fill, np.sum]
NAMED = ("tanh", (np.tanh, scaled))


def program(f):
    PROGRAMS.append(f)
    return f


@program
def module_alias(x):
    r = np.zeros(2)
    r[0], r[1] = x[0] ** 2, x[1] * x[2]
    return r @ r


@program
def module_itself(x):
    r = numpy.empty(3)
    r[:] = x
    return numpy.sum(r**3)


@program
def from_import(x):
    r = zeros(3)
    r[1:] = x[:2]
    return (r * r).sum()


@program
def from_import_as(x):
    return sine(make([x[0] * x[1], x[2]])).sum()


@program
def local_import(x):
    import numpy as xp

    r = xp.ones(3)
    r *= x
    return xp.prod(r)


@program
def local_import_of_submodule(x):
    import numpy.linalg

    r = numpy.zeros(3)
    r[:] = x
    return numpy.linalg.norm(r)


@program
def local_from_import(x):
    from math import sqrt

    from numpy import empty as e
    from numpy.linalg import norm

    r = e(3)
    r[:] = x
    return norm(r) * sqrt(2.0)


@program
def local_relative_import(x):
    from . import helpers as h
    from .helpers import scaled as s

    return h.fill(x)[1] * s(x[0])


@program
def linalg_alias(x):
    r = np.zeros(3)
    r[:] = x
    return la.norm(r) + linalg.norm(r[:2]) + numpy.linalg.norm(r[1:])


@program
def default_module(x, xp=np):
    r = xp.zeros(2)
    r[0] = x[0] * x[2]
    return r[0] * x[1]


@program
def default_function(x, start=np.zeros, *, then=fill):
    r = start(3)
    r[0] = x[0]
    return then(r * x).sum()


def _closure(xp, power):
    def f(x):
        r = xp.zeros(3)
        r[:] = x
        return xp.sum(r**power)

    return f


closure = program(_closure(np, 3))
star_import = program(star.star_import)
star_builtins = program(star.star_builtins)
lambda_ = program(lambda x: fill([x[0], x[1]]) @ np.array([x[1], x[2]]))


@program
def inner_function(x):
    def g(v):
        r = np.zeros(1)
        r[0] = v
        return r[0]

    return sum(g(v) * w for v, w in zip(x, POINTS, strict=True))


@program
def helper_by_module(x):
    return helpers.scaled(x[0]) * helpers.fill(x)[1] * helpers.SCALE


@program
def dict_of_functions(x):
    return OPS["sin"](OPS["fill"](x)).sum() + OPS["inner"]["norm"](x)


@program
def list_of_functions(x):
    for step in STEPS[1:]:
        x = step(x)
    return x * STEPS[0](1.0)


@program
def tuple_of_functions(x):
    _, (f, g) = NAMED
    return f(x[0]) + g(x[1])


@program
def method_of_dict(x):
    return OPS.get("fill")(x)[2] * x[0]


def _traced(f):
    @functools.wraps(f)
    def wrapper(*args, **kw):
        return f(*args, **kw)

    return wrapper


@program
@_traced
def decorated(x):
    return fill(x)[0] * x[1]


def _plain_decorator(f):
    return lambda x: 2.0 * f(x)


@program
@_plain_decorator
def decorated_without_wraps(x):
    r = np.zeros(1)
    r[0] = x[0]
    return r[0] * x[2]


@lru_cache(maxsize=8)
def _grid(n):
    return np.linspace(0.5, 1.5, n)


@program
def cached_helper(x):
    g = _grid(3)
    return (g * x).sum() * _grid(3)[1]


partial_ = program(partial(_closure(np, 2)))


def _weighted(w, x, *, f):
    return f(x) @ w


partial_with_arguments = program(partial(_weighted, np.array(POINTS), f=fill))


@numba.njit
def _compiled(v, n):
    r = np.zeros(n)
    for k in range(n):
        r[k] = v * k
    return r


@program
def compiled_callee(x):
    return (_compiled(x[0], 3) * x).sum()


@program
def compiled_by_attribute(x):
    python = getattr(_compiled, "py_func", _compiled)
    return (python(x[0], 3) * x).sum()


@functools.singledispatch
def _size(v):
    raise TypeError(type(v))


@_size.register
def _(v: float):
    return np.zeros(1)[0] + v


@_size.register(np.ndarray)
def _(v):
    return fill(v)[0]


@program
def dispatch_on_type(x):
    return _size(x[1]) * _size(x)


def _values(x):
    for v in x:
        yield fill([v])[0] ** 2


@program
def generator(x):
    return sum(_values(x))


@program
def recursion(x, depth=3):
    if depth == 0:
        r = np.zeros(1)
        r[0] = x[0] * x[1]
        return r[0]
    return x[2] * recursion(x, depth - 1)


def _even(x, n):
    return fill(x)[0] if n == 0 else _odd(x, n - 1) * x[1]


def _odd(x, n):
    return fill(x)[2] if n == 0 else _even(x, n - 1) * x[0]


@program
def mutual_recursion(x):
    return _even(x, 4)


@program
def evaluated(x):
    return eval("np.zeros(1)[0] + x[0] * scaled(x[1])")


@program
def executed(x):
    scope = {"x": x, "np": np}
    exec("r = np.zeros(1)\nr[0] = x[0] * x[1]", scope)
    return scope["r"][0]


@program
def checks_for_array(x):
    if isinstance(x, np.ndarray) and isinstance(x, ndarray):
        return x[0] * x[1]
    raise TypeError(type(x))


@program
def checks_for_float(x):
    y = x[0] * x[1]
    if isinstance(y, float) and isinstance(y, (int, np.floating)):
        return y
    raise TypeError(type(y))


@program
def asks_for_float(x):
    return float(x[0]) * float(x[1]) + float("0.5") * np.zeros(2, dtype=float)[0]


@program
def constants_of_module(x):
    return (A @ x).sum() + np.dot(A, x)[0]


@program
def dot_of_local_array(x):
    b = np.array([[1.0, 2.0, 3.0], [0.5, 1.0, 2.0]])
    return b.dot(x).sum() * x[0]


@program
def concatenation_by_index(x):
    return (np.r_[x[0], 1.0, x[1:]] ** 2).sum()


@program
def buffers(x):
    a, b = np.arange(3.0), np.linspace(0.0, 1.0, 3)
    c = np.array([1.0, 2.0, 3.0])
    a[0], b[1], c[2] = x[0], x[1], x[2]
    return (a * b * c).sum() + a[0] * c[2]


@program
def math_module(x):
    return math.sqrt(x[1]) * math.sin(x[0]) + math.pi


@program
def math_function(x):
    return exp(x[0] - x[0] * 0.5) * atan2(x[1], 2.0)


@program
def math_of_plain_numbers(x):
    return x[0] * math.exp(0.3) * math.tanh(0.7) * math.lgamma(2.5)


@program
def smooth_functions(x):
    return logsumexp(x) + special.logsumexp(x) + softmax(x)[0]


@program
def folded(x):
    return reduce(operator.mul, map(scaled, x))


@program
def comprehension(x):
    parts = {k: [fill([v])[0] for v in x] for k in range(2)}
    return np.sum(parts[0]) * np.sum([p * p for p in parts[1]])


@program
def pairs(x):
    return sum(fill([a * b])[0] for a, b in itertools.combinations(list(x), 2))


@program
def nested_class(x):
    class Local:
        width = helpers.SCALE
        start = np.zeros(2)

        def __init__(self, v):
            self.v = fill([v])

        def double(self):
            return self.v[0] * 2.0 * self.width

    return Local(x[0]).double() * x[1]


@program
def many_arguments(x, *args, k=2, **kw):
    r = np.full(k, 1.0, **kw)
    r[0] = x[0]
    return r.sum() * x[1]


@program
def conditional(x):
    try:
        r = np.zeros(1)
        with np.errstate(all="ignore"):
            r[0] = x[0] if x[0] > x[2] else x[1]
    finally:
        r[0] *= x[1]
    return r[0]
