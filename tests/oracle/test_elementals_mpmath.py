"""Values and partials of every elemental against differences of mpmath's functions.

The truth is a central difference quotient in so many digits that doubling them changes
nothing; no derivative formula is written here.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from derivative_covers.elementals import by_name
from tests._many_digits import agrees, both, differences, near
from tests._own import OWN
from tests._special_cases import CASES as SPECIAL

DENORMAL = 5e-324
EXTREME = (DENORMAL, 1e-310, 1e-200, 1e-100, 1e-20, 1e20, 1e100, 1e200, 1e300, 1.7e308)


@dataclass(frozen=True)
class Case:
    """An elemental's definition in mpmath and where to look at it.

    Attributes:
        f: The definition.
        points: Operand tuples.
        reach: How far a difference may step, to stay on one side of every singularity.
        scales: For an entry ``"v"``, ``"d1"``, ... that crosses zero, the size that its
            error is measured by.
    """

    f: Callable[..., Any]
    points: list[tuple[float, ...]]
    reach: Callable[..., tuple[Any, ...]]
    scales: dict[str, Callable[..., float]]


CASES: dict[str, Case] = {}


def relative(x: float) -> float:
    return abs(x) or 1.0


def unit(x: float) -> float:
    return 1.0


def unit_or_more(x: float) -> float:
    return max(1.0, abs(x))


def unary(
    name: str,
    f: Callable[..., Any],
    spread: Callable[[np.random.Generator], Any],
    special: Sequence[float] = (),
    ends: Sequence[float] = (),
    reach: Callable[[float], Any] = relative,
    **scales: Callable[..., float],
) -> None:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    points = [(float(x),) for x in (*spread(rng), *special)]

    def step(x: float) -> tuple[Any]:
        return (min([reach(x), *(abs(mpf(x) - mpf(e)) for e in ends)]),)

    CASES[name] = Case(f, points, step, scales)


def binary(
    name: str,
    f: Callable[..., Any],
    points: Sequence[tuple[float, float]],
    reach: Callable[[float, float], tuple[Any, Any]] = lambda x, y: (
        abs(x) or abs(y) or 1.0,
        abs(y) or abs(x) or 1.0,
    ),
    **scales: Callable[..., float],
) -> None:
    CASES[name] = Case(f, [(float(x), float(y)) for x, y in points], reach, scales)


def uniform(low: float, high: float, n: int = 150) -> Callable[..., Any]:
    return lambda rng: rng.uniform(low, high, n)


def logarithmic(
    low: float = -300, high: float = 300, n: int = 80, signs: bool = True
) -> Callable[..., Any]:
    """Half the points within a few decades of one, half over all of the range."""

    def draw(rng: np.random.Generator) -> Any:
        x = 10.0 ** np.concatenate(
            [rng.uniform(max(low, -3), min(high, 3), n), rng.uniform(low, high, n // 2)]
        )
        return x * rng.choice([-1.0, 1.0], x.size) if signs else x

    return draw


def pairs(
    name: str, n: int = 50, special: Sequence[float] = EXTREME[::2]
) -> list[tuple[float, float]]:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    draw = logarithmic(-150, 150, n)
    grid = itertools.product(special, repeat=2)
    flips = itertools.cycle([(1, 1), (-1, 1), (1, -1), (-1, -1)])
    return [
        *zip(draw(rng), draw(rng), strict=True),
        *((s * x, t * y) for (x, y), (s, t) in zip(grid, flips, strict=False)),
    ]


# Everywhere smooth, one operand.
ANY = (0.0, *both(EXTREME))
unary("copy", lambda x: x, logarithmic(), ANY)
unary("tie", lambda x: x, logarithmic(), ANY)
unary("negative", lambda x: -x, logarithmic(), ANY)
unary("positive", lambda x: x, logarithmic(), ANY)
unary("square", lambda x: x**2, logarithmic(), ANY)
unary("deg2rad", mp.radians, logarithmic(), ANY)
unary("rad2deg", mp.degrees, logarithmic(), ANY)
MODEST = (0.0, *both([*(e for e in EXTREME if e < 1), 1e-8, 0.5, 1.0, 20.0, 300.0]))
unary("exp", mp.exp, uniform(-740, 709), (*MODEST, -744.0, 709.7, 710.0), reach=unit)
unary(
    "exp2",
    lambda x: mpf(2) ** x,
    uniform(-1070, 1020),
    (*MODEST, -1074.0, 1023.9),
    reach=unit,
)
unary("expm1", mp.expm1, uniform(-50, 50), (*MODEST, -700.0, -744.0, 709.7), reach=unit)
unary("sin", mp.sin, logarithmic(), (*ANY, np.pi, np.pi / 2, 22.0, 355.0), reach=unit)
unary("cos", mp.cos, logarithmic(), (*ANY, np.pi, np.pi / 2, 11.0, 710.0), reach=unit)
unary(
    "tan",
    mp.tan,
    logarithmic(),
    (*ANY, np.pi, np.pi / 2, *near(np.pi / 2), 11.0),
    reach=lambda x: 1 / (1 + abs(np.tan(x))),
)
unary(
    "arctan",
    mp.atan,
    logarithmic(),
    (*ANY, 1.0, *near(1.0), 1e154, 1e155, 1e160),
    reach=unit_or_more,
)
unary("sinh", mp.sinh, uniform(-30, 30), (*MODEST, 710.0, -710.4, 711.0), reach=unit)
unary("cosh", mp.cosh, uniform(-30, 30), (*MODEST, 710.0, -710.4, 711.0), reach=unit)
unary(
    "tanh", mp.tanh, uniform(-25, 25), (*MODEST, 19.0, 22.0, 370.0, -372.5), reach=unit
)
unary(
    "arcsinh",
    mp.asinh,
    logarithmic(),
    (*ANY, 1.0, 1e154, 1e155, 1e160),
    reach=unit_or_more,
)


def sinc_size(x: float) -> float:
    # Both partials cross zero, but at no half of a whole number.
    return 0.0 if x == 0 or 2 * x == np.rint(2 * x) else min(1.0, 1e-2 / abs(x))


unary(
    "sinc",
    mp.sincpi,
    lambda rng: np.concatenate([uniform(-5, 5)(rng), logarithmic(-300, 15)(rng)]),
    (
        *(e for e in ANY if abs(e) < 1e200),
        *both([0.5, 1.0, 1.5, 2.0, 3.0, 1e6, 1e6 + 0.5, 1e15 + 0.5, 0.49999, 0.25]),
        *near(0.5),
    ),
    reach=unit,
    # numpy.sinc rounds pi x before its sine: an error of the size of one ulp.
    v=lambda x: 1e2 if abs(x) > 0.1 else 0.0,
    d1=sinc_size,
    c11=sinc_size,
)

# One operand, with ends.
POSITIVE = (*EXTREME, 0.5, 1.0, *near(1.0), 2.2e-308, 1e-308)
unary("reciprocal", lambda x: 1 / x, logarithmic(), both(EXTREME), ends=[0])
unary("sqrt", mp.sqrt, logarithmic(signs=False), POSITIVE, ends=[0])
unary("norm", mp.sqrt, logarithmic(signs=False), POSITIVE)
unary(
    "cbrt",
    lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    logarithmic(),
    both(POSITIVE),
    ends=[0],
)
for logarithm, base in (("log", mp.e), ("log2", 2), ("log10", 10)):
    unary(
        logarithm,
        lambda x, b=base: mp.log(x) / mp.log(b),
        logarithmic(signs=False),
        POSITIVE,
        ends=[0],
    )
CASES["log"] = Case(mp.log, CASES["log"].points, CASES["log"].reach, {})
unary(
    "log1p",
    mp.log1p,
    lambda rng: np.concatenate(
        [rng.uniform(-1, 1, 100), 10 ** rng.uniform(0, 300, 50)]
    ),
    (0.0, *EXTREME, -1e-200, -DENORMAL, near(-1.0)[1], -0.9999999, -0.5),
    ends=[-1],
    reach=unit_or_more,
)
UNIT = (0.0, *both([*(e for e in EXTREME if e < 1), near(1.0)[0], 0.999999, 0.5]))
for arc, definition in (
    ("arcsin", mp.asin),
    ("arccos", mp.acos),
    ("arctanh", mp.atanh),
):
    unary(arc, definition, uniform(-1, 1), UNIT, ends=[-1, 1], reach=unit)
unary(
    "arccosh",
    mp.acosh,
    lambda rng: 1 + 10.0 ** rng.uniform(-15, 300, 150),
    (near(1.0)[1], 1.5, 1e20, 1e100, 1e154, 1e155, 1e200, 1e300, 1.7e308),
    ends=[1],
)

# One operand, piecewise.
unary("absolute", abs, logarithmic(), both(EXTREME), ends=[0])
unary("sign", mp.sign, logarithmic(), both(EXTREME), ends=[0])
OFF = (*near(1.0), *near(-2.0), *near(0.0), 0.3, 1e10 + 0.25, *near(0.5), *near(-0.5))
for step_name, step_at in (
    ("floor", mp.floor),
    ("ceil", mp.ceil),
    ("trunc", lambda x: mp.sign(x) * mp.floor(abs(x))),
    ("rint", mp.nint),
):
    unary(
        step_name,
        step_at,
        uniform(-9, 9),
        OFF,
        reach=lambda x: abs(2 * mpf(x) - mp.nint(2 * mpf(x))) / 4,
    )

# Two operands.
SIZES = (DENORMAL, 1e-310, 1e-200, 1e-160, 1e-20, 1.0, 1e160, 1e300, 1.7e308)
# Quotients whose digits are lost, and come back when divided by the small one again.
FAINT = [(3.5e-323, 1.3e-10), (-1.1e-320, 7.1e-5), (9e-322, -3.1e-30)]
for basic, operate in (
    ("add", lambda x, y: x + y),
    ("subtract", lambda x, y: x - y),
    ("multiply", lambda x, y: x * y),
    ("divide", lambda x, y: x / y),
):
    binary(
        basic,
        operate,
        [*pairs(basic, special=SIZES), *FAINT, (0.0, 2.0), (0.0, DENORMAL)],
    )
ANGLES = [
    *FAINT,
    *((y, x) for x, y in FAINT),
    (1.0, 1.0 + 3.3e-10),
    (-0.7, 0.7000000123),
    (5.2e-309, 5.1e-309),
    *((0.0, y) for y in EXTREME),
    *((s * y, 0.0) for y in EXTREME for s in (1, -1)),
    *((x, y) for x in (1.0, 1e-200, 1e200, -1e-300) for y in near(x)),
    *((x, x) for x in both([*EXTREME[::2], 1.0])),
    (1.137293261096e-312, 3.37178298e-315),
    (6e-309, 5e-309),
    (-1e308, 1.2e308),
]


def radius(x: float, y: float) -> tuple[Any, Any]:
    with mpmath.workdps(30):
        return (mp.hypot(x, y),) * 2


binary("arctan2", mp.atan2, [*pairs("arctan2", special=SIZES), *ANGLES], reach=radius)
LENGTHS = [*pairs("hypot", special=SIZES), *ANGLES]
binary("hypot", mp.hypot, LENGTHS, reach=radius)


def log_pairs(name: str) -> list[tuple[float, float]]:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    x = rng.normal(0, 30, 150)
    return [
        *zip(
            x, x + rng.normal(0, 1, 150) * 10 ** rng.uniform(-8, 2.8, 150), strict=True
        ),
        *((s, t) for s in (0.0, 1e-200, 700.0, -1000.0) for t in (0.0, 1.0, -20.0)),
        *((s, s) for s in both([1e300, 1e-300, 3.0])),
        *((0.0, t) for t in (-740.0, 740.0, 709.0, -712.25, 300.5)),
    ]


def log_size(x: float, y: float) -> float:
    # The logarithm of a sum of terms larger and smaller than one crosses zero.
    return max(abs(x), abs(y), 1.0) * 1e-3


binary(
    "logaddexp",
    lambda x, y: x + mp.log1p(mp.exp(y - x)) if x >= y else y + mp.log1p(mp.exp(x - y)),
    log_pairs("logaddexp"),
    reach=lambda x, y: (1.0, 1.0),
    v=log_size,
)
binary(
    "logaddexp2",
    lambda x, y: max(x, y) + mp.log1p(mpf(2) ** -abs(x - y)) / mp.log(2),
    [(x, y) for x, y in log_pairs("logaddexp2") if x != y],
    reach=lambda x, y: (
        min(1, abs(mpf(x) - y) / 4),
        min(1, abs(mpf(x) - y) / 4),
    ),
    v=log_size,
)


def powers(name: str) -> list[tuple[float, float]]:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    x = 10.0 ** np.concatenate([rng.uniform(-2, 2, 80), rng.uniform(-300, 300, 50)])
    y = rng.uniform(-1, 1, x.size) * 700 / np.abs(np.log(x))
    return [
        *zip(x, y, strict=True),
        *zip(x, np.rint(y), strict=True),
        *itertools.product((1e-200, 1e-300, 1e200, 3.5), (2.0, 3.0, -1.0, 0.5, 1.0)),
        *((1e-200, p) for p in (2.55, 1.07, 0.01, 1e-200, -0.3)),
        *((1e200, p) for p in (0.3, 1.5, 2.5, 1e-200, -0.3)),
        (1e-310, 1.03),
        (1.001, 710100.25),
        (near(1.0)[0], 1e17),
        (1.0, 1e100),
        (1.0, 0.5),
        (2.0, 0.0),
        (DENORMAL, 1.0),
        (DENORMAL, 1e-200),
        (DENORMAL, 2.0),
    ]


for power_name in ("power", "float_power"):
    binary(
        power_name,
        mp.power,
        powers(power_name)[:: 1 if power_name == "power" else 4],
        reach=lambda x, y: (
            mpf(x) / max(1.0, abs(y)),
            1 / max(1.0, abs(np.log(x))),
        ),
        # 1 + y log(x) crosses zero.
        c12=lambda x, y: (
            1e-3 * x ** (y - 1.0) if abs(1 + y * np.log(x)) < 1e-2 else 0.0
        ),
    )


def beside(x: float, y: float) -> tuple[Any, Any]:
    gap = abs(mpf(x) - mpf(y)) / 8
    return gap, gap


for choice, choose in (
    ("maximum", max),
    ("minimum", min),
    ("fmax", max),
    ("fmin", min),
):
    binary(
        choice,
        choose,
        [
            *((x, y) for x, y in pairs(choice) if x != y),
            (1.0, near(1.0)[0]),
            (DENORMAL, 0.0),
        ],
        reach=beside,
    )


def within(x: float, y: float) -> tuple[Any, Any]:
    with mpmath.workdps(700):
        q = mpf(x) / mpf(y)
        gap = abs(q - mp.nint(q))
        return gap * abs(mpf(y)) / 8, gap * abs(mpf(y)) / (8 * (abs(q) + 1))


def quotient_pairs(name: str) -> list[tuple[float, float]]:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    x = rng.normal(0, 1, 150) * 10 ** rng.uniform(-3, 6, 150)
    y = rng.normal(0, 1, 150) * 10 ** rng.uniform(-3, 3, 150)
    return [
        *zip(x, y, strict=True),
        (-23.0, 4.5),
        (near(3.0)[0], 0.1),
        (near(6.0)[0], 3.0),
        (near(-6.0)[1], 3.0),
        # Quotients that round up to a whole number.
        (110.19999999999999, 5.8),
        (100.3, 5.9),
        (-110.19999999999999, 5.8),
        (1e-200, -3.0),
        (7e-200, 2e-200),
        (1e300, 3e299),
        (DENORMAL * 7, DENORMAL * 3),
    ]


binary("mod", lambda x, y: x - y * mp.floor(x / y), quotient_pairs("mod"), reach=within)
binary(
    "fmod",
    lambda x, y: x - y * mp.sign(x / y) * mp.floor(abs(x / y)),
    quotient_pairs("fmod"),
    reach=within,
)
binary(
    "heaviside",
    lambda x, y: mpf(1 if x > 0 else 0),
    [(x, y) for x, y in pairs("heaviside") if x],
)
binary(
    "copysign",
    lambda x, y: abs(x) * mp.sign(y),
    [(x, y) for x, y in pairs("copysign") if x and y],
)


def entries(parts: tuple[Any, ...], n: int) -> list[Any]:
    return [np.broadcast_to(np.asarray(p), (n,)) for p in parts]


def test_every_elemental_is_covered() -> None:
    special = {case.name for case in SPECIAL}
    detached = {"detach"}  # its derivative is not that of its value, by intent
    assert set(CASES) == {e.name for e in OWN} - special - detached


@pytest.mark.parametrize("name", CASES)
def test_value_and_partials(name: str) -> None:
    elemental, case = by_name(name), CASES[name]
    operands = [np.array(column) for column in zip(*case.points, strict=True)]
    n = len(case.points)
    labels = (
        ["v", "d1", "c11"]
        if elemental.arity == 1
        else (["v", "d1", "d2", "c11", "c12", "c22"])
    )
    with np.errstate(all="ignore"):
        v = elemental.value(np, *operands)
        columns = dict(
            zip(
                labels,
                [v, *entries(elemental.rule.partials(np, *operands, v), n)],
                strict=True,
            )
        )
        if elemental.arity == 2:
            first = elemental.rule_first().partials(np, *operands, v)
            second = elemental.rule_second().partials(np, *operands, v)
            fixed = dict(
                zip(
                    ("d1", "c11", "d2", "c22"),
                    entries((*first, *second), n),
                    strict=True,
                )
            )
        else:
            fixed = {}
    wrong = []
    for i, point in enumerate(case.points):
        truth = dict(
            zip(labels, differences(case.f, point, case.reach(*point)), strict=True)
        )
        for label, column in (*columns.items(), *fixed.items()):
            scale = case.scales.get(label, lambda *_: 0)(*point)
            if not agrees(column[i], truth[label], scale):
                error = mp.nstr(
                    (mpf(float(column[i])) - truth[label]) / (truth[label] or 1), 3
                )
                wrong.append(
                    (point, label, column[i], mp.nstr(truth[label], 17), error)
                )
    assert not wrong, "\n".join(map(str, [len(wrong), *wrong[:20]]))


@pytest.mark.parametrize("name", ["power", "float_power"])
@pytest.mark.parametrize("exponent", [-3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 7.0])
def test_integer_exponents_of_negative_bases(name: str, exponent: float) -> None:
    rng = np.random.default_rng(3)
    x = -(10.0 ** np.concatenate([rng.uniform(-2, 2, 20), rng.uniform(-90, 90, 10)]))
    if exponent >= 0:
        x = np.append(x, [0.0, -DENORMAL, DENORMAL, -1e-200])
    y = np.full_like(x, exponent)
    elemental = by_name(name)
    with np.errstate(all="ignore"):
        v = elemental.value(np, x, y)
        d, c = elemental.rule_first().partials(np, x, y, v)
    for i, t in enumerate(x):
        truth = differences(
            lambda z: z ** int(exponent), (float(t),), (relative(float(t)),)
        )
        assert agrees(v[i], truth[0]), (t, v[i])
        assert agrees(d[i], truth[1]), (t, d[i], truth[1])
        assert agrees(c[i], truth[2]), (t, c[i], truth[2])


@pytest.mark.parametrize("name", CASES)
def test_single_precision_stays_single(name: str) -> None:
    elemental = by_name(name)
    x = np.array([1.25, 1.75, 3.3], np.float32)
    if name in {"arcsin", "arccos", "arctanh"}:
        x /= np.float32(4)
    operands = [x, x[::-1] * np.float32(0.8)][: elemental.arity]
    rules = [elemental.rule]
    if elemental.arity == 2:
        rules += [elemental.rule_first(), elemental.rule_second()]
    v = elemental.value(np, *operands).astype(np.float32)
    wide = [t.astype(float) for t in operands]
    w = elemental.value(np, *wide)
    for rule in rules:
        narrow = rule.partials(np, *operands, v)
        for part, exact in zip(narrow, rule.partials(np, *wide, w), strict=True):
            assert isinstance(part, float) or part.dtype == np.float32
            np.testing.assert_allclose(part, exact, rtol=3e-5, atol=1e-6)
