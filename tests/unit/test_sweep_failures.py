"""What goes wrong in a sweep is said with its step, and nothing stays behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Chain,
    Revolve,
    StoreAll,
    Transition,
)
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    ShapeError,
)
from tests._sweep_programs import (
    SCHEDULES,
    X0,
    at,
    keep,
    sweep,
    total,
    vjp,
)


@pytest.fixture(params=SCHEDULES, ids=repr)
def schedule(request: Any) -> Any:
    return request.param


# Domains ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["taped", "from_vjp"])
@pytest.mark.parametrize("step", [0, 4, 11])
@pytest.mark.filterwarnings("error")
def test_a_step_that_leaves_its_domain(kind: str, step: int, schedule: Any) -> None:
    f = at(step, lambda x: np.log(x - 10.0))
    one = Transition.taped(f) if kind == "taped" else vjp(f)
    with pytest.raises(DomainError, match=f"step {step} ") as caught:
        sweep(Chain([Chain.uniform(12, one), total]), schedule=schedule)
    assert caught.value.step == step
    assert caught.value.phase in ("advance", "record")
    assert caught.value.phase in str(caught.value)
    assert caught.value.values


def test_the_phase_is_the_one_it_happened_in() -> None:
    f = Chain([Chain.uniform(12, at(5, lambda x: np.log(x - 10.0))), total])
    for schedule, phase in ((Revolve(slots=2), "advance"), (StoreAll(), "record")):
        with pytest.raises(DomainError) as caught:
            sweep(f, schedule=schedule)
        assert caught.value.phase == phase


def test_what_is_not_selected_is_no_error(schedule: Any) -> None:
    def f(x: Any, k: int) -> Any:
        return np.where(x > 0.0, np.log(x), x * 0.5)

    links = [f, f, lambda x, k: x + 3.0, f, f, total]
    result = sweep(links, schedule=schedule)
    h = 1e-6
    for i in range(3):
        e = h * np.eye(3)[i]
        ends = []
        for x in (X0 + e, X0 - e):
            with np.errstate(all="ignore"):
                for k, link in enumerate(links):
                    x = link(x, k)
            ends.append(x)
        assert result.cotangent[i] == pytest.approx(
            (ends[0] - ends[1]) / (2 * h), rel=1e-6
        )


def test_a_step_without_fault_is_recorded_once_more_only_once() -> None:
    calls = []

    def f(x: Any, k: int) -> Any:
        if k == 2 and not isinstance(x, np.ndarray):
            calls.append(k)
        return np.where(x > 0.0, np.log(np.abs(x) * 0.0 + x), x * 0.5)

    report = sweep(Chain([Chain.uniform(15, f), total])).report
    assert report.executed.max_replays > 2
    assert 0 < report.rechecked <= 15
    assert len(calls) == 2  # because of the flag, and to be reversed


def test_a_reverse_rule_with_a_finite_state_decides_for_itself(schedule: Any) -> None:
    def f(x: Any, k: int) -> Any:
        return np.where(x > 0.0, np.log(x), x)

    result = sweep([vjp(f)] * 5 + [total], np.array([-1.0, -2.0]), schedule=schedule)
    assert result.cotangent.tolist() == [-2.0, -4.0]
    assert result.report.rechecked == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_state_that_is_not_finite_is_named(bad: float, schedule: Any) -> None:
    """Without any flag, so that it is found where the state is saved or recorded."""

    def spoil(x: Any) -> Any:
        x = x.copy()
        x[1] = bad
        return x

    with pytest.raises(DomainError) as caught:
        sweep(
            [vjp(at(6, spoil, lambda x, k: x.copy()))] * 20 + [total], schedule=schedule
        )
    assert caught.value.step == 6
    assert caught.value.phase in ("advance", "record")
    assert len(caught.value.values) == 1
    assert not np.isfinite(caught.value.values[0])
    assert "step 6" in str(caught.value)


def test_a_state_in_containers_that_is_not_finite() -> None:
    def f(s: Any, k: int) -> Any:
        return {"a": s["a"], "b": (s["b"][0], np.nan if k == 3 else s["b"][1])}

    last = vjp(lambda s, k: s["b"][1])
    with pytest.raises(DomainError, match="step 3 ") as caught:
        sweep([vjp(f)] * 8 + [last], {"a": X0, "b": (1.0, 2.0)})
    assert caught.value.step == 3


def test_an_overflow_is_a_domain_error(schedule: Any) -> None:
    with pytest.raises(DomainError) as caught:
        sweep([lambda x, k: x * x * 10.0] * 40 + [total], schedule=schedule)
    assert caught.value.step == 8


def test_a_cotangent_that_is_not_finite(schedule: Any) -> None:
    step = vjp(keep, lambda x, ybar, k: ybar * (np.inf if k == 3 else 1.0))
    with pytest.raises(DomainError, match=r"step 3 \(reverse\)") as caught:
        sweep([step] * 8 + [total], schedule=schedule)
    assert (caught.value.step, caught.value.phase) == (3, "reverse")


def test_a_cotangent_of_the_parameters_that_is_not_finite() -> None:
    step = Transition.from_vjp(
        lambda x, p, k: x * p, lambda x, p, ybar, k: (ybar, np.nan if k == 1 else 0.0)
    )
    with pytest.raises(DomainError, match="parameters' cotangent") as caught:
        sweep([step] * 4, 2.0, params=1.0)
    assert (caught.value.step, caught.value.phase) == (1, "reverse")


def test_an_infinite_derivative_of_a_tape(schedule: Any) -> None:
    f = at(2, np.sqrt)
    with pytest.raises(DomainError) as caught:
        sweep([f] * 4 + [total], np.array([0.0, 1.0]), schedule=schedule)
    assert caught.value.step == 2


def test_kinks_and_ties_name_their_step(schedule: Any) -> None:
    for change in (np.abs, lambda x: x if x[0] > 0.5 else 2.0 * x):
        f = at(3, change, lambda x, k: x)
        with pytest.raises(NondifferentiableError, match="step 3 ") as caught:
            sweep([f] * 7 + [total], np.array([0.5, 0.0]), schedule=schedule)
        assert caught.value.step == 3
        assert caught.value.phase == "record"


# Shapes and types --------------------------------------------------------------------------


def test_the_last_output_has_to_be_one_number(schedule: Any) -> None:
    for last in (keep, lambda x, k: (x[0], x[1]), lambda x, k: {"value": x[0]}):
        for link in (Transition.taped(last), vjp(last)):
            with pytest.raises(ShapeError, match="step 5"):
                sweep([keep] * 5 + [link], schedule=schedule)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda x, ybar, k: ybar[:2], r"of step 2 is .*shape \(2,\)"),
        (lambda x, ybar, k: {"a": ybar}, "of step 2"),
        (lambda x, ybar, k: 1.0, "of step 2"),
    ],
)
def test_wrong_cotangents(rule: Any, words: str, schedule: Any) -> None:
    step = vjp(keep, lambda x, ybar, k: rule(x, ybar, k) if k == 2 else ybar)
    with pytest.raises(ShapeError, match=words):
        sweep([step] * 4 + [total], schedule=schedule)


def test_cotangents_of_wrong_types() -> None:
    for wrong in (None, "x", ybar_of_objects()):
        step = vjp(keep, lambda x, ybar, k, wrong=wrong: wrong)
        with pytest.raises(InputTypeError, match="of step 2"):
            sweep([step] * 3 + [total])


def ybar_of_objects() -> Any:
    return np.array([None, None, None])


def test_states_of_wrong_types(schedule: Any) -> None:
    for wrong, words in ((None, "return"), (np.arange(3), "float"), ("a", "float")):
        step = vjp(at(3, lambda x, wrong=wrong: wrong))
        with pytest.raises(InputTypeError, match=words) as caught:
            sweep([step] * 6 + [total], schedule=schedule)
        assert "step 3" in str(caught.value)
