"""What users of chains met at their edges: constants, views, counters, flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.checkpoint import (
    Chain,
    Revolve,
    StoreAll,
    cover_sweep,
    hvp_sweep,
    reverse_sweep,
)
from derivative_covers.checkpoint.execution._forward import Forward

FEW = Revolve(slots=2)
X0 = np.array([0.3, -0.7, 1.1])


def product(x: Any, k: int) -> Any:
    return x @ x


def both(chain: Chain, x0: Any, **options: Any) -> list[Callable[[], Any]]:
    """A cover and a Hessian product, not run yet."""
    return [
        lambda: cover_sweep(chain, x0, schedule=FEW, **options),
        lambda: hvp_sweep(chain, x0, x0, schedule=FEW, **options),
    ]


@pytest.mark.parametrize(
    "links",
    [
        [lambda x, k: 2 * x, lambda x, k: 3.0],
        [lambda x, k: 2 * x, lambda x, k: float(dc.value(x).sum())],
        [lambda x, k: 2 * x, lambda x, k: dc.stop_gradient(x.sum())],
        [lambda x, k: np.ones(3), product],
        [lambda x, k: (x, 1.0), lambda x, k: (x[0], 2 * x[1]), lambda x, k: x[1]],
    ],
)
def test_a_result_that_depends_on_nothing_is_refused_as_on_one_tape(links: Any) -> None:
    def whole(x: Any) -> Any:
        for k, link in enumerate(links):
            x = link(x, k)
        return x

    for run in (lambda: dc.cover_hessian(whole, X0), *both(Chain(links), X0)):
        with pytest.raises(
            dc.errors.ConstantProgramError, match=r"does not depend|every"
        ):
            run()


def test_a_result_of_the_parameters_alone_is_none_of_these() -> None:
    chain = Chain([lambda x, p, k: np.ones(3), lambda x, p, k: (x * p).sum() ** 2])
    found = cover_sweep(chain, X0, schedule=FEW, params=2.0)  # 9 p**2
    assert (found.gradient.tolist(), found.h.tolist()) == ([0.0] * 3, [0.0] * 3)
    assert found.params_gradient == 36.0
    assert found.params_h**2 == pytest.approx(18.0)
    exact = hvp_sweep(chain, X0, X0, schedule=FEW, params=2.0)
    assert exact.params_hvp == 0.0  # params_v=None is the direction zero
    exact = hvp_sweep(chain, X0, X0, schedule=FEW, params=2.0, params_v=1.0)
    assert exact.params_hvp == 18.0


@pytest.mark.parametrize("turn", [lambda y: y[::-1], lambda y: y.reshape(2, 4).T])
def test_a_view_is_copied_between_steps_and_its_bits_are_those_of_the_copy(
    turn: Any,
) -> None:
    mix = np.random.default_rng(3).normal(size=(8, 8))

    def step(x: Any, k: int) -> Any:
        return turn(np.exp(np.sin(mix @ x.reshape(8))))

    def total(x: Any, k: int) -> Any:
        return np.sum(x**3)

    def on_one_tape(copied: bool) -> Any:
        def whole(x: Any) -> Any:
            for k in range(5):
                x = step(x, k)
                x = x.copy() if copied else x
            return total(x, 5)

        return whole

    chain, x0 = Chain([Chain.uniform(5, step), total]), np.linspace(-1.0, 1.0, 8)
    found = cover_sweep(chain, x0, schedule=FEW)
    product = hvp_sweep(chain, x0, x0, schedule=FEW)
    copied, plain = (dc.cover_hessian(on_one_tape(c), x0) for c in (True, False))
    assert np.array_equal(found.h, copied.h)
    assert np.array_equal(found.gradient, copied.gradient)
    assert np.array_equal(product.hvp, dc.hvp(on_one_tape(True), x0, x0))
    assert np.array_equal(
        reverse_sweep(chain, x0, schedule=FEW).cotangent, copied.gradient
    )
    np.testing.assert_allclose(found.h, plain.h, rtol=1e-11)


# Counters in a state ----------------------------------------------------------------------

TABLE = np.arange(9.0)
USES = {
    "int": lambda i: TABLE[int(i)],
    "range": lambda i: sum(range(int(i)), 1),
    "index": lambda i: TABLE[i],
    "round": lambda i: TABLE[round(i)],
    "list": lambda i: [1.0, 2.0, 3.0][i],
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("schedule", [FEW, StoreAll()], ids=["few", "all"])
def test_a_counter_in_a_state_is_told_of_the_index(use: Any, schedule: Any) -> None:
    def step(s: Any, k: int) -> Any:
        return {"x": s["x"] * use(s["i"]), "i": s["i"] + 1}

    chain = Chain([Chain.uniform(2, step), lambda s, k: s["x"].sum()])
    with pytest.raises((IndexError, TypeError, ValueError)) as info:
        reverse_sweep(chain, {"x": X0, "i": 1.0}, schedule=schedule)
    notes = getattr(info.value, "__notes__", [])
    assert "use the index k that every step gets" in " ".join([str(info.value), *notes])


# Floating-point flags of innocent steps ----------------------------------------------------


@pytest.mark.parametrize("schedule", [StoreAll(), Revolve(slots=3)], ids=["all", "few"])
def test_flags_do_not_pile_up(schedule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Forward] = []
    make = Forward.__init__

    def init(self: Forward, *args: Any) -> None:
        make(self, *args)
        seen.append(self)

    monkeypatch.setattr(Forward, "__init__", init)

    def step(x: Any, k: int) -> Any:
        return np.where(x > 0.0, np.log(x), 0.999 * x)

    steps = 2500
    chain = Chain([Chain.uniform(steps, step), product])
    found = reverse_sweep(chain, -np.ones(2), schedule=schedule)
    assert found.report.rechecked == (0 if schedule == StoreAll() else steps)
    np.testing.assert_allclose(found.cotangent, -2 * 0.999 ** (2 * steps), rtol=1e-9)
    [forward] = seen
    assert len(forward.flagged) <= 1
    assert len(forward._innocent) <= 3
