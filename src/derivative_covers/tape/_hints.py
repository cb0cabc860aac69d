"""What to do instead of a NumPy function that has no rule for recorded variables."""

from __future__ import annotations

from typing import Any

__all__ = ["HINTS", "hint", "public_name"]

_VALUE = "Take derivative_covers.value(x) of the argument where its derivative is not wanted."
_DFT = (
    "With k = np.outer(np.arange(n), np.arange(n)) * 2 * np.pi / n, it is "
    "np.exp(-1j * k) @ x of complex inputs; of real ones np.cos(k) @ x is its real part "
    "and -np.sin(k) @ x the imaginary part."
)
_SYMMETRIC = (
    "Eigenvectors are not unique; np.linalg.eigvalsh gives the eigenvalues of a "
    "symmetric matrix, np.trace and np.linalg.det functions of those of any."
)
_QR = (
    "The triangular factor is np.linalg.cholesky(A.T @ A).T up to the signs of rows; "
    "solve least squares with np.linalg.lstsq."
)
_SET = "Find the entries with derivative_covers.value(x) and index x with the result."
_FILE = "Save derivative_covers.value(x)."
_BITS = "It is for integers: apply it to plain ones, and index x with the result."

HINTS: dict[str, str] = {
    "numpy.fft": _DFT,
    "numpy.polynomial": (
        "Its polyval, chebval and so on take recorded points and plain coefficients; for "
        "recorded coefficients of powers, lowest first, use np.polyval(c[::-1], x)."
    ),
    "numpy.roots": (
        "Find the roots of the plain coefficients and take a step of Newton's method "
        "with the recorded ones, r - np.polyval(p, r) / np.polyval(np.polyder(p), r)."
    ),
    "numpy.linalg.eig": _SYMMETRIC,
    "numpy.linalg.eigh": _SYMMETRIC,
    "numpy.linalg.eigvals": _SYMMETRIC,
    "numpy.linalg.svd": (
        "Singular vectors are not unique; np.linalg.svdvals, or np.linalg.svd with "
        "compute_uv=False, gives the singular values."
    ),
    "numpy.linalg.qr": _QR,
    "numpy.histogram2d": (
        "Use np.histogram, or np.bincount of np.digitize'd plain coordinates with "
        "weights=x."
    ),
    "numpy.histogramdd": (
        "Use np.histogram, or np.bincount of np.digitize'd plain coordinates with "
        "weights=x."
    ),
    "numpy.intersect1d": _SET,
    "numpy.setxor1d": _SET,
    "numpy.unique_all": "Use np.unique with return_index=True and so on.",
    "numpy.unique_counts": "Use np.unique with return_counts=True.",
    "numpy.unique_inverse": "Use np.unique with return_inverse=True.",
    "numpy.unique_values": "Use np.unique.",
    "numpy.sort_complex": "Complex numbers have no order: use np.sort of real ones.",
    "numpy.save": _FILE,
    "numpy.savez": _FILE,
    "numpy.savez_compressed": _FILE,
    "numpy.savetxt": _FILE,
    "numpy.ravel_multi_index": _BITS,
    "numpy.unravel_index": _BITS,
    "numpy.packbits": _BITS,
    "numpy.unpackbits": _BITS,
    "numpy.bitwise_and": _BITS,
    "numpy.bitwise_or": _BITS,
    "numpy.bitwise_xor": _BITS,
    "numpy.bitwise_count": _BITS,
    "numpy.invert": _BITS,
    "numpy.left_shift": _BITS,
    "numpy.right_shift": _BITS,
    "numpy.gcd": _BITS,
    "numpy.lcm": _BITS,
    "numpy.frexp": "Divide by a plain power of two: x / 2.0**e.",
    "numpy.ldexp": "Write x * 2.0**n.",
    "numpy.nextafter": f"It has no derivative. {_VALUE}",
    "numpy.isnat": "It is for dates; ask np.isnan.",
}


def public_name(function: Any) -> str:
    """The dotted name by which users know a NumPy function or ufunc."""
    name = getattr(function, "__name__", str(function))
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module}.{name}"


def hint(function: Any) -> str | None:
    """The nearest supported way in place of a function, where one is known."""
    name = public_name(function)
    while name:
        if name in HINTS:
            return HINTS[name]
        name = name.rpartition(".")[0]
    return None
