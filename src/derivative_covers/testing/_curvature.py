"""Whether a form of curvature covers, bounds and multiplies as the sweeps rely on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DomainError, InputTypeError, ShapeError, UnsupportedOperationError
from ..local import (
    CoverSite,
    Curvature,
    ScaleReference,
    SplitScale,
    atom_slots,
    bound_contribution,
    cover_slots,
    cover_slots_into,
    curvature_apply,
    has_exact_partials,
)
from ._faults import Faults, same_bits

__all__ = ["check_curvature"]

Array = NDArray[Any]
_UNTOUCHED = [-7.0, -8.0]


class _Site(CoverSite):
    """A place that belongs to no backend."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = np.dtype(dtype)

    @property
    def dtype(self) -> Any:
        return self._dtype

    def site_label(self) -> str:
        return "the checked node"

    def site_values(self) -> str:
        return "no values"


@dataclass(frozen=True)
class _Case:
    """One call of ``cover_slots``."""

    what: str
    av: float
    values: Array
    declared: Array
    dtype: Any = np.float64
    dead: Array | None = None  # where liveness does not follow from the scale

    def slots(self) -> list[SplitScale]:
        M = np.dtype(self.dtype).type
        declared: list[Any] = [M(s) for s in self.declared]
        if self.dead is not None:
            declared = list(map(_Reference, declared, self.dead.tolist()))
        return [SplitScale(M(z), s) for z, s in zip(self.values, declared, strict=True)]

    def live(self) -> Array:
        """Which slots are live."""
        return self.declared > 0 if self.dead is None else ~self.dead


@dataclass(frozen=True)
class _Reference(ScaleReference):
    """A declared scale with liveness of its own, as backends give it."""

    sigma: Any
    is_dead: bool

    def scale(self) -> Any:
        return self.sigma

    def dead(self) -> bool:
        return self.is_dead


def check_curvature(
    curvature: Curvature,
    nslots: int | None = None,
    *,
    entries: Any = None,
    seed: int = 0,
) -> None:
    """Check that a form of curvature keeps its contract.

    Covers are taken for random and extreme scale references (0, 1e-300, 1e300), weights
    and dead slots: the weights must be nonnegative, finite and one a slot, cover every
    entry of two live slots, and not change with the scale of a dead one. Atoms must be
    disjoint, hold every slot that carries weight, and have no entry across two of them.
    The elementwise bound must equal its sum over entries (be at least that, for a form
    without exact partials), and exact Hessian products their entries, where parents are
    repeated as well. A zero weight must give nothing, and calls must repeat.

    Args:
        curvature: The form.
        nslots: Number of slots; None takes it from ``curvature.shape``.
        entries: Symmetric matrix of the second partials that the form stands for, shape
            (nslots, nslots). None: read by ``curvature[i, j]``, else by the form's own
            products. A declared bound needs a matrix that it is to cover.
        seed: Of the random references.

    Raises:
        ConformanceError: An AssertionError with all faults found.
        InputTypeError: If this is no :class:`Curvature`, or nothing tells its entries.
        ShapeError: If nothing tells the number of slots, or ``entries`` has another
            shape.

    Cost:
        O(nslots^2), some hundred times.

    Example:
        >>> from derivative_covers.extend import PairedCurvature
        >>> from derivative_covers.testing import check_curvature
        >>> check_curvature(PairedCurvature(3))
    """
    given: Any = curvature
    if not isinstance(given, Curvature):
        msg = (
            f"check_curvature got a {type(curvature).__name__}; a Curvature is needed."
        )
        raise InputTypeError(msg)
    faults = Faults(f"curvature {type(curvature).__name__}")
    shape = getattr(curvature, "shape", None)
    if nslots is None:
        if shape is None:
            msg = f"{type(curvature).__name__} has no shape; give nslots."
            raise ShapeError(msg)
        nslots = int(shape[0])
    if shape is not None:
        faults.expect(
            tuple(shape) == (nslots, nslots),
            f"shape is {shape} for {nslots} slots",
        )
    A = _matrix(curvature, nslots, entries, faults)
    check = _Check(curvature, nslots, A, faults, np.random.default_rng(seed))
    check.covers()
    with faults.step("atom_slots"):
        check.atoms()
    with faults.step("bound_contribution"):
        check.bound()
    check.products()
    if nslots and A.any():
        check.refusals()
    faults.report()


