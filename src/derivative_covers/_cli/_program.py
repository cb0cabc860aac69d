"""The user's function and point: from a file, and from options."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import click
import numpy as np

from ..errors import DerivativeError
from ..results import labels, names_for

__all__ = ["Program", "program_options", "read_program", "running"]

FILES = (".npy", ".csv", ".json")
_BY_THE_POINT = (LookupError, TypeError, ValueError, AttributeError)


class Program(NamedTuple):
    """What the options of a command say.

    Attributes:
        f: The function.
        x0: The point.
        names: One name a variable, or None.
        title: The function, for people.
    """

    f: Callable[..., Any]
    x0: Any
    names: Any
    title: str


def program_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and the options that say what to differentiate, and where."""
    names = click.option(
        "--names", metavar="A,B,...", help="Names of the variables, in order."
    )
    point = click.option(
        "--x0",
        "point",
        multiple=True,
        required=True,
        metavar="NUMBERS|FILE",
        help="The point: numbers with commas between them (or --x0 again and again), or a "
        "file: .npy, .csv (a first row of names may stand above the numbers) or .json (an "
        "object is a dictionary of parameters).",
    )
    target = click.argument("target", metavar="FILE.py:FUNCTION")
    return target(point(names(command)))


def read_program(target: str, point: tuple[str, ...], names: str | None) -> Program:
    """Function, point and names from what the user wrote.

    Raises:
        click.ClickException: If there is no such thing.
    """
    x0, found = _point(point)
    given: Any = found if names is None else [n.strip() for n in names.split(",")]
    return Program(_function(target), x0, _named(x0, given), target)


def _named(x0: Any, given: Any) -> Any:
    """Names of the variables, or None."""
    try:
        found = labels(x0)
    except ValueError:  # no array of numbers; the recording will say so
        return None
    if given is None:
        return found if isinstance(x0, dict) else None
    try:
        return names_for(given, len(found))
    except DerivativeError as error:
        _refuse_option("--names", str(error))


@contextlib.contextmanager
def running(target: str, x0: Any = None) -> Iterator[None]:
    """Runs the user's program: what it prints goes to the error stream.

    Raises:
        click.ClickException: For an exception that the program raises; with how the
            point ``x0`` was passed, where that may be the reason.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (DerivativeError, click.ClickException):
        raise
    except (Exception, SystemExit) as error:
        msg = f"{target} raised {_described(error)}"
        if x0 is not None and isinstance(error, _BY_THE_POINT):
            msg += f"; the point was passed as {_kind(x0)}"
        raise _Unusable(msg) from None


def _kind(x0: Any) -> str:
    """What the function gets as its argument, for people."""
    if isinstance(x0, dict):
        return f"a dictionary with the keys {', '.join(map(repr, x0))}"
    return f"an array of shape {np.shape(x0)}"


class _Unusable(click.ClickException):
    """What cannot be worked with."""


def _refuse_option(name: str, message: str) -> NoReturn:
    msg = f"{name}: {message}"
    raise _Unusable(msg) from None


# The function ---------------------------------------------------------------------------


def _function(target: str) -> Callable[..., Any]:
    file, colon, name = target.rpartition(":")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        msg = f"{target!r} is no FILE.py:FUNCTION, such as model.py:objective"
        raise _Unusable(msg)
    path = Path(file)
    if not path.is_file():
        msg = f"there is no file {file}"
        raise _Unusable(msg)
    module = _loaded(path, file)
    found = getattr(module, name, None)
    if not callable(found):
        functions = [
            key
            for key, thing in vars(module).items()
            if callable(thing) and getattr(thing, "__module__", "") == module.__name__
        ]
        has = f"it has {', '.join(functions)}" if functions else "it has none"
        what = "function" if found is None else "function, but something else,"
        msg = f"{file} has no {what} {name}; {has}"
        raise _Unusable(msg)
    function: Callable[..., Any] = found
    return function


def _loaded(path: Path, shown: str) -> ModuleType:
    """The file as a module; files beside it can be imported from it."""
    name = path.stem
    while name in sys.modules:
        name += "_"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # the name ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[name] = module
    with running(shown):
        spec.loader.exec_module(module)
    return module


def _described(error: BaseException) -> str:
    """Type, message and place of an exception."""
    what = type(error).__name__
    text = " ".join(str(error).split())
    if isinstance(error, SyntaxError):
        return f"{what}: {text}"
    frames = traceback.extract_tb(error.__traceback__)
    package = str(Path(__file__).parents[1])
    mine = [
        frame
        for frame in frames
        if not frame.filename.startswith((package, "<frozen", sys.base_prefix))
        and "site-packages" not in frame.filename
    ]
    place = f" ({Path(mine[-1].filename).name}, line {mine[-1].lineno})" if mine else ""
    return f"{what}{f': {text}' if text else ''}{place}"


# The point ------------------------------------------------------------------------------


def _point(given: tuple[str, ...]) -> tuple[Any, list[str] | None]:
    """The point, and the names that its file gives."""
    if len(given) == 1 and given[0].lower().endswith(FILES):
        return _from_file(given[0])
    numbers = []
    for text in ",".join(given).split(","):
        try:
            numbers.append(float(text))
        except ValueError:
            msg = (
                f"{text!r} is no number; give numbers such as 1.0,2.0 or one file that "
                f"ends in {', '.join(FILES)}"
            )
            _refuse_option("--x0", msg)
    return np.array(numbers), None


def _from_file(file: str) -> tuple[Any, list[str] | None]:
    path = Path(file)
    if not path.is_file():
        _refuse_option("--x0", f"there is no file {file}")
    kind = path.suffix.lower()
    try:
        if kind == ".npy":
            return np.load(path, allow_pickle=False), None
        text = path.read_text(encoding="utf-8-sig")
        if kind == ".json":
            return json.loads(text), None
        return _from_csv(text.splitlines())
    except (ValueError, OSError, EOFError) as error:
        reason = " ".join(str(error).split())
        _refuse_option("--x0", f"{file} cannot be read as {kind[1:]}: {reason}")


def _from_csv(lines: list[str]) -> tuple[Any, list[str] | None]:
    """A row or column is a vector; a first row that holds no number names its columns."""
    lines = [line for line in lines if line.strip()]
    if any(";" in line for line in lines):
        msg = "semicolons stand between its entries; write commas, and decimal points"
        raise ValueError(msg)
    heads = [head.strip().strip('"') for head in lines[0].split(",")] if lines else []
    named = bool(heads) and not any(map(_is_number, heads))
    rows = lines[1:] if named else lines
    if not rows:
        msg = "it holds no numbers"
        raise ValueError(msg)
    table = np.loadtxt(rows, delimiter=",", ndmin=2)
    if 1 not in table.shape:
        return table, None
    return table.ravel(), heads if named and len(heads) == table.size else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
