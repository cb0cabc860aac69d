"""NIST's nonlinear-regression problems with certified solutions.

Data, starts and certified values are those of the Statistical Reference Datasets (StRD)
of the National Institute of Standards and Technology, which are in the public domain.
Each model is written the way a user would write it: plain NumPy in the parameters `b`
and the observed `x`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["MODELS", "Problem", "load", "names"]

_DATA = Path(__file__).parent / "nist_strd"


def _cubic_ratio(b: Any, x: Any) -> Any:
    return (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (
        1 + b[4] * x + b[5] * x**2 + b[6] * x**3
    )


def _two_peaks(b: Any, x: Any) -> Any:
    return (
        b[0] * np.exp(-b[1] * x)
        + b[2] * np.exp(-((x - b[3]) ** 2) / b[4] ** 2)
        + b[5] * np.exp(-((x - b[6]) ** 2) / b[7] ** 2)
    )


def _three_decays(b: Any, x: Any) -> Any:
    return (
        b[0] * np.exp(-b[1] * x) + b[2] * np.exp(-b[3] * x) + b[4] * np.exp(-b[5] * x)
    )


def _southern_oscillation(b: Any, x: Any) -> Any:
    year, slow, fast = (2 * np.pi * x / period for period in (12, b[3], b[6]))
    return (
        b[0]
        + b[1] * np.cos(year)
        + b[2] * np.sin(year)
        + b[4] * np.cos(slow)
        + b[5] * np.sin(slow)
        + b[7] * np.cos(fast)
        + b[8] * np.sin(fast)
    )


MODELS: dict[str, Callable[[Any, Any], Any]] = {
    "Bennett5": lambda b, x: b[0] * (b[1] + x) ** (-1 / b[2]),
    "BoxBOD": lambda b, x: b[0] * (1 - np.exp(-b[1] * x)),
    "Chwirut1": lambda b, x: np.exp(-b[0] * x) / (b[1] + b[2] * x),
    "Chwirut2": lambda b, x: np.exp(-b[0] * x) / (b[1] + b[2] * x),
    "DanWood": lambda b, x: b[0] * x ** b[1],
    "ENSO": _southern_oscillation,
    "Eckerle4": lambda b, x: b[0] / b[1] * np.exp(-0.5 * ((x - b[2]) / b[1]) ** 2),
    "Gauss1": _two_peaks,
    "Gauss2": _two_peaks,
    "Gauss3": _two_peaks,
    "Hahn1": _cubic_ratio,
    "Kirby2": lambda b, x: (
        (b[0] + b[1] * x + b[2] * x**2) / (1 + b[3] * x + b[4] * x**2)
    ),
    "Lanczos1": _three_decays,
    "Lanczos2": _three_decays,
    "Lanczos3": _three_decays,
    "MGH09": lambda b, x: b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3]),
    "MGH10": lambda b, x: b[0] * np.exp(b[1] / (x + b[2])),
    "MGH17": lambda b, x: b[0] + b[1] * np.exp(-x * b[3]) + b[2] * np.exp(-x * b[4]),
    "Misra1a": lambda b, x: b[0] * (1 - np.exp(-b[1] * x)),
    "Misra1b": lambda b, x: b[0] * (1 - (1 + b[1] * x / 2) ** -2),
    "Misra1c": lambda b, x: b[0] * (1 - (1 + 2 * b[1] * x) ** -0.5),
    "Misra1d": lambda b, x: b[0] * b[1] * x / (1 + b[1] * x),
    "Nelson": lambda b, x: b[0] - b[1] * x[0] * np.exp(-b[2] * x[1]),
    "Rat42": lambda b, x: b[0] / (1 + np.exp(b[1] - b[2] * x)),
    "Rat43": lambda b, x: b[0] / (1 + np.exp(b[1] - b[2] * x)) ** (1 / b[3]),
    "Roszman1": lambda b, x: b[0] - b[1] * x - np.arctan(b[2] / (x - b[3])) / np.pi,
    "Thurber": _cubic_ratio,
}


@dataclass(frozen=True)
class Problem:
    """One regression problem.

    Attributes:
        name: NIST's name.
        difficulty: "lower", "average" or "higher", as NIST grades it.
        formula: The model as NIST prints it.
        x: Observed predictors, shape (nobs,), or (2, nobs) where there are two.
        y: Observed responses, shape (nobs,); logarithms where the model is of log(y).
        points: Parameter vectors named "start 1", "start 2" and "certified".
        certified_rss: Certified residual sum of squares.
    """

    name: str
    difficulty: str
    formula: str
    x: np.ndarray
    y: np.ndarray
    points: dict[str, np.ndarray]
    certified_rss: float

    def residuals(self, b: Any) -> Any:
        """Model minus observation, shape (nobs,)."""
        return MODELS[self.name](b, self.x) - self.y

    def objective(self, b: Any) -> Any:
        """Half the sum of the squared residuals."""
        return 0.5 * np.sum(self.residuals(b) ** 2)


def names() -> list[str]:
    """Names of all problems, in alphabetical order."""
    return sorted(MODELS, key=str.lower)


def load(name: str) -> Problem:
    """Read one problem from its file."""
    raw = json.loads((_DATA / f"{name.lower()}.json").read_text(encoding="utf-8"))
    y = np.array(raw["y"])
    return Problem(
        name=raw["name"],
        difficulty=raw["difficulty"],
        formula=raw["model"],
        x=np.array(raw["x"] if "x" in raw else [raw["x1"], raw["x2"]]),
        y=np.log(y) if raw["model"].startswith("log") else y,
        points={
            "start 1": np.array(raw["start1"]),
            "start 2": np.array(raw["start2"]),
            "certified": np.array(raw["certified"]),
        },
        certified_rss=raw["certified_rss"],
    )
