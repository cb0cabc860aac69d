"""Points in dictionaries and tuples: arguments, results of the same structure, errors."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    OptionError,
    ShapeError,
)
from derivative_covers.tape import input_plan


def network(xp: Any, p: Any) -> Any:
    """A small network with nested parameters."""
    hidden = xp.tanh(p["layers"][0]["w"] @ p["x"] + p["layers"][0]["b"])
    out = p["layers"][1]["w"] @ hidden + p["layers"][1]["b"]
    return xp.sum(out**2) + xp.exp(p["scale"]) * xp.sum(p["x"] ** 2)


RNG = np.random.default_rng(7)
PARAMETERS = {
    "layers": (
        {"w": RNG.normal(size=(3, 2)), "b": RNG.normal(size=3)},
        {"w": RNG.normal(size=(1, 3)), "b": RNG.normal(size=1)},
    ),
    "x": RNG.normal(size=2),
    "scale": 0.3,
}


def same(ours: Any, theirs: Any, path: str = "") -> None:
    """Compare nests of arrays: structure, shapes and numbers."""
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs), path
        for key in theirs:
            same(ours[key], theirs[key], f"{path}[{key!r}]")
    elif isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs), path
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            same(a, b, f"{path}[{k}]")
    else:
        assert np.shape(ours) == np.shape(theirs), path
        np.testing.assert_allclose(
            ours, np.asarray(theirs), rtol=1e-11, atol=1e-12, err_msg=path
        )


def test_nested_parameters_against_jax() -> None:
    f = lambda p: network(np, p)  # noqa: E731
    with jax.enable_x64(True):
        point = jax.tree.map(jnp.asarray, PARAMETERS)
        g = jax.grad(lambda p: network(jnp, p))(point)
        H = jax.hessian(lambda p: network(jnp, p))(point)
        v = jax.tree.map(lambda a: jnp.cos(a) + 1, point)
        hv = jax.jvp(jax.grad(lambda p: network(jnp, p)), (point,), (v,))[1]
        g, H, hv, v = jax.tree.map(np.asarray, (g, H, hv, v))
    same(dc.gradient(f, PARAMETERS), g)
    same(dc.hessian(f, PARAMETERS), H)
    same(dc.hvp(f, PARAMETERS, v), hv)
    for cover in (
        dc.cover_hessian(f, PARAMETERS),
        dc.cover_hessian(f, PARAMETERS, merge="quadrature"),
        dc.cover_hybrid(f, PARAMETERS, ngroups=3),
    ):
        same(cover.gradient, g)
        assert dc.iscover(cover, H)
        assert dc.iscover(cover.h, H)
        assert dc.cover_excess(cover, H) >= 0
        assert np.asarray(cover).shape == (16,)
    bound = dc.hessian_bound(f, PARAMETERS)
    assert (bound["x"]["x"] >= np.abs(H["x"]["x"]) * (1 - 1e-12)).all()


def test_arguments_against_jax() -> None:
    def f(xp: Any, a: Any, b: Any, c: Any) -> Any:
        return xp.sum(a * xp.sin(b)) * c["k"] ** 2

    x0 = (2.0, np.array([0.3, -1.0]), {"k": 1.5})
    with jax.enable_x64(True):
        point = jax.tree.map(jnp.asarray, x0)
        g = jax.grad(lambda *x: f(jnp, *x), argnums=(0, 1, 2))(*point)
        H = jax.hessian(lambda *x: f(jnp, *x), argnums=(0, 1, 2))(*point)
        g, H = jax.tree.map(np.asarray, (g, H))
    same(dc.gradient(lambda *x: f(np, *x), x0), g)
    same(dc.hessian(lambda a, b, c: f(np, a, b, c), x0), H)


def test_jacobian_of_arguments_against_jax() -> None:
    def f(xp: Any, a: Any, b: Any) -> Any:
        return xp.outer(a, b) * xp.sum(b)

    x0 = (np.array([2.0, 1.0, -1.0]), np.array([0.5, 3.0]))
    with jax.enable_x64(True):
        J = jax.jacobian(lambda *x: f(jnp, *x), argnums=(0, 1))(*map(jnp.asarray, x0))
    same(dc.jacobian(lambda *x: f(np, *x), x0), tuple(map(np.asarray, J)))


class Pair(NamedTuple):
    a: Any
    b: Any


def test_a_named_tuple_is_one_argument() -> None:
    def f(p: Any) -> Any:
        assert type(p) is Pair
        return p.a * p.b[1] ** 2

    found = dc.gradient(f, Pair(3.0, [1.0, 2.0]))
    assert type(found) is Pair
    same(found, Pair(np.array(4.0), np.array([0.0, 12.0])))


@pytest.mark.parametrize("kind", [OrderedDict, MappingProxyType])
def test_any_mapping_gives_a_dictionary(kind: Any) -> None:
    def f(p: Any) -> Any:
        assert type(p) is dict
        return p["a"] * p["b"]

    same(dc.gradient(f, kind({"a": 2.0, "b": 3.0})), {"a": 3.0, "b": 2.0})


def test_leaves_are_arrays_and_scalars_of_their_own() -> None:
    def f(p: Any) -> Any:
        assert isinstance(p["s"], dc.TVar)
        assert isinstance(p["zero"], dc.TVar)
        assert isinstance(p["v"], dc.TArray)
        assert p["m"].shape == (2, 2)
        p["v"][0] = 7.0  # in place, without effect on the others
        return np.sum(p["v"]) * p["s"] + np.sum(p["m"]) * p["zero"]

    x0 = {"s": 2, "v": [1, 2], "m": ((1.0, 2.0), (3.0, 4.0)), "zero": np.array(5.0)}
    x0["m"] = [[1.0, 2.0], [3.0, 4.0]]
    found = dc.gradient(f, x0)
    same(
        found,
        {"s": 9.0, "v": np.array([0.0, 2.0]), "m": np.full((2, 2), 5.0), "zero": 10.0},
    )
    assert x0["v"] == [1, 2]


def test_structured_weights_seeds_and_scales() -> None:
    def f(p: Any) -> Any:
        return p["a"] * p["b"][0] + 3 * p["b"][1]

    x0 = {"a": 0.0, "b": [5.0, 1.0]}
    tape, out = dc.tape_function(f, x0)
    assert tape.ninputs == 3
    assert tape.shape == (3,)
    w = {"a": 1.0, "b": [2.0, 0.0]}
    assert dc.abs_forward(w, tape)[out] == 5.0
    assert dc.sensitivity_scales(w, tape)[out] == 5.0
    assert dc.sensitivity_scales(None, tape)[out] == 8.0
    same(dc.abs_reverse(tape, out, 2.0), {"a": 10.0, "b": np.array([0.0, 6.0])})
    scales = {"a": 1e-3, "b": [1.0, 1.0]}
    flat = dc.cover_hessian(
        lambda x: x[0] * x[1] + 3 * x[2], [0.0, 5.0, 1.0], scales=[1e-3, 1.0, 1.0]
    )
    cover = dc.cover_hessian(tape, out, scales=scales)
    assert np.asarray(cover).tolist() == flat.h.tolist()
    assert "HessianCover" in repr(cover)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(cover, copy=False)
    assert np.asarray(cover, dtype=np.float32).dtype == np.float32


def test_the_type_is_single_only_where_all_inputs_are() -> None:
    single, double = np.ones(2, dtype=np.float32), np.ones(2)
    f = lambda a, b: np.sum(a * b)  # noqa: E731
    assert dc.gradient(f, (single, single))[0].dtype == np.float32
    assert dc.gradient(f, (single, double))[0].dtype == np.float64
    assert dc.gradient(f, (single, 2.0))[0].dtype == np.float64


def test_tapes_with_structure_copy_and_pickle() -> None:
    tape, out = dc.tape_function(lambda p: network(np, p), PARAMETERS)
    expected = dc.gradient(tape, out)
    for other in (
        copy.deepcopy(tape),
        pickle.loads(pickle.dumps(tape)),
        copy.copy(tape),
    ):
        found = dc.gradient(other, out)
        assert (found["layers"][0]["w"] == expected["layers"][0]["w"]).all()


# -- tuples that were meant as vectors ---------------------------------------------------


def test_a_tuple_needs_as_many_arguments() -> None:
    with pytest.raises(
        InputTypeError, match=r"tuple of 2.*one entry for each argument.*list"
    ):
        dc.gradient(lambda x: x[0] * x[1], (1.0, 2.0))
    with pytest.raises(InputTypeError, match="one entry for each argument"):
        dc.gradient(lambda a, b: a * b, (1.0, 2.0, 3.0))
    with pytest.raises(InputTypeError, match="one entry for each argument"):
        dc.gradient(lambda a, b: a * b, (np.ones(2),))


def test_numbers_do_not_fill_defaults() -> None:
    def f(x: Any, y: Any = 1.0) -> Any:
        return x * y

    with pytest.raises(
        InputTypeError, match=r"fill y, which has a default.*list\(x0\)"
    ):
        dc.gradient(f, (1.0, 2.0))
    with pytest.raises(InputTypeError, match="has a default"):
        dc.gradient(np.linalg.norm, (3.0, 4.0))
    same(dc.gradient(f, (3.0,)), (np.array(1.0),))
    same(dc.gradient(f, (3.0,), args=(5.0,)), (np.array(5.0),))
    same(dc.gradient(f, (3.0,), kwargs={"y": 5.0}), (np.array(5.0),))
    found = dc.gradient(lambda x, y=2.0: np.sum(x) * y, (np.ones(2), 3.0))
    same(found, (np.array([3.0, 3.0]), np.array(2.0)))  # arrays leave no doubt


def test_functions_without_a_signature_are_called() -> None:
    assert dc.gradient(np.multiply, (2.0, 3.0)) == (3.0, 2.0)
    assert dc.gradient(lambda *x: x[0] * x[1], (2.0, 3.0)) == (3.0, 2.0)


# -- errors --------------------------------------------------------------------------------


@dataclass
class Model:
    a: float = 1.0


@pytest.mark.parametrize(
    ("x0", "kind", "match"),
    [
        ({}, ShapeError, "x0 is an empty dict"),
        ((), ShapeError, "x0 is an empty tuple"),
        ({"a": {}}, ShapeError, r"x0\['a'\] is an empty dict"),
        ({"a": (1.0, ())}, ShapeError, r"x0\['a'\]\[1\] is an empty tuple"),
        ({"a": [1.0], "b": []}, ShapeError, r"x0\['b'\] is empty"),
        ({"a": None}, InputTypeError, r"x0\['a'\] holds .*NoneType.*args or kwargs"),
        ({"name": "text"}, InputTypeError, r"x0\['name'\].*args or kwargs"),
        ({"a": "1j"}, InputTypeError, r"x0\['a'\] holds"),
        ({"a": [1.0, np.nan]}, DomainError, r"x0\['a'\]\[1\] is nan"),
        (Pair(1.0, np.inf), DomainError, r"x0\.b is inf"),
        (Model(), InputTypeError, "dataclass.*dictionary"),
        ({"m": Model()}, InputTypeError, r"x0\['m'\] is a dataclass"),
        ([{"a": 1.0}], InputTypeError, "dict"),
        ([np.ones(2), np.ones(3)], InputTypeError, "tuple or dictionary"),
    ],
)
def test_points_that_cannot_be_used(x0: Any, kind: Any, match: str) -> None:
    with pytest.raises(kind, match=match):
        dc.gradient(lambda *p: 0.0, x0)


@pytest.mark.parametrize(
    ("v", "kind", "match"),
    [
        ([1.0, 1.0, 1.0], InputTypeError, "v is of type list.*keys"),
        ({"a": 1.0}, ShapeError, r"v lacks \['b'\]"),
        (
            {"a": 1.0, "b": (0.0, [1.0, 1.0]), "c": 1.0},
            ShapeError,
            r"has \['c'\] besides",
        ),
        (
            {"a": 1.0, "b": (0.0, [1.0])},
            ShapeError,
            r"v\['b'\]\[1\] has shape \(1,\).*\(2,\)",
        ),
        ({"a": [1.0], "b": (0.0, [1.0, 1.0])}, ShapeError, r"v\['a'\] has shape"),
        ({"a": 1.0, "b": (0.0,)}, ShapeError, r"v\['b'\] has 1 entries"),
        ({"a": 1.0, "b": 0.0}, InputTypeError, r"v\['b'\] is of type float; a tuple"),
        ({"a": np.nan, "b": (0.0, [1.0, 1.0])}, OptionError, r"v\['a'\] holds a NaN"),
    ],
)
def test_directions_of_another_structure(v: Any, kind: Any, match: str) -> None:
    x0 = {"a": 1.0, "b": (2.0, [3.0, 4.0])}
    f = lambda p: p["a"] * p["b"][0] * np.sum(p["b"][1])  # noqa: E731
    with pytest.raises(kind, match=match):
        dc.hvp(f, x0, v)


def test_predicates_want_matching_structures() -> None:
    h = {"a": np.ones(2), "b": np.array(1.0)}
    good = {
        "a": {"a": np.ones((2, 2)), "b": np.ones(2)},
        "b": {"a": np.ones(2), "b": np.array(1.0)},
    }
    assert dc.iscover(h, good)
    assert dc.iscover(h, np.ones((3, 3)))
    assert dc.iscover([1.0, 1.0, 1.0], np.ones((3, 3)))
    assert not dc.iscover(h, 2 * np.ones((3, 3)))
    swapped = {"b": good["b"], "a": good["a"]}
    assert dc.iscover(h, swapped)
    with pytest.raises(ShapeError):
        dc.iscover(h, {"a": good["a"]})


def test_the_order_of_keys_does_not_matter_in_matrices() -> None:
    h = {"a": np.array(3.0), "b": np.array(1.0)}
    H = {"b": {"b": 1.0, "a": 3.0}, "a": {"a": 9.0, "b": 3.0}}
    assert dc.iscover(h, H)


# -- round trips -----------------------------------------------------------------------------

LEAVES = st.one_of(
    st.floats(-9, 9),
    st.integers(-9, 9),
    st.lists(st.floats(-9, 9), min_size=1, max_size=3),
    st.integers(1, 3).map(lambda n: np.arange(2.0 * n).reshape(n, 2)),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(st.text("abc", max_size=2), inner, min_size=1, max_size=3),
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.tuples(inner, inner).map(lambda t: Pair(*t)),
    ),
    max_leaves=8,
)


@given(TREES)
def test_flat_vectors_and_structures_round_trip(tree: Any) -> None:
    structure, flat = input_plan(tree)
    if structure is None:
        assert (flat == np.asarray(tree, dtype=float)).all()
        return
    back = structure.split(flat)
    assert (structure.flatten(back, "v", np.float64) == flat).all()
    assert (structure.flatten(tree, "v", np.float64) == flat).all()
    assert [leaf.start for leaf in structure.leaves] == sorted(
        leaf.start for leaf in structure.leaves
    )
    matrix = np.outer(flat, np.arange(flat.size))
    rows = structure.split(matrix)  # leading axis first
    assert structure.blocks(matrix) is not None
    assert (structure.flatten(dc.value(back), "v", np.float64) == flat).all()
    assert rows is not None


@given(TREES)
def test_gradients_come_back_in_the_structure(tree: Any) -> None:
    def total(*p: Any) -> Any:
        def walk(t: Any) -> Any:
            if isinstance(t, dict):
                return sum(walk(e) for e in t.values())
            if isinstance(t, tuple):
                return sum(walk(e) for e in t)
            return np.sum(t * t)

        return walk(tuple(p))

    structure, flat = input_plan(tree)
    found = dc.gradient(total, tree)
    if structure is None:
        assert (np.ravel(found) == 2 * flat.ravel()).all()
    else:
        assert (structure.flatten(found, "g", np.float64) == 2 * flat).all()


def test_a_tuple_of_one_number_explains_itself() -> None:
    with pytest.raises(TypeError) as caught:
        dc.gradient(lambda x: x[0] ** 2, (2.0,))
    assert "pass a list" in caught.value.__notes__[0]
