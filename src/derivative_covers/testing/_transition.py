"""Whether a transition runs, repeats and reverses as sweeps rely on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checkpoint import Transition
from ..checkpoint.states._states import (
    Space,
    canonical,
    copy,
    flat,
    given,
    leaves,
    matched,
    mutation,
    present,
    protect,
    rebuild,
    space,
    unprotect,
)
from ..checks._differences import Line
from ..errors import InputTypeError
from ._faults import Faults, same_bits

__all__ = ["check_transition"]

Array = NDArray[Any]
DIRECTIONS = 3


def check_transition(
    transition: Transition,
    x: Any,
    *,
    params: Any = None,
    steps: Iterable[int] = (0,),
    seed: int = 0,
) -> None:
    """Check that a transition keeps its contract at a state.

    For each step index, :meth:`Transition.forward` must give the same bits when it is
    called again, must leave state and parameters as they are, and must work on arrays
    that cannot be written to; :meth:`Transition.record` must give the same bits as
    ``forward``. The pullback must give cotangents in the space of the state and of the
    parameters, be linear, add the parameters' part to what came, and agree with
    extrapolated central differences of ``forward`` along random directions.

    Args:
        transition: The transition.
        x: State at which it is checked, as a sweep takes it: inside of the domain, away
            from kinks, and typical in size.
        params: Parameters, or None.
        steps: Indices of the steps that are checked.
        seed: Of the random directions and cotangents.

    Raises:
        ConformanceError: An AssertionError with all faults found.
        InputTypeError: If this is no :class:`Transition`, or ``x`` no state.

    Cost:
        Some hundred evaluations a step index.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.checkpoint import Transition
        >>> from derivative_covers.testing import check_transition
        >>> step = Transition.from_vjp(
        ...     lambda x, k: np.sin(x), lambda x, ybar, k: np.cos(x) * ybar
        ... )
        >>> check_transition(step, np.array([0.3, 2.0]))
    """
    subject: Any = transition
    if not isinstance(subject, Transition):
        msg = (
            f"check_transition got a {type(subject).__name__}; a Transition is needed, "
            "such as Transition.taped(f)."
        )
        raise InputTypeError(msg)
    faults = Faults(f"transition {subject!r:.80}")
    x = copy(given(x, "x"))
    if params is not None:
        params = copy(given(params, "params"))
    rng = np.random.default_rng(seed)
    for k in steps:
        _Check(subject, x, params, k, faults, rng).run()
    faults.report()


class _Check:
    """The checks of one step index."""

    def __init__(
        self,
        transition: Transition,
        x: Any,
        params: Any,
        k: int,
        faults: Faults,
        rng: np.random.Generator,
    ) -> None:
        self.transition, self.k, self.faults, self.rng = transition, k, faults, rng
        self.x, self.params = x, params
        self.inputs = space(x)
        self.outputs: Space | None = None
        self.thetas = None if params is None else space(params)
        self.eps = max(float(np.finfo(a.dtype).eps) for a in leaves(x))

    def run(self) -> None:
        """All of them, as far as one makes sense after another."""
        k, before = self.k, len(self.faults.found)
        y = None
        with self.faults.step(f"forward of step {k}"):
            y = self.forward(self.x, self.params)
            self.outputs = space(y)
            again = self.forward(self.x, self.params)
            self.faults.expect(
                _same(y, again),
                f"forward of step {k} gives other bits when called again",
            )
            self.inputs_unchanged()
        if y is None:
            return
        with self.faults.step(f"record of step {k}"):
            recorded, _ = self.record()
            self.faults.expect(
                _same(y, recorded), f"record of step {k} gives other bits than forward"
            )
        if len(self.faults.found) > before:
            return
        with self.faults.step(f"the pullback of step {k}"):
            self.pullbacks()

    def forward(self, x: Any, params: Any) -> Any:
        """One evaluation, on arrays that cannot be written to."""
        return self.called(self.transition.forward, x, params)

    def record(self) -> tuple[Any, Any]:
        pullback: Any = None

        def run(x: Any, params: Any, k: int) -> Any:
            nonlocal pullback
            y, pullback = self.transition.record(x, params, k)
            return y

        return self.called(run, self.x, self.params), pullback

    def called(self, function: Any, x: Any, params: Any) -> Any:
        locked = [*protect(x), *(protect(params) if params is not None else [])]
        try:
            shown = None if params is None else present(params)
            y = function(present(x), shown, self.k)
        except Exception as error:
            wrote = mutation(error, self.k)
            if wrote is not None:
                raise wrote from error
            raise
        finally:
            unprotect(locked)
        return canonical(y, "the output", self.k)

    def inputs_unchanged(self) -> None:
        """Hands out arrays that can be written to, and looks at them afterwards."""
        x, params = rebuild(self.x, [a.copy() for a in leaves(self.x)]), None
        if self.params is not None:
            params = rebuild(self.params, [a.copy() for a in leaves(self.params)])
        shown = None if params is None else present(params)
        self.transition.forward(present(x), shown, self.k)
        for name, now, then in (
            ("state", x, self.x),
            ("parameters", params, self.params),
        ):
            if now is not None:
                self.faults.expect(
                    _same(now, then), f"forward of step {self.k} changes its {name}"
                )

    # -- the reverse rule ----------------------------------------------------------

    def pulled(self, ybar: Array, held: Array | None = None) -> Array:
        """Cotangents of parameters and state as one vector; ``held`` came before."""
        assert self.outputs is not None
        _, pullback = self.record()
        came = None
        if self.thetas is not None:
            n = self.thetas.size
            came = self.thetas.build(np.zeros(n) if held is None else held)
        shown = None if came is None else present(came)
        seed = copy(self.outputs.build(ybar))
        xbar, params_bar = pullback(present(seed), shown)
        k = self.k
        parts = [flat(matched(xbar, self.inputs, "the cotangent of the state", k))]
        if self.thetas is None:
            self.faults.expect(
                params_bar is None,
                f"the pullback of step {k} gives params_bar {params_bar!r:.60} without "
                "parameters; None is needed",
            )
        else:
            parts.insert(0, flat(matched(params_bar, self.thetas, "params_bar", k)))
        return np.concatenate(parts).astype(np.float64)

    def pullbacks(self) -> None:
        assert self.outputs is not None
        k, rng, n = self.k, self.rng, self.outputs.size
        u, v = (self.rounded(rng.normal(size=n)) for _ in range(2))
        at_u = self.pulled(u)
        self.faults.expect(
            same_bits(at_u, self.pulled(u)),
            f"the pullback of step {k} gives other bits when called again",
        )
        at_v = self.pulled(v)
        tolerance = 1e3 * self.eps
        size = np.abs(at_u) + np.abs(at_v) + np.abs(at_u).max() + np.abs(at_v).max()
        total = self.pulled(u + v)
        self.faults.expect(
            (np.abs(total - at_u - at_v) <= tolerance * size).all(),
            f"the pullback of step {k} is not linear: that of a sum differs from the sum "
            f"by {np.abs(total - at_u - at_v).max():.3g}",
        )
        self.faults.expect(
            (np.abs(self.pulled(-4 * u) + 4 * at_u) <= tolerance * size).all(),
            f"the pullback of step {k} is not linear: that of -4 times a cotangent is not "
            "-4 times its own",
        )
        if self.thetas is not None:
            m = self.thetas.size
            held = self.rounded(rng.normal(size=m))
            found = self.pulled(u, held)
            want = at_u.copy()
            want[:m] += held
            off = np.abs(found - want)
            self.faults.expect(
                (off <= tolerance * (size + np.abs(want))).all(),
                f"the pullback of step {k} does not add its part to the params_bar that "
                f"came: it is off by {off.max():.3g}",
            )
        for _ in range(DIRECTIONS):
            if not self.differences(u, at_u):
                break

    def rounded(self, w: Array) -> Array:
        """Numbers that are the same in every float type of the state."""
        return w.astype(np.float16).astype(np.float64)

    def differences(self, ybar: Array, cotangent: Array) -> bool:
        """Whether the pullback agrees with differences along one direction."""
        point = flat(self.x).astype(np.float64)
        n = 0
        if self.params is not None:
            n = flat(self.params).size
            point = np.concatenate([flat(self.params).astype(np.float64), point])
        typical = np.abs(point) + (np.abs(point).mean() or 1.0)
        d = typical * self.rng.uniform(0.5, 1.0, point.size)
        d *= self.rng.choice([-1.0, 1.0], point.size)

        def along(z: Array) -> Array:
            params = None if self.thetas is None else self.thetas.build(z[:n])
            try:
                with np.errstate(all="ignore"):
                    y = self.forward(self.inputs.build(z[n:]), params)
                return np.array([ybar @ flat(y).astype(np.float64)])
            except Exception:  # outside of its domain
                return np.array([np.nan])

        y = flat(self.forward(self.x, self.params)).astype(np.float64)
        terms = np.abs(cotangent * d)
        noise = self.eps * np.array([np.abs(ybar) @ np.abs(y) + terms.sum()])
        slope = Line(along, point, d, np.array([ybar @ y]), noise).slope()
        found, slack = float(cotangent @ d), self.eps**0.5 * float(terms.sum())
        value, error = float(slope.value[0]), float(slope.error[0])
        if not abs(found - value) <= 8 * error + slack:
            value, error = slope.table.settled(0, found, slack)
        where = f"of step {self.k} along a random direction"
        if not np.isfinite(error):
            self.faults.add(
                f"differences of forward {where} do not settle, so that its pullback "
                "cannot be checked: is it smooth at x, and x inside of its domain?"
            )
            return False
        return self.faults.expect(
            abs(found - value) <= 8 * error + slack,
            f"the pullback {where} gives the slope {found:.10g}, and differences of "
            f"forward give {value:.10g} (to {error:.1g})",
        )


def _same(x: Any, y: Any) -> bool:
    """Whether two states are in one space and have the same bits."""
    return space(x) == space(y) and all(
        same_bits(a, b) for a, b in zip(leaves(x), leaves(y), strict=True)
    )
