"""Attention weights as people have them, read: of one sentence of a batch, with its tokens and its padding."""

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.model.tokens import Tokens
from tfm_core.study.attention_arrays import AttentionArray, as_attention
from tfm_ui.live.all_heads import AllHeads
from tfm_ui.live.attention import GivenAttention, of_weights
from tfm_ui.text import formats, token_labels

SITE = re.compile(r"(?:(encoder|decoder)\.)?layers\.(\d+)\.(self|cross)_attention\.weights")
PADS = ("[PAD]", "<pad>", "PAD", "<|pad|>")  # how tokenizers write padding
SPACES = str.maketrans("Ġ▁", "  ")  # how byte-pair encodings and SentencePiece write the space before a word
NO_SUMS = "Rows of these numbers do not sum to 1."
KINDS = ("encoder", "decoder", "cross")
CAUSAL = {True: "Causal: no query looks ahead.", False: "Not causal: some queries look ahead."}
BATCHED = 4  # axes of a layer's weights, (batch, head, query, key)
GIVEN = "the number as it was given"
NOTHING = 1e-6  # of a weight: what is less comes from rounding
Named = Sequence[str] | Sequence[Sequence[str]] | Tokens
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Given:
    """Weights of one sentence.

    Attributes:
        heads: its heads over their tokens.
        notes: how the weights were read, and what must be known of them, in sentences.
        batch: how many sentences there are.
    """

    heads: AllHeads
    notes: tuple[str, ...]
    batch: int

    @property
    def attention(self) -> GivenAttention:
        """The weights."""
        assert isinstance(self.heads.attention, GivenAttention)
        return self.heads.attention

    def weights(self, layer: int, head: int) -> NDArray[np.float32]:
        """The weights of one head, float32 (query, key); layer and head from 0."""
        return self.attention.exact(layer, head)


def read(
    attentions: Any,
    tokens: Named = (),
    *,
    keys: Named | None = None,
    batch: int = 0,
    kind: str = "",
    padding: Any = None,
) -> Given:
    """One sentence's attention weights.

    Args:
        attentions: a tuple of tensors (batch, head, query, key), one per layer, as transformers gives them with
            `output_attentions=True`, or the output that holds it; one array of 2 to 5 axes, up to (layer, batch, head,
            query, key); a recording of `tfm_core.recording("*.weights")`; or an `AttentionArray`, which has its tokens.
        tokens: of the one sentence, or for each sentence of the batch, or `Tokens`; by default tokens are numbered. Of
            cross-attention they are the queries'.
        keys: of cross-attention the tokens of the keys, likewise.
        batch: which sentence of the batch, from 0.
        kind: of a recording or an output of an encoder-decoder "encoder", "decoder" or "cross".
        padding: of the keys, (batch, seq) or (seq,), 1 or True for a token and 0 or False for padding, as
            `attention_mask` of transformers; by default keys that are written as padding at an end count as padding.

    Raises:
        ValueError: if these are no weights, or if there is no such sentence; the message says what was expected and
            what came.
    """
    held, count = _layers_of(attentions, kind)
    at = _number(batch, count)
    if isinstance(attentions, AttentionArray):
        tokens = tokens or attentions.tokens
        keys = attentions.keys if keys is None and attentions.crosses else keys
    elif keys is None and kind == "cross":
        keys = ()
    array = as_attention(
        held if count == 1 else _sentence(held, at),
        _of_sentence(tokens, at, count),
        keys=None if keys is None else _of_sentence(keys, at, count),
    )
    weights = array.weights[:, 0]
    queries, named = (
        side[0] if side else tuple(map(str, range(1, length + 1)))
        for side, length in zip((array.tokens, array.keys), weights.shape[-2:], strict=True)
    )
    is_token = _is_token(padding, named, at)
    told = _about_padding(weights, is_token, array.crosses)
    if told.is_left_out:
        keep = torch.from_numpy(is_token)
        weights, named = weights[..., keep], tuple(compress(named, is_token))
        if not array.crosses:
            weights, queries = weights[:, :, keep], named
        is_token = is_token[is_token]
    # Rows of padding are no tokens: what is said of heads leaves them out. Cross-attention has another text there.
    rows = len(queries) if array.crosses or told.is_among_tokens else int(is_token.sum())
    is_causal = not array.crosses and not bool(weights[:, :, :rows].triu(1).any())
    attention = replace(
        of_weights(weights, is_causal=is_causal, tolerance=array.tolerance, shares_out_1=array.rows_sum_to_1), read=rows
    )
    attention.visible[rows:] = (weights[:, :, rows:].amax((0, 1)) > 0).numpy()  # padding may look anywhere
    heads = AllHeads(
        attention,
        attention.summary(),
        _labels(queries),
        _labels(named),
        ids=() if array.crosses else _ids(queries[:rows]),
        same_text=not array.crosses,
        no_sums=NO_SUMS,
    )
    notes = [note for note in array.notes if note not in CAUSAL.values()]
    notes += [] if array.crosses else [CAUSAL[is_causal]]
    which = [f"Sentence {at + 1} of {count}."] if count > 1 else []
    return Given(heads, (*which, *notes, *told.notes), count)


