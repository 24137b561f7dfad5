"""One pass of the model with changes: what comes of them, read in all heads and along the residual stream."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Positional, encode, recording
from tfm_core.model.recording import Edit
from tfm_core.model.tokens import FIRST_ID, PAD_ID, TOKENIZERS
from tfm_core.study.interventions import in_turn, set_weight, silence_head, zero_value
from tfm_ui.lenses.attention.change.feasible import Sizes, order, replaced, sort_out
from tfm_ui.lenses.attention.change.grammar import Change, Silence, Weight, Zero, parse
from tfm_ui.live import origins
from tfm_ui.live.origins import Heads
from tfm_ui.live.texts import texts_of
from tfm_ui.state.model_state import ModelState

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
class Looks:
    """Who looks at whom in one pass.

    Attributes:
        heads: kind of attention -> its heads, as the model computed them.
        changes: what was done to them, among other things.
        at: where each token of the texts stands.
    """

    heads: Mapping[str, Heads]
    changes: Sequence[Change]
    at: At

    def weights(self, kind: str, layer: int, head: int) -> NDArray[np.float32]:
        """(query, key), as the model went on with them; layer and head from 0."""
        weights = self.heads[kind].exact(layer, head)
        for change in self.changes:
            if isinstance(change, Weight) and (change.kind, change.layer, change.head) == (kind, layer + 1, head + 1):
                _set_weight(change, self.at, 0)(torch.from_numpy(weights)[None, None])
        return weights


@dataclass(frozen=True)
class Side:
    """What one pass left behind.

    Attributes:
        looks: the weights.
        stream: site -> (seq, d_model), the residual stream, from its start on.
        logits: (vocab), at the last token.
    """

    looks: Looks
    stream: Mapping[str, Tensor]
    logits: Tensor

    @property
    def at(self) -> At:
        """Where each token of the texts stands."""
        return self.looks.at

    @property
    def end(self) -> Tensor:
        """The stream behind the last layer, (seq, d_model)."""
        return list(self.stream.values())[-1]


@dataclass(frozen=True)
class Bench:
    """A model on the bench: the attentions of one stack, and the residual stream that they write to.

    Attributes:
        forward: runs the model on other ids than its text's.
        place: of each kind of attention in a recording.
        scheme: the positional scheme that may act in each kind of attention.
        state: the model, and the texts that it reads.
        kinds: of the attentions that are looked at.
    """

    forward: Forward
    place: Place
    scheme: Callable[[str], Positional | None]
    state: ModelState
    kinds: Sequence[str]

    @property
    def text(self) -> str:
        """The text that the stack reads."""
        return texts_of(self.kinds[0])[0]

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
        places = {kind: self.place(kind) for kind in self.kinds}
        layers = places[self.kinds[0]].split("{layer}")[0]
        wanted = [f"{layers}0.self_attention.residual_before", f"{layers}*.residual_after"]
        seen = [site for place in places.values() for site in (*origins.sites(place), _mask(place))]
        with torch.no_grad(), recording(wanted, edits(changes, at, self.place)) as stream, recording(seen) as trace:
            logits = self.forward(ids["source"], ids["target"])
        last = int(at[self.final_text].max())
        heads = {kind: self._heads(trace, kind) for kind in self.kinds}
        streams = {site: x[0] for site, x in stream.items()}
        return Side(Looks(heads, changes, at), streams, logits[0, last].clone())

    def _heads(self, trace: Mapping[str, Tensor], kind: str) -> Heads:
        made_of = origins.origins(trace, self.place(kind), self.state.num_layers, self.scheme(kind))
        shape = (1, 1, made_of[0].query.shape[-2], made_of[0].key.shape[-2])
        return Heads(made_of, trace[_mask(self.place(kind))].expand(shape)[0, 0].contiguous().numpy())


def _mask(place: str) -> str:
    """The recording's name of the mask, which is alike in all layers."""
    return place.format(layer=0, what="mask")


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
                what, edit = "weights", _set_weight(change, at, change.head - 1)
            case _:
                continue
        found.setdefault(place(change.kind).format(layer=change.layer - 1, what=what), []).append(edit)
    return {site: in_turn(*those) for site, those in found.items()}


def _set_weight(change: Weight, at: At, head: int) -> Callable[[Tensor], Tensor]:
    """Does this to weights (1, head, query, key), among which those of its head stand at this place."""
    of_queries, of_keys = texts_of(change.kind)
    query, key = int(at[of_queries][change.query - 1]), int(at[of_keys][change.key - 1])
    return set_weight(head, query, key, change.weight, renormalise=change.rescaled)


def _other_id(state: ModelState, token_id: int) -> int:
    """Any other token's."""
    return FIRST_ID + (token_id - FIRST_ID + 1) % (TOKENIZERS[state.tokenizer].vocab_size - FIRST_ID)
