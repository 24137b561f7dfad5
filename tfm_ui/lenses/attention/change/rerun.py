"""One pass of the model with changes: what comes of them, read in all heads and along the residual stream."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import recording
from tfm_core.study.interventions import in_turn
from tfm_ui.lenses.attention.change.aligned import Positions
from tfm_ui.live import origins, passes, places
from tfm_ui.live.learned import right_answers
from tfm_ui.live.origins import Heads
from tfm_ui.state.model_state import ModelState

EditFunction = Callable[[Tensor], Tensor]  # what `recording(edits=...)` calls with a tensor; it returns the new one


@dataclass(frozen=True)
class Input:
    """What a pass reads, and what is done to it on its way.

    Attributes:
        ids: text -> (1, seq), the token ids that are read in its place.
        positions: where each token stands.
        edits: name in the recording -> what is done to the tensor, one after the other.
        weight_edits: kind of attention, layer, head, from 0 -> what is done to its weights, (1, 1, query, key).
    """

    ids: Mapping[str, Tensor]
    positions: Positions
    edits: Mapping[str, Sequence[EditFunction]]
    weight_edits: Mapping[tuple[str, int, int], Sequence[EditFunction]]


@dataclass(frozen=True)
class PassWeights:
    """The attention weights of one pass: who looks at whom.

    Attributes:
        heads: kind of attention -> its heads, as the model computed them.
        weight_edits: what was done to the weights of some, see `Input`.
        positions: where each token of the texts stands.
    """

    heads: Mapping[str, Heads]
    weight_edits: Mapping[tuple[str, int, int], Sequence[EditFunction]]
    positions: Positions

    def weights(self, kind: str, layer: int, head: int) -> NDArray[np.float32]:
        """(query, key), as the model went on with them; layer and head from 0."""
        weights = self.heads[kind].exact(layer, head)
        edit = in_turn(*self.weight_edits.get((kind, layer, head), ()))
        return np.asarray(edit(torch.from_numpy(weights)[None, None])[0, 0].numpy())


@dataclass(frozen=True)
class Side:
    """What one pass left behind.

    Attributes:
        pass_weights: who looks at whom.
        stream: site -> (seq, d_model), the residual stream, from its start on.
        logits: (vocab), at the last token.
        right: how many answers of the task are right, and how many are asked for; None if nobody knows them.
    """

    pass_weights: PassWeights
    stream: Mapping[str, Tensor]
    logits: Tensor
    right: tuple[int, int] | None

    @property
    def positions(self) -> Positions:
        """Where each token of the texts stands."""
        return self.pass_weights.positions

    @property
    def end(self) -> Tensor:
        """The stream after the last layer, (seq, d_model)."""
        return list(self.stream.values())[-1]


def site(model: ModelState, kind: str) -> str:
    """The recording's name of a kind of attention, as changes call it: "encoder" is also that of a single stack."""
    return places.place(model, places.kind_of(model, kind))


def final_text(model: ModelState) -> str:
    """The text that the model goes on with."""
    return "target" if model.is_encoder_decoder else "source"


def rerun(model: ModelState, kinds: Sequence[str], given: Input) -> Side:
    """One pass with other inputs and with edits.

    Args:
        model: that runs.
        kinds: of the attentions that are looked at; they are of one stack, whose residual stream is looked at too.
        given: what it reads, and what is edited.
    """
    places = [site(model, kind) for kind in kinds]
    layers = places[0].split("{layer}")[0]
    stream_sites = [f"{layers}0.self_attention.residual_before", f"{layers}*.residual_after"]
    head_sites = [name for place in places for name in (*origins.sites(place), _mask(place))]
    edits = {name: in_turn(*edits) for name, edits in given.edits.items()}
    with torch.no_grad(), recording(stream_sites, edits) as stream, recording(head_sites) as trace:
        logits = passes.forward(model, given.ids["source"], given.ids["target"])
    last = int(given.positions[final_text(model)].max())
    heads = {kind: _heads(model, trace, kind) for kind in kinds}
    streams = {name: x[0] for name, x in stream.items()}
    read = {"source": model.source_tokens, "target": model.target_tokens}
    as_written = all(torch.equal(ids, read[text].batch) for text, ids in given.ids.items())
    right = right_answers(model, logits[0]) if as_written else None  # of another text nobody knows them
    return Side(PassWeights(heads, given.weight_edits, given.positions), streams, logits[0, last].clone(), right)


def _heads(model: ModelState, trace: Mapping[str, Tensor], kind: str) -> Heads:
    place, scheme = site(model, kind), passes.scheme(model, places.kind_of(model, kind))
    made_of = origins.origins(trace, place, model.num_layers, scheme)
    shape = (1, 1, made_of[0].query.shape[-2], made_of[0].key.shape[-2])
    return Heads(made_of, trace[_mask(place)].expand(shape)[0, 0].contiguous().numpy())


def _mask(place: str) -> str:
    """The recording's name of the mask, which is alike in all layers."""
    return place.format(layer=0, what="mask")
