"""Programs that use the less common parts of the language."""
# ruff: noqa: ICN001, PLC0415, RUF012

import contextlib
import copy
import enum
import functools
import operator
import typing

import numpy as np

from .helpers import fill

PROGRAMS = []
T = typing.TypeVar("T")


def program(f):
    PROGRAMS.append(f)
    return f


class Colour(enum.Enum):
    RED = 2

    def times(self, x):
        return x[0] * self.value


@program
def enumeration(x):
    return Colour.RED.times(x) * fill(x)[1]


class Boxed(typing.Generic[T]):
    def __init__(self, a):
        self.a = a

    def value(self, x):
        return fill(x)[0] * self.a


@program
def generic_class(x):
    return Boxed[float](2.0).value(x)


class Made:
    def __new__(cls, *args):
        made = super().__new__(cls)
        made.one = np.ones(1)[0]
        return made

    def __init__(self, v):
        self.v = fill([v])

    @classmethod
    def of(cls, x):
        return cls(x[0])


class MadeAgain(Made):
    @classmethod
    def of(cls, x):
        return super().of(x)

    def __getattr__(self, name):
        if name == "dynamic":
            return fill
        raise AttributeError(name)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


again = MadeAgain(1.0)


@program
def construction(x):
    return MadeAgain.of(x).v[0] * Made.of(x).one * again.dynamic(x)[1]


@program
def class_of_an_object(x):
    return type(again)(x[0]).v[0] * x[1]


@program
def subclass_made_inside(x):
    class Inner(MadeAgain):
        def __init__(self, v):
            super().__init__(v)
            self.w = self.v * 2.0

    inner = Inner(x[0])
    if (
        isinstance(inner, Made)
        and issubclass(Inner, MadeAgain)
        and isinstance(again, Made)
    ):
        return inner.w[0] * x[1]
    return x[2]


class Sized:
    @functools.singledispatchmethod
    def size(self, a):
        return a[0] * 2.0

    @size.register
    def _(self, a: float):
        return a * 3.0


sized = Sized()


@program
def dispatching_method(x):
    return sized.size(x)


numpy_when_needed = None


@program
def module_imported_when_needed(x):
    global numpy_when_needed
    if numpy_when_needed is None:
        import numpy as numpy_when_needed
    r = numpy_when_needed.zeros(1)
    r[0] = x[0]
    return r[0] * x[1]


twice = np.vectorize(lambda a: a * 2.0)


@program
def vectorized(x):
    return twice(x).sum()


@contextlib.contextmanager
def _filled(x):
    yield fill(x)


@program
def context_manager(x):
    with _filled(x) as r:
        return r[0] * r[1]


class Properties:
    def __init__(self):
        self._a = 1.0
        self.steps = {"f": fill, "more": [fill, {"sin": np.sin}]}

    @property
    def a(self):
        return self._a

    @a.setter
    def a(self, v):
        self._a = fill([v])[0]


shared = Properties()


@program
def properties(x):
    p = Properties()
    p.a = x[0]
    return p.a * shared.steps["f"](x)[1] * shared.steps["more"][1]["sin"](x[2])


@program
def deep_copy(x):
    p = copy.deepcopy(shared)
    p.a = x[0]
    return p.a * p.steps["more"][0](x)[0]


class Attribute:
    def __get__(self, obj, owner=None):
        return lambda x: x[0] * x[1]


class Attributes:
    described = Attribute()
    xp = np
    act = np.tanh
    fixed = staticmethod(np.exp)
    several = [fill]

    def first(self, x):
        return fill(x)[0]

    alias = first


attributes = Attributes()


@program
def attributes_of_a_class(x):
    a = attributes
    return (
        a.xp.zeros(1)[0]
        + a.act(x[0]) * a.fixed(x[1]) * a.several[0](x)[2] * a.alias(x)
        + Attributes.act(x[1]) * a.described(x)
    )


class Equal:
    """Its equality gives an array, as some libraries' objects do."""

    def __init__(self):
        self.f = fill
        self.a = np.ones(2)

    def __eq__(self, other):
        return self.a == 1.0

    __hash__ = None


equals = [Equal(), fill]


@program
def equality_that_is_no_bool(x):
    return equals[0].f(x)[0] * equals[1](x)[1]


@program
def builtins_of_numbers(x):
    squares = sum(v * v for v in x)
    return squares + max(x[0], x[1]) * min(x) + abs(-x[0]) + pow(x[0], 2) + round(2.6)


@program
def operators_as_functions(x):
    return functools.reduce(operator.add, [operator.mul(a, a) for a in fill(x)])


@program
def pattern(x):
    match list(fill(x)):
        case [a, b, c]:
            return a * b * c
    return x[0]


def _answers(x):
    got = yield fill(x)[0]
    yield got * fill(x)[1]


@program
def sent_to_a_generator(x):
    answers = _answers(x)
    return answers.send(next(answers))


@program
def import_by_function(x):
    return __import__("numpy").zeros(1)[0] + x[0] * np.zeros(1)[0] + x[1]


@program
def annotated(x: np.ndarray) -> float:
    y: float = fill(x)[0]
    return (z := y * 2.0) * z
