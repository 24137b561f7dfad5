"""Attention weights that somebody computed elsewhere, out of a file or a running program, and whether they are any.

    from tfm_core.study.aggregates import attention_rollout
    from tfm_core.study.attention_arrays import as_attention, read_attention

    attention = read_attention(Path("attentions.npy").read_bytes(), "attentions.npy")
    attention = as_attention(model(**inputs, output_attentions=True).attentions, tokens)  # of transformers
    attention.weights, attention.notes
    attention_rollout(attention.weights)  # (batch, query, key)

What cannot be weights is refused by a ValueError, a sentence with the place; what is odd about them is told in notes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

import torch
from torch import Tensor

from tfm_core.study.attention_files import (
    MOST_NUMBERS,
    MOST_TOKENS,
    Contents,
    check_size,
    contents,
    described,
    from_bytes,
    from_lists,
    sizes,
)

MOST_SIGNS = 200  # characters of a token
AT_HAND = 2**28  # numbers that a program hands over at most: 1 GB as float32; files have a limit of their own
LARGEST = 1e12  # of a weight: what is computed of larger ones is beyond float32

# By how much a row's sum may differ from 1: a few roundings in the type of its numbers.
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.float16: 4e-3, torch.bfloat16: 3e-2}
HALF = TOLERANCE[torch.bfloat16]
WHOLE = frozenset(
    getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
)  # each row of them must sum to 1 exactly
PRINTED = 1e-3, 5e-5  # what is added where numbers were text: for the row, and for each key, rounded to four digits

AXES = ("layer", "batch item", "head", "query", "key")
READ = {
    2: "one head of one layer, (query, key)",
    3: "the heads of one layer, (head, query, key)",
    4: "(layer, head, query, key)",
    5: "(layer, batch, head, query, key)",
}
BY_LAYER = {2: "one head", 3: "(head, query, key)", 4: "(batch, head, query, key)"}


@runtime_checkable
class HasArray(Protocol):
    """An array of NumPy, or what can become one."""

    def __array__(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class AttentionArray:
    """Weights of self-attention, the softmax of Vaswani et al. 2017, equation 1, in each layer and head.

    Attributes:
        weights: float32 (layer, batch, head, query, key): finite, none below 0.
        tokens: for each sentence of the batch its tokens, which are the queries; () if nobody has said them. They
            are as somebody has written them: any character may be in them.
        notes: how the array was read and what was checked, in sentences.
        dtype: the type that the numbers had, such as "float16".
        off: by how much the sum of a row differs from 1 at most; rows of zeros are not counted.
        tolerance: what rounding in this type explains of it.
        empty_rows: how many rows are all zeros: of queries that see no key, or of padding.
        looks_transposed: whether columns sum to 1, and rows do not.
        is_causal: whether all weights above the diagonal are exactly 0: no query looks ahead. Cross-attention has no
            diagonal, and is not.
        keys: for each sentence of the batch the tokens of its keys, in self-attention the same; () if nobody has said
            them.
        crosses: whether queries and keys are two texts.

    Examples:
        >>> import torch
        >>> from tfm_core import as_attention
        >>> attention = as_attention(torch.full((2, 3, 4, 4), 0.25), ["the", "cat", "sat", "down"])
        >>> attention.weights.shape  # (layer, batch, head, query, key)
        torch.Size([2, 1, 3, 4, 4])
        >>> attention.rows_sum_to_1, attention.is_causal
        (True, False)
    """

    weights: Tensor
    tokens: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    dtype: str
    off: float
    tolerance: float
    empty_rows: int
    looks_transposed: bool
    is_causal: bool
    keys: tuple[tuple[str, ...], ...] = ()
    crosses: bool = False

    @property
    def rows_sum_to_1(self) -> bool:
        """Whether each row sums to 1, but those of zeros: whether these are weights as softmax gives them."""
        return self.off <= self.tolerance


def read_attention(content: bytes, name: str) -> AttentionArray:
    """The attention weights in a file.

    Args:
        content: of the file, .npy, .npz, .safetensors or JSON.
        name: of the file. Its ending counts only where the first bytes do not tell the format.

    Raises:
        ValueError: if there are none in it; the message says what was expected and what came.

    Examples:
        >>> from tfm_core import read_attention
        >>> attention = read_attention(b"[[1.0, 0.0], [0.5, 0.5]]", "weights.json")
        >>> attention.weights[0, 0, 0].tolist(), attention.is_causal
        ([[1.0, 0.0], [0.5, 0.5]], True)
    """
    return _attention(contents(content, name), most=MOST_NUMBERS)


def as_attention(
    weights: Tensor | HasArray | Sequence[Any],
    tokens: Sequence[str] | Sequence[Sequence[str]] = (),
    *,
    keys: Sequence[str] | Sequence[Sequence[str]] | None = None,
) -> AttentionArray:
    """The attention weights that a program has at hand.

    Args:
        weights: an array of 2 to 5 axes, up to (layer, batch, head, query, key), or a sequence with an array for each
            layer, as transformers' `outputs.attentions`. Of 4 axes the first is the layer.
        tokens: of the one sentence, or for each sentence of the batch.
        keys: of cross-attention the tokens of the keys, in the same form; `tokens` are the queries' then. () leaves
            them without names. None means self-attention, in which queries and keys are the same tokens.

    Raises:
        ValueError: if these are no weights of attention; the message says what was expected and what came.

    Examples:
        >>> import torch
        >>> from tfm_core import as_attention
        >>> as_attention(torch.eye(3)).weights.shape  # one head of one layer
        torch.Size([1, 1, 1, 3, 3])
        >>> as_attention(torch.zeros(3))
        Traceback (most recent call last):
            ...
        ValueError: expected 2 to 5 axes, up to (layer, batch, head, query, key); got one axis of 3
    """
    if isinstance(weights, str | bytes):
        raise ValueError(f"expected an array, got {described(weights)}")
    given = cast(object, weights)  # whoever calls a model may hand over anything
    if isinstance(given, Tensor | HasArray):
        return _attention(Contents([_tensor(given)], tokens=tokens), keys)
    if not isinstance(given, Sequence) or not given or any(part is None for part in given):
        raise ValueError(
            "expected an array, or one for each layer; got none: transformers hands them out after "
            'from_pretrained(..., attn_implementation="eager") and with output_attentions=True'
        )
    if _is_array(given[0]):
        total = 0
        for part in given:
            if not _is_array(part):
                raise ValueError(f"expected an array for each layer, got {described(part)} among them")
            total += part.numel() if isinstance(part, Tensor) else getattr(part, "size", 0)
            if total > AT_HAND:
                raise ValueError(f"expected at most {AT_HAND:,} numbers in all layers, got more")
        return _attention(Contents([_tensor(part) for part in given], is_by_layer=True, tokens=tokens), keys)
    inner = given[0]
    while isinstance(inner, list | tuple) and inner:
        inner = inner[0]
        if _is_array(inner):
            raise ValueError(
                "expected an array for each layer, got sequences of arrays: generate() gives one for each step; take "
                "its first, attentions[0], which is the prompt's"
            )
    return _attention(Contents([from_lists(given)], tokens=tokens), keys)


def _is_array(part: object) -> bool:
    """Whether it is an array and not a number, as NumPy's numbers call themselves arrays too."""
    return isinstance(part, Tensor | HasArray) and getattr(part, "ndim", 1) > 0


