"""Calls that multiply and sum, polynomials among them."""

from __future__ import annotations

import numpy as np

from tests._numpy_calls._call import DIFFERENCES, Table

TABLE = call = Table()
P = np.array([[1.5, -0.5, 0.25], [0.3, 2.0, -1.0]])
V = np.array([0.5, -1.5, 2.0])

call("vdot", (2, 3), lambda xp, x: xp.vdot(x, P))
call("vdot reflected", (2, 3), lambda xp, x: xp.vdot(P, x * x))
call("vdot with itself", (2, 3), lambda xp, x: xp.vdot(x, x))
call("inner", (2, 3), lambda xp, x: xp.inner(x, P))
call("inner of vectors", (3,), lambda xp, x: xp.inner(x, x))
call("inner mixed", (2, 3), lambda xp, x: xp.inner(x, V))
call("dot method", (2, 3), lambda xp, x: x.dot(V))
call("kron", (2, 3), lambda xp, x: xp.kron(x, P))
call("kron with itself", (3,), lambda xp, x: xp.kron(x, x))
call("kron mixed", (3,), lambda xp, x: xp.kron(P, x))
call("outer", (3,), lambda xp, x: xp.outer(x, V))
call("cross", (2, 3), lambda xp, x: xp.cross(x, V))
call("cross of itself", (2, 3), lambda xp, x: xp.cross(x[0], x[1]))
call(
    "cross axes",
    (3, 4),
    lambda xp, x: (
        xp.cross(x, P.T, axisa=0, axisb=0, axisc=0)
        if x.shape[1] == 2
        else xp.cross(x, x * x + 1.0, axis=0)
    ),
)
call("trace", (3, 4), lambda xp, x: xp.trace(x, offset=1))
call("trace axes", (3, 4, 2), lambda xp, x: xp.trace(x, axis1=1, axis2=2))
call("trace method", (3, 4), lambda xp, x: x.trace())
call("tensordot", (3, 4), lambda xp, x: xp.tensordot(x, x, ([0], [0])))
call("tensordot of none", (3,), lambda xp, x: xp.tensordot(x, P, 0))
call("tensordot of all", (2, 3), lambda xp, x: xp.tensordot(x, P))
call("einsum", (3, 3), lambda xp, x: xp.einsum("ij,jk->ik", x, x))
call("einsum diagonal", (3, 3), lambda xp, x: xp.einsum("ii->i", x))
call(
    "einsum_path",
    (3, 3),
    lambda xp, x: x * len(np.einsum_path("ij,jk,kl->il", x, x, x)[0]),
    lambda x: 3.0 * x,
)
call("matmul", (2, 3), lambda xp, x: xp.matmul(x, P.T))
if hasattr(np, "vecdot"):
    call("vecdot", (2, 3), lambda xp, x: xp.vecdot(x, P))
if hasattr(np, "matvec"):
    call("matvec", (2, 3), lambda xp, x: xp.matvec(x, V))
    call("vecmat", (2, 3), lambda xp, x: xp.vecmat(x[:, 0], x))

for mode in ("full", "same", "valid"):
    call(f"convolve {mode}", (5,), lambda xp, x, m=mode: xp.convolve(x, V, m))
    call(f"convolve {mode} short", (2,), lambda xp, x, m=mode: xp.convolve(x, V, m))
    call(f"convolve {mode} both", (5,), lambda xp, x, m=mode: xp.convolve(x, x[:2], m))
    call(f"correlate {mode}", (5,), lambda xp, x, m=mode: xp.correlate(x, V, m))
    call(
        f"correlate {mode} even",
        (6,),
        lambda xp, x, m=mode: xp.correlate(x, P.ravel()[:4], m),
    )
    call(
        f"correlate {mode} both", (5,), lambda xp, x, m=mode: xp.correlate(x, x[1:4], m)
    )
    call(
        f"correlate {mode} short",
        (2,),
        lambda xp, x, m=mode: np.correlate(x, V, m),
        DIFFERENCES,
    )
    call(
        f"correlate {mode} of a short one",
        (5,),
        lambda xp, x, m=mode: np.correlate(x[1:4], x, m),
        DIFFERENCES,
    )

call("polyval", (4,), lambda xp, x: xp.polyval(np.array([1.0, 2.0, 3.0]), x))
call("polyval coefficients", (4,), lambda xp, x: xp.polyval(x, 2.0))
call("polyval at a matrix", (4,), lambda xp, x: xp.polyval(x, P))
call("polyval both", (4,), lambda xp, x: xp.polyval(x, x))
call("polyder", (5,), lambda xp, x: xp.polyder(x, 2))
call("polyint", (5,), lambda xp, x: xp.polyint(x, 2))
call(
    "polyint constants",
    (5,),
    lambda xp, x: np.polyint(x, 2, k=[x[0], 2.0]),
    DIFFERENCES,
)
for name in ("polyadd", "polysub", "polymul"):
    call(name, (4,), lambda xp, x, n=name: getattr(xp, n)(x, V))
    call(f"{name} reflected", (4,), lambda xp, x, n=name: getattr(xp, n)(V, x))
    call(f"{name} both", (4,), lambda xp, x, n=name: getattr(xp, n)(x[:2], x))
call("polymul square", (4,), lambda xp, x: xp.polymul(x, x))
call("polydiv", (4,), lambda xp, x: xp.polydiv(x, np.array([1.0, 2.0]))[0])
call(
    "polydiv remainder",
    (4,),
    lambda xp, x: np.polydiv(V, x[:2])[1],
    lambda x: (V[2] - x[1] / x[0] * (V[1] - V[0] * x[1] / x[0]))[None],
)
call("poly", (4,), lambda xp, x: np.poly(x), DIFFERENCES)
call(
    "polyfit",
    (4,),
    lambda xp, x: np.polyfit([0.0, 1.0, 2.0, 3.5], x, 2),
    lambda x: np.polyfit([0.0, 1.0, 2.0, 3.5], np.eye(4), 2) @ x,
)
call(
    "polyfit weights",
    (4, 2),
    lambda xp, x: np.polyfit([0.0, 1.0, 2.0, 3.5], x, 1, w=[1.0, 2.0, 1.0, 3.0]),
    DIFFERENCES,
)
call("vander", (4,), lambda xp, x: xp.vander(x))
call("vander increasing", (4,), lambda xp, x: xp.vander(x, 3, increasing=True))
call("vander of one", (4,), lambda xp, x: xp.vander(x, 2))
for name in (
    "polynomial.polyval",
    "chebyshev.chebval",
    "legendre.legval",
    "hermite.hermval",
    "hermite_e.hermeval",
    "laguerre.lagval",
):
    module, function = name.split(".")
    ask = getattr(getattr(np.polynomial, module), function)
    call(name, (4,), lambda xp, x, f=ask: f(x, [1.0, 2.0, 3.0]), DIFFERENCES)
