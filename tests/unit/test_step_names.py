"""What messages call steps, and what they say of forgotten parameters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from derivative_covers import errors
from derivative_covers.checkpoint import (
    Chain,
    Revolve,
    StoreAll,
    Transition,
    reverse_sweep,
)

FEW = Revolve(slots=2)
SQUARE = lambda x, *_: x @ x  # noqa: E731
HERE = f"test_step_names.py:{SQUARE.__code__.co_firstlineno}"


class Step:
    def __call__(self, x: Any, k: int) -> Any:
        return x

    def method(self, x: Any, k: int) -> Any:
        return x


def with_params(x: Any, params: Any, k: int) -> Any:
    return x * params["rate"]


def by_default(x: Any, params: Any = None, k: int = 0) -> Any:
    return x * params["rate"]


def test_names() -> None:
    def local(x: Any, k: int) -> Any:
        return x

    names = {
        SQUARE: f"lambda of {HERE}",
        local: "local",
        with_params: "with_params",
        partial(SQUARE): f"partial(lambda of {HERE})",
        Step(): "<a Step>",
        Step().method: "Step.method",
        np.sin: "sin",
    }
    for f, name in names.items():
        assert repr(Transition.taped(f)) == f"Transition.taped({name})"


@pytest.mark.parametrize("schedule", [FEW, StoreAll()], ids=["few", "all"])
@pytest.mark.parametrize("taped", [True, False])
def test_forgotten_parameters(schedule: Any, taped: bool) -> None:
    step = Transition.taped if taped else partial(Transition.from_vjp, vjp=with_params)
    text = (
        r"with_params cannot be .* as f\(x, k\).* f\(x, params, k\): give the sweep par"
    )
    with pytest.raises(errors.InputTypeError, match=text):
        reverse_sweep(Chain([step(with_params), SQUARE]), np.ones(2), schedule=schedule)
    with pytest.raises(TypeError) as info:
        reverse_sweep(Chain([step(by_default), SQUARE]), np.ones(2), schedule=schedule)
    [note] = [n for n in info.value.__notes__ if "params" in n]
    assert note.startswith(
        "by_default was called as f(x, k), since the sweep has no par"
    )


def test_parameters_that_no_step_expects() -> None:
    chain = Chain([lambda x, k: x, SQUARE])
    with pytest.raises(errors.InputTypeError, match="or the sweep no params"):
        reverse_sweep(chain, np.ones(2), schedule=FEW, params=1.0)


def test_a_gradient_of_a_constant_result_is_refused() -> None:
    chain = Chain([lambda x, k: 2 * x, lambda x, k: 3.0])
    with pytest.raises(errors.ConstantProgramError, match="step 1"):
        reverse_sweep(chain, np.ones(2), schedule=FEW)
    reset = Chain([lambda x, k: np.ones(2), SQUARE])
    assert reverse_sweep(reset, np.ones(2), schedule=FEW).cotangent.tolist() == [0, 0]
    chain = Chain([lambda x, p, k: 2 * x, lambda x, p, k: p**2])
    found = reverse_sweep(chain, np.ones(2), schedule=FEW, params=3.0)
    assert (found.cotangent.tolist(), found.params_cotangent) == ([0, 0], 6.0)
