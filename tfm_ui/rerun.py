"""One pass of the model with changes: what comes of them, read at one head and along the residual stream."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import encode, recording
from tfm_core.interventions import in_turn, set_weight, silence_head, zero_value
from tfm_core.recording import Edit
from tfm_core.tokens import FIRST_ID, PAD_ID, TOKENIZERS
from tfm_ui.changes import Change, Silence, Weight, Zero, parse
from tfm_ui.feasible import Sizes, order, replaced, sort_out, texts_of
from tfm_ui.model_state import ModelState

Forward = Callable[[Tensor, Tensor], Tensor]  # ids of the two texts -> logits, (1, seq, vocab)
Place = Callable[[str], str]  # a kind of attention -> the recording's name, with `{layer}` and `{what}` to be put in
At = Mapping[str, NDArray[np.intp]]  # text -> where each of its tokens stands now, -1 if it is dropped


def possible(changes: str, state: ModelState) -> list[Change]:
    """Of the changes in a link, those that this model allows."""
    return sort_out(parse(changes)[0], sizes(state))[0]


def sizes(state: ModelState) -> Sizes:
    """What this model leaves to be changed."""
    target = len(state.target_tokens.pieces) if state.is_encoder_decoder else 0
    return Sizes(state.num_layers, state.num_heads, len(state.source_tokens.pieces), target)


def looks_back_only(state: ModelState, kind: str) -> bool:
    """Whether the mask of this kind of attention forbids to look ahead."""
    return kind == "decoder" if state.is_encoder_decoder else state.looks_back_only


@dataclass(frozen=True)
class Side:
    """What one pass left behind.

    Attributes:
        weights: (query, key), as the model went on with them.
        visible: boolean (query, key), where the mask lets look.
        stream: site -> (seq, d_model), the residual stream, from its start on.
        logits: (vocab), at the last token.
        at: where each token of the texts stands.
    """

    weights: Tensor
    visible: Tensor
    stream: Mapping[str, Tensor]
    logits: Tensor
    at: At

    @property
    def end(self) -> Tensor:
        """The stream behind the last layer, (seq, d_model)."""
        return list(self.stream.values())[-1]


@dataclass(frozen=True)
class Bench:
    """A model on the bench: one head of one attention, and the residual stream that it writes to.

    Attributes:
        forward: runs the model on other ids than its text's.
        place: of each kind of attention in a recording.
        state: the model, and the texts that it reads.
        kind: of the attention that is looked at.
        layer, head: from 0.
    """

    forward: Forward
    place: Place
    state: ModelState
    kind: str
    layer: int
    head: int

    @property
    def final_text(self) -> str:
        """The text that the model goes on with."""
        return "target" if self.state.is_encoder_decoder else "source"

    def run(self, changes: Sequence[Change], *, other: tuple[str, int] | None = None) -> Side:
        """One pass with these changes, all of them possible.

        Args:
            changes: what is done to the model.
            other: a text, and a token of it from 0 in whose place another one is read.
        """
        ids, at = {}, {}
        for text, tokens in (("source", self.state.source_tokens), ("target", self.state.target_tokens)):
            left = order(changes, text, len(tokens.pieces))
            own = list(tokens.ids)
            for i, piece in replaced(changes, text).items():
                own[i] = encode(piece, self.state.tokenizer).ids[0]
            if other and other[0] == text:
                own[other[1]] = _other_id(self.state, own[other[1]])
            read = [own[i] for i in left]
            ids[text] = torch.tensor([read + [PAD_ID] * (len(tokens.ids) - len(read))])
            at[text] = np.full(len(tokens.pieces), -1, np.intp)
            at[text][left] = np.arange(len(left))
        here = self.place(self.kind).replace("{layer}", str(self.layer))
        seen: dict[str, Tensor] = {}
        watch = {
            here.format(what="weights"): lambda _, w: seen.update(weights=w[0, self.head].clone()),
            here.format(what="mask"): lambda _, m: seen.update(mask=m),
        }
        layers = self.place(self.kind).split("{layer}")[0]
        stream = [f"{layers}0.self_attention.residual_before", f"{layers}*.residual_after"]
        with torch.no_grad(), recording(stream, edits(changes, at, self.place), watch) as trace:
            logits = self.forward(ids["source"], ids["target"])
        weights = seen["weights"]
        visible = torch.broadcast_to(seen["mask"], (1, 1, *weights.shape))[0, 0]
        last = int(at[self.final_text].max())
        return Side(weights, visible, {site: x[0] for site, x in trace.items()}, logits[0, last].clone(), at)


def edits(changes: Sequence[Change], at: At, place: Place) -> dict[str, Edit]:
    """What these changes do to a pass of the model: for `recording(edits=...)`.

    Args:
        changes: those that can be made, see `sort_out`.
        at: text -> where each of its tokens stands.
        place: of each kind of attention.
    """
    found: dict[str, list[Callable[[Tensor], Tensor]]] = {}
    for change in changes:
        match change:
            case Silence():
                what, edit = "head_output", silence_head(change.head - 1)
            case Zero():
                key = at[texts_of(change.kind)[1]][change.token - 1]
                what, edit = "value", zero_value(int(key), change.head - 1 if change.head else None)
            case Weight():
                query, key = (
                    at[text][token - 1]
                    for text, token in zip(texts_of(change.kind), (change.query, change.key), strict=True)
                )
                what = "weights"
                edit = set_weight(change.head - 1, int(query), int(key), change.weight, renormalise=change.rescaled)
            case _:
                continue
        found.setdefault(place(change.kind).format(layer=change.layer - 1, what=what), []).append(edit)
    return {site: in_turn(*those) for site, those in found.items()}


def _other_id(state: ModelState, token_id: int) -> int:
    """Any other token's."""
    return FIRST_ID + (token_id - FIRST_ID + 1) % (TOKENIZERS[state.tokenizer].vocab_size - FIRST_ID)
