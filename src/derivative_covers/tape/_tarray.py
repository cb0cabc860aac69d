"""The array variable, with NumPy's indexing, assignment, operators and protocols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from ..elementals import Elemental
from ..errors import UnsupportedOperationError
from ._array_operators import ArrayOperators, complete
from ._call import check_dtype, real_values
from ._convert import as_operand
from ._elementwise import binary, common_tape, unary
from ._holomorphic import refuse_complex
from ._hooks import array_layer
from ._indexing import Flat, plain_index
from ._over_box import enclosure
from ._refusals import refuse_imaginary
from ._remedies import remedy
from ._storage import PLAIN, ArrayBase, ConstantStorage, fresh, held
from ._tvar import TVar

__all__ = ["TArray"]


class TArray(ArrayOperators):
    """An array of recorded values; behaves as a NumPy array of floats.

    Views alias as NumPy's do, in-place assignment included. What would drop a
    derivative silently (conversion to a plain array, storing into one) raises.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> def f(x):
        ...     y = x.copy()
        ...     y[1:] += y[:-1] ** 2
        ...     return np.sum(y)
        >>> dc.gradient(f, [1.0, 2.0])
        array([3., 1.])
    """

    __slots__ = ()
    __array_priority__ = 2000.0
    __hash__ = None  # type: ignore[assignment]

    # -- geometry ----------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes; assigning others reshapes in place where no copy is due."""
        return self.v.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        v = self.v.view()
        v.shape = shape
        self.v = v
        self._idview = None

    ndim = property(lambda self: self.v.ndim)
    size = property(lambda self: self.v.size)
    dtype = property(lambda self: self.v.dtype)
    itemsize = property(lambda self: self.v.itemsize)
    nbytes = property(lambda self: self.v.nbytes)
    strides = property(lambda self: self.v.strides)
    flags = property(lambda self: self.v.flags)

    @property
    def T(self) -> TArray:
        """The transpose, a view."""
        return self._view(self.v.T)  # type: ignore[no-any-return]

    @property
    def mT(self) -> TArray:
        """The transpose of the last two axes, a view."""
        return self._view(self.v.swapaxes(-1, -2))  # type: ignore[no-any-return]

    @property
    def real(self) -> TArray:
        """The array itself, where it is real.

        Raises:
            UnsupportedOperationError: If it is a complex one that is recorded.
        """
        return self._part("real")  # type: ignore[no-any-return]

    @property
    def imag(self) -> TArray:
        """Zeros, where the array is real; raises as :attr:`real` does."""
        return self._part("imag")  # type: ignore[no-any-return]

    def _part(self, name: str) -> Any:
        if self.v.dtype.kind == "c":
            if not self.is_constant:
                refuse_complex(f"numpy.{name}")
            return getattr(np, name)(self.v)
        return np.imag(self) if name == "imag" else self

    @property
    def flat(self) -> Flat:
        """The entries in C order: indexable, assignable, iterable."""
        return Flat(self)

    def __len__(self) -> int:
        return len(self.v)

    def __iter__(self) -> Iterator[Any]:
        if self.v.ndim == 0:
            msg = "iteration over a 0-d array"
            raise TypeError(msg)
        return (self[k] for k in range(len(self.v)))

    def __getitem__(self, key: Any) -> Any:
        s = self.s
        tape = s.tape
        if tape is None:
            try:
                found = self.v[key]
            except (IndexError, UnsupportedOperationError):
                found = self.v[plain_index(key)]
            if type(key) is slice and s is not PLAIN:
                view = TArray()
                view.s = s
                view.v = found
                return view
            return self._derived(found, None) if type(found) is _Array else found
        v = self.v
        if type(key) is int and v.ndim == 1:
            value = v.item(key)
            if s.ids is not None:
                node = int(self._ids()[key])
            else:
                if key < 0:
                    key += v.size
                if v is s.v:
                    node = s.start + key
                else:
                    step = v.strides[0] // v.itemsize
                    node = s.start + self._position() + key * step
            if tape.scalar is not float:
                value = tape.scalar(value)
            if node < 0:
                return TVar(value)
            out = _new(TVar)
            out.tape = tape
            out.i = node
            out.v = value
            return out
        key = plain_index(key)
        found = v[key]
        if found.__class__ is not np.ndarray:
            entry = v[(*key, ...)] if key.__class__ is tuple else v[key, ...]
            if entry.base is not None:  # a view: no need to list all ids
                return self._view(entry)._entry()
        return self._derived(found, lambda ids: ids[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        tape = self.s.tape
        if tape is None and type(value) is float:
            try:
                self.v[key] = value
                return
            except (
                IndexError,
                UnsupportedOperationError,
            ):  # a recorded index is refused below
                pass
        key = plain_index(key)
        if tape is not None and tape.finished:
            tape.put(())
        value = as_operand(value, self)
        recorded = isinstance(value, (ArrayBase, TVar))
        new = value.v if recorded else value
        live = recorded and not value.is_constant
        if recorded and not live and np.iscomplexobj(new) > np.iscomplexobj(self.v):
            refuse_imaginary()
        if not live and tape is None:
            self.v[key] = new
            return
        ids: Any = -1
        if live:
            ids = value.i if isinstance(value, TVar) else value.node_ids()
            common = common_tape(self, value)
            home = self._home()
            if isinstance(home, ConstantStorage):
                home.join(common)
        whole = self.v is self.s.v and (
            key is ... or (key.__class__ is slice and key == _ALL)
        )
        if whole and not live:
            self.s.release()
            self.v[...] = new
            self.s.forget()
            return
        if whole and self._replaceable(value):
            self.s.renumber(value.s.start)
            self.v[...] = new
            return
        self.s.own()
        self.v[key] = new
        self._ids()[key] = ids
        if isinstance(value, ArrayBase):
            self.s.mixed = None
        elif not live:
            self.s.mixed = True

    def _replaceable(self, value: Any) -> bool:
        """Whether all entries become evenly numbered ones of the same geometry."""
        v = self.v
        if not isinstance(value, ArrayBase):
            return False
        o = value.s
        whole = o.ids is None and o.start >= 0 and value.v is o.v
        return whole and value.v.shape == v.shape and value.v.strides == v.strides

    def item(self, *index: Any) -> Any:
        """One entry as a scalar variable, or as a float where the array is constant."""
        if self.is_constant:
            return self.v.item(*index)
        if not index:
            if self.v.size != 1:
                msg = f"item() needs an array of one entry; this one has shape {self.shape}."
                raise ValueError(msg)
            at: Any = (0,) * self.v.ndim
        else:
            (at,) = index if len(index) == 1 else (index,)
            if not isinstance(at, tuple):
                at = np.unravel_index(range(self.v.size)[at], self.v.shape)
        found: TVar = self._view(self.v[(*at, ...)])._entry()
        return found

    def tolist(self) -> Any:
        """Nested list of scalar variables, of floats where the array is constant."""
        if self.is_constant:
            return self.v.tolist()
        if self.v.ndim == 0:
            return self[()]
        return [e.tolist() if isinstance(e, TArray) else e for e in self]

    # -- shapes ------------------------------------------------------------------

    def _moved(self, move: Any) -> TArray:
        out: TArray = self._derived(move(self.v), move)
        return out

    def view(self, dtype: Any = None, type: Any = None) -> TArray:
        """Another array on the same values.

        Raises:
            UnsupportedOperationError: If a type is given.
        """
        if dtype is not None or type is not None:
            self._refuse("view() in another type")
        return self._view(self.v[...])  # type: ignore[no-any-return]

    def reshape(self, *shape: Any, order: Any = "C") -> TArray:
        """As numpy.ndarray.reshape: a view where NumPy makes one."""
        if len(shape) == 1:
            shape = shape[0]
        return self._moved(lambda a: a.reshape(shape, order=order))

    def ravel(self, order: Any = "C") -> TArray:
        """As numpy.ndarray.ravel: a view where NumPy makes one."""
        return self._moved(lambda a: a.ravel(order))

    def flatten(self, order: Any = "C") -> TArray:
        """A flat copy."""
        return self._moved(lambda a: a.flatten(order))

    def transpose(self, *axes: Any) -> TArray:
        """As numpy.ndarray.transpose, a view."""
        return self._view(self.v.transpose(*axes))  # type: ignore[no-any-return]

    def swapaxes(self, a: int, b: int) -> TArray:
        """As numpy.ndarray.swapaxes, a view."""
        return self._view(self.v.swapaxes(a, b))  # type: ignore[no-any-return]

    def squeeze(self, axis: Any = None) -> TArray:
        """As numpy.ndarray.squeeze, a view."""
        return self._view(self.v.squeeze(axis))  # type: ignore[no-any-return]

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TArray:
        """As numpy.ndarray.diagonal."""
        return self._view(self.v.diagonal(offset, axis1, axis2))  # type: ignore[no-any-return]

    def copy(self, order: Any = "C") -> TArray:
        """A copy on memory of its own."""
        s = self.s
        if (
            s.ids is None
            and s.tape is not None
            and self.v.flags.c_contiguous
            and order in "CAK"
        ):
            v = self.v.copy()
            return fresh(s.tape, v, s.start + self._position(), None)  # type: ignore[no-any-return]
        return self._moved(lambda a: a.copy(order))

    def __copy__(self) -> TArray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> TArray:
        return self.copy()

    def astype(self, dtype: Any, **kw: Any) -> Any:
        """A copy, in the tape's own type; constants take any type.

        Raises:
            UnsupportedOperationError: For every other type.
        """
        if self.is_constant:
            r = self.v.astype(dtype, **kw)
            return held(r) if r.dtype == self.v.dtype else r
        check_dtype(dtype, self.s.tape)
        return self.copy() if kw.get("copy", True) else self

    def repeat(self, repeats: Any, axis: Any = None) -> TArray:
        """As numpy.ndarray.repeat."""
        return self._moved(lambda a: a.repeat(repeats, axis))

    def take(self, indices: Any, axis: Any = None, mode: Any = "raise") -> TArray:
        """As numpy.ndarray.take."""
        return self._moved(lambda a: a.take(indices, axis, mode=mode))

    def sort(self, axis: int = -1, **kw: Any) -> None:
        """Sort in place, as numpy.ndarray.sort."""
        self[...] = np.sort(self, axis, **kw)

    def partition(self, kth: Any, axis: int = -1, **kw: Any) -> None:
        """Partition in place, as numpy.ndarray.partition."""
        self[...] = np.partition(self, kth, axis, **kw)

    def tobytes(self, order: Any = "C") -> bytes:
        """The bytes of a constant array.

        Raises:
            UnsupportedOperationError: If nodes are behind the array: what is kept by such
                a key would bring variables of one recording into the next.
        """
        if not self.is_constant:
            self._refuse("tobytes()")
        return self.v.tobytes(order)

    def conjugate(self) -> TArray:
        """The array itself, where it is real; raises as :attr:`real` does."""
        return self._part("conjugate")  # type: ignore[no-any-return]

    conj = conjugate

    def compress(self, condition: Any, axis: Any = None) -> TArray:
        """As numpy.ndarray.compress."""
        return self._moved(lambda a: a.compress(condition, axis))

    def fill(self, value: Any) -> None:
        """Set every entry."""
        self[...] = value

    # -- questions ---------------------------------------------------------------

    def __bool__(self) -> bool:
        if self.v.size != 1:
            msg = (
                "the truth value of an array with more than one entry is ambiguous; use "
                "a.any() or a.all() on a comparison."
            )
            raise ValueError(msg)
        return bool(self.item())

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any())

    # -- protocols ---------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        if self.s.tape is None and "out" not in kw and not _live(inputs):
            if len(inputs) == 1 and method == "__call__":
                r = ufunc(self.v, **kw)
                return tuple(map(held, r)) if r.__class__ is tuple else held(r)
            r = getattr(ufunc, method)(*(real_values(x) for x in inputs), **kw)
            return tuple(map(held, r)) if r.__class__ is tuple else held(r)
        return array_layer().ufunc(ufunc, method, inputs, kw)

    def __array_function__(self, func: Any, types: Any, args: Any, kw: Any) -> Any:
        if self.s.tape is None:
            if len(args) == 1 and not kw and func in _FRESH:
                return held(func(self.v))
            if not _live((args, tuple(kw.values()))):
                return _of_constants(func, args, kw)
        return array_layer().function(func, args, kw)

    def __elemental__(self, op: Elemental, operands: tuple[Any, ...]) -> Any:
        """Record an elemental entry by entry."""
        return unary(op.name, self) if op.arity == 1 else binary(op.name, *operands)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.is_constant:
            return np.array(self.v, dtype=dtype)
        return self._refuse("conversion to a plain array")

    def _refuse(self, what: str) -> NoReturn:
        way = remedy(
            "To fill np.zeros and the like, decorate the function with "
            "derivative_covers.with_numpy, or store into np.zeros_like(x), "
            "np.concatenate or np.stack pieces; write A @ x instead of A.dot(x), and "
            "A = A + x instead of A += x, for a plain A; take A.toarray() of a sparse A "
            "and t.to_numpy() of a data frame."
        )
        msg = (
            f"{what} would drop the derivative of a recorded array. {way} "
            "derivative_covers.value(x) gives the bare numbers."
        )
        raise UnsupportedOperationError(msg)

    def _single(self, what: str) -> Any:
        return self.item() if self.v.size == 1 else self._refuse(what)

    def __float__(self) -> float:
        return float(self._single("float()"))

    def __int__(self) -> int:
        return int(self._single("int()"))

    def __index__(self) -> int:
        self._refuse("the use as an index")

    def __complex__(self) -> complex:
        return complex(self._single("complex()"))

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.is_constant:
            return held, (self.v.copy(),)
        return super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        if not self.is_constant and self.s.tape.box is not None:
            return f"TArray({enclosure(self)!r})"
        body = np.array2string(self.v, separator=", ", prefix="TArray(")
        return f"TArray({body}, dtype={self.v.dtype})"


def _of_constants(func: Any, args: Any, kw: Any) -> Any:
    """What a function gives for constants: by its rule, which knows views, or NumPy's."""
    try:
        r = array_layer().function(func, args, kw)
    except UnsupportedOperationError:
        plain = {name: real_values(x) for name, x in kw.items()}
        return held(func(*real_values(args), **plain))
    return np.float64(r.v) if type(r) is TVar and type(r.v) is float else r


def _live(inputs: tuple[Any, ...]) -> bool:
    """Whether an operand holds a node."""
    for x in inputs:
        if isinstance(x, (ArrayBase, TVar)):
            if not x.is_constant:
                return True
        elif isinstance(x, (list, tuple)):
            if _live(tuple(x)):
                return True
        elif isinstance(x, np.ndarray) and x.dtype == object and _live(tuple(x.flat)):
            return True
    return False


_new = object.__new__
_Array = np.ndarray
_ALL = slice(None)
# Functions of one array whose results share no memory with it.
_FRESH = frozenset(
    (np.sum, np.prod, np.mean, np.max, np.min, np.any, np.all, np.cumsum)
)


complete(TArray)
