"""What the transformations return: registered pytrees of arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import DomainError, NondifferentiableError
from ._package import checkify, jax, jnp, tree
from ._status import DOMAIN, KINK

__all__ = [
    "HessianCover",
    "JacobianCover",
    "NLSCover",
    "Sensitivities",
    "checked",
    "raised",
]

_FAULTS = {
    DOMAIN: (
        DomainError,
        "outside of the domain of an operation, or not finite, there; evaluate at "
        "another point, or look for NaN in the arguments",
    ),
    KINK: (
        NondifferentiableError,
        "evaluated at a kink, a jump or a tie; evaluate at another point",
    ),
}


def raised(status: int, name: str = "", where: str = "") -> Exception | None:
    """The error that a status stands for; None if it stands for none."""
    if status not in _FAULTS:
        return None
    kind, what = _FAULTS[status]
    return kind(f"{name or 'the function'} is {what}.{where}", elemental=name)


def _first(mask: Any) -> str:
    """Which of many points is meant: a sentence, or nothing for a single one."""
    if not mask.ndim or not mask.any():
        return ""
    index = tuple(int(k[0]) for k in np.nonzero(mask))
    first = index[0] if len(index) == 1 else index
    return f" It is so at {mask.sum()} of {mask.size} points, first at point {first}."


class Checked:
    """What all results have: a status, and a way to hold on to it."""

    status: Any

    def check(self) -> None:
        """Raise if the status is 1 or 2; inside of compiled code, ask ``checkify``.

        Where the status is traced, this is ``jax.experimental.checkify.check``: the
        function around it has to be transformed by ``checkify.checkify``.

        Raises:
            DomainError: For status 1, of any member of a batch.
            NondifferentiableError: For status 2.
        """
        if not isinstance(self.status, jax.core.Tracer):
            codes = np.asarray(self.status)
            for code in (DOMAIN, KINK):
                error = raised(code, where=_first(codes == code))
                if error is not None and (codes == code).any():
                    raise error
            return
        for code, (_, what) in _FAULTS.items():
            checkify.check(
                jnp.all(self.status != code), f"the function is {what} (status {code})."
            )


def checked(transformed: Callable[..., Any]) -> Callable[..., Any]:
    """The same transformed function, with a check of each result's status.

    Args:
        transformed: What :func:`cover_hessian` or a relative of it gave.

    Returns:
        A function of the same arguments. In compiled code its check is that of
        ``jax.experimental.checkify``, and the function around it has to be transformed by
        ``checkify.checkify``.

    Raises:
        DomainError: Outside of a trace, for status 1.
        NondifferentiableError: Outside of a trace, for status 2.

    Guarantee:
        What it returns has status 0 or 3.

    Cost:
        That of the function.

    Source:
        ``jax.experimental.checkify``.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from jax.experimental import checkify
        >>> from derivative_covers.interop.jax import checked, cover_hessian
        >>> safe = checked(cover_hessian(lambda x: jnp.log(x)))
        >>> error, _ = checkify.checkify(jax.jit(safe))(-1.0)
        >>> "outside of the domain" in error.get()
        True
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        result = transformed(*args, **kwargs)
        result.check()
        return result

    return run


@dataclass(frozen=True)
class HessianCover(Checked):
    """A cover of a Hessian, with value and gradient at the same point.

    Attributes:
        value: Value of the function.
        gradient: Its gradient, in the structure of the differentiated arguments.
        h: Nonnegative, in the same structure, with ``|H[i, j]| <= h[i] h[j]``.
        status: 0 all is right; 1 an operation that the value depends on is outside of
            its domain, or something is not finite; 2 it is at a kink, jump or tie; 3
            the cover is right, but some operation met values that carry no scale and
            took 1, since ``scales`` were not given. The gravest counts.
        aux: The auxiliary output with ``has_aux``, else None.
        merge: ``"sum"`` or ``"hybrid"``.
    """

    value: Any
    gradient: Any
    h: Any
    status: Any
    aux: Any = None
    merge: str = "sum"


@dataclass(frozen=True)
class JacobianCover(Checked):
    """A pair with ``|J[k, i]| <= a[k] b[i]`` for all outputs and inputs.

    Attributes:
        value: Outputs of the function.
        a: Nonnegative, in their structure and units.
        b: Nonnegative, in the structure of the arguments and the inverse of their units.
        status: As of :class:`HessianCover`.
        aux: The auxiliary output with ``has_aux``, else None.
    """

    value: Any
    a: Any
    b: Any
    status: Any
    aux: Any = None


@dataclass(frozen=True)
class NLSCover(Checked):
    """A cover of the Hessian of half a sum of squares, and of its two terms.

    Attributes:
        value: ``sum(r**2) / 2`` of the residuals.
        gradient: Its gradient, in the structure of the differentiated arguments.
        h: Cover of the Hessian, ``sqrt(h_gn**2 + h_curv**2)``.
        h_gn: Cover of the Gauss-Newton term ``J' J``.
        h_curv: Cover of the curvature term, the sum of residuals times their Hessians.
        status: As of :class:`HessianCover`.
        aux: The auxiliary output with ``has_aux``, else None.
        merge: ``"sum"`` or ``"hybrid"``.
    """

    value: Any
    gradient: Any
    h: Any
    h_gn: Any
    h_curv: Any
    status: Any
    aux: Any = None
    merge: str = "sum"


@dataclass(frozen=True)
class Sensitivities(Checked):
    """Sums of absolute sensitivities, with the outputs at the same point.

    Attributes:
        value: Outputs of the function.
        size: What the transformation says: of the outputs forward, of the arguments in
            reverse and for covers of ``J' J``.
        status: As of :class:`HessianCover`.
        aux: The auxiliary output with ``has_aux``, else None.
    """

    value: Any
    size: Any
    status: Any
    aux: Any = None


for _cls in (HessianCover, JacobianCover, NLSCover, Sensitivities):
    _names = list(_cls.__dataclass_fields__)
    tree.register_dataclass(
        _cls,
        data_fields=[name for name in _names if name != "merge"],
        meta_fields=[name for name in _names if name == "merge"],
    )