def _tensor(array: Tensor | HasArray) -> Tensor:
    """The numbers of an array, of torch or another library, in memory of our own."""
    if isinstance(array, Tensor):
        if array.is_meta or array.is_nested or array.is_quantized or array.layout is not torch.strided:
            raise ValueError("expected a dense tensor with its numbers, got one on meta, sparse, nested or quantized")
        check_size(array.shape, most=AT_HAND)
        return array.detach().to("cpu", copy=True)
    numpy = array.__array__()
    check_size(numpy.shape, most=AT_HAND)
    if numpy.dtype.fields is not None:
        raise ValueError("expected numbers of one type, got a structured array, whose entries have fields")
    if numpy.dtype.name == "bfloat16":  # of ml_dtypes, which NumPy describes as two bytes of anything
        return from_bytes(numpy.tobytes(), "<u2", numpy.shape).view(torch.bfloat16)
    return from_bytes(b"" if numpy.dtype.hasobject else numpy.tobytes(), numpy.dtype.str, numpy.shape)


def _attention(held: Contents, keys: object = None, most: int = AT_HAND) -> AttentionArray:
    arrays, notes = held.arrays, list(held.notes)
    shape, dtype = arrays[0].shape, arrays[0].dtype
    if dtype not in TOLERANCE and dtype not in WHOLE and dtype != torch.bool:
        raise ValueError(f"expected float64, float32, float16, bfloat16, whole numbers or booleans; got {_name(dtype)}")
    for place, array in enumerate(arrays):
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"expected layers that are alike, {sizes(shape)} of {_name(dtype)} as layer 1 is; "
                f"got {sizes(array.shape)} of {_name(array.dtype)} for layer {place + 1}"
            )
    if sum(array.numel() for array in arrays) > most:
        raise ValueError(f"expected at most {most:,} numbers in all layers, got {len(arrays)} × {sizes(shape)}")
    crosses = keys is not None
    if shape[-1] != shape[-2] and not crosses:
        raise ValueError(
            f"expected self-attention, as many keys as queries; got {shape[-2]:,} queries and {shape[-1]:,} keys: "
            "cross-attention takes the keys' tokens as well, keys=[...], and steps with a cache are not shown"
        )
    stacked, reading = _five_axes(arrays, is_by_layer=held.is_by_layer)
    weights = stacked if dtype == torch.float64 else stacked.to(torch.float32)
    _check_values(weights)
    rows = _Rows.of(weights, dtype, is_printed=held.is_printed)
    weights = weights.to(torch.float32).contiguous()
    tokens = _tokens(held.tokens, weights.shape[1], weights.shape[-2], "query" if crosses else "key")
    named = _tokens(keys, weights.shape[1], weights.shape[-1], "key") if crosses else tokens
    is_causal = not crosses and not bool(weights.triu(1).any())
    notes.append(reading)
    if dtype != torch.float32 and not held.is_printed:
        notes.append(f"The numbers were {_name(dtype)}, and are float32 now.")
    notes += rows.notes(weights)
    if crosses:
        notes.append(f"Cross-attention: {weights.shape[-2]:,} queries look at {weights.shape[-1]:,} keys.")
    else:
        notes.append("Causal: no query looks ahead." if is_causal else "Not causal: some queries look ahead.")
    if len(tokens) > 1 and tokens[0] is tokens[1]:
        notes.append(f"The tokens are taken for each of the {len(tokens):,} sentences of the batch.")
    return AttentionArray(
        weights=weights,
        tokens=tokens,
        notes=tuple(notes),
        dtype=_name(dtype),
        off=rows.off,
        tolerance=rows.tolerance,
        empty_rows=rows.empty,
        looks_transposed=rows.looks_transposed,
        is_causal=is_causal,
        keys=named,
        crosses=crosses,
    )


