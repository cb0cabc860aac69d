"""What holds for a whole transformation: options, what went wrong, names of nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ._node import Bar, Node
from ._package import jax, jnp, lax
from ._status import FAULTS, Mark, level, summary, worst

__all__ = [
    "Context",
    "dealt",
]

_SMALL = 4096  # entries of a constant that is compared with others


@dataclass
class Context:
    """Options and findings of one sweep; rules get it first.

    Attributes:
        ratio: Threshold of the guard, or None for the root of the machine epsilon.
        scaled: Whether nodes carry declared scales.
        ngroups: Number of groups of atoms; None: all in one.
        group: Index of the group whose atoms count, a traced integer; None: all do.
        marks: The faults looked for so far. A rule that runs a part of its own in a
            loop gives it a :meth:`child`, returns ``child.codes()`` from there and
            passes them on with :meth:`flag_codes`.
        origins: Of the tokens of moved entries, the token they come from and the
            equation that moved them.
    """

    ratio: float | None = None
    scaled: bool = False
    ngroups: int | None = None
    group: Any = None
    marks: list[Mark] = field(default_factory=list)
    origins: dict[int, tuple[int, Any]] = field(default_factory=dict)
    _tokens: dict[Hashable, int] = field(default_factory=dict)
    _kept: list[Any] = field(default_factory=list)
    _known: dict[Hashable, Any] = field(default_factory=dict)
    _curved: Any = 0

    def child(self, turn: Any = 0) -> Context:
        """The same options with findings of its own, maybe at a turn of a loop."""
        if self.group is None:
            return replace(self, marks=[])
        return replace(self, marks=[], _curved=self._curved + turn)

    def known(self, key: Hashable, kept: Any, find: Callable[[], Any]) -> Any:
        """What ``find()`` gives, found once for a key; ``kept`` lives as long."""
        if key not in self._known:
            self._known[key] = (kept, find())
        return self._known[key][1]

    def threshold(self, dtype: Any) -> Any:
        """The guard's ratio in a floating type."""
        if self.ratio is not None:
            return self.ratio
        return float(np.sqrt(float(jnp.finfo(dtype).eps)))

    def token(self, key: Hashable) -> int:
        """A number for a key, the same for the same key."""
        return self._tokens.setdefault(key, len(self._tokens))

    def fresh(self) -> int:
        """A token that no other node has."""
        return self.token(("fresh", len(self._tokens)))

    def token_of(self, eqn: Any, operands: Sequence[Node]) -> int:
        """The token of what an equation makes of its operands: of the same, the same."""
        tokens = [
            self._of_constant(x.value) if x.token is None else x.token for x in operands
        ]
        return self.token((*key_of(eqn), tuple(tokens)))

    def _of_constant(self, value: Any) -> int:
        """Equal for small constants of the same content, else for the same object."""
        small = jnp.size(value) <= _SMALL and not isinstance(value, jax.core.Tracer)
        if small and not jnp.issubdtype(jnp.result_type(value), jax.dtypes.extended):
            array = np.asarray(value)
            return self.token((array.dtype.str, array.shape, array.tobytes()))
        self._kept.append(value)  # or another one could get its identity
        return self.token(("constant", id(value)))

    def flag(self, code: int, where: Any, name: str) -> None:
        """Note where something goes wrong: a boolean array."""
        self.marks.append(Mark(code, summary(where), name))

    def reached(self, bar: Bar, where: Any, code: int, name: str) -> None:
        """Note a fault at the entries that the output depends on."""
        live = [part != 0 for part in (bar.adj, bar.g) if part is not None]
        if live:
            depends = live[0] if len(live) == 1 else live[0] | live[1]
            self.flag(code, where & depends, name)

    def codes(self) -> Any:
        """The gravest of what was found: one integer, for :meth:`flag_codes`."""
        return worst(self.marks)

    def flag_codes(self, codes: Any, name: str, among: Any = FAULTS) -> None:
        """Note what a child found, maybe at each turn of a loop."""
        gravest = lax.reduce_max(codes, axes=tuple(range(codes.ndim)))
        for code in among:
            self.flag(code, gravest == level(code), name)

    def mine(self, rho: tuple[Any, ...]) -> tuple[Any, ...]:
        """Slot weights of the atoms that belong to the group in work, else zero.

        Entries of one operation are dealt to the groups along its axes, so that
        neighbours lie in different ones, and operations start at different groups.
        Call it once for all slots of an operation.
        """
        if self.group is None:
            return rho
        self._curved += 1
        shape = next(r.shape for r in rho if r is not None)
        here = dealt(shape, self._curved - 1, self.ngroups or 1) == self.group
        return tuple(r if r is None else jnp.where(here, r, 0) for r in rho)


def dealt(shape: tuple[int, ...], start: int, ngroups: int) -> Any:
    """A group for each entry: along every axis they take turns, each in its own stride."""
    of = jnp.full((1,) * len(shape), start % ngroups, jnp.int32)
    for axis, n in enumerate(shape):
        step = 2 * (len(shape) - 1 - axis) + 1
        mine = lax.iota(jnp.int32, n) * (step % ngroups) % ngroups
        of = of + lax.expand_dims(mine, [a for a in range(len(shape)) if a != axis])
        of = jnp.where(of >= ngroups, of - ngroups, of)
    return of


def key_of(eqn: Any) -> tuple[Hashable, ...]:
    """What an equation does, for comparison with others."""
    params = tuple(sorted(eqn.params.items()))
    try:
        hash(params)
    except TypeError:
        return eqn.primitive.name, str(eqn.params)
    return eqn.primitive.name, params
