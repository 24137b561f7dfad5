"""Attention weights as people have them, read: of one sentence of a batch, with its tokens and its padding."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
            `attention_mask` of transformers; by default keys that are written as padding at the end count as padding.

    Raises:
        ValueError: if these are no weights, or if there is no such sentence; the message says what was expected and
            what came.
    """
    if keys is None and kind == "cross":
        keys = ()
    if isinstance(attentions, AttentionArray):
        array = attentions
    else:
        array = as_attention(_weights(attentions, kind), _pieces(tokens), keys=None if keys is None else _pieces(keys))
    count = array.weights.shape[1]
    if not 0 <= batch < count:
        raise ValueError(f"expected the number of a sentence, 0 to {count - 1}, got batch={batch}")
    weights = array.weights[:, batch]
    queries, named = (
        side[batch] if side else tuple(map(str, range(1, length + 1)))
        for side, length in zip((array.tokens, array.keys), weights.shape[-2:], strict=True)
    )
    is_token = _is_token(padding, named, batch)
    places = np.flatnonzero(is_token)
    is_at_the_end = bool(is_token[: len(places)].all())
    # Rows of padding are no tokens: what is said of heads leaves them out. Cross-attention has another text there.
    rows = len(places) if is_at_the_end and len(places) and not array.crosses else len(queries)
    weighed = of_weights(
        weights, is_causal=array.is_causal, tolerance=array.tolerance, shares_out_1=array.rows_sum_to_1
    )
    attention = replace(weighed, read=rows)
    notes = [*([f"Sentence {batch + 1} of {count}."] if count > 1 else []), *array.notes]
    notes += _about_padding(weights, is_token, array.crosses)
    heads = AllHeads(
        attention,
        attention.summary(),
        _labels(queries),
        _labels(named),
        ids=() if array.crosses else _ids(queries[:rows]),
        same_text=not array.crosses,
        no_sums=NO_SUMS,
    )
    return Given(heads, tuple(notes), count)


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
    of_kind = getattr(attentions, f"{kind}_attentions", None) if kind else None
    if of_kind is not None:
        return of_kind
    if hasattr(attentions, "attentions"):
        attentions = attentions.attentions
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


def _is_token(padding: Any, named: Sequence[str], batch: int) -> Flags:
    """Boolean (key): whether each place is a token, and not padding."""
    if padding is None:
        last = max((place for place, piece in enumerate(named) if piece not in PADS), default=len(named) - 1)
        return np.arange(len(named)) <= last
    given = torch.as_tensor(padding).to(torch.bool).numpy()
    row = given[batch] if given.ndim == 2 and batch < len(given) else given
    if row.shape != (len(named),):
        raise ValueError(
            f"expected padding of {len(named)} keys, (batch, seq) or (seq,), got {tuple(given.shape)} for batch={batch}"
        )
    return np.asarray(row)


def _about_padding(weights: Tensor, is_token: Flags, crosses: bool) -> list[str]:
    """What must be known of padding: where it stands, and whether tokens look at it."""
    count = int((~is_token).sum())
    if not count or count == len(is_token):
        return []
    keys = torch.from_numpy(is_token)
    rows = weights if crosses else weights[:, :, keys]
    most = rows[..., ~keys].sum(-1).max().item()
    is_at_the_end = not is_token[-count:].any()
    where = "at the end" if is_at_the_end else "not at the end alone: its rows are shown like all others"
    looks = "No token looks at it."
    if most > NOTHING:
        looks = f"A token gives it up to {formats.percent(most)} of its weight: the model’s mask does not hide it."
    return [f"{formats.plural(count, 'place')} of padding, {where}. {looks}"]
