"""Calls that move, join, split and repeat entries."""

from __future__ import annotations

import numpy as np

from tests._numpy_calls._call import DIFFERENCES, Table

TABLE = call = Table()
P = np.array([[1.5, -0.5, 0.25], [0.3, 2.0, -1.0]])
V = np.array([0.5, -1.5, 2.0])

for k in (-1, 0, 2):
    call(f"diag{k}", (3, 4), lambda xp, x, k=k: xp.diag(x, k))
    call(f"diag{k} of a vector", (3,), lambda xp, x, k=k: xp.diag(x, k))
    call(f"diagflat{k}", (2, 2), lambda xp, x, k=k: xp.diagflat(x, k))
    call(f"tril{k}", (3, 4), lambda xp, x, k=k: xp.tril(x, k))
    call(f"triu{k}", (2, 3, 4), lambda xp, x, k=k: xp.triu(x, k))
call("diagonal", (2, 3, 4), lambda xp, x: xp.diagonal(x, 1, 0, 2))
call("triu_indices", (3, 3), lambda xp, x: x[xp.triu_indices(3)])
call("triu_indices_from", (3, 3), lambda xp, x: x[xp.triu_indices_from(x, 1)])
call("tril_indices_from", (3, 3), lambda xp, x: x[xp.tril_indices_from(x)])
call("diag_indices_from", (3, 3), lambda xp, x: x[xp.diag_indices_from(x)])
call("diag_indices", (3, 3), lambda xp, x: x[xp.diag_indices(3)])
call("ix_", (3, 3), lambda xp, x: x[np.ix_([0, 2], [1])])
call("unravel_index", (3, 3), lambda xp, x: x[np.unravel_index([0, 4], x.shape)])
call("mask_indices", (3, 3), lambda xp, x: x[np.mask_indices(3, np.triu)])
call("tri", (3, 3), lambda xp, x: x * np.tri(3))

for name in ("hstack", "vstack", "dstack", "column_stack", "concatenate", "stack"):
    call(name, (3,), lambda xp, x, n=name: getattr(xp, n)([x, V, x * 2]))
    call(f"{name} 2d", (2, 3), lambda xp, x, n=name: getattr(xp, n)((x, P)))
call("concatenate flat", (2, 3), lambda xp, x: xp.concatenate([x, V], axis=None))
call("concatenate axis 1", (2, 3), lambda xp, x: xp.concatenate([x, P], axis=1))
call("append", (2, 3), lambda xp, x: xp.append(x, P, axis=0))
call("append flat", (2, 3), lambda xp, x: xp.append(x, x[0]))
call(
    "insert",
    (5,),
    lambda xp, x: xp.insert(x, np.array([1, 3]), xp.stack([x[1], x[0] * 2])),
)
call("insert axis", (3, 4), lambda xp, x: xp.insert(x, 1, x[:, 0], axis=1))
call("insert slice", (5,), lambda xp, x: xp.insert(x, slice(0, 4, 2), 7.0))
call("delete", (5,), lambda xp, x: xp.delete(x, np.array([1, 2])))
call("delete slice", (3, 4), lambda xp, x: xp.delete(x, slice(0, 2), axis=1))
call(
    "block", (2, 2), lambda xp, x: xp.block([[x, np.eye(2)], [np.zeros((1, 2)), x[:1]]])
)
call("block of scalars", (2,), lambda xp, x: xp.block([x, 1.0, x[0]]))

call("split", (6, 2), lambda xp, x: xp.split(x, 3)[1])
call("split at", (6, 2), lambda xp, x: xp.split(x, [2, 3])[2])
call("array_split", (7,), lambda xp, x: xp.array_split(x, 3)[1])
call("hsplit", (4, 4), lambda xp, x: xp.hsplit(x, 2)[1])
call("vsplit", (4, 4), lambda xp, x: xp.vsplit(x, 2)[1])
call("dsplit", (2, 2, 4), lambda xp, x: xp.dsplit(x, 2)[1])
if hasattr(np, "unstack"):
    call("unstack", (2, 3), lambda xp, x: xp.unstack(x, axis=1)[2])

call("reshape", (2, 3), lambda xp, x: xp.reshape(x, (3, -1)))
call("ravel", (2, 3), lambda xp, x: xp.ravel(x.T))
call("transpose", (2, 3, 4), lambda xp, x: xp.transpose(x, (2, 0, 1)))
call("swapaxes", (2, 3, 4), lambda xp, x: xp.swapaxes(x, 0, 2))
call("moveaxis", (2, 3, 4), lambda xp, x: xp.moveaxis(x, [0, 1], [-1, 0]))
call("rollaxis", (2, 3, 4), lambda xp, x: xp.rollaxis(x, 2))
call("expand_dims", (2, 3), lambda xp, x: xp.expand_dims(x, (0, 2)))
call("squeeze", (1, 3, 1), lambda xp, x: xp.squeeze(x, axis=0))
call("squeeze to one", (1, 1), lambda xp, x: xp.squeeze(x) * 1.0)
for n in (1, 2, 3):
    call(f"atleast_{n}d", (3,), lambda xp, x, n=n: getattr(xp, f"atleast_{n}d")(x))
    call(f"atleast_{n}d of one", (), lambda xp, x, n=n: getattr(xp, f"atleast_{n}d")(x))
