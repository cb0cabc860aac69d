"""Compiled elementals: their text against NumPy, their machine code against the sweeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from derivative_covers.elementals import Elemental, by_name
from derivative_covers.replay.elementals import Functions, functions, literal
from derivative_covers.replay.elementals._scalars import PLAIN, compiled
from tests._compiled import rule_of, same
from tests._own import OWN

INF, NAN = math.inf, math.nan
EDGES = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.5, 3.0, INF, -INF, NAN, 5e-324, 1e-310,
         1e-200, -1e160, 1e300, 709.0, -745.5, 1e16, 1.0 - 2.0**-53)  # fmt: skip
# Their value is composed of others, where NumPy and SciPy have a routine of their own.
COMPOSED = {"hypot", "logaddexp", "logaddexp2", "sinc", "erf", "expit", "log_expit",
            "exprel", "exp10", "entr", "xlogy", "xlog1py", "rel_entr", "kl_div", "huber",
            "pseudo_huber", "arcsinh"}  # fmt: skip
NOT_COMPILED = {
    "erfc", "erfcx", "erfi", "erfinv", "erfcinv", "ndtr", "ndtri", "log_ndtr", "dawsn",
    "logit", "gamma", "gammaln", "loggamma", "rgamma", "digamma", "beta", "betaln", "j0",
    "j1", "y0", "y1", "i0", "i1", "k0", "k1", "i0e", "i1e", "k0e", "k1e", "jv", "yv",
    "iv", "kv", "exp1", "expi", "expn", "sine_integral", "cosine_integral",
    "fresnel_sine", "fresnel_cosine", "boxcox", "boxcox1p", "inv_boxcox",
    "inv_boxcox1p", "cosm1",
}  # fmt: skip
ZEROS = {"aximum", "inimum", "max", "min"}
PASSES = ("value", "adjoint", "tangent", "second", "cover", "zeros")


@pytest.fixture(autouse=True)
def traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is made without the compiler as well."""
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)


def patterns(op: Elemental) -> tuple[int, ...]:
    return (0,) if op.arity == 1 else (1, 2, 3, 4, 5, 6)


# The text of the expressions, run as it stands.


def points(arity: int) -> list[Any]:
    rng = np.random.default_rng(5)
    wide = rng.choice([-1.0, 1.0], 30) * 10.0 ** rng.uniform(-12, 3, 30)
    x = np.concatenate([EDGES, rng.uniform(-3, 3, 30), rng.uniform(0, 1, 10), wide])
    if arity == 1:
        return [x]
    first, second = (a.ravel() for a in np.meshgrid(EDGES, EDGES))
    x = np.concatenate([first, x, x[:20]])
    y = np.concatenate([second, rng.permutation(x[-90:]), x[-20:]])
    return [x, y]


def expected_of(op: Elemental, pattern: int, x: Any, y: Any, const: Any) -> list[Any]:
    operands = [x] if op.arity == 1 else [x, x if pattern == 6 else y]
    if const is not None:
        operands[1 if pattern == 2 else 0] = np.float64(const)
    rule = rule_of(op, pattern)
    v = op.value(np, *operands)
    parts = list(rule.partials(np, *operands, v))
    if pattern == 6:
        d1, d2, c11, c12, c22 = parts
        parts = [d1 + d2, c11 + (c12 + c12) + c22]
    good = np.ones(x.shape, dtype=bool)
    if rule.domain is not None:
        good &= rule.domain(np, *operands)
    if rule.kink is not None and not (pattern == 6 and op.name[-3:] in {"max", "min"}):
        tie = pattern == 6 and op.name in {"maximum", "minimum"}
        good &= ~np.asarray(rule.kink(np, *operands)) | tie
    return [v, *parts, good]


@pytest.mark.parametrize("op", OWN, ids=lambda op: op.name)
def test_text_says_what_the_rules_say(op: Elemental) -> None:
    if op.name in NOT_COMPILED:
        assert all(functions(op, pattern) is None for pattern in patterns(op))
        return
    operands = points(op.arity)
    x, y = operands[0], operands[-1]
    for pattern in patterns(op):
        made = functions(op, pattern)
        assert made is not None
        few = slice(None, None, 1 if pattern < 2 else 7)
        check_text(op, pattern, made, x[few], y[few], None)