def _matrix(C: Curvature, n: int, entries: Any, faults: Faults) -> Array:
    """The second partials that a form is held against."""
    own: Array | None = None
    if hasattr(type(C), "__getitem__"):
        with faults.step("reading entries"):
            own = np.array(
                [[float(C[i, j]) for j in range(n)] for i in range(n)]  # type: ignore[index]
            ).reshape(n, n)
            faults.expect(same_bits(own, own.T), "entries C[i, j] are not symmetric")
    if entries is not None:
        A = np.asarray(entries, dtype=np.float64)
        if A.shape != (n, n):
            msg = f"entries has shape {A.shape}; {(n, n)} is needed."
            raise ShapeError(msg)
        if own is not None and has_exact_partials(C):
            faults.expect(
                np.allclose(own, A, rtol=1e-12), "C[i, j] are not the entries"
            )
        return A
    if own is not None:
        return own
    if not has_exact_partials(C):
        msg = (
            f"{type(C).__name__} records no entries; give entries=, a matrix that its "
            "bound is to cover."
        )
        raise InputTypeError(msg)
    A = np.zeros((n, n))
    with faults.step("curvature_apply"):
        for j in range(n):
            curvature_apply(A[:, j], C, range(n), 1.0, np.eye(n)[j])
    return A


class _Check:
    """The checks of one form."""

    def __init__(
        self, C: Curvature, n: int, A: Array, faults: Faults, rng: np.random.Generator
    ) -> None:
        self.C, self.n, self.A, self.faults, self.rng = C, n, A, faults, rng
        self.weighty = np.zeros(n, dtype=bool)  # slots that ever carried weight

    # -- covers --------------------------------------------------------------------

    def cases(self) -> Iterator[_Case]:
        n, rng = self.n, self.rng
        ones = np.ones(n)
        yield _Case("unit scales", 1.0, ones, ones)
        sizes = np.abs(self.A[self.A != 0])
        if np.all((sizes > 1e-30) & (sizes < 1e30)):
            yield _Case("float32", 1.0, ones, ones, np.float32)
        for k in range(6):
            z, s = 10.0 ** rng.uniform(-6, 6, (2, n))
            yield _Case(f"random scales {k}", 10.0 ** rng.uniform(-4, 4), z, s)
        for extreme in (0.0, 1e-300, 1e300):
            yield _Case(f"all values {extreme}", 1.0, extreme * ones, ones)
            for k in range(min(n, 4)):
                z, s = ones.copy(), ones.copy()
                z[k] = extreme
                yield _Case(f"value {extreme} in slot {k}", 1.0, z, s)
                s[k] = extreme or 1.0
                yield _Case(f"value and declared {extreme} in slot {k}", 1.0, z, s)
        for av in (1e-300, 1e300):
            yield _Case(f"weight {av}", av, ones, ones)
        for k in range(min(n, 4)):
            s = np.where(np.arange(n) == k, 0.0, 1.0)
            yield _Case(f"dead slot {k}", 1.0, ones, s)
            dead = s == 0
            yield _Case(f"dead slot {k} by reference", 1.0, ones, ones, dead=dead)
            yield _Case(f"scale 0 in live slot {k}", 1.0, ones, s, dead=dead & False)

    def covers(self) -> None:
        for case in self.cases():
            with self.faults.step("cover_slots"):
                self.cover(case)
        with self.faults.step("cover_slots with a zero weight"):
            rho: list[Any] = list(_UNTOUCHED)
            args = (self.C, None, _Site(np.float64), 0.0, self.unit())
            self.faults.expect(
                not cover_slots_into(rho, *args), "a zero weight gives a term"
            )
            self.faults.expect(
                rho == _UNTOUCHED, "cover_slots_into changes rho where it answers False"
            )

    def unit(self) -> list[SplitScale]:
        return _Case("", 1.0, np.ones(self.n), np.ones(self.n)).slots()

    def cover(self, case: _Case) -> None:
        site, av = _Site(case.dtype), np.dtype(case.dtype).type(case.av)
        found = cover_slots(self.C, None, site, av, case.slots())
        rho: list[Any] = list(_UNTOUCHED)
        answer = cover_slots_into(rho, self.C, None, site, av, case.slots())
        where = f"cover_slots ({case.what})"
        if found is None:
            self.faults.expect(not answer, f"{where} and its _into form differ")
            self.faults.expect(
                rho == _UNTOUCHED, "cover_slots_into changes rho where it answers False"
            )
            weights = np.zeros(self.n)
        else:
            weights = found.astype(np.float64)
            same = answer and same_bits(np.asarray(rho, dtype=found.dtype), found)
            self.faults.expect(same, f"{where} and its _into form differ")
        if not self.faults.expect(
            weights.shape == (self.n,),
            f"{where} gives {weights.size} weights for {self.n} slots",
        ):
            return
        if not self.faults.expect(
            np.isfinite(weights).all() and (weights >= 0).all(),
            f"{where} gives weights {weights.tolist()}; nonnegative numbers are needed",
        ):
            return
        self.weighty |= weights > 0
        again = cover_slots(self.C, None, site, av, case.slots())
        self.faults.expect(
            (found is None) == (again is None)
            and (found is None or same_bits(found, again)),
            f"{where} gives other bits when called again",
        )
        self.covered(where, case, weights)
        self.unshaped(where, case, weights)

    def covered(self, where: str, case: _Case, rho: Array) -> None:
        """Every entry of two live slots, compared by logarithms: nothing overflows."""
        live = case.live()
        slack = 64 * float(np.finfo(case.dtype).eps)
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.log(rho)
            need = np.log(np.abs(self.A)) + np.log(case.av)
            short = (log[:, None] + log < need - slack * (1 + np.abs(need))) & (
                self.A != 0
            )
        at = np.argwhere(short & live & live[:, None])
        if at.size:
            i, j = map(int, at[0])
            self.faults.add(
                f"{where}: weights {rho[i]} and {rho[j]} of slots {i} and {j} do not "
                f"cover {case.av} * |{self.A[i, j]}|"
            )

    def unshaped(self, where: str, case: _Case, rho: Array) -> None:
        """The scale of a dead slot must not shape the weights of live ones."""
        live = case.live()
        if live.all():
            return
        values = np.where(live, case.values, 1e6)
        other = replace(case, values=values)
        found = cover_slots(self.C, None, _Site(np.float64), case.av, other.slots())
        moved = np.zeros(self.n) if found is None else found
        self.faults.expect(
            same_bits(moved[live], rho[live]),
            f"{where}: the value in the dead slot changes the weights of live ones",
        )

    # -- atoms ---------------------------------------------------------------------

    def atoms(self) -> None:
        atoms = tuple(map(tuple, atom_slots(self.C, self.n)))
        flat = [int(k) for atom in atoms for k in atom]
        self.faults.expect(
            all(0 <= k < self.n for k in flat),
            f"atoms {atoms} name slots outside of 0 .. {self.n - 1}",
        )
        self.faults.expect(
            len(set(flat)) == len(flat), f"atoms {atoms} name a slot twice"
        )
        lost = [int(k) for k in np.flatnonzero(self.weighty) if k not in flat]
        self.faults.expect(
            not lost, f"atoms {atoms} leave out slots {lost}, which carry weight"
        )
        group = np.full(self.n, -1)
        for number, atom in enumerate(atoms):
            for k in atom:
                if 0 <= k < self.n:
                    group[k] = number
        across = np.argwhere((self.A != 0) & (group[:, None] != group))
        if across.size:
            i, j = map(int, across[0])
            self.faults.add(
                f"the entry of slots {i} and {j} lies across two atoms of {atoms}, so "
                "that the quadrature merge does not cover it"
            )

    # -- the elementwise bound -------------------------------------------------------

    def parents(self) -> Iterator[tuple[str, list[int]]]:
        yield "distinct parents", list(range(self.n))[::-1]
        yield "repeated parents", [k // 2 for k in range(self.n)]

    def bound(self) -> None:
        exact = has_exact_partials(self.C)
        for what, ps in self.parents():
            U = self.rng.uniform(0, 2, (max(self.n, 1), 3))
            B = self.rng.uniform(0, 1, (3, 3))
            rows = U[ps]
            want = B + 1.5 * rows.T @ np.abs(self.A) @ rows
            for kind, utilde in (("an array", U), ("a mapping", dict(enumerate(U)))):
                got = B.copy()
                bound_contribution(got, self.C, 1.5, ps, utilde)
                where = f"bound_contribution ({what}, utilde {kind})"
                if exact:
                    self.faults.expect(
                        np.allclose(got, want, rtol=1e-10, atol=0),
                        f"{where} adds {(got - B).tolist()}, and the sum over entries is "
                        f"{(want - B).tolist()}",
                    )
                else:
                    self.faults.expect(
                        (got >= want * (1 - 1e-10)).all(),
                        f"{where} adds {(got - B).tolist()}, below the sum over entries "
                        f"{(want - B).tolist()}",
                    )
        B = np.ones((3, 3))
        bound_contribution(
            B, self.C, 0.0, range(self.n), np.full((max(self.n, 1), 3), np.inf)
        )
        self.faults.expect(
            (B == 1).all(), "bound_contribution with a zero weight adds something"
        )

    # -- products ----------------------------------------------------------------------

    def products(self) -> None:
        if not has_exact_partials(self.C):
            self.faults.refuses(
                "curvature_apply without exact partials",
                (UnsupportedOperationError,),
                lambda: self.apply(list(range(self.n)), 1.0, np.ones(max(self.n, 1))),
            )
            return
        with self.faults.step("curvature_apply"):
            for what, ps in self.parents():
                dv = self.rng.normal(size=max(self.n, 1))
                got = self.apply(ps, -1.5, dv)
                want = np.ones(dv.size)
                np.add.at(want, ps, -1.5 * self.A @ dv[ps])
                scale = np.ones(dv.size)
                np.add.at(scale, ps, 1.5 * np.abs(self.A) @ np.abs(dv[ps]))
                self.faults.expect(
                    (np.abs(got - want) <= 1e-12 * scale).all(),
                    f"curvature_apply ({what}) adds {(got - 1).tolist()}, and the entries "
                    f"give {(want - 1).tolist()}",
                )
            still = self.apply(list(range(self.n)), 0.0, np.full(max(self.n, 1), 1e300))
            self.faults.expect(
                (still == 1).all(), "curvature_apply with a zero adjoint adds something"
            )

    def apply(self, ps: Sequence[int], bk: float, dv: Array) -> Array:
        out = np.ones(dv.size)
        ids: Any = np.asarray(ps, dtype=np.int64)
        curvature_apply(out, self.C, ids, bk, dv)
        return out

    # -- refusals ------------------------------------------------------------------------

    def refusals(self) -> None:
        site = _Site(np.float64)
        for av in (np.inf, np.nan):
            self.faults.refuses(
                f"cover_slots with weight {av}",
                (DomainError,),
                lambda av=av: cover_slots(self.C, None, site, av, self.unit()),  # type: ignore[misc]
            )
        self.faults.refuses(
            f"cover_slots with {self.n + 1} scale references for {self.n} slots",
            (ShapeError,),
            lambda: cover_slots(
                self.C, None, site, 1.0, [*self.unit(), self.unit()[0]]
            ),
        )
