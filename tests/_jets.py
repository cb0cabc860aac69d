"""Second-order jets over any numbers: an oracle of its own, by the chain rule alone."""

from __future__ import annotations


class Jet:
    """A value with gradient and Hessian, in plain ``+ - * /`` of its numbers."""

    def __init__(self, v, g, H):
        self.v, self.g, self.H = v, g, H

    @classmethod
    def inputs(cls, x):
        n = len(x)
        zero = x[0] * 0
        one = zero + 1
        return [
            cls(v, [one if i == k else zero for i in range(n)], [[zero] * n] * n)
            for k, v in enumerate(x)
        ]

    def chain(self, v, d, c):
        n = range(len(self.g))
        g = [d * a for a in self.g]
        H = [[d * self.H[i][j] + c * self.g[i] * self.g[j] for j in n] for i in n]
        return Jet(v, g, H)

    def _lift(self, other):
        if isinstance(other, Jet):
            return other
        zero = self.v * 0
        n = len(self.g)
        return Jet(zero + type(zero)(other), [zero] * n, [[zero] * n] * n)

    def __add__(self, other):
        y = self._lift(other)
        n = range(len(self.g))
        return Jet(
            self.v + y.v,
            [a + b for a, b in zip(self.g, y.g, strict=True)],
            [[self.H[i][j] + y.H[i][j] for j in n] for i in n],
        )

    def __neg__(self):
        return self.chain(-self.v, -1, 0)

    def __sub__(self, other):
        return self + -self._lift(other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        y = self._lift(other)
        n = range(len(self.g))
        return Jet(
            self.v * y.v,
            [self.v * b + y.v * a for a, b in zip(self.g, y.g, strict=True)],
            [
                [
                    self.v * y.H[i][j] + y.v * self.H[i][j]
                    + self.g[i] * y.g[j] + self.g[j] * y.g[i]
                    for j in n
                ]
                for i in n
            ],
        )  # fmt: skip

    def inverse(self):
        r = 1 / self.v
        return self.chain(r, -r * r, 2 * r * r * r)

    def __truediv__(self, other):
        return self * self._lift(other).inverse()

    def __rtruediv__(self, other):
        return self.inverse() * other

    def __pow__(self, n):
        out = self._lift(1)
        for _ in range(n):
            out = out * self
        return out

    __radd__, __rmul__ = __add__, __mul__