@pytest.mark.parametrize("const", [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("pattern", [2, 3])
def test_text_with_a_constant(pattern: int, const: float) -> None:
    op = by_name("power")
    assert literal(op, const)
    assert not literal(op, 2.5)
    assert not literal(by_name("hypot"), const)
    made = functions(op, pattern, const)
    assert made is not None
    assert made is not functions(op, pattern)
    x, y = points(2)
    check_text(op, pattern, made, x, y, const)


def check_text(
    op: Elemental, pattern: int, made: Functions, x: Any, y: Any, const: Any
) -> None:
    scope: dict[str, Any] = dict(PLAIN)
    exec(made.text, scope)
    composed = op.name in COMPOSED
    with np.errstate(all="ignore"):
        expected = expected_of(op, pattern, x, y, const)
        v = expected[0]
        rows = [
            (
                *scope["value"](a, b),
                *(d for d in scope["first"](a, b, w) if d is not None),
                *(c for c in scope["second"](a, b, w) if c is not None),
                *scope["good"](a, b),
            )
            for a, b, w in zip(x, y, v, strict=True)
        ]
        found = [np.array(column) for column in zip(*rows, strict=True)]
        assert len(found) == len(expected)
        for k, (f, e) in enumerate(zip(found, expected, strict=True)):
            e = np.broadcast_to(np.asarray(e), x.shape)
            if e.dtype == bool:
                ok = f == e
            else:
                # A sum of two terms is as good as the larger one.
                floor = np.fmin(np.abs(x), np.abs(y)) if composed and not k else 0.0
                ulps = (16 if k else 4) if composed else 0
                ok = same(f, e, ulps=ulps, floor=floor)
                # No sign of a zero partial is ever read; that of a maximum is free.
                ok |= (f == 0.0) & (e == 0.0) & (k > 0 or op.name[1:] in ZEROS)
                if composed and k:
                    ok |= ~expected[-1]
            assert ok.all(), (
                op.name,
                pattern,
                k,
                x[~ok][:4],
                y[~ok][:4],
                f[~ok][:4],
                e[~ok][:4],
            )


# Scalar functions of the compiler.

ONE = tuple(
    sorted(PLAIN.keys() - {"inf", "nan", "power", "fmod", "copysign", "arctan2"})
)
EXACT = {"sqrt", "floor", "ceil", "trunc", "rint"}


@pytest.mark.slow
def test_compiled_scalar_functions_are_numpys() -> None:
    numba = pytest.importorskip("numba")
    names = [*ONE, "power", "fmod", "copysign", "arctan2"]
    lines = ["def every(k, x, y):"]
    for k, name in enumerate(names):
        call = f"{name}(x)" if name in ONE else f"{name}(x, y)"
        lines += [f"    if k == {k}:", f"        return {call}"]
    scope = dict(compiled())
    exec("\n".join([*lines, "    return x"]), scope)
    every = numba.njit(error_model="numpy")(scope["every"])
    rng = np.random.default_rng(7)
    wide = rng.choice([-1.0, 1.0], 300) * 10.0 ** rng.uniform(-305, 305, 300)
    x = np.concatenate(
        [EDGES, rng.uniform(-3, 3, 300), rng.uniform(-700, 700, 300), wide]
    )
    y = rng.permutation(x)
    y[:200] = np.rint(y[:200])
    for k, name in enumerate(names):
        found = np.array([every(k, a, b) for a, b in zip(x, y, strict=True)])
        with np.errstate(all="ignore"):
            if name == "erf":
                expected = np.array([math.erf(a) for a in x])
            else:
                expected = (
                    getattr(np, name)(x) if name in ONE else getattr(np, name)(x, y)
                )
            exact = name in EXACT or name in {"fmod", "copysign"}
            ok = same(found, expected, ulps=0 if exact else 4)
        assert ok.all(), (
            name,
            x[~ok][:4],
            y[~ok][:4],
            found[~ok][:4],
            expected[~ok][:4],
        )
