"""What rewritten code writes is what the original would have written, or an error."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import UnsupportedOperationError
from derivative_covers.rewrite import with_numpy
from tests.unit._rewrite_programs import language, objects, state

X = np.array([0.6, 1.3, 0.4])


def record(f, x=X):
    tape, out = dc.tape_function(with_numpy(f), x)
    return float(tape.vals[out])


def test_a_global_variable_is_written_in_its_module():
    before = state.COUNT
    assert record(state.counts) == 0.6 * 1.3
    assert before + 1 == state.COUNT
    assert state.counts(X) == 0.6 * 1.3
    assert record(state.counts) == 0.6 * 1.3
    assert before + 3 == state.COUNT


def test_a_global_variable_is_deleted_in_its_module(monkeypatch):
    monkeypatch.setattr(state, "LAST", None)
    assert record(state.deletes) == 0.6 * 1.3
    assert not hasattr(state, "LAST")


def test_the_module_never_holds_a_rewritten_function(monkeypatch):
    monkeypatch.setattr(state, "LAST", None)

    def store():
        state.LAST = state.helper

    record(lambda x: (store(), x[0])[1])
    assert state.LAST is state.helper


def test_containers_of_a_module_are_one():
    record(state.appends)
    length = len(state.HISTORY)
    record(state.appends)
    assert len(state.HISTORY) == length + 1
    assert record(state.extends) == 0.6 * 1.3
    assert state.TABLE["g"] is state.helper
    assert state.STEPS[-1] is state.helper
    assert type(state.STEPS) is list


def test_views_of_containers_change_both():
    def double(v):
        return np.zeros(1)[0] + 2.0 * v

    steps, table, both = [double, np.sin], {"f": double, 1: 2}, {double, np.cos}

    def f(x):
        steps.append(np.cos)
        steps[1:2] = [np.exp]
        steps.reverse()
        steps.extend([double, double])
        assert steps.pop() is double
        assert steps.index(double) == 2
        del steps[0]
        table.update(g=np.tanh)
        assert table.pop(1) == 2
        assert table.setdefault("k", np.sin) is np.sin
        both.discard(np.cos)
        both.add(np.exp)
        assert double in both
        return steps[1](x[0]) * table["f"](x[1])

    plain_steps, plain_table, plain_both = list(steps), dict(table), set(both)
    value = record(f)
    got = (list(steps), dict(table), set(both))
    steps[:], both.clear(), both.update(plain_both)
    table.clear()
    table.update(plain_table)
    steps[:] = plain_steps
    both.clear()
    both.update(plain_both)
    assert float(f(X)) == value
    assert got == (steps, table, both)


def test_a_buffer_of_a_module_refuses_recorded_values():
    with pytest.raises(UnsupportedOperationError, match=r"np\.zeros_like"):
        record(state.buffered)
    with pytest.raises(UnsupportedOperationError, match=r"np\.zeros_like"):
        record(state.integers_made_floats)
    np.testing.assert_array_equal(state.BUFFER, 0.0)


def test_a_module_imported_into_a_global_is_the_real_one(monkeypatch):
    monkeypatch.setattr(language, "numpy_when_needed", None)
    for _ in range(2):
        assert record(language.module_imported_when_needed) == 0.6 * 1.3
        assert language.numpy_when_needed is np


def test_globals_as_a_dict(monkeypatch):
    monkeypatch.setattr(state, "COUNT", 0)
    assert record(state.by_globals) == state.by_globals(X)
    assert state.COUNT == 7


def test_attributes_of_functions():
    record(state.attribute)
    calls = state.attribute.calls
    state.attribute(X)
    record(state.attribute)
    assert state.attribute.calls == calls + 2


def test_what_cannot_be_kept_apart_is_refused():
    with pytest.raises(
        UnsupportedOperationError, match=r"writes_and_looks.*COUNT.*locals"
    ):
        record(state.writes_and_looks)
    with pytest.raises(UnsupportedOperationError, match=r"Local.*COUNT.*body"):
        record(state.writes_in_class)


def test_state_of_objects_is_one():
    model = objects.Model(0.5, objects.Base(2.0))
    calls, made = objects.Model.calls, objects.Model.made
    record(model)
    assert model.last == 3
    assert model.log == ["value"]
    assert objects.Model.calls == calls + 1
    model.log.append("mine")
    record(model.value)
    assert model.log == ["value", "mine", "value"]
    record(lambda x: objects.Model(1.0).value(x))
    assert objects.Model.made == made + 1
    assert type(model) is objects.Model
    assert type(model.inner) is objects.Base


def test_state_in_slots_is_one():
    slotted = objects.Slotted(2.0)

    def f(x):
        slotted.scale = 4.0
        return slotted.apply(x) * x[1]

    assert record(f) == 0.6 * 4.0 * 1.3
    assert slotted.scale == 4.0
    slotted.scale = 8.0
    assert slotted.apply(X) == 0.6 * 8.0


def test_attributes_of_objects_set_between_calls():
    model = objects.Model(0.5)
    f = with_numpy(model)
    tape, out = dc.tape_function(f, X)
    alone = float(tape.vals[out])
    model.inner = objects.Base(2.0)
    tape, out = dc.tape_function(f, X)
    assert float(tape.vals[out]) == model(X) != alone


def test_metaclasses_and_subclass_hooks_see_no_mirror():
    record(objects.registered)
    record(objects.metaclass)
    assert objects.Registry.known == ["Entry"]
    assert objects.Meta.made == ["Built"]


def test_attribute_of_a_class_by_its_instances():
    class Counter:
        total = 0

        def step(self, x):
            type(self).total += 1
            self.__class__.last = x[0] * 0.0 if False else 1.0
            return np.zeros(1)[0] + x[0]

    counter = Counter()
    assert record(lambda x: counter.step(x) * counter.step(x)) == 0.6 * 0.6
    assert Counter.total == 2
    assert Counter.last == 1.0


def test_nonlocal_numbers_are_shared():
    count = 0

    def step(v):
        nonlocal count
        count += 1
        return np.zeros(1)[0] + v

    def f(x):
        return step(x[0]) * step(x[1]) * [count, 1.0][1]

    assert record(f) == 0.6 * 1.3
    assert count == 2


def test_siblings_share_their_cells():
    def pair():
        state = [0.0]
        scale = 1.0

        def put(v):
            nonlocal scale
            scale = v
            state[0] = v
            return np.zeros(1)[0] + v

        def get():
            return state[0] * scale

        return put, get

    put, get = pair()
    assert record(lambda x: put(x[0]) + get() * x[1]) == 0.6 + 0.36 * 1.3


def test_nonlocal_functions_are_refused():
    helper = np.sin

    def f(x):
        nonlocal helper
        helper = np.cos
        return helper(x[0])

    for _ in range(2):
        with pytest.raises(
            UnsupportedOperationError, match=r"f .*assigns .* helper of"
        ):
            record(f)
    assert helper is np.sin
