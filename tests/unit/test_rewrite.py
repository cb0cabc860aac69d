"""`with_numpy` itself: forms, what it reaches, changes between calls, pickles."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import types

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    InputTypeError,
    OptionError,
    UnsupportedOperationError,
)
from derivative_covers.rewrite import with_numpy
from tests.unit._rewrite_programs import helpers, objects, programs

X = np.array([0.6, 1.3, 0.4])


@with_numpy
def decorated(x, scale=2.0):
    """Fills."""
    r = np.zeros(3)
    r[:] = x
    return r.sum() * scale


@with_numpy(modules=["tests"])
def decorated_with_modules(x):
    return programs.module_alias(x)


class Home:
    scale = 3.0

    @with_numpy
    def value(self, x):
        return helpers.fill(x).sum() * self.scale

    @with_numpy
    @staticmethod
    def fixed(x):
        return helpers.fill(x).sum()


def value(f, x=X):
    tape, out = dc.tape_function(f, x)
    return float(np.squeeze(tape.vals[out]))


def module(name, source):
    made = types.ModuleType(name)
    exec(source, vars(made))
    return made


def test_forms():
    assert value(decorated) == decorated(X) == decorated.__wrapped__(X)
    assert decorated.__name__ == "decorated"
    assert decorated.__doc__ == "Fills."
    assert inspect.signature(decorated) == inspect.signature(decorated.__wrapped__)
    assert value(decorated_with_modules) == programs.module_alias(X)
    assert "decorated" in repr(decorated)
    assert value(lambda x: decorated(x, scale=3.0)) == decorated(X, 3.0)


def test_decorated_methods():
    home = Home()
    assert value(home.value) == home.value(X) == helpers.fill(X).sum() * 3.0
    home.scale = 5.0
    assert value(home.value) == helpers.fill(X).sum() * 5.0
    assert value(Home.fixed) == value(home.fixed) == Home.fixed(X)
    assert value(lambda x: Home.value(home, x)) == home.value(X)
    inner = with_numpy(lambda x: home.value(x) * 1.0)
    assert value(inner) == home.value(X)


def test_objects_as_arguments():
    def f(x, model, steps):
        for step in steps:
            x = step(x)
        return model.value(x)

    g = with_numpy(f)
    model = objects.Model(0.5, objects.Base(1.5))
    steps = [helpers.fill, np.sin]
    assert value(lambda x: g(x, model, steps=steps)) == f(X, model, steps)


def test_scalar_and_single_precision_points():
    def f(x):
        r = np.zeros(2)
        r[0], r[1] = x, x * x
        return r @ r

    assert value(with_numpy(f), 0.75) == f(0.75)

    def g(x):
        r = np.zeros(3, dtype=x.dtype)
        r[:] = x
        return r.sum()

    x = X.astype(np.float32)
    tape, out = dc.tape_function(with_numpy(g), x)
    assert tape.vals[out] == g(x)


def test_library_functions_stay_themselves():
    assert with_numpy(np.sin)(0.5) == np.sin(0.5)
    assert value(with_numpy(np.sum)) == np.sum(X)
    assert with_numpy(helpers.np.linspace)(0.0, 1.0, 3)[1] == 0.5


def test_bad_arguments():
    with pytest.raises(InputTypeError, match="got int"):
        with_numpy(3)
    with pytest.raises(OptionError, match=r"modules=\['mypackage'\]"):
        with_numpy(decorated, modules="tests")
    with pytest.raises(OptionError, match=r"'pkg\.sub'"):
        with_numpy(decorated, modules=[3])
    with pytest.raises(OptionError, match="give a list"):
        with_numpy(decorated, modules=None)
    assert callable(with_numpy(decorated, modules=[helpers]))


def test_only_named_modules_are_rewritten(monkeypatch):
    other = module(
        "other_pkg.sub",
        "import numpy as np\ndef fill(x):\n    r = np.zeros(3)\n    r[:] = x\n    return r\n",
    )

    def f(x):
        return other.fill(x).sum()

    with pytest.raises(dc.errors.UnsupportedOperationError):
        value(with_numpy(f))
    expected = f(X)
    assert value(with_numpy(f, modules=["other_pkg"])) == expected
    assert value(with_numpy(f, modules=["other_pkg.sub"])) == expected
    assert value(with_numpy(f, modules=[other])) == expected
    with pytest.raises(dc.errors.UnsupportedOperationError):
        value(with_numpy(f, modules=["other_pkg.su"]))


def test_other_peoples_wrappers_around_the_users_functions():
    other = module(
        "other_pkg",
        "import functools\ndef noted(f):\n    @functools.wraps(f)\n    def wrapper(*a):\n"
        "        return f(*a)\n    return wrapper\n",
    )
    noted = other.noted(helpers.fill)
    assert value(with_numpy(noted), X[:1]) == X[0]
    assert value(with_numpy(lambda x: noted(x)[1] * 2.0)) == X[1] * 2.0


def test_functions_without_a_module():
    scope = {}
    exec(
        "import numpy as np\nC = 2.0\ndef g(v):\n    r = np.zeros(1)\n    r[0] = v\n    return r[0]\n"
        "def f(x):\n    global C\n    C = C + 1.0\n    return g(x[0]) * x[1]\n",
        scope,
    )
    assert value(with_numpy(scope["f"])) == X[0] * X[1]
    assert scope["C"] == 3.0
    nameless = {"__builtins__": {}, "np": np}
    exec(
        "def f(x):\n    r = np.zeros(1)\n    r[0] = x[0]\n    return r[0] * x[1]",
        nameless,
    )
    assert value(with_numpy(nameless["f"])) == X[0] * X[1]


def test_changes_between_calls_are_seen(monkeypatch):
    f = with_numpy(lambda x: programs.fill(x)[0] * helpers.SCALE)
    assert value(f) == X[0] * 1.5
    monkeypatch.setattr(helpers, "SCALE", 4.0)
    assert value(f) == X[0] * 4.0
    monkeypatch.setattr(programs, "fill", lambda x: np.zeros(1) + x[1])
    assert value(f) == X[1] * 4.0
    monkeypatch.undo()
    assert value(f) == X[0] * 1.5


def test_a_builtin_hidden_later(monkeypatch):
    f = with_numpy(programs.inner_function)
    plain = programs.inner_function(X)
    assert value(f) == plain
    monkeypatch.setattr(
        programs, "zip", lambda *a, strict: iter([(a[0][1], 1.0)]), raising=False
    )
    assert value(f) == X[1]
    monkeypatch.undo()
    assert value(f) == plain


def test_new_code_defaults_cells_and_methods():
    factor = np.float64(1.0)
    step = np.sin

    def g(v, scale=1.0, *, start=np.zeros):
        return start(1)[0] + step(v) * scale * factor

    class Model:
        def value(self, x):
            return g(x[0])

    model = Model()
    f = with_numpy(lambda x: model.value(x) * 1.0)
    assert value(f) == np.sin(X[0])
    g.__defaults__ = (2.0,)
    assert value(f) == np.sin(X[0]) * 2.0
    g.__kwdefaults__ = {"start": np.ones}
    assert value(f) == 1.0 + np.sin(X[0]) * 2.0
    step = np.cos
    assert value(f) == 1.0 + np.cos(X[0]) * 2.0
    g.__code__ = (lambda v, scale=1.0, *, start=None: step(v) - factor).__code__
    assert value(f) == np.cos(X[0]) - 1.0
    factor = 3.0
    assert value(f) == np.cos(X[0]) - 3.0
    Model.value = lambda self, x: np.zeros(1)[0] + x[1]
    assert value(f) == X[1]


def test_reloading(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "reloaded_program.py"
    path.write_text("import numpy as np\ndef g(x):\n    return np.zeros(1)[0] + x[0]\n")
    import importlib  # noqa: PLC0415

    made = importlib.import_module("reloaded_program")
    f = with_numpy(lambda x: made.g(x) * 1.0, modules=["reloaded_program"])
    assert value(f) == X[0]
    path.write_text("import numpy as np\ndef g(x):\n    return np.ones(10)[0] + x[1]\n")
    importlib.invalidate_caches()
    importlib.reload(made)
    assert value(f) == 1.0 + X[1]
    del sys.modules["reloaded_program"]


def test_long_chains_of_closures():
    def compose(f, g):
        return lambda x: f(x) if len(x) == 0 else g(x)

    f = helpers.fill
    for _ in range(3000):
        f = compose(f, helpers.fill)
    assert value(with_numpy(lambda x: f(x).sum())) == helpers.fill(X).sum()


def test_cycles():
    class Node:
        def __init__(self):
            self.other = self
            self.links = [self]

        def value(self, x):
            return self.links[0].other.fill(x)

        def fill(self, x):
            return helpers.fill(x).sum()

    node = Node()
    table = {"f": helpers.fill}
    table["self"] = table
    assert value(with_numpy(lambda x: node.value(x) + table["self"]["f"](x)[0])) == (
        node.value(X) + X[0]
    )


def test_long_lists_are_data():
    weights = [1.0] * 100_000
    nested = [[1.0, 2.0], (3.0, [4.0])]

    def f(x):
        weights.append(2.0)
        return helpers.fill(x)[0] * weights[0] * nested[1][1][0]

    assert value(with_numpy(f)) == X[0] * 4.0
    assert len(weights) == 100_001


def test_identity_and_equality_of_functions():
    table = {np.sin: np.cos, helpers.fill: 1.0}

    def f(x):
        assert np.sin is STEPS[0]
        assert helpers.fill in table
        return table[np.sin](x[0]) * table[helpers.fill]

    STEPS = [np.sin]
    assert value(with_numpy(f)) == np.cos(X[0])


def test_pickle_and_copy():
    again = pickle.loads(pickle.dumps(decorated))
    assert again is decorated
    other = with_numpy(helpers.fill, modules=["tests.unit"])
    again = pickle.loads(pickle.dumps(other))
    assert again.__wrapped__ is helpers.fill
    assert value(lambda x: again(x).sum()) == X.sum()
    assert value(copy.copy(other), X[:1]) == X[0]
    assert value(copy.deepcopy(other), X[:1]) == X[0]
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(with_numpy(lambda x: x))


def test_nothing_is_swapped():
    before = {
        name: dict(vars(m))
        for name, m in (("np", np), ("programs", programs), ("helpers", helpers))
    }
    for f in programs.PROGRAMS:
        value(with_numpy(f))
    for name, m in (("np", np), ("programs", programs), ("helpers", helpers)):
        after = vars(m)
        assert before[name].keys() == after.keys()
        assert all(after[k] is v for k, v in before[name].items())


def test_what_helps_is_said_where_with_numpy_does_not():
    """Functions of SciPy that want numbers; compiled code, or old arrays, inside."""
    integrate, stats = (
        pytest.importorskip(f"scipy.{m}") for m in ("integrate", "stats")
    )
    kept = np.zeros(2)

    def density(x):
        return np.sum(stats.norm.logpdf(x, x[0], x[1]))

    def solution(x):
        return integrate.odeint(lambda y, t: -x[0] * y, [1.0], [0.0, 1.0])[-1, 0]

    def store(x):
        kept[0] = x[0]
        return kept[0]

    cases = [
        (density, "function of scipy .*Write that part out.*black-boxes.md"),
        (with_numpy(density), "function of scipy .*black-boxes.md"),
        (with_numpy(solution), "function of scipy .*black-boxes.md"),
        (with_numpy(store), "runs through with_numpy already.*inside of the function"),
        (store, "Decorate the function with derivative_covers.with_numpy"),
    ]
    for f, told in cases:
        with pytest.raises(UnsupportedOperationError, match=told) as caught:
            dc.gradient(f, [1.0, 2.0])
        assert ("Decorate" in str(caught.value)) == (f is store)
