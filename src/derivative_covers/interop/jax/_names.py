"""Which primitives are elementals, and what is known of these."""

from __future__ import annotations

__all__ = ["LINEAR", "NAMES", "PLAIN", "STEEP"]

# Primitives that are elementals, under JAX's and under the field's name.
NAMES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "add": "add",
    "add_any": "add",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bessel_i0e": "i0e",
    "bessel_i1e": "i1e",
    "cbrt": "cbrt",
    "ceil": "ceil",
    "cos": "cos",
    "cosh": "cosh",
    "digamma": "digamma",
    "div": "divide",
    "erf": "erf",
    "erf_inv": "erfinv",
    "erfc": "erfc",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "floor": "floor",
    "lgamma": "gammaln",
    "log": "log",
    "log1p": "log1p",
    "logistic": "expit",
    "max": "maximum",
    "min": "minimum",
    "mul": "multiply",
    "neg": "negative",
    "pow": "power",
    "rem": "fmod",
    "round": "rint",
    "sign": "sign",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "square": "square",
    "sub": "subtract",
    "tan": "tan",
    "tanh": "tanh",
}
# First partials that vanish nowhere, underflow aside: liveness passes as it is.
STEEP = frozenset(
    [
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "expit",
        "sqrt",
        "cbrt",
        "tan",
        "tanh",
        "sinh",
        "arcsin",
        "arccos",
        "arctan",
        "arcsinh",
        "arccosh",
        "arctanh",
        "erf",
        "erfc",
        "erfinv",
        "divide",
    ]
)
# Sums take no arithmetic that would be worth to be traced once.
LINEAR = frozenset({"add", "subtract", "negative"})
# Outside of their domain the value is NaN, which every result shows.
PLAIN = frozenset({"sin", "cos", "tan"})