def _five_axes(arrays: Sequence[Tensor], *, is_by_layer: bool) -> tuple[Tensor, str]:
    """(layer, batch, head, query, key), and a note on what was taken for what."""
    axes, shape = arrays[0].dim(), sizes(arrays[0].shape)
    if is_by_layer:
        if axes not in BY_LAYER:
            raise ValueError(f"expected at most (batch, head, query, key) for each layer, got {shape}")
        count = f"{len(arrays):,} layer{'s' if len(arrays) > 1 else ''}"
        stacked = torch.stack([*arrays])
        return stacked[(slice(None), *(None,) * (4 - axes))], f"{count} of {shape}, read as {BY_LAYER[axes]}."
    reading = f"{shape} is read as {READ[axes]}."
    if axes == 4:
        reading += " If the first axis is the batch, put one of layers in front of it: weights[None]."
    weights = arrays[0][:, None] if axes == 4 else arrays[0][(None,) * (5 - axes)]
    return weights, reading


def _check_values(weights: Tensor) -> None:
    """Refuse what no weight can be.

    Raises:
        ValueError: naming the place of the first that is not finite, or of the lowest, or of the largest.
    """
    if bool((bad := ~weights.isfinite()).any()):
        at = int(bad.flatten().byte().argmax())
        value = float(weights.flatten()[at])
        why = "scores that a mask was added to have it, before the softmax" if value < 0 else "no softmax gives it"
        if value != value:
            row = weights.flatten(0, -2)[at // weights.shape[-1]]
            why = "a softmax over nothing but −inf gives it" if bool(row.isnan().all()) else "no softmax gives it alone"
        raise ValueError(f"expected finite weights, got {_number(value)} at {_place(at, weights.shape)}: {why}")
    if float(low := weights.min()) < 0:
        raise ValueError(
            f"expected weights of at least 0, got {_number(float(low))} at "
            f"{_place(int(weights.argmin()), weights.shape)}: these are scores or logits, before the softmax, or "
            "a mask that is added to them"
        )
    if float(high := weights.max()) > LARGEST:
        at = int(weights.argmax())
        raise ValueError(f"expected weights up to 1, got {_number(float(high))} at {_place(at, weights.shape)}")


@dataclass(frozen=True)
class _Rows:
    """What the rows of an array sum to.

    Attributes:
        sums: float64 (layer, batch, head, query).
        off: by how much one differs from 1 at most; rows of zeros are not counted.
        tolerance: what rounding explains of it.
        empty: how many are all zeros.
        looks_transposed: whether columns sum to 1, and rows do not.
        are_0_or_1: whether all numbers are.
    """

    sums: Tensor
    off: float
    tolerance: float
    empty: int
    looks_transposed: bool
    are_0_or_1: bool

    @classmethod
    def of(cls, weights: Tensor, dtype: torch.dtype, *, is_printed: bool) -> "_Rows":
        """The sums of weights that are finite and not below 0.

        Raises:
            ValueError: if these are a mask, or whole numbers of another kind.
        """
        sums = weights.sum(-1, dtype=torch.float64)
        off = float(_off(sums).max())
        empty = int((sums == 0).sum())
        are_0_or_1 = bool(((weights == 0) | (weights == 1)).all())
        if are_0_or_1 and (off or empty == sums.numel()):
            at = int(_off(sums).argmax())
            raise ValueError(
                f"expected attention weights, each row summing to 1; got a mask, nothing but 0 and 1, with "
                f"{_number(float(sums.flatten()[at]))} in {_place(at, sums.shape)}: the Masks lens reads it"
            )
        if not are_0_or_1 and dtype in WHOLE:
            at, most = int(weights.argmax()), float(weights.max())
            raise ValueError(
                f"expected attention weights, fractions of which each row sums to 1; got whole numbers, "
                f"{_number(most)} at {_place(at, weights.shape)}"
            )
        tolerance = TOLERANCE.get(dtype, 0.0)
        if is_printed and tolerance:
            tolerance += PRINTED[0] + PRINTED[1] * weights.shape[-1]
        columns = weights.sum(-2, dtype=torch.float64)
        turned = off > tolerance and float(_off(columns).max()) <= tolerance
        return cls(sums, off, tolerance, empty, turned, are_0_or_1)

    def notes(self, weights: Tensor) -> list[str]:
        """All of it in sentences."""
        notes = []
        rows, others = self.sums.numel(), "Each other row" if self.empty else "Each row"
        if self.empty:
            at = int((self.sums == 0).flatten().byte().argmax())
            notes.append(
                f"{self.empty:,} of {rows:,} rows sum to 0, the first in {_place(at, self.sums.shape)}: a query that "
                "sees no key, or padding."
            )
        offs = _off(self.sums)
        at = int(offs.argmax())
        furthest = f"{_number(float(self.sums.flatten()[at]))} in {_place(at, self.sums.shape)}"
        if self.off == 0:
            notes.append(f"{others} sums to 1.")
        elif self.off <= self.tolerance:
            notes.append(f"{others} sums to 1; the furthest off, by {self.off:.1e}, is {_place(at, self.sums.shape)}.")
        else:
            count = int((offs > self.tolerance).sum())
            notes.append(f"{count:,} of {rows:,} rows do not sum to 1; the furthest off sums to {furthest}.")
            if self.looks_transposed:
                notes.append("But columns do: it looks transposed, (key, query); weights.swapaxes(-2, -1) turns it.")
            elif self.off <= HALF:
                notes.append("Weights that were rounded to half precision on their way here are as far off.")
            else:
                notes.append("Weights after dropout do not, nor do scores, or weights that are sums of several.")
        if above := int((weights > 1 + self.tolerance).sum()):
            at = int(weights.argmax())
            notes.append(
                f"{above:,} {'weights are' if above > 1 else 'weight is'} above 1, the largest "
                f"{_number(float(weights.max()))} at {_place(at, weights.shape)}."
            )
        if self.are_0_or_1 and weights.shape[-1] > 1:
            notes.append("All are 0 or 1: each query looks at one key alone. If it is a mask, the Masks lens reads it.")
        return notes


def _off(sums: Tensor) -> Tensor:
    """The distance of sums from 1; those that are 0 do not count."""
    return (sums - 1).abs().masked_fill(sums == 0, 0)


def _place(at: int, shape: Sequence[int]) -> str:
    """A place in a sentence, counted from 1; the sentence of the batch is named where there are several."""
    places = []
    for axis, size in reversed([*zip(AXES, shape, strict=False)]):
        at, place = divmod(at, size)
        if axis != "batch item" or size > 1:
            places.append(f"{axis} {place + 1:,}")
    return ", ".join(reversed(places))


def _number(value: float) -> str:
    return f"{value:.4g}".replace("nan", "NaN").replace("-", "−")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _tokens(tokens: object, batch: int, seq: int, side: str) -> tuple[tuple[str, ...], ...]:
    """The tokens of each sentence of the batch, checked."""
    if isinstance(tokens, HasArray) and not isinstance(tokens, Tensor):
        tokens = tokens.__array__().tolist()
    if tokens is None or (isinstance(tokens, list | tuple) and not tokens):
        return ()
    if not isinstance(tokens, list | tuple):
        raise ValueError(f"expected tokens as a list of texts, got {described(tokens)}")
    if isinstance(tokens[0], list | tuple):
        if len(tokens) != batch:
            raise ValueError(f"expected tokens of each sentence of the batch, {batch:,} lists; got {len(tokens):,}")
        if batch * seq > MOST_TOKENS:
            raise ValueError(f"expected at most {MOST_TOKENS:,} tokens, got {batch * seq:,}")
        return tuple(_sentence(sentence, seq, side) for sentence in tokens)
    return (_sentence(tokens, seq, side),) * batch


def _sentence(tokens: object, seq: int, side: str) -> tuple[str, ...]:
    if not isinstance(tokens, list | tuple):
        raise ValueError(f"expected a list of tokens for each sentence, got {described(tokens)}")
    if len(tokens) != seq:
        raise ValueError(f"expected {seq:,} tokens, one for each {side}; got {len(tokens):,}")
    for place, token in enumerate(tokens):
        if not isinstance(token, str):
            raise ValueError(f"expected tokens as texts, got {described(token)} as token {place + 1:,}")
        if len(token) > MOST_SIGNS:
            raise ValueError(
                f"expected tokens of at most {MOST_SIGNS:,} characters, got {len(token):,} in token {place + 1:,}"
            )
    # Half of a surrogate pair, which JSON can say, could not be written out again.
    return tuple(token.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for token in tokens)