def _layers_of(attentions: Any, kind: str) -> tuple[Any, int]:
    """The weights of all layers, and how many sentences they are of."""
    if isinstance(attentions, AttentionArray):
        return attentions.weights, attentions.weights.shape[1]
    weights = _weights(attentions, kind)
    if getattr(weights, "ndim", 0) == BATCHED + 1:
        return weights, weights.shape[1]
    if isinstance(weights, list | tuple) and weights and all(getattr(part, "ndim", 0) == BATCHED for part in weights):
        return weights, len(weights[0])
    return weights, 1


def _sentence(weights: Any, at: int) -> Any:
    """The weights of one sentence, still with an axis for the batch."""
    part = slice(at, at + 1)
    return [layer[part] for layer in weights] if isinstance(weights, list | tuple) else weights[:, part]


def _number(batch: Any, count: int) -> int:
    try:
        at = operator.index(batch)
    except TypeError:
        at = -1
    if not 0 <= at < count:
        raise ValueError(f"expected the number of a sentence, 0 to {count - 1}, got batch={batch!r}")
    return at


def _of_sentence(tokens: Named, at: int, count: int) -> Any:
    """The tokens of one sentence, if they are given for each."""
    pieces = _pieces(tokens)
    if count > 1 and isinstance(pieces, list | tuple) and pieces and isinstance(pieces[0], list | tuple):
        if len(pieces) != count:
            raise ValueError(f"expected tokens of each sentence of the batch, {count:,} lists; got {len(pieces):,}")
        return pieces[at]
    return pieces


def _pieces(tokens: Named) -> Any:
    """The tokens as texts, padding included."""
    return [*tokens.pieces, *["PAD"] * tokens.padding] if isinstance(tokens, Tokens) else tokens


def _labels(pieces: Sequence[str]) -> list[str]:
    """A short label for each token, all different; the space before a word is shown as in the app."""
    read = tuple(piece.translate(SPACES) or " " for piece in pieces)
    return token_labels.labels(Tokens(read, (0,) * len(read), dropped=0))


def _ids(pieces: Sequence[str]) -> list[int]:
    """A number for each token, equal ones for equal tokens."""
    first: dict[str, int] = {}
    return [first.setdefault(piece, place) for place, piece in enumerate(pieces)]


def _weights(attentions: Any, kind: str) -> Any:
    """The weights of each layer, out of what holds them."""
    if isinstance(attentions, Tensor):
        return attentions
    kinds = [name for name in KINDS if getattr(attentions, f"{name}_attentions", None)]
    if kind in kinds:
        return getattr(attentions, f"{kind}_attentions")
    if hasattr(attentions, "attentions"):
        attentions = attentions.attentions
    elif kinds:  # an output of an encoder-decoder
        raise ValueError(f"expected kind to be one of {', '.join(kinds)}, got {kind!r}")
    elif isinstance(attentions, Mapping):
        return _recorded(attentions, kind)
    return () if attentions is None else attentions


