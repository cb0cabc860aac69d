"""Kernels that enclose recorded arithmetic over a box: values and partials of its nodes.

A row is a node: its operation and pattern, its parents ``a`` and ``b``, and a constant
operand ``c``. Patterns are those of a run: 0 one operand, 1 two, 2 the second one
constant, 3 the first one. Parts are ``d1, d2, c11, c12, c22``, a row each; what does not
follow from the operands stands in them before, or nobody reads it. Every kernel stops where
a node leaves its domain, meets a kink, or has no finite ends.
"""

from __future__ import annotations

from ._jit import kernel
from .outward import add, divide, multiply, power, square, square_root, total
from .wide import first

__all__ = ["ABSOLUTE", "ADD", "COPY", "DIVIDE", "MAXIMUM", "MINIMUM", "MULTIPLY",
           "NEGATIVE", "POWER", "RECIPROCAL", "SQRT", "SQUARE", "SUBTRACT", "linear",
           "products", "rows"]  # fmt: skip

COPY, NEGATIVE, ADD, SUBTRACT, MULTIPLY, DIVIDE, SQUARE = 1, 2, 3, 4, 5, 6, 7
RECIPROCAL, SQRT, ABSOLUTE, MAXIMUM, MINIMUM, POWER = 8, 9, 10, 11, 12, 13
END = 1e308


@kernel
def rows(lo, hi, low, high, start, at, code, a, b, c):
    """Nodes from ``start`` on, with parts from ``at`` on; gives how many are enclosed."""
    for m in range(code.size):
        op = code[m] >> 2
        pattern = code[m] & 3
        k = at + m
        i = a[m]
        j = b[m]
        if pattern == 3:
            xl = xh = c[m]
            yl = lo[i]
            yh = hi[i]
        else:
            xl = lo[i]
            xh = hi[i]
            yl = yh = c[m]
            if pattern == 1:
                yl = lo[j]
                yh = hi[j]
        same = pattern == 1 and i == j
        if op == ADD:
            vl, vh = add(xl, xh, yl, yh)
        elif op == SUBTRACT:
            vl, vh = add(xl, xh, 0.0 - yh, 0.0 - yl)
            if same:
                vl = vh = 0.0 * vl
        elif op == MULTIPLY:
            if same:
                vl, vh = square(xl, xh)
                low[0, k], high[0, k] = add(xl, xh, xl, xh)
            else:
                vl, vh = multiply(xl, xh, yl, yh)
                if pattern == 1:
                    low[0, k] = yl
                    high[0, k] = yh
                    low[1, k] = xl
                    high[1, k] = xh
        elif op == SQUARE:
            vl, vh = square(xl, xh)
            low[0, k], high[0, k] = multiply(2.0, 2.0, xl, xh)
        elif op == DIVIDE:
            if (yl <= 0 and yh >= 0) or same:
                return m
            vl, vh = divide(xl, xh, yl, yh)
            divided(low, high, k, pattern, vl, vh, yl, yh)
        elif op == NEGATIVE:
            vl = 0.0 - xh
            vh = 0.0 - xl
        elif op == COPY:
            vl = xl
            vh = xh
        elif op == RECIPROCAL:
            if xl <= 0 and xh >= 0:
                return m
            vl, vh = divide(1.0, 1.0, xl, xh)
            dl, dh = divide(vl, vh, xl, xh)
            cl, ch = divide(dl, dh, xl, xh)
            low[0, k] = 0.0 - dh
            high[0, k] = 0.0 - dl
            low[2, k], high[2, k] = add(cl, ch, cl, ch)
        elif op == SQRT:
            if not xl > 0:
                return m
            vl, vh = square_root(xl, xh)
            dl, dh = divide(0.5, 0.5, vl, vh)
            low[0, k] = dl
            high[0, k] = dh
            cl, ch = multiply(-0.5, -0.5, dl, dh)
            low[2, k], high[2, k] = divide(cl, ch, xl, xh)
        elif op == POWER:
            e = int(c[m])
            if e < 0 and xl <= 0 and xh >= 0:
                return m
            vl, vh = power(xl, xh, e)
            f = 1.0 * e
            dl, dh = power(xl, xh, e - 1) if e != 0 else (1.0, 1.0)
            cl, ch = power(xl, xh, e - 2) if e * (e - 1) != 0 else (1.0, 1.0)
            low[0, k], high[0, k] = multiply(f, f, dl, dh)
            f = 1.0 * e * (e - 1)
            low[2, k], high[2, k] = multiply(f, f, cl, ch)
        elif op == ABSOLUTE:
            if xl <= 0 and xh >= 0:
                return m
            vl = xl if xl > 0 else 0.0 - xh
            vh = xh if xl > 0 else 0.0 - xl
            low[0, k] = high[0, k] = 1.0 if xl > 0 else -1.0
        else:
            above = xl > yh if op == MAXIMUM else xh < yl
            below = yl > xh if op == MAXIMUM else yh < xl
            if same or not (above or below):
                return m
            vl = xl if above else yl
            vh = xh if above else yh
            taken = above if pattern != 3 else below
            low[0, k] = high[0, k] = 1.0 if taken else 0.0
            if pattern == 1:
                low[1, k] = high[1, k] = 0.0 if taken else 1.0
        if not (vl <= vh and abs(vl) < END and abs(vh) < END):
            return m
        lo[start + m] = vl
        hi[start + m] = vh
    return code.size


