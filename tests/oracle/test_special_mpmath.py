"""Values and partials of the special functions against differences of mpmath's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from derivative_covers.elementals import by_name
from tests._many_digits import agrees, differences
from tests._own import OWN
from tests._special_cases import CASES, Case

TOL = mpf("1e-11")
LABELS = {1: ("v", "d1", "c11"), 2: ("v", "d1", "d2", "c11", "c12", "c22")}


def columns(case: Case) -> list[tuple[str, Any]]:
    """Labelled value and partials of an elemental at the points of a case."""
    e = by_name(case.name)
    x = [np.array(column) for column in zip(*case.points, strict=True)]
    if case.order is not None:
        order = np.float64(case.order)
        v = e.value(np, order, *x)
        found = [
            *zip(
                LABELS[1], (v, *e.rule_second().partials(np, order, *x, v)), strict=True
            )
        ]
    else:
        v = e.value(np, *x)
        found = [*zip(LABELS[e.arity], (v, *e.rule.partials(np, *x, v)), strict=True)]
        if e.arity == 2:
            found += zip(("d1", "c11"), e.rule_first().partials(np, *x, v), strict=True)
            found += zip(
                ("d2", "c22"), e.rule_second().partials(np, *x, v), strict=True
            )
    return [(name, np.broadcast_to(np.asarray(p), x[0].shape)) for name, p in found]


def test_every_special_function_is_covered() -> None:
    special = {
        e.name
        for e in OWN
        if e.ufuncs and all(name.startswith("special.") for name in e.ufuncs)
    }
    assert {case.name for case in CASES} == special


@pytest.mark.parametrize(
    "case",
    CASES,
    ids=lambda case: case.name if case.order is None else f"{case.name}-{case.order}",
)
def test_value_and_partials(case: Case) -> None:
    with np.errstate(all="ignore"):
        found = columns(case)
    wrong = []
    for i, point in enumerate(case.points):
        labels = LABELS[len(point)]
        truth = dict(
            zip(labels, differences(case.f, point, case.reach(*point)), strict=True)
        )
        if case.order is not None:
            truth = dict(zip(LABELS[1], truth.values(), strict=True))
        for label, column in found:
            scale = case.scales.get(label, lambda *_: 0)(*point)
            if not agrees(column[i], truth[label], scale, TOL):
                error = (mpf(float(column[i])) - truth[label]) / (truth[label] or 1)
                wrong.append(
                    (
                        point,
                        label,
                        column[i],
                        mp.nstr(truth[label], 17),
                        mp.nstr(error, 3),
                    )
                )
    assert not wrong, "\n".join(map(str, [len(wrong), *wrong[:20]]))
