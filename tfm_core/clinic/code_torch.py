"""The functions, methods and constants of torch and TensorFlow that mask code may use, each called by us.

A call that is not in these tables does not happen. What makes more numbers than it is given looks at its bounds first.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core.clinic.code_bounds import NotUnderstood, check_count, named, numbers_in, shape_of, whole


class Device:
    """What stands for any device: all is computed where we are."""


DEVICE = Device()


def _filled(value: float, sizes: tuple[object, ...], size: object, dtype: Any) -> Tensor:
    return torch.full(shape_of(*(sizes or (size,))), value, dtype=dtype or torch.get_default_dtype())


def ones(*sizes: object, size: object = (), dtype: Any = None) -> Tensor:
    """Ones, as torch.ones."""
    return _filled(1, sizes, size, dtype)


def zeros(*sizes: object, size: object = (), dtype: Any = None) -> Tensor:
    """Zeros, as torch.zeros."""
    return _filled(0, sizes, size, dtype)


def full(size: object, fill_value: Any, dtype: Any = None) -> Tensor:
    """A tensor of a single number, as torch.full."""
    return torch.full(shape_of(size), fill_value, dtype=dtype)


def eye(n: object, m: object = None, dtype: Any = None) -> Tensor:
    """The identity, as torch.eye."""
    return torch.eye(*shape_of(n, n if m is None else m), dtype=dtype)


def arange(*bounds: Any, start: Any = None, end: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Numbers in a row, as torch.arange."""
    numbers = [number.item() if isinstance(number, Tensor) else number for number in bounds]
    first, last, by = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3] if len(numbers) > 1 else (0, 0, 1)
    first, last = first if start is None else start, last if end is None else end
    by = by if step is None else step
    if not all(isinstance(number, int | float) and math.isfinite(number) for number in (first, last, by)) or by == 0:
        raise NotUnderstood("Finite numbers and a step other than 0 were expected in arange.")
    shape_of(max(0, math.ceil((last - first) / by)))
    return torch.arange(first, last, by, dtype=dtype)


def tensor(data: Any, dtype: Any = None) -> Tensor:
    """A tensor of lists of numbers, as torch.tensor."""
    if isinstance(data, Tensor):
        return data.clone().to(dtype or data.dtype)
    return torch.tensor(data, dtype=dtype)


def legacy_tensor(data: Any) -> Tensor:
    """A float tensor of lists of numbers, as torch.Tensor."""
    return tensor(data, dtype=torch.float32)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors after each other, as torch.cat."""
    check_count(numbers_in(tensors))
    return torch.cat(tuple(tensors), dim)


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors along a new axis, as torch.stack."""
    check_count(numbers_in(tensors))
    return torch.stack(tuple(tensors), dim)


def block_diag(*tensors: Tensor) -> Tensor:
    """Blocks on a diagonal, as torch.block_diag."""
    check_count(sum(each.shape[0] for each in tensors) * sum(each.shape[-1] for each in tensors))
    return torch.block_diag(*tensors)  # type: ignore[no-untyped-call, no-any-return]


def repeat(x: Tensor, *sizes: object) -> Tensor:
    """A tensor several times along its axes, as Tensor.repeat."""
    times = shape_of(*sizes)
    check_count(x.numel() * math.prod(times), len(times))
    return x.repeat(times)


def repeat_interleave(x: Tensor, repeats: object, dim: int | None = None) -> Tensor:
    """Each entry several times, as Tensor.repeat_interleave."""
    (times,) = shape_of(repeats)
    check_count(x.numel() * times)
    return x.repeat_interleave(times, dim)


def expand(x: Tensor, *sizes: Any) -> Tensor:
    """A tensor along axes of 1, as Tensor.expand; −1 keeps a size."""
    listed = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    wanted = tuple(whole(size) for size in listed)
    kept = (1,) * (len(wanted) - x.dim()) + tuple(x.shape)
    shape_of(*(have if want == -1 else want for want, have in zip(wanted, kept, strict=False)))
    return x.expand(wanted)


