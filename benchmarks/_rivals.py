"""Programs of the suite in other packages: value, gradient and Hessian product.

Each function gives a dictionary of calls by column, or None where the package is not
installed. What a package compiles or builds once is done here, before any clock starts.
Packages whose time or memory grows out of hand with the length of a loop have a limit.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._peers import module

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._suite import Program

Calls = dict[str, "Callable[[], Any]"]
LONGEST_LOOP = {
    "autograd": 1_000,
    "torch": 1_000,
    "jax": 0,  # compiles for half a minute where a loop has a hundred turns
    "SX": 10_000,
    "MX": 1_000,
}
MOST_SX = 10_000  # inputs of an array program that SX takes apart


def fits(peer: str, program: Program) -> bool:
    """Whether a peer gets through the program in seconds."""
    return not program.loop or program.n <= LONGEST_LOOP[peer]


def autograd(program: Program, v: np.ndarray) -> Calls | None:
    """HIPS autograd, which records anew in every call."""
    package, names = module("autograd"), module("autograd.numpy")
    if package is None:
        return None
    f, x = program.bind(names, np.asarray), program.x
    product = package.hessian_vector_product(f)
    return {
        "gradient": lambda: package.grad(f)(x),
        "hvp": lambda: product(x, v),
    }


def jax(program: Program, v: np.ndarray) -> Calls | None:
    """JAX, compiled, its input on the device."""
    package = module("jax")
    if package is None:
        return None
    package.config.update("jax_enable_x64", True)
    f = program.bind(package.numpy, package.numpy.asarray)
    grad = package.grad(f)
    x, v = package.numpy.asarray(program.x), package.numpy.asarray(v)
    compiled = {
        "value": (package.jit(f), (x,)),
        "gradient": (package.jit(grad), (x,)),
        "hvp": (package.jit(lambda x, v: package.jvp(grad, (x,), (v,))[1]), (x, v)),
    }
    return {
        column: lambda g=g, a=a: g(*a).block_until_ready()
        for column, (g, a) in compiled.items()
    }


def torch(program: Program, v: np.ndarray) -> Calls | None:
    """PyTorch on the CPU, eager."""
    package = module("torch")
    if package is None:
        return None
    f = program.bind(package, package.as_tensor, lambda x: list(x.unbind()))
    x, v = package.as_tensor(program.x), package.as_tensor(v)

    def gradient() -> Any:
        at = x.detach().requires_grad_()
        f(at).backward()
        return at.grad

    def value() -> Any:
        with package.no_grad():
            return f(x)

    return {
        "value": value,
        "gradient": gradient,
        "hvp": lambda: package.autograd.functional.hvp(f, x, v)[1],
    }


def _casadi_names(casadi: Any) -> SimpleNamespace:
    def total(a: Any, axis: int | None = None) -> Any:
        if axis is None:
            return casadi.sum2(casadi.sum1(a))
        return casadi.sum1(a) if axis == 0 else casadi.sum2(a)

    return SimpleNamespace(
        sum=total,
        reshape=lambda a, shape: casadi.reshape(a, *shape[::-1]).T,
        **{name: getattr(casadi, name) for name in ("exp", "log", "log1p", "tanh")},
    )


def _casadi_data(casadi: Any, a: np.ndarray) -> Any:
    return a.tolist() if a.dtype.kind == "i" else casadi.DM(a)


def _buffered(function: Any, *arguments: np.ndarray) -> Callable[[], Any]:
    """CasADi's fastest call: arguments and result in memory of ours."""
    buffer, call = function.buffer()
    result = np.zeros(function.nnz_out(0))
    for k, a in enumerate(arguments):
        buffer.set_arg(k, memoryview(a))
    buffer.set_res(0, memoryview(result))

    def run(*owners: Any) -> np.ndarray:
        call()
        return result

    # The call knows these by address alone.
    return partial(run, function, buffer, arguments)


def casadi(program: Program, v: np.ndarray, kind: str) -> Calls | None:
    """CasADi's virtual machine on graphs of one kind, SX or MX."""
    package = module("casadi")
    if package is None:
        return None
    symbols = getattr(package, kind)
    names = _casadi_names(package)
    f = program.bind(
        names, lambda a: _casadi_data(package, a), lambda x: package.vertsplit(x)
    )
    x, w = symbols.sym("x", program.n), symbols.sym("w", program.n)
    out = f(x)
    gradient = package.gradient(out, x)
    product = package.jtimes(gradient, x, w)
    at = np.ascontiguousarray(program.x)
    return {
        "value": _buffered(package.Function("f", [x], [package.densify(out)]), at),
        "gradient": _buffered(
            package.Function("g", [x], [package.densify(gradient)]), at
        ),
        "hvp": _buffered(
            package.Function("h", [x, w], [package.densify(product)]), at, v
        ),
    }


def all_of(program: Program, v: np.ndarray) -> dict[str, Calls]:
    """Every peer that is installed and gets through the program."""
    made = {
        "autograd": autograd,
        "torch": torch,
        "jax": jax,
        "SX": lambda p, v: casadi(p, v, "SX"),
        "MX": lambda p, v: casadi(p, v, "MX"),
    }
    found = {}
    for peer, make in made.items():
        takes_apart = peer == "SX" and not program.loop
        if takes_apart and (program.n > MOST_SX or program.data):
            continue
        calls = make(program, v) if fits(peer, program) else None
        if calls is not None:
            found[peer] = calls
    return found