def _recorded(trace: Mapping[str, Tensor], kind: str) -> list[Tensor]:
    """The weights of a recording, layer by layer."""
    kinds: dict[str, dict[int, Tensor]] = {}
    for name, tensor in trace.items():
        if site := SITE.fullmatch(name):
            stack, layer, attends = site.groups()
            kinds.setdefault("cross" if attends == "cross" else stack or "self", {})[int(layer)] = tensor
    if not kinds:
        raise ValueError('expected a recording with weights, as recording("*.weights") makes it; got ' + _named(trace))
    if not kind and len(kinds) > 1:
        raise ValueError(f"expected kind to be one of {', '.join(kinds)}, as this recording has several; got none")
    if kind and kind not in kinds:
        raise ValueError(f"expected kind to be one of {', '.join(kinds)}, got {kind!r}")
    layers = kinds[kind or next(iter(kinds))]
    return [layers[number] for number in sorted(layers)]


def _named(trace: Mapping[str, Any]) -> str:
    names = list(map(str, trace))
    return f"one of {', '.join(names[:3])}{' and others' if len(names) > 3 else ''}" if names else "an empty one"


def _is_token(padding: Any, named: Sequence[str], at: int) -> Flags:
    """Boolean (key): whether each place is a token, and not padding."""
    if padding is None:
        is_token = np.array([piece not in PADS for piece in named])
        places = np.flatnonzero(is_token)
        inside = slice(places[0], places[-1] + 1) if len(places) else slice(None)
        is_token[inside] = True  # between tokens it may be the name of one
        return is_token
    try:
        given = np.asarray(torch.as_tensor(padding).cpu())
    except (TypeError, ValueError, RuntimeError) as problem:
        raise ValueError(f"expected padding as numbers, 1 for a token and 0 for padding; got {padding!r}") from problem
    row = given[at] if given.ndim == 2 and at < len(given) else given
    if row.shape != (len(named),):
        raise ValueError(
            f"expected padding of {len(named)} keys, (batch, seq) or (seq,), got {tuple(given.shape)} for batch={at}"
        )
    if not np.isin(row, (0, 1)).all():
        raise ValueError(f"expected padding of 1 for a token and 0 for padding, got {row[~np.isin(row, (0, 1))][0]}")
    if not row.any():
        raise ValueError(f"expected a token at least, got padding alone for batch={at}")
    return row.astype(bool)


@dataclass(frozen=True)
class Padding:
    """Where padding stands, and what becomes of it.

    Attributes:
        notes: both in a sentence; none without padding.
        is_left_out: whether it is not shown: it stands before tokens, and none of them looks at it.
        is_among_tokens: whether its rows are shown like those of tokens, as it stands before some.
    """

    notes: tuple[str, ...] = ()
    is_left_out: bool = False
    is_among_tokens: bool = False


def _about_padding(weights: Tensor, is_token: Flags, crosses: bool) -> Padding:
    """Padding at the end stays, veiled; before tokens it is left out, unless a token looks at it.

    Args:
        weights: (layer, head, query, key).
        is_token: (key).
        crosses: whether the queries are another text.
    """
    count = int((~is_token).sum())
    if not count:
        return Padding()
    keys = torch.from_numpy(is_token)
    rows = weights if crosses else weights[:, :, keys]
    most = rows[..., ~keys].sum(-1).max().item()
    is_at_the_end = not is_token[-count:].any()
    is_left_out = not is_at_the_end and most <= NOTHING
    where = "at the end" if is_at_the_end else "not at the end alone"
    where += ", left out" if is_left_out else "" if is_at_the_end else ": its rows are shown like all others"
    looks = "No token looks at it."
    if most > NOTHING:
        looks = f"A token gives it up to {formats.percent(most)} of its weight: the model’s mask does not hide it."
    note = f"{formats.plural(count, 'place')} of padding, {where}. {looks}"
    return Padding((note,), is_left_out, is_among_tokens=not is_at_the_end and not is_left_out)