def like(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function such as torch.ones_like out of one that takes a shape."""

    def made(x: Tensor, dtype: Any = None) -> Tensor:
        return make(tuple(x.shape), dtype=dtype or x.dtype)

    return made


def full_like(x: Tensor, fill_value: Any, dtype: Any = None) -> Tensor:
    """A tensor of a single number and another's shape, as torch.full_like."""
    return torch.full_like(x, fill_value, dtype=dtype)


def new_ones(x: Tensor, *sizes: object, dtype: Any = None) -> Tensor:
    """Ones of a tensor's dtype, as Tensor.new_ones."""
    return ones(*sizes, dtype=dtype or x.dtype)


def new_zeros(x: Tensor, *sizes: object, dtype: Any = None) -> Tensor:
    """Zeros of a tensor's dtype, as Tensor.new_zeros."""
    return zeros(*sizes, dtype=dtype or x.dtype)


def to(x: Tensor, *targets: Any, dtype: Any = None) -> Tensor:
    """A tensor in another dtype, as Tensor.to; a device is taken for ours."""
    for target in (*targets, dtype):
        if isinstance(target, Tensor):
            dtype = target.dtype
        elif isinstance(target, torch.dtype | type):
            dtype = target
        elif target is not None and not isinstance(target, Device | str | bool):
            raise NotUnderstood(f"A dtype or a device was expected in “to”; {named(target)} stands there.")
    return x if dtype is None else x.to(dtype)


def size(x: Tensor, dim: int | None = None) -> Any:
    """The shape or a size, as Tensor.size."""
    return tuple(x.shape) if dim is None else x.shape[dim]


def reshape(x: Tensor, *sizes: Any) -> Tensor:
    """The same numbers in another shape, as Tensor.reshape."""
    listed = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    return x.reshape(tuple(whole(each) for each in listed))


def permute(x: Tensor, *axes: Any) -> Tensor:
    """The same numbers with other axes, as Tensor.permute."""
    listed = axes[0] if len(axes) == 1 and isinstance(axes[0], list | tuple) else axes
    return x.permute(tuple(whole(each) for each in listed))


def reversed_axes(x: Tensor) -> Tensor:
    """The transposed tensor, as Tensor.T, which torch gives up beyond two axes."""
    return x.permute(tuple(reversed(range(x.dim()))))


def matmul(x: Tensor, y: Tensor) -> Tensor:
    """A matrix product, as torch.matmul."""
    check_count(x.numel() * y.shape[-1])
    return torch.matmul(x, y)


def isin(elements: Tensor, test_elements: Tensor) -> Tensor:
    """Whether each entry is among others, as torch.isin."""
    check_count(elements.numel() * numbers_in(test_elements))
    return torch.isin(elements, test_elements)


def where(condition: Tensor, input: Any, other: Any) -> Tensor:
    """A choice of two by a condition, as torch.where."""
    return torch.where(condition, input, other)


def square_subsequent_mask(sz: object, dtype: Any = None) -> Tensor:
    """torch's causal mask that is added."""
    (length,) = shape_of(sz)
    return nn.Transformer.generate_square_subsequent_mask(length, dtype=dtype)


def subsequent_mask(size: object) -> Tensor:
    """The causal mask of textbooks: (1, size, size), True = may attend."""
    return ones(1, size, size, dtype=torch.bool).tril()


def look_ahead_mask(size: object) -> Tensor:
    """The causal mask of TensorFlow's textbooks: floats, 1 = hidden."""
    return ones(size, size).triu(1)


def padding_mask(seq: Tensor) -> Tensor:
    """The padding mask of TensorFlow's textbooks: (batch, 1, 1, key), 1 = hidden."""
    return (seq == 0).float()[:, None, None, :]


def band_part(input: Tensor, num_lower: int, num_upper: int) -> Tensor:
    """A band around the diagonal, as tf.linalg.band_part; −1 keeps a side whole."""
    kept = input if num_lower < 0 else input.triu(-num_lower)
    return kept if num_upper < 0 else kept.tril(num_upper)


def sequence_mask(lengths: Tensor, maxlen: object = None, dtype: Any = torch.bool) -> Tensor:
    """True up to each length, as tf.sequence_mask."""
    longest = int(lengths.max()) if maxlen is None else maxlen
    return (arange(longest) < lengths[..., None]).to(dtype)


def tf_range(*bounds: Any, dtype: Any = None) -> Tensor:
    """Numbers in a row, as tf.range: int32, or float32."""
    made = arange(*bounds, dtype=dtype)
    return made.int() if made.dtype == torch.int64 and dtype is None else made


def tf_constant(value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """A tensor of lists of numbers, as tf.constant."""
    made = tensor(value, dtype=dtype)
    made = made.int() if made.dtype == torch.int64 and dtype is None else made
    return made if shape is None else made.expand(shape_of(shape))


def tf_transpose(a: Tensor, perm: Any = None) -> Tensor:
    """Other axes, as tf.transpose."""
    return reversed_axes(a) if perm is None else permute(a, perm)


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
    "logical_not": torch.logical_not,
    "bitwise_and": torch.bitwise_and,
    "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
    "bitwise_not": torch.bitwise_not,
    "eq": torch.eq,
    "ne": torch.ne,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "neg": torch.neg,
    "abs": torch.abs,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "clamp": torch.clamp,
    "log": torch.log,
    "isinf": torch.isinf,
    "isnan": torch.isnan,
    "masked_fill": torch.masked_fill,
}
SHAPING: dict[str, Callable[..., Any]] = {
    "tril": torch.tril,
    "triu": torch.triu,
    "unsqueeze": torch.unsqueeze,
    "squeeze": torch.squeeze,
    "transpose": torch.transpose,
    "permute": permute,
    "reshape": reshape,
    "flatten": torch.flatten,
    "flip": torch.flip,
    "roll": torch.roll,
    "cumsum": torch.cumsum,
    "any": torch.any,
    "all": torch.all,
    "sum": torch.sum,
    "softmax": torch.softmax,
    "repeat_interleave": repeat_interleave,
}
METHODS: Mapping[str, Callable[..., Any]] = {
    **ELEMENTWISE,
    **SHAPING,
    "bool": Tensor.bool,
    "float": Tensor.float,
    "double": Tensor.double,
    "half": Tensor.half,
    "bfloat16": Tensor.bfloat16,
    "int": Tensor.int,
    "long": Tensor.long,
    "byte": Tensor.byte,
    "to": to,
    "type": to,
    "type_as": to,
    "cuda": lambda x: x,
    "cpu": lambda x: x,
    "detach": Tensor.detach,
    "clone": Tensor.clone,
    "contiguous": Tensor.contiguous,
    "numpy": Tensor.numpy,
    "size": size,
    "dim": Tensor.dim,
    "t": torch.t,
    "view": reshape,
    "expand": expand,
    "expand_as": lambda x, other: expand(x, tuple(other.shape)),
    "repeat": repeat,
    "new_ones": new_ones,
    "new_zeros": new_zeros,
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "item": Tensor.item,
}
IN_PLACE = frozenset(
    "masked_fill_ tril_ triu_ logical_not_ logical_and_ logical_or_ bitwise_not_ mul_ add_ sub_ unsqueeze_".split()
)
ATTRIBUTES: Mapping[str, Callable[[Tensor], Any]] = {
    "T": reversed_axes,
    "mT": lambda x: x.transpose(-2, -1),
    "shape": lambda x: tuple(x.shape),
    "dtype": lambda x: x.dtype,
    "device": lambda _: DEVICE,
    "ndim": lambda x: x.dim(),
}
DTYPES = {
    "bool": torch.bool,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
    "uint8": torch.uint8,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
}
_TORCH: dict[str, Any] = {
    **ELEMENTWISE,
    **SHAPING,
    **DTYPES,
    "half": torch.float16,
    "float": torch.float32,
    "double": torch.float64,
    "int": torch.int32,
    "long": torch.int64,
    "inf": math.inf,
    "nan": math.nan,
    "ones": ones,
    "zeros": zeros,
    "full": full,
    "eye": eye,
    "arange": arange,
    "tensor": tensor,
    "as_tensor": tensor,
    "Tensor": legacy_tensor,
    "FloatTensor": legacy_tensor,
    "BoolTensor": lambda data: tensor(data, dtype=torch.bool),
    "LongTensor": lambda data: tensor(data, dtype=torch.int64),
    "from_numpy": lambda array: torch.from_numpy(array),
    "ones_like": like(ones),
    "zeros_like": like(zeros),
    "full_like": full_like,
    "cat": cat,
    "concat": cat,
    "stack": stack,
    "block_diag": block_diag,
    "where": where,
    "isin": isin,
    "matmul": matmul,
    "bmm": matmul,
    "broadcast_to": expand,
    "tile": repeat,
    "swapaxes": torch.transpose,
    "finfo": torch.finfo,
    "iinfo": torch.iinfo,
    "device": lambda _: DEVICE,
    "max": torch.max,
    "min": torch.min,
}
_TENSORFLOW: dict[str, Any] = {
    **DTYPES,
    "newaxis": None,
    "ones": lambda shape, dtype=None: ones(shape, dtype=dtype),
    "zeros": lambda shape, dtype=None: zeros(shape, dtype=dtype),
    "fill": lambda dims, value: full(dims, value),
    "eye": lambda num_rows, num_columns=None, dtype=torch.float32: eye(num_rows, num_columns, dtype=dtype),
    "range": tf_range,
    "constant": tf_constant,
    "cast": lambda x, dtype: x.to(dtype),
    "where": lambda condition, x, y: where(condition, x, y),
    "expand_dims": lambda input, axis: torch.unsqueeze(input, axis),
    "squeeze": torch.squeeze,
    "transpose": tf_transpose,
    "reshape": lambda tensor, shape: reshape(tensor, shape),
    "linalg.band_part": band_part,
    "linalg.matrix_transpose": lambda a: a.transpose(-2, -1),
    "sequence_mask": sequence_mask,
    "ones_like": like(ones),
    "zeros_like": like(zeros),
    "shape": lambda x: tuple(x.shape),
    **{
        prefix + name: torch_function
        for prefix in ("", "math.")
        for name, torch_function in (
            ("equal", torch.eq),
            ("not_equal", torch.ne),
            ("less", torch.lt),
            ("less_equal", torch.le),
            ("greater", torch.gt),
            ("greater_equal", torch.ge),
            ("logical_and", torch.logical_and),
            ("logical_or", torch.logical_or),
            ("logical_not", torch.logical_not),
            ("maximum", torch.maximum),
            ("minimum", torch.minimum),
            ("multiply", torch.mul),
            ("subtract", torch.sub),
            ("add", torch.add),
        )
    },
}
NAMES: Mapping[str, Any] = {
    **{f"torch.{name}": value for name, value in _TORCH.items()},
    **{f"tf.{name}": value for name, value in _TENSORFLOW.items()},
    "F.softmax": torch.softmax,
    "math.inf": math.inf,
    "math.nan": math.nan,
    "math.sqrt": math.sqrt,
}
# The last name of functions that textbooks write themselves, or that are methods of a model.
WRITTEN: Mapping[str, Callable[..., Any]] = {
    "generate_square_subsequent_mask": square_subsequent_mask,
    "_generate_square_subsequent_mask": square_subsequent_mask,
    "subsequent_mask": subsequent_mask,
    "causal_mask": subsequent_mask,
    "causal_upper_left": lambda *sizes: ones(*sizes, dtype=torch.bool).tril(),
    "causal_lower_right": lambda rows, columns: ones(rows, columns, dtype=torch.bool).tril(columns - rows),
    "create_look_ahead_mask": look_ahead_mask,
    "create_padding_mask": padding_mask,
}
