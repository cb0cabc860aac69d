"""Scale references: declared scales and liveness, resolved on demand."""

from __future__ import annotations

import dataclasses

import pytest

from derivative_covers.local import (
    DeferredScale,
    ScaleReference,
    ScaleSource,
    SplitScale,
    dead_slot,
    declared_scale,
    split_block,
)


class Counted:
    """Callables that count how often they run."""

    def __init__(self, scales, dead):
        self.calls = []
        self.source = ScaleSource(
            lambda: self.calls.append("scales") or scales,
            lambda: self.calls.append("dead") or dead,
        )

    def slot(self, value, node):
        return SplitScale(value, self.source.reference(node))


def test_a_number_in_hand_is_the_whole_answer():
    assert declared_scale(SplitScale(1.0, 2.0)) == 2.0
    assert declared_scale(2.0) == 2.0
    assert not dead_slot(SplitScale(0.0, 2.0))
    assert dead_slot(SplitScale(1.0, 0.0))
    assert not dead_slot(SplitScale(1.0, 5e-324))


def test_deferred_scales_are_built_once_and_shared():
    counted = Counted([1.0, 4.0, 9.0], [False, True, False])
    slots = [counted.slot(0.0, k) for k in range(3)]
    assert counted.calls == []
    assert [declared_scale(s) for s in slots] == [1.0, 4.0, 9.0]
    assert counted.calls == ["scales"]
    assert [dead_slot(s) for s in slots] == [False, True, False]
    assert [declared_scale(s.declared) for s in slots] == [1.0, 4.0, 9.0]
    assert counted.calls == ["scales", "dead"]


def test_liveness_does_not_build_scales_and_survives_their_underflow():
    counted = Counted([0.0], [False])
    assert not dead_slot(counted.slot(1.0, 0))
    assert counted.calls == ["dead"]
    assert not counted.source.built
    assert declared_scale(counted.slot(1.0, 0)) == 0.0
    assert counted.source.built


def test_a_block_with_usable_values_asks_for_nothing():
    counted = Counted([1.0, 1.0], [False, False])
    one, two = counted.slot(1.0, 0), counted.slot(2.0, 1)
    split_block(1e-8, 0.0, 1.0, 0.0, one, two)
    assert counted.calls == []
    split_block(1e-8, 0.0, 1.0, 0.0, one, counted.slot(0.0, 1))
    assert counted.calls == ["scales"]


def test_references_are_immutable_and_comparable():
    source = ScaleSource(lambda: [1.0], lambda: [False])
    assert source.reference(0) == DeferredScale(source, 0)
    assert SplitScale(1.0, 2.0) == SplitScale(1.0, 2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        SplitScale(1.0, 2.0).value = 3.0


def test_a_backend_brings_its_own_reference():
    class Forward(ScaleReference):
        def scale(self):
            return 7.0

        def dead(self):
            return True

    s = SplitScale(1.0, Forward())
    assert declared_scale(s) == 7.0
    assert dead_slot(s)
