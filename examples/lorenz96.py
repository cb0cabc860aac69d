"""The state and the forcing of a chaotic model of the weather, from observations.

Lorenz's model of 1996: forty variables on a circle, chaotic at the forcing `F = 8`. A true
run is made up; every second variable is observed now and then, with errors. Found again are
the forty variables at the start, from a first guess that is off, and the forcing, which is
thought to be 7. This is variational data assimilation, as weather services do it ("4D-Var").

What the library brings: the gradient of thousands of steps, compiled, in the memory of a few
states; and the scales of the unknowns, from the cover of the first steps.

    python -m examples.lorenz96 [--out FOLDER] [--quick]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from derivative_covers import checkpoint as cp

from ._gallery import BLUE, INK, ORANGE, finish, options, picture

__all__ = ["Found", "Twin", "assimilate", "main", "twin"]

VARIABLES, FORCING = 40, 8.0
GUESSED_FORCING, GUESS_ERROR, OBSERVATION_ERROR = 7.0, 0.8, 0.3


def rate(x: Any, forcing: Any) -> Any:
    """The time derivative of the model."""
    return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + forcing


def advance(x: Any, forcing: Any, dt: float) -> Any:
    """One step of the classical Runge-Kutta method."""
    a = rate(x, forcing)
    b = rate(x + dt / 2 * a, forcing)
    c = rate(x + dt / 2 * b, forcing)
    d = rate(x + dt * c, forcing)
    return x + dt / 6 * (a + 2.0 * (b + c) + d)


@dataclass(frozen=True)
class Twin:
    """A true run, what was seen of it, and a first guess.

    Attributes:
        dt: Length of a step.
        truth: The true states, shape (steps + 1, 40).
        seen: Observations, 0 where there is none, shape (steps + 1, 40).
        weight: One over the variance of each, 0 where there is none, of the same shape.
        guess: The first guess of the start, shape (40,).
    """

    dt: float
    truth: np.ndarray
    seen: np.ndarray
    weight: np.ndarray
    guess: np.ndarray


def twin(steps: int, duration: float, every: int) -> Twin:
    """Run the model and observe every second variable at each `every`-th step."""
    rng = np.random.default_rng(1996)
    dt = duration / steps
    x = FORCING + rng.normal(size=VARIABLES)
    for _ in range(2000):  # until the run is on the attractor
        x = advance(x, FORCING, 0.01)
    run = [x]
    for _ in range(steps):
        run.append(advance(run[-1], FORCING, dt))
    truth = np.array(run)
    weight = np.zeros_like(truth)
    weight[every::every, ::2] = OBSERVATION_ERROR**-2
    noise = rng.normal(scale=OBSERVATION_ERROR, size=truth.shape)
    seen = np.where(weight > 0, truth + noise, 0.0)
    guess = x + rng.normal(scale=GUESS_ERROR, size=VARIABLES)
    return Twin(dt, truth, seen, weight, guess)


def misfit_of(data: Twin, steps: int) -> cp.Chain:
    """The distance from the first guess and from so many steps of observations."""

    def begin(x: Any, forcing: Any, _: Any) -> Any:
        away = np.sum(((x - data.guess) / GUESS_ERROR) ** 2)
        return x, 0.5 * (away + (forcing - GUESSED_FORCING) ** 2)

    def step(state: Any, forcing: Any, _: Any, row: Any) -> Any:
        x, misfit = state
        x = advance(x, forcing, data.dt)
        return x, misfit + 0.5 * np.sum(row["weight"] * (x - row["seen"]) ** 2)

    # Row k belongs to step k of the chain; step 0 is `begin`, and its row is all zeros.
    rows = {"weight": data.weight, "seen": data.seen}
    part = cp.Transition.compiled(step, data=rows)
    return cp.Chain([begin, cp.Chain.uniform(steps, part), lambda state, *_: state[1]])


@dataclass(frozen=True)
class Found:
    """What the assimilation found.

    Attributes:
        start: The start, shape (40,).
        forcing: The forcing.
        values: The misfit at each evaluation.
        scales: Natural steps of the forty variables, all the same, and of the forcing.
        report: What one gradient did.
    """

    start: np.ndarray
    forcing: float
    values: list[float]
    scales: np.ndarray
    report: cp.SweepReport


def assimilate(data: Twin, *, first: int, slots: int) -> Found:
    """Minimise the misfit, in the natural scales of the first steps."""
    schedule = cp.UniformBlock(slots=slots, record="block")
    cover = cp.cover_sweep(
        misfit_of(data, first), data.guess, schedule=schedule, params=GUESSED_FORCING
    )
    # The variables share a unit, so they share a scale: the geometric mean of theirs.
    shared = np.exp(np.mean(np.log(cover.h)))
    scales = 1 / np.append(np.full(VARIABLES, shared), cover.params_h)
    whole = misfit_of(data, len(data.truth) - 1)
    values: list[float] = []
    reports: list[cp.SweepReport] = []

    def value_and_gradient(y: np.ndarray) -> tuple[float, np.ndarray]:
        z = scales * y
        found = cp.reverse_sweep(whole, z[:-1], schedule=schedule, params=z[-1])
        values.append(found.value)
        reports.append(found.report)
        return found.value, scales * np.append(found.cotangent, found.params_cotangent)

    begin = np.append(data.guess, GUESSED_FORCING) / scales
    best = scales * minimize(value_and_gradient, begin, jac=True, method="L-BFGS-B").x
    return Found(best[:-1], float(best[-1]), values, scales, reports[-1])


def error(x: np.ndarray, truth: np.ndarray) -> float:
    """Root mean square of the difference."""
    return float(np.sqrt(np.mean((x - truth) ** 2)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Assimilate, print what was found, draw the picture."""
    chosen = options("lorenz96", __doc__, arguments)
    steps = 40 if chosen.quick else 1000
    data = twin(steps, 0.2 if chosen.quick else 1.0, every=steps // 20)
    found = assimilate(data, first=steps // 20, slots=7 if chosen.quick else 32)
    done = found.report.executed
    seen, hidden = slice(0, None, 2), slice(1, None, 2)
    print(
        f"{steps} steps; unknown: {VARIABLES} variables at the start and the forcing."
    )
    print(f"Misfit {found.values[0]:.0f} -> {found.values[-1]:.0f}")
    for name, part in (("observed", seen), ("hidden", hidden)):
        before = error(data.guess[part], data.truth[0][part])
        after = error(found.start[part], data.truth[0][part])
        print(
            f"Error of the {name} variables at the start: {before:.3f} -> {after:.3f}"
        )
    print(f"Forcing: {GUESSED_FORCING:g} -> {found.forcing:.3f} (true: {FORCING:g})")
    print("The library brought:")
    print(f"- {len(found.values)} gradients by {VARIABLES + 1} unknowns, each with")
    print(f"  {done.peak_slots} states in memory at once, of {steps + 2};")
    print(f"- natural steps: {found.scales[0]:.2g} for the variables,")
    print(f"  {found.scales[-1]:.2g} for the forcing.")
    draw(data, found, chosen.out)
    return 0


def draw(data: Twin, found: Found, folder: Path) -> None:
    """Two variables in time: truth, observations, first guess, what was found."""
    times = data.dt * np.arange(len(data.truth))
    runs = {"first guess": (data.guess, GUESSED_FORCING, ORANGE)}
    runs["found"] = (found.start, found.forcing, BLUE)
    figure, axes = picture(2)
    for panel, variable, title in zip(
        axes, (0, 1), ("an observed variable", "a hidden variable"), strict=True
    ):
        panel.plot(
            times, data.truth[:, variable], color=INK, linewidth=4, label="truth"
        )
        for name, (x, forcing, colour) in runs.items():
            run = [x]
            for _ in times[1:]:
                run.append(advance(run[-1], forcing, data.dt))
            panel.plot(times, np.array(run)[:, variable], color=colour, label=name)
        at = data.weight[:, variable] > 0
        panel.plot(times[at], data.seen[at, variable], "o", color=INK, markersize=3)
        panel.set_title(title, loc="left")
        panel.set_xlabel("time")
    axes[0].legend()
    finish(figure, folder, "lorenz96")


if __name__ == "__main__":
    raise SystemExit(main())
