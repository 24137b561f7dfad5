"""The functions, methods and constants of NumPy and jax.numpy that mask code may use, each called by us."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.code_bounds import check_count, numbers_in, shape_of, whole
from tfm_core.clinic.code_torch import arange as torch_arange

Values = NDArray[Any]


def _maker(value: int, standard: type) -> Callable[..., Values]:
    def made(shape: object, dtype: Any = standard) -> Values:
        return np.full(shape_of(shape), value, dtype=dtype)

    return made


def full(shape: object, fill_value: Any, dtype: Any = None) -> Values:
    """An array of a single number, as np.full."""
    return np.full(shape_of(shape), fill_value, dtype=dtype)


def eye(N: object, M: object = None, k: int = 0, dtype: Any = float) -> Values:
    """Ones on a diagonal, as np.eye."""
    rows, columns = shape_of(N, N if M is None else M)
    made: Values = np.eye(rows, columns, k, dtype=dtype)
    return made


def tri(N: object, M: object = None, k: int = 0, dtype: Any = float) -> Values:
    """Ones on and below a diagonal, as np.tri."""
    rows, columns = shape_of(N, N if M is None else M)
    return np.tri(rows, columns, k, dtype=dtype)


def arange(*bounds: Any, dtype: Any = None) -> Values:
    """Numbers in a row, as np.arange."""
    made: Values = torch_arange(*bounds).numpy()  # whose bounds are looked at
    return made.astype(dtype or (np.float64 if made.dtype.kind == "f" else np.int64))


def concatenate(arrays: Sequence[Values], axis: int = 0) -> Values:
    """Arrays after each other, as np.concatenate."""
    check_count(numbers_in(arrays))
    return np.concatenate(arrays, axis)


def stack(arrays: Sequence[Values], axis: int = 0) -> Values:
    """Arrays along a new axis, as np.stack."""
    check_count(numbers_in(arrays))
    return np.stack(arrays, axis)


def tile(A: Values, reps: Any) -> Values:
    """An array several times along its axes, as np.tile."""
    times = shape_of(reps)
    check_count(A.size * math.prod(times), max(A.ndim, len(times)))
    return np.tile(A, times)


def repeat(a: Values, repeats: object, axis: int | None = None) -> Values:
    """Each entry several times, as np.repeat."""
    (times,) = shape_of(repeats)
    check_count(a.size * times)
    return np.repeat(a, times, axis)


def broadcast_to(array: Values, shape: object) -> Values:
    """An array along axes of 1, as np.broadcast_to."""
    return np.broadcast_to(array, shape_of(shape))


def reshape(a: Values, *sizes: Any) -> Values:
    """The same numbers in another shape, as np.reshape."""
    listed = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    return a.reshape(tuple(whole(each) for each in listed))


def transpose(a: Values, *axes: Any) -> Values:
    """Other axes, as np.transpose."""
    return np.transpose(a, axes[0] if len(axes) == 1 and isinstance(axes[0], list | tuple) else axes or None)


def triu_indices(n: object, k: int = 0, m: object = None) -> tuple[Values, ...]:
    """The places on and above a diagonal, as np.triu_indices."""
    rows, columns = shape_of(n, n if m is None else m)
    return np.triu_indices(rows, k, columns)


def tril_indices(n: object, k: int = 0, m: object = None) -> tuple[Values, ...]:
    """The places on and below a diagonal, as np.tril_indices."""
    rows, columns = shape_of(n, n if m is None else m)
    return np.tril_indices(rows, k, columns)


def where(condition: Values, x: Any, y: Any) -> Values:
    """A choice of two by a condition, as np.where."""
    made: Values = np.where(condition, x, y)
    return made


def array(object: Any, dtype: Any = None) -> Values:
    """An array of lists of numbers, as np.array."""
    made: Values = np.array(object, dtype=dtype)
    made = made if made.dtype.kind in "biuf" else made.astype(np.float64)
    return made


_SHAPES: dict[str, Callable[..., Any]] = {
    "triu": np.triu,
    "tril": np.tril,
    "reshape": reshape,
    "transpose": transpose,
    "squeeze": np.squeeze,
    "any": np.any,
    "all": np.all,
    "sum": np.sum,
    "cumsum": np.cumsum,
    "repeat": repeat,
    "swapaxes": np.swapaxes,
}
DTYPES: dict[str, Any] = {
    "bool": np.bool_,
    "bool_": np.bool_,
    "float16": np.float16,
    "float32": np.float32,
    "float64": np.float64,
    "uint8": np.uint8,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
}
_COMMON: dict[str, Any] = {
    **_SHAPES,
    **DTYPES,
    "inf": math.inf,
    "nan": math.nan,
    "newaxis": None,
    "array": array,
    "asarray": array,
    "arange": arange,
    "where": where,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "logical_not": np.logical_not,
    "invert": np.invert,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "abs": np.abs,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "expand_dims": np.expand_dims,
    "concatenate": concatenate,
    "stack": stack,
    "tile": tile,
    "broadcast_to": broadcast_to,
    "ones_like": np.ones_like,
    "zeros_like": np.zeros_like,
    "full_like": np.full_like,
    "flip": np.flip,
    "finfo": np.finfo,
    "iinfo": np.iinfo,
    "triu_indices": triu_indices,
    "tril_indices": tril_indices,
    "full": full,
    "float": float,
    "int": int,
}
NAMES: Mapping[str, Any] = {
    **{
        f"{module}.{name}": value
        for module, standard in (("np", np.float64), ("jnp", np.float32))
        for name, value in {
            **_COMMON,
            "ones": _maker(1, standard),
            "zeros": _maker(0, standard),
            "eye": eye,
            "identity": lambda n, dtype=float: eye(n, dtype=dtype),
            "tri": tri,
        }.items()
    },
    "jnp.eye": lambda N, M=None, k=0, dtype=np.float32: eye(N, M, k, dtype),
    "jnp.tri": lambda N, M=None, k=0, dtype=np.float32: tri(N, M, k, dtype),
}
METHODS: Mapping[str, Callable[..., Any]] = {
    **{name: function for name, function in _SHAPES.items() if name not in ("triu", "tril")},
    "astype": lambda a, dtype: a.astype(dtype),
    "copy": lambda a: a.copy(),
    "flatten": lambda a: a.flatten(),
    "max": lambda a: a.max(),
    "min": lambda a: a.min(),
    "item": lambda a: a.item(),
}
ATTRIBUTES: Mapping[str, Callable[[Values], Any]] = {
    "T": lambda a: a.T,
    "shape": lambda a: a.shape,
    "dtype": lambda a: a.dtype,
    "ndim": lambda a: a.ndim,
    "size": lambda a: a.size,
}
