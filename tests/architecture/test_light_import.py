"""Importing the package loads NumPy and nothing else that is heavy."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numba", "llvmlite", "scipy", "jax", "matplotlib", "mpmath", "click")


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_root_is_light() -> None:
    loaded = loaded_after("import derivative_covers")
    assert "numpy" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_extend_is_light() -> None:
    assert loaded_after("import derivative_covers.extend").isdisjoint(HEAVY)


def test_checkpoint_is_light_and_imported_on_first_use() -> None:
    statement = (
        "import sys\n"
        "import derivative_covers as dc\n"
        "assert 'derivative_covers.checkpoint' not in sys.modules\n"
        "assert 'checkpoint' in dir(dc)\n"
        "dc.checkpoint.Revolve(slots=3).plan(20)"
    )
    assert loaded_after(statement).isdisjoint(HEAVY)


def test_bounds_are_light_and_imported_on_first_use() -> None:
    statement = (
        "import sys\n"
        "import derivative_covers as dc\n"
        "assert 'derivative_covers.bounds' not in sys.modules\n"
        "assert 'bounds' in dir(dc)\n"
        "dc.bounds.hessian_bound"
    )
    assert loaded_after(statement).isdisjoint((*HEAVY, "flint", "ival", "rich"))


def test_parallel_is_light_and_imported_on_first_use() -> None:
    statement = (
        "import sys\n"
        "import derivative_covers as dc\n"
        "assert 'derivative_covers.parallel' not in sys.modules\n"
        "assert 'parallel' in dir(dc)\n"
        "dc.parallel.cover_sum([lambda x: x**2, lambda x: x**4], 1.0)"
    )
    heavy = {*HEAVY, "dask", "distributed", "mpi4py", "rich", "flint"}
    assert loaded_after(statement).isdisjoint(heavy)


def test_matrix_is_light_and_imported_on_first_use() -> None:
    statement = (
        "import sys\n"
        "import derivative_covers as dc\n"
        "assert 'derivative_covers.matrix' not in sys.modules\n"
        "assert 'matrix' in dir(dc)\n"
        "dc.matrix.symcover_min([[4.0, 1.0], [1.0, 9.0]])"
    )
    assert loaded_after(statement).isdisjoint(HEAVY)


def test_plot_is_light_and_imported_on_first_use() -> None:
    statement = (
        "import sys\n"
        "import derivative_covers as dc\n"
        "assert 'derivative_covers.plot' not in sys.modules\n"
        "assert 'plot' in dir(dc)\n"
        "dc.plot.cover"
    )
    assert loaded_after(statement).isdisjoint(HEAVY)


def test_interop_is_light_until_a_package_is_named() -> None:
    assert loaded_after("import derivative_covers.interop").isdisjoint(HEAVY)


def test_recording_needs_no_compiler() -> None:
    statement = (
        "import derivative_covers as dc\n"
        "dc.tape_function(lambda x: (x * x).sum() + x[0], [1.0, 2.0])"
    )
    assert loaded_after(statement).isdisjoint(HEAVY)