call("atleast_2d of several", (3,), lambda xp, x: xp.atleast_2d(x, x[0], P)[1])
call("tile", (2, 3), lambda xp, x: xp.tile(x, (2, 1, 2)))
call("repeat", (2, 3), lambda xp, x: xp.repeat(x, np.array([1, 0, 2]), axis=1))
call("repeat method", (2, 3), lambda xp, x: x.repeat(2))
call("resize", (3,), lambda xp, x: xp.resize(x, (2, 4)))
for name in ("flip", "fliplr", "flipud", "rot90"):
    call(name, (3, 4), lambda xp, x, n=name: getattr(xp, n)(x))
call("rot90 thrice", (3, 4, 2), lambda xp, x: xp.rot90(x, 3, (1, 2)))
call("roll", (3, 4), lambda xp, x: xp.roll(x, (1, -2), (0, 1)))
call("fftshift", (4,), lambda xp, x: xp.fft.fftshift(x))
call("ifftshift", (5,), lambda xp, x: xp.fft.ifftshift(x))
call("broadcast_to", (3,), lambda xp, x: xp.broadcast_to(x, (2, 3)))
call(
    "broadcast_arrays", (3,), lambda xp, x: xp.broadcast_arrays(x, np.zeros((2, 3)))[0]
)
call(
    "sliding_window_view",
    (5,),
    lambda xp, x: np.lib.stride_tricks.sliding_window_view(x, 3),
    lambda x: x[np.arange(3)[:, None] + np.arange(3)],
)
call("copy", (2, 3), lambda xp, x: xp.copy(x))
if hasattr(np, "astype"):
    call("astype", (3,), lambda xp, x: xp.astype(x, x.dtype) * x)
    call("permute_dims", (2, 3, 4), lambda xp, x: xp.permute_dims(x, (2, 0, 1)))
    call("matrix_transpose", (2, 3), lambda xp, x: xp.matrix_transpose(x))
    call("concat", (3,), lambda xp, x: xp.concat([x, V]))

call("take", (3, 4), lambda xp, x: xp.take(x, np.array([0, 3, 3]), axis=1))
call("take clip", (3, 4), lambda xp, x: xp.take(x, np.array([0, 30]), mode="clip"))
call("take wrap", (3, 4), lambda xp, x: x.take(np.array([0, 33]), mode="wrap"))
call(
    "take_along_axis",
    (3, 4),
    lambda xp, x: xp.take_along_axis(x, np.array([[0], [1], [3]]), 1),
)
call(
    "choose",
    (3, 4),
    lambda xp, x: np.choose([0, 2, 1, 0], x),
    lambda x: x[np.array([0, 2, 1, 0]), np.arange(4)],
)
call("choose of a list", (3,), lambda xp, x: np.choose([0, 1, 1], [x, V]), DIFFERENCES)
call(
    "compress",
    (3, 4),
    lambda xp, x: np.compress([True, False, True], x, axis=0),
    lambda x: x[np.array([0, 2])],
)
call(
    "extract",
    (3,),
    lambda xp, x: np.extract([True, False, True], x),
    lambda x: x[np.array([0, 2])],
)
call(
    "trim_zeros",
    (3,),
    lambda xp, x: np.trim_zeros(np.concatenate([[0.0, 0.0], x, [0.0]])),
    lambda x: x,
)
call("meshgrid", (3,), lambda xp, x: xp.meshgrid(x, V)[0])
call(
    "meshgrid sparse",
    (3,),
    lambda xp, x: xp.meshgrid(V[:2], x, indexing="ij", sparse=True)[1],
)
call(
    "meshgrid views",
    (3,),
    lambda xp, x: xp.meshgrid(x, x[:2], copy=False)[1],
    lambda x: x[:2, None] + 0.0 * x,
)
call("meshgrid of three", (3,), lambda xp, x: xp.meshgrid(x, x[:1], V)[1])

MODES = (
    "constant",
    "edge",
    "wrap",
    "reflect",
    "symmetric",
    "linear_ramp",
    "mean",
    "maximum",
    "minimum",
    "median",
)
for mode in MODES:
    call(f"pad {mode}", (3, 4), lambda xp, x, m=mode: xp.pad(x, ((1, 2), (2, 0)), m))
    call(f"pad {mode} vector", (5,), lambda xp, x, m=mode: xp.pad(x, 2, mode=m))
call("pad far", (3,), lambda xp, x: xp.pad(x, 7, mode="reflect"))
call("pad odd", (5,), lambda xp, x: xp.pad(x, 2, "reflect", reflect_type="odd"))
call(
    "pad odd far",
    (3,),
    lambda xp, x: np.pad(x, 5, "reflect", reflect_type="odd"),
    DIFFERENCES,
)
call(
    "pad symmetric odd",
    (5,),
    lambda xp, x: xp.pad(x, 2, "symmetric", reflect_type="odd"),
)
call(
    "pad symmetric odd far",
    (2,),
    lambda xp, x: np.pad(x, 7, "symmetric", reflect_type="odd"),
    DIFFERENCES,
)
call("pad values", (3,), lambda xp, x: xp.pad(x, 2, constant_values=(1.0, 2.0)))
call("pad recorded value", (3,), lambda xp, x: xp.pad(x, 2, constant_values=x[0]))
call(
    "pad recorded values",
    (3,),
    lambda xp, x: np.pad(x, 2, constant_values=(x[0], x[1])),
    DIFFERENCES,
)
call(
    "pad ramp ends",
    (3,),
    lambda xp, x: np.pad(x, 2, "linear_ramp", end_values=(1.0, x[1])),
    DIFFERENCES,
)
call("pad stat_length", (5,), lambda xp, x: xp.pad(x, 2, "mean", stat_length=2))
call(
    "pad stat_lengths",
    (3, 5),
    lambda xp, x: xp.pad(x, 2, "maximum", stat_length=((2, 1), (3, 3))),
)
