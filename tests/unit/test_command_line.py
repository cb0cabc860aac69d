"""The command line: figures against known ones, sizes, and errors without a traceback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from derivative_covers import __version__
from derivative_covers._cli import main

ROOT = Path(__file__).parents[2]
BASE = ("schedule", "--steps", "1000", "--slots", "10")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def facts(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(said(capsys, *arguments, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


def as_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "derivative_covers", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_alone_it_prints_help() -> None:
    run = as_process()
    assert run.returncode == 0
    assert "Usage: derivative-covers" in run.stdout
    assert "schedule" in run.stdout
    assert run.stderr == ""


def test_version() -> None:
    assert as_process("--version").stdout.split() == ["derivative-covers", __version__]


def test_an_error_of_a_process_is_one_message() -> None:
    run = as_process("schedule", "--steps", "10", "--slots", "0")
    assert run.returncode == 2
    assert "error:" in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_a_reader_may_stop_reading() -> None:
    run = subprocess.run(
        f"{sys.executable} -m derivative_covers schedule --steps 20000 --slots 3 "
        "--draw | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""


@pytest.mark.parametrize(
    ("steps", "slots", "unrecorded"),
    [
        (1000, 10, 3636),
        (10**5, 10, 832_040),
        (10**6, 10, 11_647_922),
        (10**5, 100, 294_747),
    ],
)
def test_figures(
    capsys: pytest.CaptureFixture[str], steps: int, slots: int, unrecorded: int
) -> None:
    told = facts(capsys, "schedule", "--steps", str(steps), "--slots", str(slots))
    schedules = told["schedules"]
    assert schedules["revolve"]["unrecorded"] == unrecorded
    assert schedules["revolve"]["evaluations"] == unrecorded + steps
    assert schedules["revolve"]["ratio"] == 1.0
    block = -(-steps // slots)
    lengths = [min(block, steps - start) for start in range(0, steps, block)]
    replays = sum(r * (r - 1) // 2 for r in lengths)
    assert schedules["uniform"]["unrecorded"] == steps + replays
    assert schedules["block"]["unrecorded"] == steps - lengths[-1]
    assert schedules["store-all"]["evaluations"] == steps
    assert schedules["store-all"]["peak_records"] == steps
    for one in schedules.values():
        total = schedules["revolve"]["evaluations"]
        assert one["ratio"] == one["evaluations"] / total


def test_memory_is_slots_tapes_and_the_states_in_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes = ("--state-bytes", "1MB", "--tape-bytes", "3MB")
    told = facts(capsys, *BASE, *sizes)["schedules"]
    more = facts(capsys, *BASE, "--state-bytes", "1MB", "--tape-bytes", "4MB")
    for name, one in told.items():
        tapes = more["schedules"][name]["peak_memory"] - one["peak_memory"]
        assert tapes == one["peak_records"] * 10**6
        work = one["peak_memory"] - one["peak_records"] * 3 * 10**6
        assert work >= (one["peak_slots"] + 1) * 10**6
        assert work == pytest.approx(one["peak_slots"] * 10**6, abs=5 * 10**6)
    assert told["store-all"]["peak_memory"] > 3000 * 10**6


def test_without_a_size_there_is_no_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(capsys, *BASE)["schedules"]["revolve"]["peak_memory"] is None
    assert "memory" not in said(capsys, *BASE).splitlines()[0]


def test_the_table_has_a_row_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, *BASE, "--state-bytes", "8MB", "--memory", "200MB")
    table, notes, best = out.strip().split("\n\n")
    head, *lines = table.splitlines()
    assert head.split() == [
        "schedule",
        "evaluations",
        "ratio",
        "slots",
        "tapes",
        "memory",
        "fits",
    ]
    assert len(lines) == 6
    for name in ("StoreAll", "Binomial", "Revolve", "TwoLevel"):
        assert sum(line.startswith(name) for line in lines) == 1
    assert sum(line.startswith("UniformBlock") for line in lines) == 2
    fits = {line.split("(")[0]: line.split()[-1] for line in lines}
    assert fits["Revolve"] == "yes"
    assert fits["StoreAll"] == "no"
    assert "4,636" in next(line for line in lines if line.startswith("Revolve"))
    assert best.startswith("Best within 200 MB without a disk: ")
    assert best.endswith(" evaluations")
    assert len({len(line) for line in (head, *lines)}) == 1
    assert "evaluations" in notes


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/explanation/checkpointing.md").read_text()
    command = re.search(r"^    python -m derivative_covers (.*)$", page, re.MULTILINE)
    assert command is not None
    assert f"```text\n{said(capsys, *command[1].split())}```" in page


def test_a_budget_chooses_the_slots(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--state-bytes", "1MB", "--memory", "30MB")
    told = facts(capsys, "schedule", "--steps", "5000", *given)
    assert 20 <= told["slots"] < 30
    assert told["schedules"]["revolve"]["peak_memory"] <= 30 * 10**6
    assert told["chosen"] is not None


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8000000", 8_000_000),
        ("8e6", 8_000_000),
        ("8MB", 8_000_000),
        ("8 MB", 8_000_000),
        ("8mb", 8_000_000),
        ("1.5GiB", 1_610_612_736),
        ("1.5kB", 1500),
        ("2KiB", 2048),
        ("0.5TB", 500_000_000_000),
        ("3B", 3),
        ("1.2", 2),
    ],
)
def test_sizes(capsys: pytest.CaptureFixture[str], text: str, size: int) -> None:
    assert facts(capsys, *BASE, "--state-bytes", text)["state_bytes"] == size


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ("1", "1 B"),
        ("999", "999 B"),
        ("1500", "1.5 kB"),
        ("999.99MB", "1000 MB"),
        ("1e9", "1 GB"),
        ("12345TB", "12,345 TB"),
    ],
)
def test_sizes_are_shown(
    capsys: pytest.CaptureFixture[str], size: str, shown: str
) -> None:
    out = said(capsys, *BASE, "--state-bytes", size)
    assert f"one live state of {shown}, tapes of {shown}" in out


@pytest.mark.parametrize("text", ["1e5", "100000", "100_000", "1.0e5"])
def test_counts(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert facts(capsys, "schedule", "--steps", text, "--slots", "9")["steps"] == 10**5


@pytest.mark.parametrize(
    "text", ["", "x", "8XB", "MB", "-1", "0", "nan", "inf", "-1e99"]
)
def test_wrong_sizes(capsys: pytest.CaptureFixture[str], text: str) -> None:
    err = refused(capsys, *BASE, f"--state-bytes={text}")
    assert "--state-bytes" in err
    assert f"{text!r} is no size, such as 8e6, 8MB or 1.5GiB" in err


@pytest.mark.parametrize("text", ["", "x", "1.5", "-1", "nan", "-1e99", "1e-99"])
def test_wrong_counts(capsys: pytest.CaptureFixture[str], text: str) -> None:
    err = refused(capsys, "schedule", f"--steps={text}", "--slots=3")
    assert f"'--steps': {text!r} is no nonnegative integer" in err


@pytest.mark.parametrize("text", ["1e99", "1e999999", str(2**63)])
@pytest.mark.parametrize("option", ["--steps", "--memory"])
def test_too_large_numbers(
    capsys: pytest.CaptureFixture[str], option: str, text: str
) -> None:
    err = refused(capsys, *BASE, f"{option}={text}")
    assert f"'{option}': {text!r} is too large; 9223372036854775807 is the most" in err


@pytest.mark.parametrize(
    ("disk", "words", "kind"),
    [
        (None, "without a disk", "Revolve"),
        (1, "without a disk", "Revolve"),
        (2, "and 1 state on disk", "Revolve"),
        (30, "and 29 states on disk", "TwoLevel"),
        (5000, "and 4,999 states on disk", "TwoLevel"),
    ],
)
def test_the_best_may_use_the_disk_that_is_named(
    capsys: pytest.CaptureFixture[str], disk: int | None, words: str, kind: str
) -> None:
    """The table shows two levels as fitting, so the choice must know of the disk."""
    sizes = ("--state-bytes", "1kB", "--tape-bytes", "3kB", "--memory", "30kB")
    asked = ["schedule", "--steps", "10000", *sizes]
    if disk is not None:
        asked += ["--disk", str(disk)]
    chosen = facts(capsys, *asked)["chosen"]
    assert chosen.startswith(kind)
    best = said(capsys, *asked).splitlines()[-1]
    assert best.startswith(f"Best within 30 kB {words}: {chosen}, ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("schedule",), "--steps"),
        (("schedule", "--steps", "9"), "--slots"),
        (("schedule", "--steps", "9", "--slots", "0"), "slot"),
        ((*BASE, "--replays", "1"), "replays"),
        ((*BASE, "--disk", "0"), "disk"),
        ((*BASE, "--memory", "1MB"), "--state-bytes"),
        ((*BASE, "--tape-bytes", "1MB"), "--state-bytes"),
        ((*BASE, "--state-bytes", "1GB", "--memory", "1MB"), "memory"),
        ((*BASE, "--draw", "--json"), "--json"),
        ((*BASE, "--draw", "circle"), "circle"),
        (("plan",), "plan"),
    ],
)
def test_what_cannot_be_done_is_said(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert message in refused(capsys, *arguments).rsplit("error:", 1)[1]


@pytest.mark.parametrize("steps", ["0", "1"])
@pytest.mark.parametrize("slots", ["0", "1"])
def test_chains_that_need_nothing(
    capsys: pytest.CaptureFixture[str], steps: str, slots: str
) -> None:
    told = facts(capsys, "schedule", "--steps", steps, "--slots", slots)
    assert told["schedules"]["revolve"]["evaluations"] == int(steps)
    assert told["schedules"]["revolve"]["ratio"] == 1.0
    assert told["schedules"]["store-all"]["ratio"] == 1.0
    said(capsys, "schedule", "--steps", steps, "--slots", slots, "--draw")


def test_the_longest_chain_takes_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    steps = 2**63 - 1
    told = facts(capsys, "schedule", "--steps", str(steps), "--slots", "50")
    assert told["schedules"]["store-all"]["evaluations"] == steps
    out = said(capsys, "schedule", "--steps", str(steps), "--slots", "50", "--draw")
    assert "Not drawn" in out


@pytest.mark.parametrize(
    ("name", "schedule"),
    [
        ("revolve", "Revolve("),
        ("binomial", "Binomial("),
        ("uniform", "UniformBlock("),
        ("block", "UniformBlock("),
        ("two-level", "TwoLevel("),
        ("store-all", "StoreAll("),
    ],
)
def test_plans_can_be_drawn(
    capsys: pytest.CaptureFixture[str], name: str, schedule: str
) -> None:
    out = said(capsys, "schedule", "--steps", "20", "--slots", "3", "--draw", name)
    picture = out.split("\n\n", 2)[2]
    assert picture.startswith(schedule)
    assert "#" in picture


def test_draw_alone_draws_revolve(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, *BASE, "--draw")
    assert out.split("\n\n", 2)[2].startswith("Revolve(slots=10)")
