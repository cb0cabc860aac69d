"""An independent check of a proved global minimum, in python-flint's balls alone.

Nothing here calls the package: functions are evaluated on second-order duals of balls, the
parts are shown to cover the box by comparisons, and every claim about a part is proved
anew, where needed on smaller parts of it.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import flint
import numpy as np
from flint import arb

__all__ = ["ProofError", "check_minimum"]

BITS = 128
DEPTH = 24  # cuts of a part until its claim must be proved


class ProofError(AssertionError):
    """A claim that could not be proved."""


def ball(lo: float, hi: float) -> arb:
    """The interval between two floats."""
    return arb(float(lo)).union(arb(float(hi)))


def square(x: arb) -> arb:
    """Sharper than a product: never negative."""
    return (arb(x.abs_lower()) ** 2).union(arb(x.abs_upper()) ** 2)


def power(x: arb, n: int) -> arb:
    """Sharp powers, from those of the ends."""
    if n == 0:
        return arb(1)
    if n % 2 == 0:
        return (arb(x.abs_lower()) ** n).union(arb(x.abs_upper()) ** n)
    return (arb(x.lower()) ** n).union(arb(x.upper()) ** n)


def times(x: arb, y: arb) -> arb:
    """Sharper than a product of balls: from the products of the ends."""
    ends = [a * b for a in (x.lower(), x.upper()) for b in (y.lower(), y.upper())]
    found = ends[0]
    for end in ends[1:]:
        found = found.union(end)
    return found


class Dual:
    """A ball with its gradient and Hessian; what is absent is zero."""

    def __init__(self, v, g, H) -> None:
        self.v, self.g, self.H = v, g, H

    def chain(self, v, d, c) -> Dual:
        g = {i: d * a for i, a in self.g.items()}
        H = {k: d * h for k, h in self.H.items()}
        for i, j in combinations_with_replacement(sorted(self.g), 2):
            both = square(self.g[i]) if i == j else self.g[i] * self.g[j]
            H[i, j] = c * both + H.get((i, j), 0)
        return Dual(v, g, H)

    def __add__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Dual):
            return Dual(self.v + exact(other), self.g, self.H)
        return Dual(self.v + other.v, added(self.g, other.g), added(self.H, other.H))

    __radd__ = __add__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else -self + other

    def __mul__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        if other is self:
            return self**2
        if not isinstance(other, Dual):
            c = exact(other)
            return Dual(
                self.v * c,
                {i: a * c for i, a in self.g.items()},
                {k: h * c for k, h in self.H.items()},
            )
        u, w = self, other
        g = added(
            {i: a * w.v for i, a in u.g.items()}, {i: b * u.v for i, b in w.g.items()}
        )
        H = added(
            {k: h * w.v for k, h in u.H.items()}, {k: h * u.v for k, h in w.H.items()}
        )
        for i, j in combinations_with_replacement(sorted(g), 2):
            for a, b in ((i, j), (j, i)):
                if a in u.g and b in w.g:
                    H[i, j] = u.g[a] * w.g[b] + H.get((i, j), 0)
        return Dual(times(u.v, w.v), g, H)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Dual):
            return self * other.inverse()
        return self * (1 / arb(exact(other)))

    def __rtruediv__(self, other):
        return (
            NotImplemented if isinstance(other, np.ndarray) else other * self.inverse()
        )

    def inverse(self):
        v = 1 / self.v
        return self.chain(v, -square(v), 2 * power(v, 3))

    def __pow__(self, n):
        n = int(n)
        assert n >= 2
        d = n * power(self.v, n - 1)
        return self.chain(power(self.v, n), d, n * (n - 1) * power(self.v, n - 2))

    def exp(self):
        v = ends(self.v, arb.exp)
        return self.chain(v, v, v)

    def sin(self):
        v, d = self.v.sin(), self.v.cos()
        return self.chain(v, d, -v)

    def cos(self):
        v, d = self.v.cos(), -self.v.sin()
        return self.chain(v, d, -v)


def ends(x: arb, f) -> arb:
    """A function that never decreases, from its values at the ends."""
    return f(arb(x.lower())).union(f(arb(x.upper())))


def exact(c):
    return arb(float(c))


def added(a, b):
    return {
        k: a[k] + b[k] if k in a and k in b else a.get(k, b.get(k)) for k in {**a, **b}
    }


def evaluated(f, balls, order: int) -> Dual:
    """A function on balls, with derivatives up to an order."""
    x = np.empty(len(balls), dtype=object)
    for k, b in enumerate(balls):
        x[k] = Dual(b, {k: arb(1)} if order else {}, {})
    found = f(x)
    return found if isinstance(found, Dual) else Dual(arb(found), {}, {})


# -- the parts cover the box -----------------------------------------------------------------


def check_cover(lo, hi, low, high) -> None:
    """Raise unless parts cover the box from ``low`` to ``high``, faces included.

    Args:
        lo: Lower ends of the parts, a row each.
        hi: Upper ends.
        low: Lower ends of the box.
        high: Upper ends.
    """
    todo = [(low, high, np.arange(len(lo)))]
    while todo:
        low, high, rows = todo.pop()
        touch = (lo[rows] <= high).all(axis=1) & (hi[rows] >= low).all(axis=1)
        rows = rows[touch]
        if ((lo[rows] <= low) & (hi[rows] >= high)).all(axis=1).any():
            continue
        best = None
        for k in range(len(low)):
            planes = np.unique([lo[rows, k], hi[rows, k]])
            planes = planes[(planes > low[k]) & (planes < high[k])]
            if planes.size:
                plane = planes[np.argmin(np.abs(planes - 0.5 * (low[k] + high[k])))]
                crossed = ((lo[rows, k] < plane) & (hi[rows, k] > plane)).sum()
                if best is None or crossed < best[0]:
                    best = crossed, k, plane
        if best is None:
            msg = f"no part covers the points from {low} to {high}"
            raise ProofError(msg)
        _, k, plane = best
        below, above = high.copy(), low.copy()
        below[k] = above[k] = plane
        todo += [(low, below, rows), (above, high, rows)]


# -- claims about a part ---------------------------------------------------------------------


def bounded(f, lo, hi, target) -> bool:
    """Whether the function is nowhere below a number in a part, by its own means."""
    balls = [ball(a, b) for a, b in zip(lo, hi, strict=True)]
    if evaluated(f, balls, 0).v >= target:
        return True
    over = evaluated(f, balls, 2)
    n, t = len(lo), hi - lo
    H = [
        [over.H.get((min(i, j), max(i, j)), arb(0)) for j in range(n)] for i in range(n)
    ]
    if not all(h.is_finite() for row in H for h in row):
        return False
    scaled = [[H[i][j] * arb(t[i]) * arb(t[j]) for j in range(n)] for i in range(n)]
    middle = np.array([[float(h.mid()) for h in row] for row in scaled])
    values, vectors = np.linalg.eigh(middle)
    shift = max(-values[0], 0.0)
    tries = [np.maximum(values, 0), np.maximum(values + shift, 0)]
    at = 0.5 * (lo + hi)
    for _ in range(3):
        here = evaluated(f, [arb(float(a)) for a in at], 1)
        slope = [here.g.get(k, arb(0)) for k in range(n)]
        for kept in tries:
            C = np.sqrt(kept)[:, None] * vectors.T
            low, z = plane_bound(here.v, slope, scaled, C, at, lo, hi)
            if low >= target:
                return True
        at = np.clip(at + t * z, lo, hi)
    return False


def plane_bound(value, slope, scaled, C, at, lo, hi):
    """A bound by a tangent plane of a convex function below; see the comments.

    With ``s = t z`` the function is at least ``f + g s + (|C z|**2 - sum(r z**2)) / 2``,
    where ``r`` are row sums of what the Hessian and ``C'C`` differ by. The last term is
    replaced by its secant, and ``|C z|**2 / 2`` by ``u C z - |u|**2 / 2``.
    """
    n, t = len(lo), hi - lo
    safe = np.where(t > 0, t, 1.0)
    balls = [[arb(float(c)) for c in row] for row in C]
    r = []
    for i in range(n):
        total = arb(0)
        for j in range(n):
            left = scaled[i][j] - sum(
                (balls[k][i] * balls[k][j] for k in range(n)), arb(0)
            )
            # on the diagonal only what is negative counts
            total += arb.max(-left, arb(0)) if i == j else abs(left)
        r.append(arb(total.upper()))
    first = [(arb(a) - arb(p)) / arb(w) for a, p, w in zip(lo, at, safe, strict=True)]
    last = [(arb(b) - arb(p)) / arb(w) for b, p, w in zip(hi, at, safe, strict=True)]
    b = [slope[i] * arb(t[i]) - r[i] * (first[i] + last[i]) / 2 for i in range(n)]
    low = value + sum((r[i] * first[i] * last[i] / 2 for i in range(n)), arb(0))
    z = best_point(
        np.array([float(c.mid()) for c in b]),
        C,
        np.array([float(c.mid()) for c in first]),
        np.array([float(c.mid()) for c in last]),
    )
    u = C @ z
    for i in range(n):
        tilt = b[i] + sum((balls[k][i] * arb(float(u[k])) for k in range(n)), arb(0))
        fall = arb.min(tilt * first[i], tilt * last[i])
        low += arb.min(fall, arb(0)) - arb(float(u[i])) ** 2 / 2
    return low, z


def best_point(b, C, first, last):
    """The minimum of ``b z + |C z|**2 / 2`` between ends, by steps along each variable."""
    P = C.T @ C
    z = np.clip(-np.linalg.pinv(P) @ b, first, last)
    for _ in range(12):
        for k in range(len(b)):
            slope = b[k] + P[k] @ z
            if P[k, k] > 0:
                z[k] = np.clip(z[k] - slope / P[k, k], first[k], last[k])
            elif slope:
                z[k] = first[k] if slope > 0 else last[k]
    return z


def signed(f, lo, hi, variable: int, sign: int) -> bool:
    """Whether a component of the gradient has one sign all over a part."""
    balls = [ball(a, b) for a, b in zip(lo, hi, strict=True)]
    over = evaluated(f, balls, 2)
    if over.g.get(variable, arb(0)) * sign > 0:
        return True
    at = 0.5 * (lo + hi)
    slope = evaluated(f, [arb(float(a)) for a in at], 1).g.get(variable, arb(0))
    for j, b in enumerate(balls):
        h = over.H.get((min(variable, j), max(variable, j)), arb(0))
        slope += h * (b - arb(float(at[j])))
    return bool(slope * sign > 0)


def proved(claim, lo, hi, depth: int = DEPTH) -> int:
    """How many parts it takes to prove a claim about a box.

    Raises:
        ProofError: If it cannot be proved on parts that are small.
    """
    if claim(lo, hi):
        return 1
    if not depth:
        msg = f"not proved from {lo} to {hi}"
        raise ProofError(msg)
    k = int(
        np.argmax((hi - lo) * (1 + 0.1 * ((depth + np.arange(len(lo))) % len(lo) == 0)))
    )
    middle = 0.5 * (lo[k] + hi[k])
    below, above = hi.copy(), lo.copy()
    below[k] = above[k] = middle
    return proved(claim, lo, below, depth - 1) + proved(claim, above, hi, depth - 1)


def check_minimum(f, box, found) -> int:
    """Prove that the minimum of a function lies within ``tol`` below ``found.upper``.

    Args:
        f: A function of an array of any numbers.
        box: Pairs of ends.
        found: A result with ``x``, ``upper``, ``lower``, ``tol`` and ``leaves``.

    Returns:
        The number of parts that it took.

    Raises:
        ProofError: If some step cannot be proved.
    """
    old, flint.ctx.prec = flint.ctx.prec, BITS
    try:
        return _check(f, np.array(box, dtype=float).T, found)
    finally:
        flint.ctx.prec = old


def _check(f, domain, found) -> int:
    low, high = domain
    x = np.ravel(found.x)
    if not (found.proved and ((low <= x) & (x <= high)).all()):
        msg = "the point lies outside of the box, or no proof is claimed"
        raise ProofError(msg)
    if not evaluated(f, [arb(float(a)) for a in x], 0).v <= arb(found.upper):
        msg = f"the value at {x} is not proved to be at most {found.upper}"
        raise ProofError(msg)
    if not arb(found.upper) - arb(found.lower) <= arb(found.tol):
        msg = "the gap is larger than tol"
        raise ProofError(msg)
    leaves = found.leaves
    check_cover(leaves.lo, leaves.hi, low, high)
    target = arb(found.upper) - arb(found.tol)
    count = 0
    for k in range(len(leaves)):
        lo, hi = leaves.lo[k], leaves.hi[k]
        if leaves.kind[k] != "gradient":
            count += proved(lambda a, b: bounded(f, a, b, target), lo, hi)
            continue
        i, sign = int(leaves.variable[k]), int(leaves.sign[k])
        count += proved(lambda a, b, i=i, sign=sign: signed(f, a, b, i, sign), lo, hi)
        edge = lo[i] if sign > 0 else hi[i]
        if edge == (low[i] if sign > 0 else high[i]):
            first, last = lo.copy(), hi.copy()
            first[i] = last[i] = edge
            # Parts of that face alone: what contains it with a volume proves nothing.
            flat = (leaves.lo == leaves.hi) | (first != last)
            mine = flat.all(axis=1)
            check_cover(leaves.lo[mine], leaves.hi[mine], first, last)
    return count
