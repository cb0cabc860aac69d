"""The parts of the benchmarks that decide what a number means."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from benchmarks import __main__ as command
from benchmarks import _limits, _report, _suite, _timing
from benchmarks._report import Row
from benchmarks._timing import Samples, compared, interleaved
from derivative_covers import sweeps

PROGRAMS = (
    _suite.rosenbrock_loop(6),
    _suite.rosenbrock(6),
    _suite.logistic(12, 3),
    _suite.log_sum_exp(5),
    _suite.network(4),
    _suite.poisson(4),
    _suite.lennard_jones(8),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_one_text_serves_jax_and_a_tape(program):
    import jax  # noqa: PLC0415 - takes a second

    jax.config.update("jax_enable_x64", True)
    f = program.bind(jax.numpy, jax.numpy.asarray)
    expected = np.asarray(jax.grad(f)(jax.numpy.asarray(program.x)))
    assert float(f(program.x)) == pytest.approx(float(program.plain(program.x)), 1e-13)
    found = dc.gradient(program.plain, program.x)
    np.testing.assert_allclose(found, expected, 1e-11, 1e-11 * np.abs(expected).max())


def test_a_program_knows_a_smaller_one():
    made = _suite.programs(quick=True)
    assert all(0 < p.smaller().n <= p.n for p in made)
    assert {p.name for p in made} == {p.name for p in _suite.programs(quick=False)}


def test_calls_take_turns_and_long_ones_run_once_before(monkeypatch):
    now = 0.0
    order = []

    def lasting(name, seconds):
        def call():
            nonlocal now
            now += seconds
            order.append(name)

        return call

    monkeypatch.setattr(_timing, "CLOCK", lambda: now)
    a, b = interleaved([lasting("a", 1.0), lasting("b", 0.1)], 3)
    assert "".join(order) == "a" + "bbb" + "abbaab"
    assert a.seconds == pytest.approx([1.0] * 3)
    assert b.median == pytest.approx(0.1)


def test_a_ratio_is_the_median_over_rounds():
    ours, theirs = Samples((1.0, 4.0, 9.0)), Samples((1.0, 2.0, 3.0))
    row = compared("item", "what", ours, theirs, 1.5)
    assert row.value == 2.0
    assert row.met is False
    assert "of least times 1" in row.note


def test_every_memory_of_a_tape_is_read_once():
    tape, _ = dc.tape_function(_suite.rosenbrock(1000).plain, np.linspace(1, 2, 1000))
    program = sweeps.lower(tape)
    found = _limits.columns(program)
    starts = [a.__array_interface__["data"][0] for a in found]
    assert len(set(starts)) == len(starts)
    # The first partials of the two squares that are no constants.
    assert sum(a.nbytes for a in found if a.size >= 999) == 3 * 8 * 999


def test_the_slope_of_a_power_law():
    assert _limits.exponent([10, 100, 1000], [1.0, 4.0, 16.0]) == pytest.approx(
        np.log10(4.0)
    )


def test_the_page_says_what_was_missed_and_not_measured(tmp_path):
    rows = [
        Row("targets", "fast", 2.0, target=1.0, n=10),
        Row("targets", "absent", None, target=1.0, n=10),
        Row("table", "P | this package | gradient", 3.0, n=10),
        Row("table", "P | JAX | gradient", 0.5, n=10),
        Row("other", "short", 0.5, target=1.0, n=10),
    ]
    path = tmp_path / "results.json"
    _report.save(path, rows)
    text = path.with_name("RESULTS.md").read_text()
    assert "| fast | 10 | 2 x | <= 1 | **missed** |" in text
    assert "| absent | 10 | x | <= 1 | not measured |" in text
    assert "| P | 10 | gradient | 3 |  |  | 0.5 |" in text
    assert "| short | 10 | 0.5 x | <= 1 | met |" in text


def test_rows_of_a_full_run_stay_until_replaced(tmp_path):
    path = tmp_path / "results.json"
    _report.save(path, [Row("a", "x", 1.0, n=1), Row("a", "x", 2.0, n=2)], run="full")
    _report.save(path, [Row("a", "x", 3.0, n=1)])
    text = path.with_name("RESULTS.md").read_text()
    assert "| x (full run) | 2 | 2 x |" in text
    assert "| x | 1 | 3 x |" in text
    assert text.count("| x") == 2


def test_a_run_says_what_is_left_and_what_each_item_took(tmp_path, monkeypatch, capsys):
    assert set(command.USUAL) <= set(command.ITEMS)
    assert sum(command.USUAL.values()) <= 15 * 60

    def rows(*, quick):
        assert not quick
        yield Row("table", "P | this package | hvp", 3.0, n=10)

    monkeypatch.setattr(command, "ITEMS", {"table": rows, "other": rows})
    monkeypatch.setattr(command, "USUAL", {"table": 7})
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr("sys.argv", ["benchmarks"])
    assert command.main() == 0
    said = capsys.readouterr()
    assert "item 1 of 1: table; about 7 s to go" in said.err
    assert "table 0 s; 0 s in all" in said.out
    assert "| P | 10 | hvp | 3 |" in (tmp_path / "RESULTS.md").read_text()
