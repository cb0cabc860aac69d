"""Recording at complex inputs: what is refused, what is kept, and in which type."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from scipy import special

import derivative_covers as dc
from derivative_covers.elements import (
    as_element,
    boundtype,
    decided_one,
    decided_sign,
    decided_zero,
    element_type,
    magnitude,
    magtype,
    separation,
)
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    OptionError,
    UnsupportedOperationError,
)
from derivative_covers.extend import (
    Rule,
    binarynode,
    blackbox,
    dotnode,
    elemental,
    linearnode,
    unarynode,
)

Z = np.array([0.3 + 0.2j, -0.4 + 0.5j, 1.1 - 0.3j])


@pytest.mark.parametrize("T", [np.complex128, np.complex64])
def test_the_contract_of_complex_elements(T: Any) -> None:
    z, M = T(3 - 4j), magtype(T)
    assert M is (np.float64 if T is np.complex128 else np.float32)
    assert boundtype(T) is M
    assert (magnitude(z), type(magnitude(z))) == (5.0, M)
    assert magnitude(np.array([z, 0], T)).dtype == M
    assert (decided_sign(z), decided_sign(T(2))) == (0, 0)
    assert (decided_one(T(1)), decided_one(z), decided_zero(T(0))) == (
        True,
        False,
        True,
    )
    assert separation(z, T(0)) == separation(2.0, T(2 + 5j)) == 5.0
    assert element_type([z]) == np.dtype(T)
    assert as_element([1, 2j], T).dtype == T
    assert as_element(2.0, T).dtype == T
    with pytest.raises(InputTypeError, match="real numbers"):
        as_element([1j], M)


REFUSED = {
    "absolute": lambda x: np.sum(abs(x)),
    "absolute ": lambda x: np.abs(x[0]),
    "real": lambda x: np.sum(x.real),
    "real ": lambda x: x[0].real,
    "numpy.real": lambda x: np.real(x[0]),
    "imag": lambda x: x.imag.sum(),
    "imag ": lambda x: x[0].imag,
    "conj": lambda x: np.conj(x).sum(),
    "conj ": lambda x: x[0].conjugate(),
    "angle": lambda x: np.angle(x[0]),
    "vdot": lambda x: np.vdot(x, x),
    "comparison (<)": lambda x: x[0] if x[0] < x[1] else x[1],
    "comparison (>)": lambda x: np.where(x > 1, x, 0).sum(),
    "comparison (<) ": lambda x: sorted(x)[0],
    "max": lambda x: np.max(x),
    "maximum": lambda x: np.maximum(x, x[::-1]).sum(),
    "maximum ": lambda x: np.maximum.reduce(x),
    "sort": lambda x: np.sort(x)[0],
    "argmax": lambda x: x[np.argmax(x)],
    "clip": lambda x: np.clip(x, 0, 1).sum(),
    "floor": lambda x: np.floor(x[0]),
    "floor ": lambda x: np.floor(x).sum(),
    "sign": lambda x: np.sign(x).sum(),
    "arctan2": lambda x: np.arctan2(x[0], x[1]),
    "hypot": lambda x: np.hypot(x, 1.0).sum(),
    "cbrt": lambda x: np.cbrt(x).sum(),
    "mod": lambda x: x[0] % 2,
    "floor_divide": lambda x: (x // 2).sum(),
    "norm": lambda x: np.linalg.norm(x),
    "var": lambda x: np.var(x),
    "std": lambda x: x.std(),
    "eigvalsh": lambda x: np.linalg.eigvalsh(np.outer(x, x)).sum(),
    "rint": lambda x: round(x[0]),
    "int()": lambda x: int(x[0]) * x[0],
    "logaddexp": lambda x: np.logaddexp(x[0], x[1]),
    "expit": lambda x: special.expit(x).sum(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_holomorphic_is_refused_by_name(name: str) -> None:
    for z in (Z, Z.astype(np.complex64)):
        with pytest.raises(UnsupportedOperationError) as caught:
            dc.gradient(REFUSED[name], z)
        text = str(caught.value)
        assert name.strip() in text
        assert "holomorphic" in text or "derivative" in text
    # the same on real inputs is as before (some have kinks, none is refused)
    if name.strip() not in ("int()", "eigvalsh", "imag"):
        assert np.isfinite(dc.gradient(REFUSED[name], Z.real)).all()


def test_a_refused_operation_leaves_the_recording_whole() -> None:
    def f(x: Any) -> Any:
        a = x[0] * x[1]
        for bad in (lambda: np.abs(a), lambda: abs(x).sum(), lambda: a < 1):
            with pytest.raises(UnsupportedOperationError):
                bad()
        return a * x[2] + np.sum(x)

    np.testing.assert_allclose(
        dc.gradient(f, Z),
        [Z[1] * Z[2] + 1, Z[0] * Z[2] + 1, Z[0] * Z[1] + 1],
        rtol=1e-15,
    )


def test_real_recordings_stay_real() -> None:
    x = np.array([1.0, 2.0, 3.0])
    for f in (
        lambda x: x[0] * 1j,
        lambda x: np.exp(1j * x).real.sum(),
        lambda x: x @ np.array([1j, 1, 1]),
        lambda x: [x[0], 1j],
        lambda x: np.where([True, False, True], x, 1j).sum(),
        lambda x: type(x[0])(1j) * x[0],
        lambda x: x[0] ** np.complex64(1j),
        lambda x: np.power(x[0], np.array(1j)),
        lambda x: np.sum(np.stack([x, np.ones(3) * 1j])),
        lambda x: x.__setitem__(0, 1j),
    ):
        with pytest.raises(UnsupportedOperationError, match="complex"):
            dc.tape_function(f, x)
    kept: list[Any] = []
    dc.gradient(lambda z: kept.append(np.zeros_like(z) + 1j) or z.sum(), Z)
    for g in (lambda x: np.sum(x * kept[0]), lambda x: np.stack([x, kept[0]]).sum()):
        with pytest.raises(UnsupportedOperationError, match="complex"):
            dc.tape_function(g, x)


KEPT = {
    "guard": lambda x: x[0] * x[1] if x[0] != 0 else x[1],
    "truth": lambda x: x[0] ** 2 if x[0] else x[1],
    "numbers": lambda x: x[0] * 1j + (2 - 1j) / x[1] - 1j ** x[0] + x[2] / 3,
    "numpy numbers": lambda x: np.complex64(1j) * x[0] ** 2 - x[1] * np.complex128(2j),
    "entries": lambda x: np.sum(np.stack([x[0] * x[0], x[1] * 1j, x[2]])),
    "real arrays": lambda x: np.arange(3) @ x**2 + (np.ones((2, 3)) @ x).sum(),
    "writes": lambda x: _written(x.copy()),
    "fresh": lambda x: _written(np.zeros_like(x) + x),
    "views": lambda x: (x.reshape(3, 1).T * x.reshape(1, 3)[:, ::-1]).sum(),
    "constants": lambda x: type(x[0])(2j) * x[0] ** 2 + type(x[0])(1.0),
    "running": lambda x: x.cumsum()[-1] ** 2 + x.prod(),
    "series": lambda x: np.polyval([1j, 2.0, x[0]], x[1]) + np.sinc(x[2]),
    "einsum": lambda x: np.einsum("i,j,ij->", x, x, 1j * np.ones((3, 3))),
    "float_power": lambda x: np.float_power(x, 2.5).sum(),
    "erf": lambda x: special.erf(x).sum() + special.erfc(x[0]),
}


def _written(y: Any) -> Any:
    y[0] = 1j * y[1]
    y[2] = 2j
    return y.sum() ** 2


@pytest.mark.parametrize("name", KEPT)
def test_values_and_slopes_by_cauchys_integral(name: str) -> None:
    f = KEPT[name]
    tape, out = dc.tape_function(f, Z)
    assert {b.values.dtype for b in tape.blocks} == {np.dtype(np.complex128)}
    if name != "constants":
        assert tape.vals[out] == f(Z)
        circle = 1e-2 * np.exp(2j * np.pi * np.arange(16) / 16)
        slopes = [np.mean([f(Z + r * e) / r for r in circle]) for e in np.eye(3)]
        np.testing.assert_allclose(
            dc.gradient(tape, out), slopes, rtol=1e-11, atol=1e-11
        )
    single, o = dc.tape_function(f, Z.astype(np.complex64))
    assert {b.values.dtype for b in single.blocks} == {np.dtype(np.complex64)}
    cover = dc.cover_hessian(single, o)
    assert (cover.gradient.dtype, cover.h.dtype) == (np.complex64, np.float32)
    assert dc.iscover(cover, dc.hessian(tape, out), rtol=1e-4)


def test_filled_arrays_and_rewritten_functions() -> None:
    def f(z: Any) -> Any:
        y = np.zeros(3)
        y[0], y[1], y[2] = z[1] * z[2], 1j * z[0], 2.0
        return np.sum(y**2) + np.full(2, z[0])[1]

    want = [1 - 2 * Z[0], 2 * Z[1] * Z[2] ** 2, 2 * Z[2] * Z[1] ** 2]
    found = dc.gradient(f, Z, numpy="rewrite")
    np.testing.assert_allclose(found, want, rtol=1e-14)


def test_extensions_at_complex_points() -> None:
    @elemental(
        partials=lambda xp, x, v: (v * xp.cos(x), v * (xp.cos(x) ** 2 - xp.sin(x))),
        holomorphic=True,
        name="exp_of_sin_of_complex",
    )
    def exp_sin(xp: Any, x: Any) -> Any:
        return xp.exp(xp.sin(x))

    @elemental(partials=lambda xp, x, v: (2 * x, 2.0), name="real_square_alone")
    def square(xp: Any, x: Any) -> Any:
        return x * x

    A = np.array([[1, 2j], [2j, 3]])
    box = blackbox(lambda v: v @ A @ v / 2, lambda v: A @ v, lambda v: A)

    def f(x: Any) -> Any:
        a, b = dc.value(x[0]), dc.value(x[1])
        cube = unarynode(x[0], a**3, 3 * a * a, 6 * a)
        times = binarynode(x[0], x[1], a * b, b, a, 0.0, 1.0, 0.0)
        line = linearnode([1j, 2.0], [x[1], x[2]])
        return exp_sin(x[2]) * cube + times + dotnode([x[0]], [line]) + box(x[:2])

    def plain(x: Any) -> Any:
        line = 1j * x[1] + 2 * x[2]
        rest = x[0] * x[1] + x[0] * line + x[:2] @ A @ x[:2] / 2
        return np.exp(np.sin(x[2])) * x[0] ** 3 + rest

    tape, out = dc.tape_function(f, Z)
    H = dc.hessian(plain, Z)
    np.testing.assert_allclose(
        dc.gradient(tape, out), dc.gradient(plain, Z), rtol=1e-13
    )
    np.testing.assert_allclose(dc.hessian(tape, out), H, rtol=1e-12, atol=1e-13)
    for merge in ("sum", "quadrature", "auto"):
        assert dc.iscover(dc.cover_hessian(tape, out, merge=merge), H)
    assert (dc.hessian_bound(tape, out) >= np.abs(H) * (1 - 1e-12)).all()
    with pytest.raises(UnsupportedOperationError, match="real_square_alone"):
        dc.gradient(lambda x: square(x[0]), Z)
    with pytest.raises(InputTypeError, match="real"):
        square(1j)
    assert isinstance(Rule(lambda *_: (0.0, 0.0)).holomorphic, bool)


def test_wrong_arguments_and_what_takes_real_inputs_alone() -> None:
    tape, out = dc.tape_function(lambda x: x[0] * x[1], Z)
    for call, error in (
        (lambda: dc.cover_hessian(tape, out, scales=Z), InputTypeError),
        (lambda: dc.abs_forward(Z, tape), InputTypeError),
        (lambda: dc.abs_reverse(tape, out, 1j), InputTypeError),
        (lambda: dc.gramcover(tape, out, weights=1j), InputTypeError),
        (lambda: dc.cover_hessian(tape, out, ratio=1j), OptionError),
        (lambda: dc.tape_function(lambda x: x[0], [1j, np.nan]), DomainError),
        (lambda: dc.forward_cover(lambda x: x[0] ** 2, Z), UnsupportedOperationError),
        (lambda: dc.check(lambda x: x[0] ** 2, Z), UnsupportedOperationError),
        (lambda: dc.gradient(lambda x: x[0] / 0.0, Z), DomainError),
    ):
        with pytest.raises(error):
            call()
    assert "complex128" in repr(tape)


def test_declared_scales_and_zeros() -> None:
    def f(x: Any) -> Any:
        return x[0] * x[1] + x[1] * x[2] ** 2

    at = np.array([0.0, 1j, 0.0])
    tape, out = dc.tape_function(f, at)
    assert dc.guards_any_block(tape)
    H = dc.hessian(tape, out)
    for scales in (None, [1.0, 8.0, 0.5]):
        cover = dc.cover_hessian(tape, out, scales=scales)
        assert cover.asked
        assert dc.iscover(cover, H)
    assert dc.natoms(tape) == 3
    assert dc.local_covers(tape, out)[3] is not None


def test_pickled_tapes_answer_alike() -> None:
    tape, out = dc.tape_function(KEPT["numbers"], Z)
    again = copy.deepcopy(tape)
    np.testing.assert_array_equal(dc.gradient(again, out), dc.gradient(tape, out))


def test_the_hint_for_fft_holds_for_both_kinds_of_inputs():
    k = np.outer(np.arange(4), np.arange(4)) * 2 * np.pi / 4
    z = np.array([1.0, 2j, -1.0, 0.5])
    with pytest.raises(UnsupportedOperationError, match=r"np\.exp\(-1j \* k\) @ x"):
        dc.gradient(lambda z: np.fft.fft(z)[1], z)
    assert dc.jacobian(lambda z: np.exp(-1j * k) @ z, z) == pytest.approx(
        np.fft.fft(np.eye(4))
    )
    real = dc.jacobian(lambda x: np.cos(k) @ x, z.real)
    imaginary = dc.jacobian(lambda x: -np.sin(k) @ x, z.real)
    assert real + 1j * imaginary == pytest.approx(np.fft.fft(np.eye(4)))
