"""Where a local cover is built: what messages name on a tape and in a propagation."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.extend import (
    BinaryCurvature,
    CoverSite,
    ForwardChannels,
    ForwardScale,
    SplitScale,
    TapeSite,
    UnaryCurvature,
    check_finite_partials,
    cover_slots,
    noderef,
    pushnode,
    site_label,
    site_values,
    value,
)


def test_sites_of_a_tape_name_the_elemental_and_its_values():
    tape, out = dc.tape_function(
        lambda x: np.exp(x[0]) * 3.0 + (x * x).sum() ** 2, [0.5, 2.0]
    )
    sites = [TapeSite(tape, k) for k in range(tape.nnodes)]
    assert all(isinstance(s, CoverSite) for s in sites)
    assert all(s.dtype == np.float64 for s in sites)
    labels = [site_label(s) for s in sites]
    assert labels[0].startswith("node 0 (")
    assert any("exp" in label for label in labels)
    assert site_label(sites[out]) == labels[out]
    values = site_values(sites[labels.index(next(x for x in labels if "exp" in x))])
    assert values == f"node value {float(np.exp(0.5))!r}, parent values (0.5,)"


def test_a_failing_cover_names_its_site():
    tape, out = dc.tape_function(lambda x: x[0] * x[1], [4.0, 1.0])
    site = TapeSite(tape, out)
    slots = [SplitScale(4.0, 1.0), SplitScale(1.0, 1.0)]
    with pytest.raises(errors.DomainError, match=r"node 2 \(multiply\) has no finite"):
        cover_slots(BinaryCurvature(np.inf, 1.0, 0.0), None, site, 1.0, slots)
    with pytest.raises(errors.DomainError, match=r"parent values \(4.0, 1.0\)"):
        check_finite_partials(site, np.nan, (1.0,))


def test_a_propagation_names_the_number_of_the_elemental():
    def f(x):
        y = x[0] * x[1]
        context, me = noderef(y)
        return pushnode(context, 1.0, [me], [1.0], UnaryCurvature(np.inf))

    with pytest.raises(
        errors.DomainError, match=r"elemental 2 of .* operand values \(6.0,\)"
    ):
        dc.forward_cover(f, [2.0, 3.0], entries=True)


def test_variables_show_their_channels_and_scale():
    def f(x):
        y = x[0] * x[1]
        assert isinstance(y.channels, ForwardChannels)
        assert isinstance(y.scale, ForwardScale)
        np.testing.assert_array_equal(y.channels.gradient.dense(2), [3.0, 2.0])
        q = y.channels.square.dense(2)
        np.testing.assert_allclose(q, [3.0 / 2.0, 2.0 / 3.0], rtol=1e-15)
        assert (y.scale.scale(), y.scale.dead()) == (5.0, False)
        assert value(y) == 6.0
        return y

    found = dc.forward_cover(f, [2.0, 3.0], entries=True)
    assert found.asked  # the program itself read a scale
