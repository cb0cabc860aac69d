"""Time stepping programs in plain NumPy, as NumPy, a tape and JAX run them.

Each has a vector `p` of all that its gradient is taken with respect to. `init` makes the
first state of it, `step` makes the next state, with `p` at hand again and the step's
index, and `objective` a number of the last state. The namespace is an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = ["BY_NAME", "SHORT", "STEPPERS", "Stepper", "direction"]

# Numbers of steps that tests run; every stepper has a long one besides.
SHORT = (1, 2, 7, 100)


@dataclass(frozen=True)
class Stepper:
    """One program; `steps` is how long its long run is."""

    name: str
    steps: int
    p: Any
    init: Callable[[Any, Any], Any]
    step: Callable[[Any, Any, Any, Any], Any]
    objective: Callable[[Any, Any, Any], Any]

    def run(self, p: Any, steps: int, xp: Any = np) -> Any:
        """The whole program as a loop."""
        x = self.init(p, xp)
        for k in range(steps):
            x = self.step(x, p, k, xp)
        return self.objective(x, p, xp)

    def parts(self, xp: Any = np) -> tuple[Any, Any, Any]:
        """First, middle and last transition: functions of state, parameters, index.

        The first takes the place of step 0, so that the middle ones count from 1.
        """
        return (
            lambda p, _params, _k: self.init(p, xp),
            lambda x, p, k: self.step(x, p, k - 1, xp),
            lambda x, p, _k: self.objective(x, p, xp),
        )


def direction(n: int) -> Any:
    """The direction of Hessian products and Taylor tests."""
    return np.cos(np.arange(n, dtype=float))


class Lorenz96:
    """Lorenz's ring of 36 variables by the classical Runge-Kutta rule.

    `p` holds the first state, the damping and the forcing.
    """

    n, h = 36, 2e-4

    def start(self) -> Any:
        k = np.arange(self.n)
        return np.concatenate(
            [6.0 + np.sin(0.7 * k) + 0.1 * np.cos(3.0 * k), [1.0, 8.0]]
        )

    def init(self, p: Any, xp: Any) -> Any:
        return p[: self.n]

    def _rate(self, x: Any, damping: Any, forcing: Any, xp: Any) -> Any:
        ahead, behind, before = xp.roll(x, -1), xp.roll(x, 1), xp.roll(x, 2)
        return (ahead - before) * behind - damping * x + forcing

    def step(self, x: Any, p: Any, k: Any, xp: Any) -> Any:
        h, c, f = self.h, p[self.n], p[self.n + 1]
        a = self._rate(x, c, f, xp)
        b = self._rate(x + 0.5 * h * a, c, f, xp)
        d = self._rate(x + 0.5 * h * b, c, f, xp)
        e = self._rate(x + h * d, c, f, xp)
        return x + h / 6.0 * (a + 2.0 * (b + d) + e)

    def objective(self, x: Any, p: Any, xp: Any) -> Any:
        return xp.mean(x**2) + 0.1 * x[0] * x[5]


class Burgers:
    """Viscous Burgers equation on a ring of 96 cells, Heun's rule.

    `p` holds the first state, the viscosity and the strength of a forcing.
    """

    n, h = 96, 1e-4
    grid = np.arange(96) / 96
    force = np.sin(4 * np.pi * grid)
    target = 0.8 + 0.2 * np.cos(2 * np.pi * (grid - 0.3))

    def start(self) -> Any:
        wave = 0.8 + 0.4 * np.sin(2 * np.pi * self.grid) ** 3
        return np.concatenate([wave + 0.1 * np.cos(6 * np.pi * self.grid), [0.02, 0.3]])

    def init(self, p: Any, xp: Any) -> Any:
        return p[: self.n]

    def _rate(self, u: Any, p: Any, xp: Any) -> Any:
        right, left = xp.roll(u, -1), xp.roll(u, 1)
        advection = (right**2 - left**2) * (self.n / 4)
        diffusion = (right - 2.0 * u + left) * self.n**2
        return p[self.n] * diffusion - advection + p[self.n + 1] * self.force

    def step(self, u: Any, p: Any, k: Any, xp: Any) -> Any:
        a = self._rate(u, p, xp)
        b = self._rate(u + self.h * a, p, xp)
        return u + 0.5 * self.h * (a + b)

    def objective(self, u: Any, p: Any, xp: Any) -> Any:
        off = u - self.target
        return 0.5 * xp.dot(off, off) / self.n


class Heat:
    """Heat in an insulated rectangle with a conductivity a cell and a pulsing source.

    `p` holds the logarithms of the conductivities, the height of the first bump and the
    strength of the source. Fluxes use harmonic means.
    """

    shape, h = (10, 12), 4e-4
    source = np.zeros(shape)
    source[3, 4] = source[7, 2] = 40.0
    weight = np.linspace(0.0, 2.0, 120).reshape(shape)
    bump = np.outer(np.hanning(12)[1:-1], np.hanning(14)[1:-1])

    def start(self) -> Any:
        k = np.arange(120)
        return np.concatenate([0.4 * np.sin(1.3 * k) * np.cos(0.2 * k), [1.0, 0.5]])

    def init(self, p: Any, xp: Any) -> Any:
        return 1.0 + p[120] * self.bump

    @staticmethod
    def _gain(u: Any, c: Any, axis: int, xp: Any) -> Any:
        """What cells gain from both neighbours along an axis."""
        if axis:
            u, c = u.T, c.T
        flux = 2.0 * c[1:] * c[:-1] / (c[1:] + c[:-1]) * (u[1:] - u[:-1])
        wall = np.zeros((1, u.shape[1]))
        gain = xp.concatenate((flux, wall)) - xp.concatenate((wall, flux))
        return gain.T if axis else gain

    def step(self, u: Any, p: Any, k: Any, xp: Any) -> Any:
        c = xp.exp(xp.reshape(p[:120], self.shape))
        gains = self._gain(u, c, 0, xp) + self._gain(u, c, 1, xp)
        pulse = xp.sin(2 * np.pi * self.h * k) ** 2
        return u + self.h * (100.0 * gains + p[121] * pulse * self.source)

    def objective(self, u: Any, p: Any, xp: Any) -> Any:
        return xp.sum(self.weight * (u - 1.2) ** 2) + 0.01 * xp.sum(p**2)


class Bodies:
    """Four bodies in a plane under softened gravity, kick, drift, kick.

    `p` holds masses, places and speeds; a state is a dictionary.
    """

    n, h, soft = 4, 1e-3, 1e-2

    def start(self) -> Any:
        mass = np.array([1.0, 1e-2, 3e-3, 5e-3])
        radius, angle = np.array([0.0, 1.0, 1.7, 2.6]), np.array([0.0, 0.4, 2.2, 4.5])
        speed = np.array([0.0, 1.0, 1.7**-0.5, 2.6**-0.5])
        q = radius * np.array([np.cos(angle), np.sin(angle)])
        v = speed * np.array([-np.sin(angle), np.cos(angle)])
        return np.concatenate([mass, q.ravel(), v.ravel()])

    def init(self, p: Any, xp: Any) -> Any:
        q, v = xp.reshape(p[4:12], (2, 4)), xp.reshape(p[12:], (2, 4))
        return {"place": q, "speed": v}

    def _pull(self, q: Any, mass: Any, xp: Any) -> Any:
        apart = q[:, None, :] - q[:, :, None]
        square = xp.sum(apart**2, axis=0) + self.soft
        return xp.sum(mass * square**-1.5 * apart, axis=2)

    def step(self, x: Any, p: Any, k: Any, xp: Any) -> Any:
        mass = p[:4]
        v = x["speed"] + 0.5 * self.h * self._pull(x["place"], mass, xp)
        q = x["place"] + self.h * v
        return {"place": q, "speed": v + 0.5 * self.h * self._pull(q, mass, xp)}

    def objective(self, x: Any, p: Any, xp: Any) -> Any:
        q, v = x["place"], x["speed"]
        energy = 0.5 * xp.sum(p[:4] * xp.sum(v**2, axis=0))
        return (
            energy + xp.hypot(q[0, 1] - q[0, 0], q[1, 1] - q[1, 0]) + q[0, 2] * v[1, 3]
        )


class Water(NamedTuple):
    """Height and both speeds of shallow water."""

    height: Any
    east: Any
    north: Any


class ShallowWater:
    """Rotating shallow water on a periodic grid of 12 by 12 cells, forward, backward.

    `p` holds the first height, the drag, the rotation and the viscosity; a state is a
    named tuple.
    """

    n, h = 12, 2e-3

    def start(self) -> Any:
        x = np.arange(self.n) / self.n
        height = 1.0 + 0.1 * np.outer(
            np.sin(np.pi * x) ** 4, np.sin(np.pi * x + 0.4) ** 4
        )
        return np.concatenate([height.ravel(), [0.05, 0.5, 4e-3]])

    def init(self, p: Any, xp: Any) -> Any:
        height = xp.reshape(p[:144], (self.n, self.n))
        slope = 0.1 * (xp.roll(height, 1, axis=0) - height)
        return Water(height, slope, -slope)

    def _slope(self, a: Any, axis: int, xp: Any) -> Any:
        return (xp.roll(a, -1, axis=axis) - xp.roll(a, 1, axis=axis)) * (self.n / 2)

    def _spread(self, a: Any, xp: Any) -> Any:
        around = xp.roll(a, 1, axis=0) + xp.roll(a, -1, axis=0)
        around = around + xp.roll(a, 1, axis=1) + xp.roll(a, -1, axis=1)
        return (around - 4.0 * a) * self.n**2

    def _speed(self, a: Any, x: Water, push: Any, p: Any, xp: Any) -> Any:
        carried = x.east * self._slope(a, 0, xp) + x.north * self._slope(a, 1, xp)
        drag = p[144] * a / x.height
        return a + self.h * (push - carried - drag + p[146] * self._spread(a, xp))

    def step(self, x: Water, p: Any, k: Any, xp: Any) -> Any:
        flow = self._slope(x.height * x.east, 0, xp)
        flow = flow + self._slope(x.height * x.north, 1, xp)
        height = x.height + self.h * (p[146] * self._spread(x.height, xp) - flow)
        x, turn = Water(height, x.east, x.north), p[145]
        east = self._speed(
            x.east, x, turn * x.north - self._slope(height, 0, xp), p, xp
        )
        x = Water(height, east, x.north)
        north = self._speed(
            x.north, x, -turn * east - self._slope(height, 1, xp), p, xp
        )
        return Water(height, east, north)

    def objective(self, x: Water, p: Any, xp: Any) -> Any:
        energy = xp.mean(x.height * (x.east**2 + x.north**2))
        return energy + xp.mean((x.height - 1.0) ** 2) + 0.1 * x.height[3, 4]


class VanDerPol:
    """A forced oscillator in scalars, midpoint rule.

    `p` holds place, speed, damping and the strength of the force; a state is a pair.
    """

    h = 2e-5

    def start(self) -> Any:
        return np.array([1.2, -0.4, 1.5, 0.3])

    def init(self, p: Any, xp: Any) -> Any:
        return (p[0], p[1])

    def step(self, state: Any, p: Any, k: Any, xp: Any) -> Any:
        (x, y), h, mu = state, self.h, p[2]
        force = p[3] * xp.cos(2.0 * h * k)
        xm = x + 0.5 * h * y
        ym = y + 0.5 * h * (mu * (1.0 - x * x) * y - x + force)
        return (x + h * ym, y + h * (mu * (1.0 - xm * xm) * ym - xm + force))

    def objective(self, state: Any, p: Any, xp: Any) -> Any:
        x, y = state
        return x * x + 0.1 * y * y * p[2]


def _stepper(name: str, steps: int, kind: Any) -> Stepper:
    return Stepper(name, steps, kind.start(), kind.init, kind.step, kind.objective)


STEPPERS = (
    _stepper("lorenz96", 10_000, Lorenz96()),
    _stepper("burgers", 10_000, Burgers()),
    _stepper("heat", 10_000, Heat()),
    _stepper("bodies", 20_000, Bodies()),
    _stepper("shallow_water", 10_000, ShallowWater()),
    _stepper("van_der_pol", 1_000_000, VanDerPol()),
)
BY_NAME = {s.name: s for s in STEPPERS}
