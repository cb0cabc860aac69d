"""SciPy's methods in random units of the variables: as they are, and in natural steps.

Each regression problem of NIST from both published starts, and the least-squares problems
of Moré, Garbow and Hillstrom from theirs, in the published units and in random ones over
twelve decades. A run is solved if it ends at the certified, or published, minimum to 1e-4.

Two controls say what may be asked for. In units that are powers of two nothing is rounded
otherwise: all runs have to be the same, bit for bit. And in the published units alone, a
program that rounds its variables otherwise shows what rounding does by itself.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc
from derivative_covers.errors import DerivativeError
from examples import nist
from tests.suites._more_garbow_hillstrom import PROBLEMS

from . import _peers
from ._report import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ITEM = "units"
SYSTEMS = 10
POWERS = 3
SCALAR = ("BFGS", "L-BFGS-B", "trust-constr")
RESIDUAL = ("trf", "dogbox", "lm")
WITHIN = 1.2


@dataclass(frozen=True)
class Case:
    """A problem at a start.

    Attributes:
        name: Its name, and that of the start.
        residuals: Whose squares are added up.
        start: In published units.
        least: Sum of squares that counts as solved.
    """

    name: str
    residuals: Callable[[Any], Any]
    start: np.ndarray
    least: float

    @property
    def declares(self) -> bool:
        return not self.start.all()

    def scales(self, units: np.ndarray) -> np.ndarray | None:
        """Typical sizes in these units, where they have to be declared."""
        if not self.declares:
            return None
        return np.where(self.start != 0, np.abs(self.start), 1.0) * units

    def objective(self, x: Any) -> Any:
        return 0.5 * np.sum(self.residuals(x) ** 2)

    def solved(self, x: np.ndarray) -> bool:
        with np.errstate(all="ignore"):
            return bool(np.sum(np.asarray(self.residuals(x)) ** 2) <= self.least)


@dataclass(frozen=True)
class Run:
    """Whether a run was solved, in how many evaluations, and where it ended.

    The end is in published units; it is not noted of SciPy's own runs.
    """

    solved: bool
    nfev: int
    end: tuple[float, ...] = ()


def _case(name: str, residuals: Callable, start: Any, least: float) -> Case:
    return Case(name, residuals, np.array(start, dtype=float), least)


def nist_cases(starts: Sequence[str] = ("start 1", "start 2")) -> list[Case]:
    """Both starts of all problems; of one start, the problems of lower difficulty."""
    found = []
    for name in nist.names():
        p = nist.load(name)
        if len(starts) == 1 and p.difficulty != "lower":
            continue
        # Lanczos1 has exact data: its certified sum of squares is rounding.
        least = 1e-20 if name == "Lanczos1" else p.certified_rss * (1 + 1e-4)
        found += [
            _case(f"{name} {s[-1]}", p.residuals, p.points[s], least) for s in starts
        ]
    return found


def published_cases() -> list[Case]:
    found = []
    for p in PROBLEMS:
        first = float(np.sum(np.asarray(p.residuals(np.array(p.start))) ** 2))
        least = p.minimum * (1 + 1e-4) + 1e-12 * first
        found.append(_case(p.name, p.residuals, p.start, least))
    return found


def systems(n: int, count: int) -> list[np.ndarray]:
    """Published units, and random ones over twelve decades."""
    rng = np.random.default_rng(20)
    return [np.ones(n), *(10.0 ** rng.uniform(-6, 6, n) for _ in range(count))]


def random_units(case: Case, count: int) -> list[tuple[Case, np.ndarray]]:
    return [(case, units) for units in systems(case.start.size, count)]


def powers_of_two(case: Case, count: int) -> list[tuple[Case, np.ndarray]]:
    """Published units, and random powers of two over the same decades."""
    rng, n = np.random.default_rng(21), case.start.size
    powers = [2.0 ** rng.integers(-20, 21, n) for _ in range(count)]
    return [(case, units) for units in (np.ones(n), *powers)]


def rounded_otherwise(case: Case, count: int) -> list[tuple[Case, np.ndarray]]:
    """Published units; all programs but the first round each variable twice first."""
    rng, n = np.random.default_rng(22), case.start.size
    factors = [rng.uniform(1, 2, n) for _ in range(count)]
    programs = [case, *(replace(case, residuals=_after(case, c)) for c in factors)]
    return [(program, np.ones(n)) for program in programs]


def _after(case: Case, c: np.ndarray) -> Callable[[Any], Any]:
    return lambda x: case.residuals(x * c / c)


def scaled(case: Case, method: str, units: np.ndarray) -> Run:
    """Through this package."""
    from derivative_covers.interop import scipy as natural  # noqa: PLC0415 - optional

    scales = case.scales(units)
    if method in RESIDUAL:
        r = natural.least_squares(
            lambda z: case.residuals(z / units),
            case.start * units,
            method=method,
            scales=scales,
        )
    else:
        r = natural.minimize(
            lambda z: case.objective(z / units),
            case.start * units,
            method=method,
            scales=scales,
        )
    end = r.x / units
    return Run(case.solved(end), int(r.nfev), tuple(end.tolist()))


def plain(case: Case, method: str, units: np.ndarray) -> Run:
    """SciPy with its defaults, and the same derivatives."""
    optimize = _peers.module("scipy.optimize")
    z0 = case.start * units
    if method in RESIDUAL:

        def program(z: Any) -> Any:
            return case.residuals(z / units)

        jac = dc.compile(program, z0).jacobian
        r = optimize.least_squares(program, z0, jac=jac, method=method)
        return Run(case.solved(r.x / units), int(r.nfev))
    compiled = dc.compile(lambda z: case.objective(z / units), z0)

    def value_and_gradient(z: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            return compiled.value_and_gradient(z)
        except DerivativeError:
            return np.inf, np.zeros(z.size)

    more = {"hessp": compiled.hvp} if method == "trust-constr" else {}
    r = optimize.minimize(value_and_gradient, z0, jac=True, method=method, **more)
    return Run(case.solved(r.x / units), int(r.nfev))


def measured(
    solve: Callable[[Case, str, np.ndarray], Run],
    cases: list[Case],
    method: str,
    k: int,
    variants: Callable[[Case, int], list[tuple[Case, np.ndarray]]] = random_units,
) -> list[list[Run]]:
    """A list a case, a run a variant of it; what raises is not solved."""
    found = []
    for case in cases:
        runs = []
        for variant, units in variants(case, k):
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    runs.append(solve(variant, method, units))
            except (DerivativeError, ValueError, FloatingPointError):
                runs.append(Run(False, 0))
        found.append(runs)
    return found


def close(runs: Sequence[Run]) -> bool:
    """Whether the numbers of evaluations are within 20 % of each other."""
    counts = [r.nfev for r in runs]
    return max(counts) <= WITHIN * min(counts)


def controls(
    what: str,
    cases: list[Case],
    ours: list[list[Run]],
    powers: list[list[Run]],
    rounded: list[list[Run]],
) -> Iterator[Row]:
    """What rounding does: none in powers of two, and rounding alone."""
    differ = [
        c.name for c, runs in zip(cases, powers, strict=True) if len(set(runs)) > 1
    ]
    yield Row(
        ITEM,
        f"{what}: the same bit for bit in units that are powers of two",
        len(cases) - len(differ),
        "",
        target=len(cases),
        at_least=True,
        n=len(cases),
        note=", ".join(differ),
    )
    solved = [
        (case.name, mine, alone)
        for case, mine, alone in zip(cases, ours, rounded, strict=True)
        if all(r.solved for r in (*mine, *alone))
    ]
    apart = [name for name, _, alone in solved if not close(alone)]
    yield Row(
        ITEM,
        f"{what}: evaluations within 20 % where only rounding differs",
        len(solved) - len(apart),
        "",
        n=len(solved),
        note=f"not: {', '.join(apart)}; in units: "
        + ", ".join(name for name, mine, _ in solved if not close(mine)),
    )


def report(
    what: str,
    cases: list[Case],
    ours: list[list[Run]],
    theirs: list[list[Run]],
    least: int | None,
) -> Iterator[Row]:
    n = len(cases)
    everywhere = [all(r.solved for r in runs) for runs in ours]
    anywhere = [any(r.solved for r in runs) for runs in ours]
    lost = [
        case.name
        for case, good, runs in zip(cases, everywhere, theirs, strict=True)
        if not good and any(r.solved for r in runs)
    ]
    good = [runs for runs, ok in zip(ours, everywhere, strict=True) if ok]
    spread = [max(r.nfev for r in runs) / min(r.nfev for r in runs) for runs in good]
    never = [c.name for c, good in zip(cases, everywhere, strict=True) if not good]
    yield Row(
        ITEM,
        f"{what}: solved in all units",
        sum(everywhere),
        "",
        target=least,
        at_least=True,
        n=n,
        note=f"in some {sum(anywhere)}; not: {', '.join(never)}",
    )
    yield Row(
        ITEM,
        f"{what}: of these, evaluations within 20 % of each other",
        sum(map(close, good)),
        "",
        n=len(good),
        note=f"largest ratio {max(spread, default=1):.2f}",
    )
    for label, number in (
        ("in published units", sum(runs[0].solved for runs in theirs)),
        (
            "in random units, mean",
            np.mean([r.solved for c in theirs for r in c[1:]]) * n,
        ),
        ("in its best units", sum(any(r.solved for r in runs) for runs in theirs)),
    ):
        yield Row(ITEM, f"{what}: SciPy as it is, {label}", float(number), "", n=n)
    yield Row(
        ITEM,
        f"{what}: solved by SciPy in its best units, and not here in all",
        len(lost),
        "",
        n=n,
        note=", ".join(lost),
    )


LEAST = {"BFGS": 51, "L-BFGS-B": 50}


def rows(*, quick: bool) -> Iterator[Row]:
    """Methods on both collections; `quick` takes a few problems and two systems."""
    if _peers.module("scipy.optimize") is None:
        yield Row(ITEM, "SciPy is not installed", None)
        return
    count = 2 if quick else SYSTEMS
    certified, second = nist_cases(), nist_cases(("start 2",))
    published = published_cases()
    if quick:
        certified, second, published = certified[10:14], second[5:7], published[:3]
    asking = [c.name for c in (*certified, *published) if c.declares]
    yield Row(
        ITEM,
        "starts with declared scales",
        len(asking),
        "",
        n=len(certified) + len(published),
        note=", ".join(asking),
    )
    for method in (*SCALAR, *RESIDUAL):
        slow = method == "trust-constr"
        nist_set = ("NIST's easier problems", second) if slow else ("NIST", certified)
        for name, cases in (nist_set, ("published functions", published)):
            ours = measured(scaled, cases, method, count)
            theirs = measured(plain, cases, method, min(count, 3) if slow else count)
            powers, rounded = (
                measured(scaled, cases, method, k, variants)
                for k, variants in (
                    (min(count, POWERS), powers_of_two),
                    (count, rounded_otherwise),
                )
            )
            least = LEAST.get(method) if name == "NIST" and not quick else None
            yield from report(f"{method}, {name}", cases, ours, theirs, least)
            yield from controls(f"{method}, {name}", cases, ours, powers, rounded)