@kernel
def divided(low, high, k, pattern, vl, vh, yl, yh):
    """Partials of a quotient ``v``."""
    if pattern != 3:
        pl, ph = divide(1.0, 1.0, yl, yh)
        low[0, k] = pl
        high[0, k] = ph
        if pattern == 2:
            return
        ql, qh = divide(pl, ph, yl, yh)
        low[3, k] = 0.0 - qh
        high[3, k] = 0.0 - ql
    dl, dh = divide(vl, vh, yl, yh)
    hl, hh = divide(dl, dh, yl, yh)
    first_ = 1 if pattern == 1 else 0
    second = 4 if pattern == 1 else 2
    low[first_, k] = 0.0 - dh
    high[first_, k] = 0.0 - dl
    low[second, k], high[second, k] = add(hl, hh, hl, hh)


@kernel
def linear(lo, hi, shape, x, low, high, plain, below, above, parts):
    """Linear nodes; ``plain``: all coefficients are one. Gives how many are enclosed."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    cl, ch, ck = low[0], high[0], low[5]
    given = ids.size > 0
    count = n0 * n1 * n2
    for o in range(count):
        p = first(x, shape, o)
        q = first(low, shape, o)
        for m in range(nk):
            i = ids[p + m * sk] if given else p + m * sk
            if plain:
                below[m] = lo[i]
                above[m] = hi[i]
            else:
                at = q + m * ck
                below[m], above[m] = multiply(lo[i], hi[i], cl[at], ch[at])
        vl, vh = total(below, above, nk, count, parts)
        if not (vl <= vh and abs(vl) < END and abs(vh) < END):
            return o
        lo[k0 + o] = vl
        hi[k0 + o] = vh
    return count


@kernel
def products(lo, hi, shape, x, y, below, above, parts):
    """Inner products; a pair of one node is a square. Gives how many are enclosed."""
    k0, n0, n1, n2, nk = shape
    xid, sx = x[0], x[5]
    yid, sy = y[0], y[5]
    xgiven = xid.size > 0
    ygiven = yid.size > 0
    count = n0 * n1 * n2
    for o in range(count):
        p = first(x, shape, o)
        q = first(y, shape, o)
        for m in range(nk):
            i = xid[p + m * sx] if xgiven else p + m * sx
            j = yid[q + m * sy] if ygiven else q + m * sy
            if i == j:
                below[m], above[m] = square(lo[i], hi[i])
            else:
                below[m], above[m] = multiply(lo[i], hi[i], lo[j], hi[j])
        vl, vh = total(below, above, nk, count, parts)
        if not (vl <= vh and abs(vl) < END and abs(vh) < END):
            return o
        lo[k0 + o] = vl
        hi[k0 + o] = vh
    return count
