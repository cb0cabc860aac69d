"""Do enclosures of elementals contain the truth? Any number of arguments each.

The truth comes from power series of balls: a formula for the value alone, written here,
gives all derivatives, and shares nothing with the package. ``python -m
tests.oracle.containment 200000`` runs all elementals; names may follow.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from math import inf

import flint
import numpy as np
from flint import arb, arb_series

from derivative_covers.elementals import by_name
from derivative_covers.elementals._enclosures import enclose, using
from tests.oracle._truths import DOMAINS, TRUTHS

BITS = 200
CHUNK = 5000
NAMES = ("value", "d", "c")
NAMES_TWO = ("value", "d1", "d2", "c11", "c12", "c22")


@dataclass
class Report:
    name: str
    checked: int = 0
    skipped: int = 0
    outside: list = field(default_factory=list)
    widest: float = 0.0

    def __str__(self):
        text = f"{self.name}: {self.checked} checked, {len(self.outside)} outside, {self.skipped} skipped"
        return text + f", points at most {self.widest:.3g} ulp wide"


def series(name, operands, direction):
    """Taylor coefficients to the second order along a direction."""
    given = [
        arb_series([arb(x), arb(e)], prec=3)
        for x, e in zip(operands, direction, strict=True)
    ]
    try:
        found = TRUTHS[name](*given)
    except (ValueError, ZeroDivisionError):
        return [arb.nan()] * 3
    return [found[k] for k in range(3)]


def truth(name, pattern, operands, bits=BITS):
    """Value and partials as the rule of that pattern orders them."""
    with flint.ctx.workprec(bits):
        flint.ctx.cap = 3
        if len(operands) == 1:
            v, d, c = series(name, operands, (1,))
            return [v, d, 2 * c]
        first, second = (1, 0), (0, 1)
        if pattern == 2 or pattern == 3:
            v, d, c = series(name, operands, first if pattern == 2 else second)
            return [v, d, 2 * c]
        v, d1, c11 = series(name, operands, first)
        _, d2, c22 = series(name, operands, second)
        _, _, both = series(name, operands, (1, 1))
        return [v, d1, d2, 2 * c11, both - c11 - c22, 2 * c22]


def special_points(a, b):
    found = [
        0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        20.0,
        -20.0,
        709.0,
        709.7,
        -708.0,
        -745.0,
        1e6,
        -1e6,
        1e-6,
    ]
    found += [
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        -1e-310,
        1e308,
        1.7976931348623157e308,
        -1.7976931348623157e308,
    ]
    found += [
        1e22,
        np.pi,
        np.pi / 2,
        -np.pi,
        100 * np.pi,
        3.0,
        10.0,
        36.0,
        -36.7,
        1e-160,
        1e160,
    ]
    for end in (a, b):
        if np.isfinite(end):
            found += [np.nextafter(end, inf), np.nextafter(end, -inf), end]
    return np.array([x for x in found if a < x < b])


def centres(rng, n, domain):
    """Points inside of the open domain: moderate, of all sizes, and special ones."""
    a, b = domain[:2]
    most = domain[2] if len(domain) > 2 else 1.7e308
    kind = rng.integers(0, 4, n)
    moderate = rng.uniform(max(a, -4.0), min(b, max(a, -4.0) + 8.0), n)
    span = np.log10(most)
    sizes = rng.choice([-1.0, 1.0], n) * 10 ** np.clip(
        rng.uniform(-323, max(span, 0.0), n), -323, span
    )
    medium = rng.choice([-1.0, 1.0], n) * 10 ** rng.uniform(-12, min(3, span), n)
    places = special_points(a, b)
    places = places[np.abs(places) <= most]
    x = np.select(
        [kind == 0, kind == 1, kind == 2],
        [moderate, medium, sizes],
        rng.choice(places, n),
    )
    flipped = np.where((x > a) & (x < b), x, -x)
    fixed = np.where((flipped > a) & (flipped < b), flipped, moderate)
    if np.isfinite(a) and np.isfinite(b):
        # near the ends
        near = rng.random(n) < 0.2
        gap = (b - a) * 10 ** rng.uniform(-17, -1, n)
        fixed = np.where(near, np.where(rng.random(n) < 0.5, a + gap, b - gap), fixed)
    elif np.isfinite(a):
        near = rng.random(n) < 0.1
        fixed = np.where(near, a + 10 ** rng.uniform(-20, 0, n), fixed)
    return np.clip(fixed, np.nextafter(a, inf), np.nextafter(b, -inf))


def intervals(rng, n, domain):
    """Ends inside of the domain: points, thin, moderate and wide intervals."""
    a, b = domain[:2]
    most = domain[2] if len(domain) > 2 else 1.7e308
    x = centres(rng, n, domain)
    kind = rng.integers(0, 6, n)
    with np.errstate(all="ignore"):
        width = np.select(
            [kind <= 1, kind == 2, kind == 3, kind == 4],
            [
                0.0 * x,
                np.spacing(x) * rng.integers(1, 5, n),
                np.abs(x) * 10 ** rng.uniform(-12, 0.5, n),
                rng.exponential(1.0, n),
            ],
            10 ** rng.uniform(-3, 4, n),
        )
        width = np.abs(width)
        lo = np.maximum(x - np.where(rng.random(n) < 0.5, width, 0.0), max(a, -most))
        hi = np.minimum(x + width, min(b, most))
    lo = np.where(width == 0.0, x, np.maximum(lo, np.nextafter(a, inf)))
    hi = np.where(width == 0.0, x, np.minimum(hi, np.nextafter(b, -inf)))
    return np.minimum(lo, x), np.maximum(hi, x)


def members(rng, lo, hi):
    """A member of each interval: an end, or anything between."""
    kind = rng.integers(0, 5, lo.shape)
    with np.errstate(all="ignore"):
        t = rng.random(lo.shape)
        inner = lo + t * (hi - lo)
        inner = np.where(np.isfinite(inner), inner, lo / 2 + hi / 2)
    x = np.select([kind == 0, kind == 1], [lo, hi], inner)
    return np.clip(x, lo, hi)


def held(pair, exact):
    """Whether a ball may lie in an interval, and whether that is decided."""
    lo, hi = (arb(float(end)) for end in pair)
    return not (exact < lo or exact > hi), bool(exact >= lo and exact <= hi)


def patterns(name):
    op = by_name(name)
    if op.arity == 1:
        return (0,)
    return (
        DOMAINS[name].get("patterns", (1, 2, 3))
        if isinstance(DOMAINS[name], dict)
        else (1, 2, 3)
    )


def domains(name, pattern):
    given = DOMAINS.get(name, (-inf, inf))
    if isinstance(given, dict):
        return given[pattern] if pattern in given else given["all"]
    return (given,)


def check(name, n, seed=0, packages=("ival", "flint"), type_=None):
    """Check ``n`` arguments of one elemental, over all of its patterns."""
    rng = np.random.default_rng([seed, *name.encode()])
    report = Report(name)
    op = by_name(name)
    for pattern in patterns(name):
        count = max(n // len(patterns(name)), 1)
        boxes = [intervals(rng, count, d) for d in domains(name, pattern)]
        for k in (1,) if pattern == 2 else (0,) if pattern == 3 else ():
            boxes[k] = (boxes[k][0], boxes[k][0])
        whole = DOMAINS.get(name, {})
        if isinstance(whole, dict) and "prepare" in whole:
            boxes = whole["prepare"](rng, pattern, boxes)
        inner = [members(rng, *box) for box in boxes]
        with using(*packages):
            found = (type_ or enclose)(op, pattern, tuple(boxes))
        pairs = [found.value, *found.parts]
        pairs = [
            tuple(
                np.broadcast_to(e, boxes[0][0].shape)
                for e in (p if isinstance(p, tuple) else (p, p))
            )
            for p in pairs
        ]
        for lo, hi in pairs:
            assert not np.isnan(lo).any(), (name, "NaN")
            assert not np.isnan(hi).any(), (name, "NaN")
            assert (lo <= hi).all(), (
                name,
                "empty",
                boxes[0][0][lo > hi][:3],
                lo[lo > hi][:3],
                hi[lo > hi][:3],
            )
        kink = (
            np.zeros(count, bool)
            if found.kink is None
            else np.broadcast_to(found.kink, count)
        )
        outside = (
            np.zeros(count, bool)
            if found.outside is None
            else np.broadcast_to(found.outside, count)
        )
        same = np.ones(count, bool)
        for lo, hi in boxes:
            same &= lo == hi
        for k in range(count):
            operands = [float(x[k]) for x in inner]
            exact = truth(name, pattern, operands)
            for j, (pair, e) in enumerate(zip(pairs, exact, strict=True)):
                if j and kink[k] and (same[k] or 0.0 in operands):
                    continue
                ends = (pair[0][k], pair[1][k])
                bits = BITS
                may, decided = held(ends, e)
                while may and not decided and bits < 5000:
                    bits *= 3
                    e = truth(name, pattern, operands, bits)[j]
                    may, decided = held(ends, e)
                if not e.is_finite() or (may and not decided):
                    report.skipped += 1
                    continue
                report.checked += 1
                if not may:
                    report.outside.append(
                        (
                            pattern,
                            j,
                            [(float(b[0][k]), float(b[1][k])) for b in boxes],
                            operands,
                            tuple(map(float, ends)),
                            e,
                        )
                    )
                if same[k] and not outside[k]:
                    size = max(abs(ends[0]), abs(ends[1]))
                    if np.isfinite(size) and size > 1e-300:
                        report.widest = max(
                            report.widest, (ends[1] - ends[0]) / np.spacing(size)
                        )
    return report


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("count", type=int, nargs="?", default=2000)
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--flint", action="store_true", help="without crival")
    given = arguments.parse_args()
    packages = ("flint",) if given.flint else ("ival", "flint")
    total = 0
    for name in given.names or TRUTHS:
        start = time.process_time()
        report = Report(name)
        for seed in range(-(-given.count // CHUNK)):
            part = check(name, min(given.count, CHUNK), seed, packages)
            report.checked += part.checked
            report.skipped += part.skipped
            report.outside += part.outside
            report.widest = max(report.widest, part.widest)
        total += len(report.outside)
        print(report, f"{time.process_time() - start:.1f} s", flush=True)
        for miss in report.outside[:3]:
            print("   OUTSIDE", miss, flush=True)
    sys.exit(total > 0)


if __name__ == "__main__":
    main()
