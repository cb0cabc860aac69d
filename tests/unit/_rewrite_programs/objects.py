"""Programs whose state and code lie in objects."""
# ruff: noqa: RUF012

import abc
import functools
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from .helpers import fill

PROGRAMS = []
Pair = namedtuple("Pair", "a b")


def program(f):
    PROGRAMS.append(f)
    return f


class Base:
    made = 0
    power = 2

    def __init__(self, width):
        self.width = width
        type(self).made += 1

    def buffer(self, x):
        r = np.zeros(3)
        r[:] = x
        return r

    def value(self, x):
        return (self.buffer(x) ** self.power).sum() * self.width


class Model(Base):
    power = 3
    calls = 0

    def __init__(self, width, inner=None):
        super().__init__(width)
        self.inner = inner
        self.log = []

    def value(self, x):
        Model.calls += 1
        self.log.append("value")
        return super().value(x) + (self.inner.value(x) if self.inner else 0.0)

    def __call__(self, x):
        self.last = len(x)
        return self.value(x) * self.twice(1.0)

    @staticmethod
    def twice(v):
        return fill([v])[0] * 2.0

    @classmethod
    def standard(cls):
        return cls(1.0)

    @property
    def squared(self):
        return fill([self.width])[0] ** 2

    @functools.cached_property
    def weights(self):
        return np.linspace(0.5, 1.5, 3) * self.width


model = Model(0.5, Base(2.0))
bound_method = program(model.value)
callable_object = program(model)


@program
def object_of_module(x):
    return model(x) * model.squared


@program
def object_made_inside(x):
    return Model.standard().value(x) + Model(2.0).squared * x[0]


@program
def cached_property(x):
    return (Model(0.5).weights * x).sum()


@dataclass
class Settings:
    scale: float = 2.0
    start: object = np.zeros
    steps: list = field(default_factory=lambda: [fill, np.sin])

    def apply(self, x):
        for step in self.steps:
            x = step(x)
        return self.start(3) + x * self.scale


settings = Settings()


@program
def dataclass_object(x):
    return settings.apply(x).sum() + Settings(scale=x[0]).apply(x)[1]


@dataclass(slots=True)
class Slotted:
    scale: float
    f: object = fill

    def apply(self, x):
        self.scale = self.scale * 1.0
        return self.f(x)[0] * self.scale * np.ones(1)[0]


slotted = Slotted(1.5)


@program
def slots(x):
    return slotted.apply(x) * Slotted(2.0).apply(x)


@program
def named_tuple(x):
    p = Pair(np.zeros(2), b=x[1])
    p.a[0] = x[0]
    return p.a[0] * p.b


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self, x): ...

    def doubled(self, x):
        return self.area(x) * 2.0


class Square(Shape):
    def area(self, x):
        return fill(x)[0] ** 2


shapes = [Square(), Square()]


@program
def list_of_objects(x):
    return sum(s.doubled(x) for s in shapes if isinstance(s, Shape)) * x[1]


class Registry:
    known = []

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Registry.known.append(cls.__name__)


class Entry(Registry):
    def value(self, x):
        return fill(x)[1] * x[0]


@program
def registered(x):
    return Entry().value(x)


class Meta(type):
    made = []

    def __new__(mcs, name, bases, fields):
        mcs.made.append(name)
        return super().__new__(mcs, name, bases, fields)

    def build(cls, x):
        return fill(x)[0]


class Built(metaclass=Meta):
    def value(self, x):
        return np.ones(1)[0] * type(self).build(x) * x[2]


@program
def metaclass(x):
    return Built().value(x)


class Left(Base):
    def buffer(self, x):
        return super().buffer(x) * 2.0


class Right(Base):
    def buffer(self, x):
        return super().buffer(x) + 1.0


class Both(Left, Right):
    pass


@program
def diamond(x):
    return Both(1.0).value(x)


class Vector:
    def __init__(self, data):
        self.data = data

    def __add__(self, other):
        return Vector(fill(self.data) + other.data)

    def __getitem__(self, k):
        return self.data[k]

    def __len__(self):
        return len(self.data)

    def __eq__(self, other):
        return isinstance(other, Vector) and len(self) == len(other)


@program
def operators(x):
    s = Vector(x) + Vector(x * 2.0)
    return s[0] * s[1] if s == Vector(x) else x[0]


options = SimpleNamespace(f=fill, scale=2.0)


@program
def simple_namespace(x):
    return options.f(x)[1] * options.scale * x[0]


class Items(list):
    def total(self):
        return fill(self).sum()


@program
def subclass_of_list(x):
    return Items(list(x)).total() * x[0]


class Failure(ValueError):
    pass


@program
def exceptions(x):
    try:
        if len(x) == 3:
            raise Failure(x[0] * x[1])
    except Failure as failure:
        return failure.args[0]
