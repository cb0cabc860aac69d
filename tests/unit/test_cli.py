"""Commands on files of the user's: known derivatives, exit codes, one sentence an error."""

from __future__ import annotations

import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from derivative_covers._cli import _doctor as doctor
from derivative_covers._cli import main

ROOT = Path(__file__).parents[2]
MODEL = """
import numpy as np
import derivative_covers as dc
from beside import SCALE

def f(x):
    print("running")
    return SCALE * x[0] ** 2 * x[1]

def decay(p):
    return np.sum(p["w"] ** 2) * p["k"]

def forgetful(x):
    return x[0] * dc.value(x[1])

def fails(x):
    y = x + 1
    raise RuntimeError("no\\nmodel")

def leaves(x):
    raise SystemExit(3)

def two(x):
    return [x[0], x[1]]

number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "beside.py").write_text("SCALE = 3.0")
    (tmp_path / "raises.py").write_text("x = 1\n1 / 0")
    (tmp_path / "wrong.py").write_text("def f(:")
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", "").startswith(str(tmp_path)):
            del sys.modules[name]
    plt.close("all")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def facts(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    status, out, _ = run(capsys, *arguments, "--json")
    assert status == 0
    return json.loads(out)


# 3 x**2 y at (1, 2): gradient (12, 3), Hessian [[12, 6], [6, 0]]


def test_cover_prints_what_holds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("--names", "length, angle")
    for point in (("--x0", "1,2.0"), ("--x0", "1", "--x0", "2e0")):
        for merge in ("auto", "sum", "quadrature"):
            asked = ("cover", "model.py:f", *point, *names, "--merge", merge)
            status, out, err = run(capsys, *asked)
            assert (status, err) == (0, "running\n")
            title, head, *rows, note = out.splitlines()
            assert title.startswith("model.py:f: value=6, merge=")
            assert head.split() == ["gradient", "h", "1/h"]
            cells = {row.split()[0]: row.split()[1:] for row in rows}
            assert [cells[name][0] for name in ("length", "angle")] == ["12", "3"]
            h = [float(cells[name][1]) for name in ("length", "angle")]
            slack = 1 + 1e-5  # six digits are printed
            assert (np.outer(h, h) * slack >= [[12, 6], [6, 0]]).all()
            assert float(cells["length"][2]) == pytest.approx(1 / h[0], rel=1e-5)
            assert "|H[i, j]| <= h[i] h[j]" in note


def test_points_come_from_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("x.npy", np.array([1.0, 2.0]))
    (folder / "row.csv").write_text("1.0,2.0\n")
    (folder / "column.csv").write_text("1.0\n2.0\n")
    (folder / "named.csv").write_text('"length",angle\n1.0,2.0\n')
    for file in ("x.npy", "row.csv", "column.csv", "named.csv"):
        told = facts(capsys, "cover", "model.py:f", "--x0", file)
        assert told["value"] == 6
        variables = told["variables"]
        assert [v["gradient"] for v in variables] == [12, 3]
        assert all(v["scale"] * v["cover"] == pytest.approx(1) for v in variables)
    assert [v["name"] for v in variables] == ["length", "angle"]
    (folder / "p.json").write_text('{"k": 2.0, "w": [3.0, 0.5]}')
    told = facts(capsys, "cover", "model.py:decay", "--x0", "p.json")
    found = {v["name"]: v["gradient"] for v in told["variables"]}
    assert found == {"k": 9.25, "w[0]": 12, "w[1]": 2}


def test_no_step_where_a_variable_is_linear(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "line.py").write_text("def f(x):\n    return x[0] ** 2 + x[1]\n")
    told = facts(capsys, "cover", "line.py:f", "--x0", "1,1")
    assert [v["scale"] is None for v in told["variables"]] == [False, True]
    assert "none" in run(capsys, "cover", "line.py:f", "--x0", "1,1")[1]


def test_a_picture_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("cover", "model.py:f", "--x0", "1,2", "--plot")
    assert run(capsys, *asked, "scales.png")[0] == 0
    assert (folder / "scales.png").read_bytes().startswith(b"\x89PNG")
    for file in ("scales.foo", "no/scales.png"):
        status, out, err = run(capsys, *asked, file)
        assert (status, out) == (2, "")
        assert f"cannot be written to {file}" in err


def test_check_tells_right_from_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--x0", "1,2", "--names", "a,b")
    status, out, _ = run(capsys, "check", "model.py:f", *asked)
    assert status == 0
    assert out.startswith("check: all of ")
    status, out, _ = run(capsys, "check", "model.py:forgetful", *asked)
    assert status == 1
    assert "gradient at b: the dependence on this input was lost" in out
    status, out, _ = run(capsys, "check", "model.py:forgetful", *asked, "--json")
    assert status == 1
    told = json.loads(out)
    assert told["ok"] is False
    assert "wrong" in {row["verdict"] for row in told["comparisons"]}


def test_errors_are_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.npy").write_text("no array")
    (folder / "bad.csv").write_text("a,b\n1,x\n")
    (folder / "empty.csv").write_text("\n")
    (folder / "semicolons.csv").write_text("1,5;2,0\n")
    (folder / "named.json").write_text('{"a": 1.0, "b": 2.0}')
    (folder / "bad.json").write_text("{")
    (folder / "ragged.json").write_text("[[1, 2], [3]]")
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    x = ("--x0", "1,2")
    cases = [
        (("model.py", *x), "'model.py' is no FILE.py:FUNCTION"),
        (("model.txt:f", *x), "is no FILE.py:FUNCTION"),
        (("none.py:f", *x), "there is no file none.py"),
        (("model.py:g", *x), "has no function g; it has f, decay, forgetful"),
        (("model.py:number", *x), "has no function, but something else, number"),
        (("raises.py:f", *x), "raises.py raised ZeroDivisionError: division by zero (raises.py, line 2)"),
        (("wrong.py:f", *x), "wrong.py raised SyntaxError"),
        (("model.py:fails", *x), "model.py:fails raised RuntimeError: no model (model.py, line 18)"),
        (("model.py:leaves", *x), "model.py:leaves raised SystemExit: 3"),
        (("model.py:two", *x), "one scalar output"),
        (("model.py:f",), "'--x0'"),
        (("model.py:f", "--x0", "1,"), "'' is no number"),
        (("model.py:f", "--x0", "nan,1"), "x0[0] is nan"),
        (("model.py:f", "--x0", "no.npy"), "there is no file no.npy"),
        (("model.py:f", "--x0", "bad.npy"), "bad.npy cannot be read as npy"),
        (("model.py:f", "--x0", "objects.npy"), "cannot be read as npy"),
        (("model.py:f", "--x0", "bad.csv"), "bad.csv cannot be read as csv"),
        (("model.py:f", "--x0", "empty.csv"), "it holds no numbers"),
        (("model.py:f", "--x0", "semicolons.csv"), "write commas"),
        (("model.py:f", "--x0", "named.json"), "a dictionary with the keys 'a', 'b'"),
        (("model.py:f", "--x0", "1.0"), "passed as an array of shape (1,)"),
        (("model.py:f", "--x0", "bad.json"), "bad.json cannot be read as json"),
        (("model.py:f", "--x0", "ragged.json"), "x0 is no array of numbers"),
        (("model.py:f", *x, "--names", "a"), "--names: names has 1 entries; 2 are needed"),
        (("model.py:f", *x, "--merge", "max"), "'--merge'"),
    ]  # fmt: skip
    for arguments, message in cases:
        status, out, err = run(capsys, "cover", *arguments)
        assert (status, out) == (2, ""), arguments
        *_, last = err.splitlines()
        assert message in last
        assert last.startswith("derivative-covers")
        assert "Traceback" not in err


def test_the_page_shows_what_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs/how-to/command-line.md").read_text()
    block = re.search(r"```python\n(# model.py\n.*?)```", page, re.DOTALL)
    assert block is not None
    (folder / "model.py").write_text(block[1])
    start = re.search(r"^\$ echo '(.*)' > start.json$", page, re.MULTILINE)
    assert start is not None
    (folder / "start.json").write_text(start[1])
    shown = re.findall(r"^\$ derivative-covers (.*)\n([^`]*)", page, re.MULTILINE)
    assert len(shown) >= 5
    for command, text in shown:
        _, out, err = run(capsys, *command.split())
        if command.endswith("--json"):  # all digits, which machines round differently
            told, expected = json.loads(out), json.loads(text)
            for one, other in zip(
                told["variables"], expected["variables"], strict=True
            ):
                assert one.pop("name") == other.pop("name")
                assert one == pytest.approx(other, rel=1e-9)
        elif command.startswith("check"):  # errors of differences
            heads = [[line[:18] for line in t.splitlines()] for t in (out, text)]
            assert heads[0] == heads[1]
        else:
            assert out + err == text


def test_doctor(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = facts(capsys, "doctor")
    assert told["faults"] == []
    assert told["versions"]["numpy"] == np.__version__
    assert told["cores"] >= 1
    known = {
        "extra": "plot",
        "version": importlib.import_module("matplotlib").__version__,
    }
    assert told["optional"]["matplotlib"] == known
    status, out, _ = run(capsys, "doctor")
    assert status == 0
    assert "self-test: gradient, cover and compiler are right" in out
    monkeypatch.setattr(doctor, "gradient", lambda f, x: np.zeros(2))
    monkeypatch.setattr(doctor, "_version", lambda name: None)
    status, out, _ = run(capsys, "doctor")
    assert status == 1
    assert "FAULT: a gradient is [0. 0.] in place of [12. 9.]" in out
    assert "FAULT: numpy is missing" in out
    assert "pip install '.[plot]'" in out


def test_the_console_script_is_this_command() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    script = tomllib.loads(text)["project"]["scripts"]["derivative-covers"]
    module, _, name = script.partition(":")
    assert getattr(importlib.import_module(module), name) is main
