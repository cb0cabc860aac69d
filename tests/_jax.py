"""Covers in JAX under test: in double precision, and compiled without optimisation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import pytest

__all__ = ["compiled", "doubles"]

# Compiling takes all the time here, so the compiler is told not to optimise.
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def compiled(f: Any) -> Any:
    return jax.jit(f, compiler_options=FAST)


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    with jax.enable_x64(True):
        yield
