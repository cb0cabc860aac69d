"""The registry of elementals, their domains and kinks, and the piecewise rules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.special

from derivative_covers.elementals import (
    BY_OPCODE,
    Elemental,
    Rule,
    by_name,
    by_ufunc,
    opcode,
    register,
)
from derivative_covers.errors import OptionError, UnsupportedOperationError
from tests._own import OWN

INF, NAN = math.inf, math.nan
# Those of scipy.special alone have a file of their own.
CORE = [
    e
    for e in OWN
    if not e.ufuncs or any(not name.startswith("special.") for name in e.ufuncs)
]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def column(*values: float) -> Any:
    return np.array(values, dtype=float)


def up(x: float) -> float:
    return float(np.nextafter(x, INF))


def down(x: float) -> float:
    return float(np.nextafter(x, -INF))


def partials(name: str, *operands: Any, which: str = "rule") -> list[Any]:
    e = by_name(name)
    rule = {"rule": lambda: e.rule, "first": e.rule_first, "second": e.rule_second}
    parts = rule[which]().partials(np, *operands, e.value(np, *operands))
    return [np.broadcast_to(p, operands[0].shape).tolist() for p in parts]


# The registry.


def test_names_and_ufuncs_are_unique_and_found() -> None:
    names = [e.name for e in OWN]
    ufuncs = [u for e in OWN for u in e.ufuncs]
    assert len(set(names)) == len(names)
    assert len(set(ufuncs)) == len(ufuncs)
    for k, e in enumerate(OWN):
        assert by_name(e.name) is e
        assert opcode(e) == k
        assert all(by_ufunc(u) is e for u in e.ufuncs)
        assert e.source


def test_ufunc_names_are_numpys_own() -> None:
    for e in OWN:
        for name in e.ufuncs:
            home, _, own = name.rpartition(".")
            ufunc = getattr(scipy.special if home else np, own.partition("[")[0])
            assert isinstance(ufunc, np.ufunc)
            assert ufunc.__name__ == own.partition("[")[0]
            assert (ufunc.nout > 1) == ("[" in own)
            assert ufunc.nin == e.arity


@pytest.mark.parametrize(
    ("ufunc", "name"),
    [
        (np.abs, "absolute"),
        (np.fabs, "absolute"),
        (np.mod, "mod"),
        (np.true_divide, "divide"),
        (np.radians, "deg2rad"),
        (np.degrees, "rad2deg"),
        (np.acos, "arccos"),
        (np.pow, "power"),
    ],
)
def test_aliases(ufunc: np.ufunc, name: str) -> None:
    assert by_ufunc(ufunc.__name__).name == name


def test_a_taken_name_or_ufunc_is_refused() -> None:
    before = len(BY_OPCODE)
    rule = Rule(lambda xp, x, v: (1.0, 0.0))
    with pytest.raises(ValueError, match="'sin' is registered already"):
        register(Elemental("sin", 1, lambda xp, x: x, rule, "test"))
    with pytest.raises(ValueError, match="'cos' already belongs to elemental 'cos'"):
        register(Elemental("cosine", 1, lambda xp, x: x, rule, "test", ("cos",)))
    assert len(BY_OPCODE) == before


def test_an_unknown_name_is_named() -> None:
    with pytest.raises(UnsupportedOperationError, match="'spence'"):
        by_name("spence")
    with pytest.raises(UnsupportedOperationError, match=r"'bitwise_and'.*register"):
        by_ufunc("bitwise_and")


def test_values_are_numpys_own_calls() -> None:
    x, y = np.array([0.3, 0.7, 0.9]), np.array([0.2, 0.45, 0.95])
    for e in CORE:
        for name in e.ufuncs:
            got = e.value(np, *(x, y)[: e.arity])
            if name.startswith("special."):
                expected = getattr(scipy.special, name[8:])(x)
                np.testing.assert_allclose(got, expected, rtol=4e-16)
                continue
            expected = getattr(np, name)(*(x, y)[: e.arity])
            assert np.array_equal(got, expected, equal_nan=True)


def test_constant_partials_are_python_floats() -> None:
    x = column(1.0, 2.0)
    parts = by_name("multiply").rule.partials(np, x, x[::-1], x)
    assert parts[1] is x
    assert parts[2:] == (0.0, 1.0, 0.0)
    for name in ("add", "subtract"):
        for p in by_name(name).rule.partials(np, x, x, x):
            assert type(p) is float


# Domains.

EVERYWHERE = [e.name for e in CORE if e.rule.domain is None]
DOMAINS = [
    ("reciprocal", [5e-324, -5e-324, 1e300], [0.0, -0.0, NAN]),
    ("sqrt", [5e-324, 1e300], [0.0, -0.0, -5e-324, NAN]),
    ("norm", [0.0, 5e-324, 1e300], [-5e-324, NAN]),
    ("cbrt", [5e-324, -5e-324], [0.0, -0.0, NAN]),
    ("log", [5e-324], [0.0, -0.0, -5e-324, NAN]),
    ("log2", [5e-324], [0.0, -5e-324, NAN]),
    ("log10", [5e-324], [0.0, -5e-324, NAN]),
    ("log1p", [up(-1.0), 0.0], [-1.0, down(-1.0), NAN]),
    ("arcsin", [down(1.0), up(-1.0)], [1.0, -1.0, up(1.0), down(-1.0), NAN]),
    ("arccos", [down(1.0), up(-1.0)], [1.0, -1.0, up(1.0), down(-1.0), NAN]),
    ("arctanh", [down(1.0), up(-1.0)], [1.0, -1.0, up(1.0), down(-1.0), NAN]),
    ("arccosh", [up(1.0)], [1.0, down(1.0), -2.0, NAN]),
    ("sin", [0.0, -1e308], [INF, -INF, NAN]),
    ("cos", [0.0, -1e308], [INF, -INF, NAN]),
    ("tan", [0.0, -1e308], [INF, -INF, NAN]),
    ("sinc", [0.0, -1e308], [INF, -INF, NAN]),
]
PAIR_DOMAINS: list[tuple[str, list[tuple[float, float]], list[tuple[float, float]]]] = [
    ("divide", [(0.0, 5e-324), (1.0, -5e-324)], [(1.0, 0.0), (0.0, -0.0), (1.0, NAN)]),
    ("mod", [(1.0, 0.3), (1.0, INF)], [(1.0, 0.0), (INF, 1.0), (1.0, NAN)]),
    ("fmod", [(1.0, 0.3), (1.0, INF)], [(1.0, 0.0), (INF, 1.0), (1.0, NAN)]),
    ("hypot", [(0.0, 5e-324), (-5e-324, 0.0), (0.0, 0.0)], [(NAN, 1.0), (1.0, NAN)]),
    ("arctan2", [(0.0, 1.0), (5e-324, 0.0)], [(0.0, 0.0), (0.0, -0.0), (NAN, 1.0)]),
    (
        "logaddexp",
        [(0.0, -INF), (1e308, -1e308)],
        [(-INF, -INF), (INF, INF), (NAN, 0.0)],
    ),
    ("logaddexp2", [(0.0, -INF), (-INF, 3.0)], [(-INF, -INF), (INF, INF), (NAN, 0.0)]),
    ("power", [(5e-324, -2.5)], [(0.0, 2.0), (-1.0, 2.0), (NAN, 2.0)]),
    ("float_power", [(5e-324, -2.5)], [(0.0, 2.0), (-1.0, 2.0), (NAN, 2.0)]),
]


def test_every_domain_is_tested() -> None:
    tested = {row[0] for row in (*DOMAINS, *PAIR_DOMAINS)}
    assert tested | set(EVERYWHERE) == {e.name for e in CORE}
    assert not tested & set(EVERYWHERE)


@pytest.mark.parametrize(("name", "inside", "outside"), DOMAINS)
def test_domain(name: str, inside: list[float], outside: list[float]) -> None:
    domain = by_name(name).rule.domain
    assert domain is not None
    assert domain(np, column(*inside)).all()
    assert not domain(np, column(*outside)).any()


@pytest.mark.parametrize(("name", "inside", "outside"), PAIR_DOMAINS)
def test_domain_of_pairs(name: str, inside: Any, outside: Any) -> None:
    domain = by_name(name).rule.domain
    assert domain is not None
    assert domain(np, *np.array(inside).T).all()
    assert not domain(np, *np.array(outside).T).any()


@pytest.mark.parametrize("name", [row[0] for row in DOMAINS])
def test_nothing_is_undefined_just_inside_an_end(name: str) -> None:
    inside = next(row[1] for row in DOMAINS if row[0] == name)
    for part in partials(name, column(*inside)):
        assert not np.isnan(part).any()


# Kinks, jumps and ties.

KINKS = [
    ("absolute", [0.0, -0.0], [5e-324, -5e-324]),
    ("sign", [0.0, -0.0], [5e-324, -5e-324]),
    ("floor", [0.0, 3.0, -2.0], [up(3.0), down(3.0), 5e-324, 0.5]),
    ("ceil", [0.0, 3.0, -2.0], [up(3.0), down(3.0), -5e-324, 0.5]),
    ("trunc", [1.0, 3.0, -2.0], [0.0, -0.0, up(3.0), down(-2.0), 0.5]),
    ("rint", [0.5, -0.5, 2.5], [0.0, 1.0, up(0.5), down(0.5), up(-0.5), down(-0.5)]),
    ("tie", [0.0, 1.0, NAN], []),
    ("norm", [0.0, -0.0], [5e-324, 1.0]),
]
PAIR_KINKS: list[tuple[str, list[tuple[float, float]], list[tuple[float, float]]]] = [
    *(
        (name, [(1.0, 1.0), (0.0, -0.0)], [(1.0, up(1.0)), (down(1.0), 1.0)])
        for name in ("maximum", "minimum", "fmax", "fmin")
    ),
    ("mod", [(6.0, 3.0), (-6.0, 3.0), (0.0, 2.0)], [(up(6.0), 3.0), (down(6.0), 3.0)]),
    ("fmod", [(6.0, 3.0), (-6.0, 3.0)], [(0.0, 2.0), (up(6.0), 3.0), (0.3, 0.1)]),
    ("hypot", [(0.0, -0.0), (0.0, 0.0)], [(5e-324, 0.0), (0.0, -5e-324)]),
    ("heaviside", [(0.0, 0.5)], [(5e-324, 0.5), (-5e-324, 0.5)]),
    ("copysign", [(0.0, 1.0), (1.0, 0.0)], [(5e-324, -5e-324)]),
    ("arctan2", [(0.0, -1.0), (-0.0, -1.0)], [(0.0, 1.0), (5e-324, -1.0)]),
]


@pytest.mark.parametrize(("name", "at", "off"), KINKS)
def test_kink(name: str, at: list[float], off: list[float]) -> None:
    kink = by_name(name).rule.kink
    assert kink is not None
    assert kink(np, column(*at)).all()
    assert not kink(np, column(*off)).any()


@pytest.mark.parametrize(("name", "at", "off"), PAIR_KINKS)
def test_kink_of_pairs(name: str, at: Any, off: Any) -> None:
    kink = by_name(name).rule.kink
    assert kink is not None
    assert kink(np, *np.array(at).T).all()
    assert not kink(np, *np.array(off).T).any()


def test_all_other_elementals_have_no_kink() -> None:
    kinked = {e.name for e in CORE if e.rule.kink is not None}
    assert kinked == {row[0] for row in (*KINKS, *PAIR_KINKS)}


def test_a_constant_operand_removes_kinks() -> None:
    angle, heaviside = by_name("arctan2"), by_name("heaviside")
    assert angle.rule_first().kink is not None
    assert angle.rule_second().kink is None
    assert heaviside.rule_second().kink is None
    at_zero = by_name("copysign").rule_first().kink
    assert at_zero is not None
    assert at_zero(np, column(1.0, 0.0), column(0.0, 1.0)).tolist() == [False, True]
    jump = by_name("copysign").rule_second().kink
    assert jump is not None
    assert jump(np, column(1.0, 0.0), column(0.0, 0.0)).tolist() == [True, False]


# Piecewise rules.


@pytest.mark.parametrize("name", ["sign", "floor", "ceil", "trunc", "rint"])
def test_steps_are_flat(name: str) -> None:
    assert by_name(name).rule.partials(np, column(0.3), column(1.0)) == (0.0, 0.0)


def test_absolute() -> None:
    x = column(-2.0, 5e-324, 0.0)
    assert partials("absolute", x) == [[-1.0, 1.0, 0.0], [0.0] * 3]


@pytest.mark.parametrize(
    ("name", "slopes"),
    [
        ("maximum", [0.0, 1.0, 1.0, 0.0]),
        ("minimum", [1.0, 0.0, 1.0, 0.0]),
        ("fmax", [0.0, 1.0, 0.0, 1.0]),
        ("fmin", [1.0, 0.0, 0.0, 1.0]),
    ],
)
def test_choices_follow_the_chosen_operand(name: str, slopes: list[float]) -> None:
    x, y = column(1.0, 2.0, NAN, 1.0), column(2.0, 1.0, 1.0, NAN)
    d1, d2, *second = partials(name, x, y)
    assert d1 == slopes
    assert d2 == [1.0 - d for d in slopes]
    assert second == [[0.0] * 4] * 3


@pytest.mark.parametrize(
    ("name", "quotients"),
    [("mod", [-6.0, 2.0, -1.0, 2.0, 0.0]), ("fmod", [-5.0, 2.0, 0.0, 2.0, 0.0])],
)
def test_remainders(name: str, quotients: list[float]) -> None:
    x = column(-23.0, down(0.3), -1e-20, -2.5, 5.0)
    y = column(4.5, 0.1, 1.0, -1.0, INF)
    d1, d2, *second = partials(name, x, y)
    assert d1 == [1.0] * 5
    assert d2 == [-q for q in quotients]
    assert second == [[0.0] * 5] * 3


def test_heaviside() -> None:
    x, y = column(-1.0, 0.0, 2.0), column(0.5, 0.5, 0.5)
    assert partials("heaviside", x, y, which="first") == [[0.0] * 3] * 2
    assert partials("heaviside", x, y, which="second") == [[0.0, 1.0, 0.0], [0.0] * 3]


def test_copysign() -> None:
    x, y = column(-1.0, 2.0, -3.0, 4.0), column(2.0, -1.0, -0.0, 0.0)
    d1, *others = partials("copysign", x, y)
    assert d1 == [-1.0, -1.0, 1.0, 1.0]
    assert others == [[0.0] * 4] * 4


# Powers.

POWERS = [
    # base, exponent, inside, d, c
    (0.0, 0.0, True, 0.0, 0.0),
    (0.0, 1.0, True, 1.0, 0.0),
    (-0.0, 1.0, True, 1.0, 0.0),
    (0.0, 2.0, True, 0.0, 2.0),
    (-0.0, 2.0, True, 0.0, 2.0),
    (0.0, 3.0, True, 0.0, 0.0),
    (0.0, 2.5, True, 0.0, 0.0),
    (0.0, 0.5, False, None, None),
    (0.0, 1.5, False, None, None),
    (0.0, -1.0, False, None, None),
    (0.0, -0.5, False, None, None),
    (0.0, 5e-324, False, None, None),
    (-2.0, 3.0, True, 12.0, -12.0),
    (-2.0, 2.0, True, -4.0, 2.0),
    (-2.0, 1.0, True, 1.0, 0.0),
    (-2.0, 0.0, True, 0.0, 0.0),
    (-2.0, -1.0, True, -0.25, -0.25),
    (-2.0, 0.5, False, None, None),
    (-5e-324, 2.5, False, None, None),
    (4.0, 0.5, True, 0.25, -0.03125),
    (4.0, 1.5, True, 3.0, 0.375),
    (1e-200, 2.0, True, 2e-200, 2.0),
    (-1e-200, 3.0, True, 0.0, -6e-200),
    (1e-310, 2.0, True, 2e-310, 2.0),
    (INF, -1.0, True, 0.0, 0.0),
    (INF, 1.0, True, 1.0, 0.0),
    (INF, 0.5, True, 0.0, 0.0),
    (INF, 0.0, True, 0.0, 0.0),
    (NAN, 2.0, False, None, None),
    (2.0, NAN, False, None, None),
    (2.0, INF, False, None, None),
]


@pytest.mark.parametrize("name", ["power", "float_power"])
def test_powers_of_constant_exponent(name: str) -> None:
    """All rows at once: no entry may disturb another."""
    x, y = column(*(r[0] for r in POWERS)), column(*(r[1] for r in POWERS))
    domain = by_name(name).rule_first().domain
    assert domain is not None
    assert domain(np, x, y).tolist() == [r[2] for r in POWERS]
    d, c = partials(name, x, y, which="first")
    for row, got_d, got_c in zip(POWERS, d, c, strict=True):
        if row[2]:
            assert got_d == row[3], row
            assert got_c == row[4], row


def test_powers_of_constant_base() -> None:
    base = column(0.0, 0.0, 0.0, 0.0, -1.0, 2.0, 1.0, INF)
    y = column(1.0, 0.5, 0.0, -1.0, 2.0, 1.0, 3.0, -1.0)
    domain = by_name("power").rule_second().domain
    assert domain is not None
    inside = [True, True, False, False, False, True, True, True]
    assert domain(np, base, y).tolist() == inside
    d, c = partials("power", base, y, which="second")
    ln2 = math.log(2.0)
    assert [t for t, i in zip(d, inside, strict=True) if i] == pytest.approx(
        [0.0, 0.0, 2 * ln2, 0.0, 0.0], rel=1e-15
    )
    assert [t for t, i in zip(c, inside, strict=True) if i] == pytest.approx(
        [0.0, 0.0, 2 * ln2**2, 0.0, 0.0], rel=1e-15
    )


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_low_powers_scale_exactly(p: float) -> None:
    x = np.random.default_rng(0).uniform(0.5, 2.0, 200)
    y = np.full_like(x, p)
    d, c = (np.array(t) for t in partials("power", x, y, which="first"))
    for scale in (8.0, 2.0**-125, 2.0**400):
        e, b = (np.array(t) for t in partials("power", scale * x, y, which="first"))
        assert np.array_equal(e, d * scale ** (p - 1))
        assert np.array_equal(b, c * scale ** (p - 2))


# Limits and rare places.


def test_limits_at_infinity() -> None:
    far = column(INF, -INF)
    for name in ("arctan", "arcsinh", "tanh", "reciprocal", "cbrt"):
        assert partials(name, far) == [[0.0, 0.0], [0.0, 0.0]]
    for name in ("log", "log2", "log10", "log1p", "sqrt", "arccosh"):
        assert partials(name, column(INF)) == [[0.0], [0.0]]
    for name in ("exp", "exp2", "expm1"):
        assert partials(name, column(-INF)) == [[0.0], [0.0]]
    x, y = column(INF, 1.0, INF, -INF), column(1.0, INF, INF, INF)
    for part in partials("arctan2", x, y):
        assert part == [0.0] * 4
    d1, _, *second = partials("hypot", x, y)
    assert d1[:2] == [1.0, 0.0]
    assert second == [[0.0] * 4] * 3
    for part in partials("divide", column(1.0, -2.0), far):
        assert part == [0.0, 0.0]
    d1, d2, *second = partials("logaddexp", column(0.0, -INF), column(-INF, 5.0))
    assert (d1, d2) == ([1.0, 0.0], [0.0, 1.0])
    assert second == [[0.0] * 2] * 3


def test_sinc_at_zero() -> None:
    d, c = partials("sinc", column(0.0, 1e-200))
    assert d == pytest.approx([0.0, -1e-200 * math.pi**2 / 3], rel=1e-14, abs=0)
    assert c == pytest.approx([-(math.pi**2) / 3] * 2, rel=1e-15)


def test_tails_and_underflowing_squares() -> None:
    assert partials("tanh", column(20.0))[0] == pytest.approx(
        [1.6993417021166355e-17], rel=1e-13
    )
    tiny = column(1e-200)
    d1, d2, *_ = partials("arctan2", tiny, tiny)
    assert (d1, d2) == (pytest.approx([5e199]), pytest.approx([-5e199]))
    d1, d2, *_ = partials("hypot", column(3e200), column(4e200))
    assert (d1, d2) == (pytest.approx([0.6]), pytest.approx([0.8]))


# Other namespaces.


@pytest.mark.parametrize("name", [e.name for e in CORE])
def test_rules_run_in_jax(name: str) -> None:
    jnp = pytest.importorskip("jax.numpy")
    e = by_name(name)
    x = np.array([1.25, 1.75, 3.3], np.float32)
    if name in {"arcsin", "arccos", "arctanh"}:
        x /= np.float32(4)
    operands = [x, x[::-1] * np.float32(0.8)][: e.arity]
    traced = [jnp.asarray(t) for t in operands]
    v, w = e.value(np, *operands), e.value(jnp, *traced)
    np.testing.assert_allclose(w, v, rtol=1e-5)
    for expected, got in zip(
        e.rule.partials(np, *operands, v), e.rule.partials(jnp, *traced, w), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def _identity(**parts: Any) -> Elemental:
    given = {
        "name": "mine",
        "arity": 1,
        "value": lambda xp, x: xp.positive(x),
        "rule": Rule(lambda xp, x, v: (1.0, 0.0)),
        "source": "elementary calculus",
    }
    return Elemental(**{**given, **parts})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"arity": 3}, "pushnode"),
        ({"ufuncs": ("erf",)}, "special.erf"),
        ({"rule": Rule(lambda xp, x: (1.0, 0.0))}, "partials"),
        ({"rule": Rule(lambda xp, x, v: (1.0, 0.0, 0.0))}, "entries"),
        ({"value": lambda x: x}, "value"),
        ({"name": "sin"}, "already"),
        ({"ufuncs": ("sin",)}, "belongs to"),
    ],
)
def test_unusable_elementals_are_refused(parts: Any, message: str) -> None:
    before = len(BY_OPCODE)
    with pytest.raises(OptionError, match=message):
        register(_identity(**parts))
    assert len(BY_OPCODE) == before
