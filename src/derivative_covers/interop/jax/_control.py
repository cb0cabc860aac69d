"""Branches and loops: their bodies are swept anew in reverse, from saved operands.

The covers are those of the unrolled program. A loop saves what it carries at each turn and
nothing else; its reverse evaluates the body again and sweeps back through it, so that a
nest of two loops of ``sqrt(T)`` turns needs the memory of ``2 sqrt(T)`` states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ._context import Context
from ._interpret import forward, reverse
from ._node import Bar, Node, forget
from ._package import jax, jnp, lax, tree
from ._rule import Rule, refuse, register
from ._status import KINK

__all__: list[str] = []


@dataclass(frozen=True)
class Facts:
    """Which facts a node carries: what loops and branches have to agree on."""

    varies: bool = False
    live: bool = False
    mark: bool = False

    def __or__(self, other: Facts) -> Facts:
        varies = self.varies or other.varies
        # Where only one varies, the other is dead, and a mask has to say so.
        dead = self.varies != other.varies
        live = varies and (dead or self.live or other.live)
        return Facts(varies, live, self.mark or other.mark)


def facts(node: Node) -> Facts:
    """Those of a node."""
    return Facts(node.varies, node.live is not None, node.mark is not None)


def fitted(ctx: Context, node: Node, want: Facts) -> Node:
    """The node, without its token, with facts filled in."""

    def everywhere(truth: bool) -> Any:
        return jnp.full_like(node.value, truth, dtype=bool)

    live = scale = mark = None
    if want.live:
        live = node.live if node.varies else None
        live = everywhere(node.varies) if live is None else live
    if want.varies and ctx.scaled:
        scale = node.scale if node.varies else None
        scale = jnp.zeros_like(node.value) if scale is None else scale
    if want.mark:
        mark = everywhere(False) if node.mark is None else node.mark
    return Node(node.value, live, scale, mark, want.varies)


class Report:
    """What sweeps in a loop or a branch found, and under which names."""

    def __init__(self) -> None:
        self._names: dict[int, dict[str, None]] = {}

    def codes(self, child: Context, nodes: Sequence[Node] = ()) -> Any:
        """The findings of a child, to be returned from where it was made.

        They vary over those axes of devices that any of the nodes varies over.
        """
        for mark in child.marks:
            self._names.setdefault(mark.code, {})[mark.name] = None
        codes = child.codes()
        for x in nodes:
            like = jnp.full_like(x.value, 0, dtype=codes.dtype, shape=())
            codes = jnp.maximum(codes, like)
        return codes

    def to(self, ctx: Context, codes: Any) -> None:
        """Pass findings on, one integer or one of each turn."""
        for code, names in self._names.items():
            ctx.flag_codes(codes, " or ".join(names), (code,))


def _typed(eqn: Any, operands: Sequence[Node]) -> list[Node]:
    """Operands of which literals are arrays of their type."""
    return [
        x if x.varies else replace(x, value=jnp.asarray(x.value, var.aval.dtype))
        for x, var in zip(operands, eqn.invars, strict=True)
    ]


# -- branches --------------------------------------------------------------------------


def _joined(one: list[Facts], other: list[Facts]) -> list[Facts]:
    return [a | b for a, b in zip(one, other, strict=True)]


def _agreed(ctx: Context, eqn: Any, operands: Sequence[Node]) -> list[Facts]:
    """Facts of a conditional's results: those of all branches."""
    found: list[Facts] | None = None
    for branch in eqn.params["branches"]:

        def one(nodes: list[Node], branch: Any = branch) -> list[Node]:
            return forward(ctx.child(), branch.jaxpr, branch.consts, nodes)[0]

        each = [facts(x) for x in jax.eval_shape(one, list(operands))]
        found = each if found is None else _joined(found, each)
    assert found is not None
    return found


