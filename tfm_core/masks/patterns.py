"""The usual masks, each a function, and all of them in one list.

All are boolean, **True = may attend**. Patterns depend on lengths alone and are (query, key); the last query stands
beside the last key, so that with more keys than queries the surplus lies in the past. Masks of padding depend on tokens
and are (batch, 1, query or 1, key). Combine them with `combine_masks` (and) or `either_mask` (or).

To add a mask, write its function here and enter it in `MASKS` at the foot of the file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from tfm_core.masks.basic import causal_mask, padding_mask


def window_mask(query_len: int, key_len: int | None = None, *, window: int) -> Tensor:
    """Only what is near: (query, key), True where a key stands fewer than `window` tokens away.

    With causality each query sees `window` tokens, itself among them: sliding window attention, Jiang et al. 2023
    (Mistral 7B), section 2. Without it, each sees itself and `window` - 1 tokens on either side, Beltagy et al. 2020
    (Longformer), section 3.1.

    Raises:
        ValueError: for a length or a window below 1.

    Examples:
        >>> from tfm_core import causal_mask, combine_masks, window_mask
        >>> window_mask(4, window=2).int().tolist()
        [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
        >>> combine_masks(causal_mask(4), window_mask(4, window=2)).sum(-1).tolist()
        [1, 2, 2, 2]
    """
    queries, keys = _places(query_len, key_len)
    return (queries - keys).abs() < _at_least(1, window=window)


def strided_mask(query_len: int, key_len: int | None = None, *, stride: int) -> Tensor:
    """What is near, and from there on every `stride`-th token: (query, key).

    With causality and a stride of sqrt(n), of n^2 pairs 1 to 1.5 times n sqrt(n) are left; with a stride that stays
    while texts grow, about n^2 / (2 stride). Child et al. 2019 (Sparse Transformers), section 4.3: both parts of its
    strided attention in one.

    Raises:
        ValueError: for a length or a stride below 1.

    Examples:
        >>> from tfm_core import strided_mask
        >>> strided_mask(5, stride=2)[4].int().tolist()  # what the last query sees
        [1, 0, 1, 1, 1]
    """
    queries, keys = _places(query_len, key_len)
    distance = (queries - keys).abs()
    return (distance < _at_least(1, stride=stride)) | (distance % stride == 0)


def global_mask(query_len: int, key_len: int | None = None, *, tokens: Sequence[int]) -> Tensor:
    """A few tokens that see all and are seen by all, and nothing else: (query, key).

    Beltagy et al. 2020 (Longformer), section 3.1, where it is combined with a window by or.

    Args:
        query_len: number of queries.
        key_len: number of keys, `query_len` by default.
        tokens: positions of keys, from 0; those beyond the last key are ignored.

    Raises:
        ValueError: for a length below 1 or a position below 0.

    Examples:
        >>> from tfm_core import global_mask
        >>> global_mask(3, tokens=[0]).int().tolist()
        [[1, 1, 1], [1, 0, 0], [1, 0, 0]]
    """
    queries, keys = _places(query_len, key_len)
    chosen = torch.tensor([_at_least(0, tokens=token) for token in tokens], dtype=torch.int64)
    return torch.isin(queries, chosen) | torch.isin(keys, chosen)


def prefix_mask(query_len: int, key_len: int | None = None, *, prefix: int) -> Tensor:
    """Causal, but all see the first `prefix` tokens, these each other, too: (query, key).

    Raffel et al. 2020 (T5), section 3.2.1, "causal with prefix".

    Raises:
        ValueError: for a length below 1 or a prefix below 0.

    Examples:
        >>> from tfm_core import prefix_mask
        >>> prefix_mask(3, prefix=2).int().tolist()
        [[1, 1, 0], [1, 1, 0], [1, 1, 1]]
    """
    queries, keys = _places(query_len, key_len)
    return (keys <= queries) | (keys < _at_least(0, prefix=prefix))


def document_mask(query_len: int, key_len: int | None = None, *, lengths: Sequence[int]) -> Tensor:
    """Documents packed into one sequence, none of which sees another: (query, key), block-diagonal.

    Args:
        query_len: number of queries.
        key_len: number of keys, `query_len` by default.
        lengths: of the documents; what lies after the last of them is one more.

    Raises:
        ValueError: for a length below 1.

    Examples:
        >>> from tfm_core import document_mask
        >>> document_mask(3, lengths=[2]).int().tolist()
        [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    """
    queries, keys = _places(query_len, key_len)
    ends = torch.tensor([_at_least(1, lengths=length) for length in lengths], dtype=torch.int64).cumsum(0)
    return torch.bucketize(queries, ends, right=True) == torch.bucketize(keys, ends, right=True)


def cross_mask(queries: Tensor, keys: Tensor, pad_id: int = 0) -> Tensor:
    """Real tokens look at real tokens: (batch, 1, query, key), of two texts or of one.

    Unlike with `padding_mask`, padding does not look either: its rows have no key at all.

    Args:
        queries: token ids (batch, query); in cross-attention the target's.
        keys: token ids (batch, key); in cross-attention the source's.
        pad_id: the token that stands for padding.

    Raises:
        ValueError: for ids of other shapes, or of two batch sizes.

    Examples:
        >>> import torch
        >>> from tfm_core import cross_mask
        >>> cross_mask(torch.tensor([[5, 0]]), torch.tensor([[7, 8, 0]]))[0, 0].int().tolist()
        [[1, 1, 0], [0, 0, 0]]
    """
    if len(queries) != len(keys):
        raise ValueError(f"cross_mask: expected texts of one batch size, got {len(queries)} and {len(keys)}")
    return padding_mask(queries, pad_id).mT & padding_mask(keys, pad_id)


def _places(query_len: int, key_len: int | None) -> tuple[Tensor, Tensor]:
    """Where queries (query, 1) and keys (key) stand, in tokens from the first key on."""
    key_len = query_len if key_len is None else key_len
    _at_least(1, query_len=query_len, key_len=key_len)
    return torch.arange(key_len - query_len, key_len)[:, None], torch.arange(key_len)


def _at_least(least: int, **arguments: int) -> int:
    """The last of these arguments, if none is too small."""
    for name, value in arguments.items():
        if value < least:
            raise ValueError(f"{name}: expected at least {least}, got {value}")
    return value


@dataclass(frozen=True)
class Argument:
    """A number that a mask is made with.

    Attributes:
        name: the function's argument.
        low: the smallest that says something.
        default: a good one for ten tokens; of an argument that takes several numbers, these.
        of_tokens: whether it names tokens, which the library counts from 0 and people from 1.
    """

    name: str
    low: int
    default: int | tuple[int, ...]
    of_tokens: bool = False

    @property
    def several(self) -> bool:
        """Whether it takes several numbers."""
        return isinstance(self.default, tuple)


@dataclass(frozen=True)
class Pattern:
    """An entry of `MASKS`.

    Attributes:
        function: makes the mask.
        reads: what from: the "lengths" of queries and keys, the tokens of the "keys", or the tokens of "both".
        about: whom it lets see whom, in a line.
        source: where it comes from.
        arguments: what else it takes, by name; at most one of them takes several numbers, the last.
    """

    function: Callable[..., Tensor]
    reads: Literal["lengths", "keys", "both"]
    about: str
    source: str
    arguments: tuple[Argument, ...] = ()

    def mask(self, queries: Tensor, keys: Tensor, *values: int | tuple[int, ...], pad_id: int = 0) -> Tensor:
        """The mask of these token ids, (batch, query) and (batch, key): broadcasts to (batch, 1, query, key).

        Args:
            queries: token ids of the queries.
            keys: token ids of the keys.
            values: of `arguments`, one after the other; their defaults where there are none.
            pad_id: the token that stands for padding.
        """
        given = {argument.name: argument.default for argument in self.arguments}
        given |= dict(zip(given, values, strict=False))
        if self.reads == "lengths":
            return self.function(queries.shape[1], keys.shape[1], **given)
        return self.function(*([queries] if self.reads == "both" else []), keys, pad_id, **given)


MASKS: dict[str, Pattern] = {
    "causal": Pattern(
        causal_mask,
        "lengths",
        "No token sees a later one; with a diagonal of k, none more than k tokens later.",
        "Vaswani et al. 2017, section 3.2.3",
        (Argument("diagonal", 0, 0),),
    ),
    "padding": Pattern(padding_mask, "keys", "No token sees padding.", "Vaswani et al. 2017; every batched model"),
    "window": Pattern(
        window_mask,
        "lengths",
        "Only keys fewer than w tokens away, for a window of w.",
        "Beltagy et al. 2020 (Longformer), Jiang et al. 2023 (Mistral 7B)",
        (Argument("window", 1, 3),),
    ),
    "strided": Pattern(
        strided_mask,
        "lengths",
        "Keys fewer than s tokens away, and further away every s-th, for a stride of s.",
        "Child et al. 2019 (Sparse Transformers)",
        (Argument("stride", 1, 3),),
    ),
    "global": Pattern(
        global_mask,
        "lengths",
        "These tokens see all tokens and are seen by all; combine it with others by “or”.",
        "Beltagy et al. 2020 (Longformer)",
        (Argument("tokens", 0, (0,), of_tokens=True),),
    ),
    "prefix": Pattern(
        prefix_mask,
        "lengths",
        "Causal, but every token sees the first n, for a prefix of n.",
        "Raffel et al. 2020 (T5)",
        (Argument("prefix", 0, 3),),
    ),
    "documents": Pattern(
        document_mask,
        "lengths",
        "Documents of these lengths, packed into one row; no document sees another.",
        "Krell et al. 2021 (sequence packing)",
        (Argument("lengths", 1, (5,)),),
    ),
    "cross": Pattern(
        cross_mask,
        "both",
        "Real tokens look at real tokens; padding neither looks nor is looked at.",
        "Vaswani et al. 2017, section 3.2.3, encoder-decoder attention",
    ),
}
"""Name -> a mask: its `function`, what it `reads`, its `arguments`, `about` in a line, and its `source`.

`MASKS[name].mask(queries, keys)` makes it from token ids, (batch, query) and (batch, key).

Examples:
    >>> from tfm_core import MASKS
    >>> list(MASKS)
    ['causal', 'padding', 'window', 'strided', 'global', 'prefix', 'documents', 'cross']
    >>> MASKS["window"].function(3, window=1).tolist()
    [[True, False, False], [False, True, False], [False, False, True]]
"""
