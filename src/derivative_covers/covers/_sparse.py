"""Sparse Hessians, and where their entries are."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Unpack

import numpy as np

from ..errors import MissingPackageError, OptionError, extra
from ..sweeps import Entries, Program, adjoints, check_outputs, hessian_entries
from ..tape import Tape
from ._arguments import RecordingOptions, resolve, scalar_output

__all__ = ["as_csr", "hessian_sparsity", "sparse_hessian"]


def sparse_hessian(t: Tape, o: int, program: Program) -> Entries:
    """The entries of the Hessian of a node that may be nonzero.

    Raises:
        OptionError: If there are too many.
    """
    with np.errstate(all="ignore"):
        found = hessian_entries(program, t, adjoints(program, t, 1.0, o), o)
    if found is None:
        msg = (
            f"the Hessian is not sparse: of its {t.ninputs} x {t.ninputs} entries, or of "
            "the gradients that it is made of, more may be nonzero than fit into some "
            "gigabytes (a function of a sum over all inputs, say). Use hvp, or a cover."
        )
        raise OptionError(msg)
    return found


def as_csr(t: Tape, found: Entries, value: Any) -> Any:
    """A SciPy sparse array of the entries.

    Raises:
        MissingPackageError: If SciPy is not installed.
    """
    try:
        sparse = import_module("scipy.sparse")
    except ImportError:
        msg = (
            "sparse Hessians are SciPy arrays, and SciPy is not installed; "
            f"{extra('sparse')}, or take the dense derivative_covers.hessian."
        )
        raise MissingPackageError(msg) from None
    ptr = np.searchsorted(found.i, np.arange(t.ninputs + 1))
    return sparse.csr_array((value, found.j, ptr), shape=(t.ninputs, t.ninputs))


def hessian_sparsity(tape: Any, out: Any, **recording: Unpack[RecordingOptions]) -> Any:
    """Which entries of the Hessian of a scalar output may be nonzero, near this point.

    Args:
        tape: A tape and ``out`` the id of its output; or a function and ``out`` a point.
        out: See ``tape``.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        A boolean ``scipy.sparse.csr_array`` of shape (n, n), symmetric, over the inputs in
        one flat vector. What is not stored is zero; entries whose parts cancel are stored.
        Second partials and adjoints that are exactly zero at the point do not count, so
        that another point may have more.

    Raises:
        MissingPackageError: If SciPy is not installed.
        OptionError: If more than some ten million entries may be nonzero.
        ShapeError: If there is more than one output.
        DomainError: If the output depends on a node outside of its domain.
        NondifferentiableError: If it depends on a node at a kink, jump or tie.

    Guarantee:
        Every nonzero entry of the Hessian is stored.

    Cost:
        One gradient, and time and memory in proportion to the nonzero entries of the
        intermediate gradients that second partials multiply, and of their products.

    Source:
        The chain rule in outer-product form.

    Example:
        >>> import derivative_covers as dc
        >>> f = lambda x: (x[0] - x[1]) ** 2 + x[2] ** 3
        >>> dc.hessian_sparsity(f, [1.0, 2.0, 3.0]).toarray().astype(int)
        array([[1, 1, 0],
               [1, 1, 0],
               [0, 0, 1]])
    """
    t, outs = resolve(tape, out, recording)
    o = scalar_output(outs, "hessian_sparsity")
    found = sparse_hessian(t, o, check_outputs(t, o))
    return as_csr(t, found, np.ones(found.i.size, dtype=bool))
