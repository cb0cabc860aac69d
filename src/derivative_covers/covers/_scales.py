"""Scale references of a tape's nodes, and the local cover of a single node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import magnitude
from ..local import ScaleSource, SplitScale, cover_slots
from ..sweeps import check_tape, cover_state, lower
from ..tape import NodeView, Tape, TapeSite
from ._arguments import inputs_like

__all__ = ["SplitScales", "local_cover_slots", "split_scales"]


class SplitScales(NodeView):
    """One :class:`SplitScale` for every node of a tape, made when asked for.

    Attributes:
        source: What all of them share: declared scales and liveness, each built on the
            first need.
    """

    def __init__(self, tape: Tape, source: ScaleSource) -> None:
        super().__init__(tape, self._scale)
        self.source = source

    def _scale(self, tape: Tape, k: int) -> SplitScale:
        return SplitScale(magnitude(tape.vals[k]), self.source.reference(k))


def split_scales(w: Any, tape: Tape) -> SplitScales:
    """Both scale references of every node: its value, and its declared scale on need.

    Args:
        w: Declared scales of the inputs, in their shape (or structure) and units; None for unit scales.
        tape: A finished tape.

    Returns:
        A sequence by node id; the declared scales cost one forward sweep, paid once and
        only if some block asks for one.

    Raises:
        ShapeError: If ``w`` has another shape than the inputs.
        OptionError: If an entry is not finite.
        TapeError: If the tape is still recording.

    Cost:
        O(1), and one scan of the partials for liveness.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import declared_scale, split_scales
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [2.0, 3.0])
        >>> scales = split_scales(None, tape)
        >>> float(scales[out].value), scales.source.built
        (6.0, False)
        >>> float(declared_scale(scales[out])), scales.source.built
        (5.0, True)
    """
    ones = np.ones(check_tape(tape).ninputs, dtype=tape.magtype)
    weights = ones if w is None else inputs_like(tape, w, "w", tape.magtype)
    state = cover_state(lower(tape), tape, weights, 0.0, True)
    return SplitScales(tape, state.source)


def local_cover_slots(
    tape: Tape,
    k: int,
    ratio: Any,
    av: Any,
    scales: Sequence[SplitScale],
    *,
    check: bool = True,
) -> NDArray[Any] | None:
    """The local cover of one node of a tape, one weight for each slot.

    Args:
        tape: A finished tape.
        k: Node id.
        ratio: Split threshold in [0, 1), or None for the default.
        av: Absolute adjoint of the node.
        scales: Scale references by node id, from :func:`split_scales`.
        check: Verify the result against the recorded entries.

    Returns:
        ``rho`` with ``rho_i rho_j >= av |C_ij|`` for live slots, or None without a
        second-order term. Slots that share their parent stay independent here;
        :func:`local_covers` merges them.

    Raises:
        DomainError: If ``av`` or an entry is not finite.
        CoverError: If the check fails.
        TapeError: If the tape is still recording.

    Cost:
        O(slots).

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import local_cover_slots, split_scales
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [4.0, 1.0])
        >>> local_cover_slots(tape, out, None, 1.0, split_scales(None, tape))
        array([0.5, 2. ])
    """
    sl = [scales[int(p)] for p in check_tape(tape).parents[k]]
    return cover_slots(tape.Cs[k], ratio, TapeSite(tape, k), av, sl, check=check)