def _branched(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    index, *given = _typed(eqn, operands)
    if index.mark is not None:
        ctx.flag(KINK, index.mark, eqn.primitive.name)
    key = ("cond", id(eqn), tuple(facts(x) for x in given))
    want = ctx.known(key, eqn, lambda: _agreed(ctx, eqn, given))
    report = Report()

    def case(branch: Any) -> Callable[[list[Node]], Any]:
        def run(nodes: list[Node]) -> Any:
            child = ctx.child()
            found, _ = forward(child, branch.jaxpr, branch.consts, nodes)
            found = [fitted(ctx, x, w) for x, w in zip(found, want, strict=True)]
            return found, report.codes(child, nodes)

        return run

    cases = [case(branch) for branch in eqn.params["branches"]]
    results, codes = lax.switch(index.value, cases, given)
    report.to(ctx, codes)
    return results, (index.value, given)


def _unbranched(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    index, given = residuals
    report = Report()
    signed = any(bar.adj is not None for bar in bars)

    def case(branch: Any) -> Callable[[Any], Any]:
        def run(operands: Any) -> Any:
            nodes, arriving = operands
            _, kept = forward(ctx.child(), branch.jaxpr, branch.consts, nodes)
            child = ctx.child()
            found = reverse(child, branch.jaxpr, kept, arriving)
            back = [
                _whole(bar, x, signed) if x.varies else None
                for bar, x in zip(found, nodes, strict=False)
            ]
            return back, report.codes(child, nodes)

        return run

    cases = [case(branch) for branch in eqn.params["branches"]]
    back, codes = lax.switch(index, cases, (given, list(bars)))
    report.to(ctx, codes)
    return [None, *back]


def _whole(bar: Bar | None, node: Node, signed: bool) -> Bar:
    """The cotangent of a node with all its parts."""
    full = (bar or Bar()).filled(node.value)
    return full if signed else Bar(None, full.g)


# -- loops -----------------------------------------------------------------------------


class Loop:
    """A scan at operands of known facts: how its body runs."""

    def __init__(self, ctx: Context, eqn: Any, operands: Sequence[Node]) -> None:
        p = eqn.params
        n, m = p["num_consts"], p["num_consts"] + p["num_carry"]
        operands = _typed(eqn, operands)
        self.body, self.params = p["jaxpr"], p
        self.consts, self.init = list(operands[:n]), list(operands[n:m])
        self.entries = list(operands[m:])
        self.count = p["num_carry"]
        key = ("scan", id(eqn), tuple(facts(x) for x in operands))
        self.carried: list[Facts] = ctx.known(key, eqn, partial(self._carried, ctx))

    def _carried(self, ctx: Context) -> list[Facts]:
        """What the carry has to hold at every turn: the least that the body keeps."""
        want = [facts(x) for x in self.init]
        entries = [_entry(ctx, x, lambda a: a[0]) for x in self._one_entry()]
        while True:

            def one(init: list[Node], entries: list[Node]) -> list[Node]:
                return self.turn(ctx.child(), init, entries)[0][: self.count]

            start = [fitted(ctx, x, w) for x, w in zip(self.init, want, strict=True)]
            found = jax.eval_shape(one, start, entries)
            more = [w | facts(x) for w, x in zip(want, found, strict=True)]
            if more == want:
                return want
            want = more

    def _one_entry(self) -> list[Node]:
        """Entries of at least one turn."""

        def some(part: Any) -> Any:
            more = jnp.zeros((1, *part.shape[1:]), part.dtype)
            return part if self.params["length"] else more

        return [_mapped(x, some) for x in self.entries]

    def turn(
        self, ctx: Context, carry: Sequence[Node], entries: Sequence[Node]
    ) -> tuple[list[Node], Any]:
        """One forward turn: results of the body and its residuals."""
        carry = [replace(x, token=ctx.fresh()) if x.varies else x for x in carry]
        nodes = [*self.consts, *carry, *entries]
        return forward(ctx, self.body.jaxpr, self.body.consts, nodes)

    def start(self, ctx: Context) -> list[Node]:
        """The initial carry, with the facts that later ones have."""
        pairs = zip(self.init, self.carried, strict=True)
        return [fitted(ctx, x, want) for x, want in pairs]

    def run(self, f: Any, init: Any, xs: Any, *, back: bool = False) -> Any:
        """The loop over ``f``, in its own direction or against it."""
        p = self.params
        direction = bool(p["reverse"]) != back
        return lax.scan(f, init, xs, p["length"], reverse=direction, unroll=p["unroll"])


def _mapped(node: Node, of: Callable[[Any], Any]) -> Node:
    value, live, scale, mark = (
        None if part is None else of(part)
        for part in (node.value, node.live, node.scale, node.mark)
    )
    return Node(value, live, scale, mark, node.varies, node.token)


def _entry(ctx: Context, node: Node, of: Callable[[Any], Any]) -> Node:
    """A slice of an operand that is scanned over: equal ones have equal slices."""
    token = None if node.token is None else ctx.token(("entry", node.token))
    return replace(_mapped(node, of), token=token)


def _scanned(
    ctx: Context, eqn: Any, operands: Sequence[Node]
) -> tuple[list[Node], Any]:
    loop = Loop(ctx, eqn, operands)
    report = Report()

    def step(carry: list[Node], xs: list[Node]) -> Any:
        child = ctx.child()
        entries = [
            replace(x, token=_entry(ctx, full, lambda a: a).token)
            for x, full in zip(xs, loop.entries, strict=True)
        ]
        found, _ = loop.turn(child, carry, entries)
        after = [
            fitted(ctx, x, want)
            for x, want in zip(found[: loop.count], loop.carried, strict=True)
        ]
        ys = [forget(x) for x in found[loop.count :]]
        return after, (ys, carry, report.codes(child))

    xs = [forget(x) for x in loop.entries]
    last, (ys, saved, codes) = loop.run(step, loop.start(ctx), xs)
    report.to(ctx, codes)
    return [*last, *ys], (list(operands), saved)


def _unscanned(
    ctx: Context, eqn: Any, residuals: Any, bars: Sequence[Bar]
) -> list[Bar | None]:
    operands, saved = residuals
    loop = Loop(ctx, eqn, operands)
    report = Report()
    signed = any(bar.adj is not None for bar in bars)

    def zero(x: Node) -> Bar | None:
        return _whole(None, x, signed) if x.varies else None

    def step(sums: Any, xs: Any) -> Any:
        total, arriving = sums
        carry, entries, of_ys, turn = xs
        entries = [
            replace(x, token=_entry(ctx, full, lambda a: a).token)
            for x, full in zip(entries, loop.entries, strict=True)
        ]
        found, kept = loop.turn(ctx.child(), carry, entries)
        child = ctx.child(turn)
        given = [
            bar if x.varies else None
            for bar, x in zip([*arriving, *of_ys], found, strict=True)
        ]
        back = reverse(child, loop.body.jaxpr, kept, given)
        nodes = [*loop.consts, *carry, *entries]
        back = [
            _whole(bar, x, signed) if x.varies else None
            for bar, x in zip(back, nodes, strict=False)
        ]
        n, m = len(loop.consts), len(loop.consts) + loop.count
        total = tree.tree_map(jnp.add, total, back[:n])
        return (total, back[n:m]), (back[m:], report.codes(child))

    of_carry, of_ys = bars[: loop.count], bars[loop.count :]
    start = (
        [zero(x) for x in loop.consts],
        [
            _whole(bar, x, signed) if x.varies else None
            for bar, x in zip(of_carry, loop.start(ctx), strict=True)
        ],
    )
    xs = (
        saved,
        [forget(x) for x in loop.entries],
        list(of_ys),
        jnp.arange(loop.params["length"], dtype=jnp.int32),
    )
    (total, first), (of_entries, codes) = loop.run(step, start, xs, back=True)
    report.to(ctx, codes)
    found = [*total, *first, *of_entries]
    return [bar if x.varies else None for bar, x in zip(found, operands, strict=True)]


register("cond", Rule(_branched, _unbranched, marks=True))
register("scan", Rule(_scanned, _unscanned, marks=True))
refuse(
    "while",
    "a loop whose number of turns is found as it runs cannot be swept back; use "
    "jax.lax.scan, or jax.lax.fori_loop with a number of turns that is known when the "
    "function is traced",
)
