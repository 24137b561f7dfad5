"""The model that a link describes, and one pass of it: computed once, and kept in the cache for all lenses."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import (
    Positional,
    Transformer,
    TransformerConfig,
    block_parameters,
    causal_mask,
    recording,
)
from tfm_core.model.initialization import SharedParameters
from tfm_core.model.trained import RANDOM
from tfm_ui.live import origins, streams
from tfm_ui.live.attention import Attention, Summary, of_weights
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import adds_bias as adds_bias
from tfm_ui.live.memory import needs as needs
from tfm_ui.live.memory import why_too_large
from tfm_ui.live.not_here import missing_weights as missing_weights
from tfm_ui.live.not_here import why_not_run as why_not_run
from tfm_ui.live.places import PLACES, place, tokens_of
from tfm_ui.live.streams import stream_sites
from tfm_ui.state import array_files
from tfm_ui.state.arrays import AttentionFile
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER

# Parameters of the models in the cache. Each counts for all that it uses, and what two of them share twice: so
# memory stays within the limit of the cache, and still does when one of the two is dropped.
PARAMETERS = SharedParameters()


@dataclass(frozen=True)
class Pass:
    """What is kept of one run of the model.

    Attributes:
        attention: kind -> its heads: "self" in a single stack; "encoder", "decoder", "cross" in an encoder-decoder.
        next_token: float32 (vocab), the probabilities at the last token of the text (of the target, if there is one);
            empty of a model without logits.
        stream: site -> (1, seq, d_model), the residual stream before each attention, see `stream_sites`.
        milliseconds: the time of this pass, recording included.
    """

    attention: Mapping[str, Attention]
    next_token: NDArray[np.float32]
    stream: Mapping[str, Tensor]
    milliseconds: float

    @property
    def exact(self) -> bool:
        """Whether the maps of all heads have a cell for each weight."""
        return all(attention.block == 1 for attention in self.attention.values())


def and_scores(count: int) -> Callable[[ModelState, object], int]:
    """What a picture needs that has scores or weights of all heads of a layer, so many times, beside those of a pass.

    Wherever there is one head, there are tables of all its pairs as well, such as masks.
    """

    def needed(state: ModelState, _: object = None) -> int:
        return needs(state) + NUMBER * count * (state.num_heads + 4) * state.longest**2

    return needed


def too_large(state: ModelState) -> str:
    """Why this model is too large to run, in a sentence; "" if it is not. Checked before anything is computed."""
    return why_too_large(needs(state))


@cached()
def transformer(config: TransformerConfig) -> Transformer:
    """The model of this configuration, ready to run. What it shares with others in the cache is not drawn again."""
    return Transformer(config, PARAMETERS).eval()


def parameters(config: TransformerConfig) -> int:
    """How many parameters the model of this configuration has, whatever their values; it is not built."""
    return _parameters(replace(config, seed=0, weights=RANDOM))


@cached(heavy=never, always_kept=64)
def _parameters(config: TransformerConfig) -> int:
    return sum(block_parameters(config).values())


def forward(state: ModelState, source: Tensor | None = None, target: Tensor | None = None) -> Tensor:
    """Run the model; return its logits, (1, seq, vocab). They are not cached: callers record what they need.

    Args:
        state: the model and the texts that it reads.
        source: token ids in place of the text's, of the same shape.
        target: token ids in place of the target text's.
    """
    inputs = [state.source_tokens.batch if source is None else source]
    if state.is_encoder_decoder:
        inputs.append(state.target_tokens.batch if target is None else target)
    logits: Tensor = transformer(state.config)(*inputs, mask=mask_of(state))
    return logits


def mask_of(state: ModelState) -> Tensor | None:
    """The mask that the model is given: an encoder's, if it may not look ahead; decoders have their own."""
    return causal_mask(state.length) if state.masks_the_future else None


def last_logits(state: ModelState, last: int) -> Tensor:
    """Run the model; return its logits at a place of the text, from 0, (vocab): those of all take a fifth of a pass."""
    inputs = [state.source_tokens.batch, *([state.target_tokens.batch] if state.is_encoder_decoder else [])]
    model = transformer(state.config)
    states = model.states(*inputs, mask=mask_of(state))
    return model.logits(states[:, last : last + 1])[0, 0]


def scheme(state: ModelState, kind: str) -> Positional | None:
    """The positional scheme of this kind of attention; None in cross-attention."""
    return streams.scheme(transformer(state.config), kind)


def modules(state: ModelState) -> nn.Module:
    """The module below which submodules have the names that recordings use."""
    return streams.modules(transformer(state.config))


@cached()
def run(state: ModelState) -> Pass:
    """Run the model on the text; of an array, what its file holds.

    Raises:
        ValueError: if the model is `too_large`, or if the file has gone.
    """
    if reason := too_large(state):
        raise ValueError(reason)
    if state.array:
        return _of_file(state.array)
    transformer(state.config)  # before the pass, whose time is told
    last = len((state.target_tokens if state.is_encoder_decoder else state.source_tokens).pieces) - 1
    places = {kind: place(state, kind) for kind in PLACES[state.is_encoder_decoder]}
    wanted = [site for at in places.values() for site in origins.sites(at)]
    masks = {at.format(layer=0, what="mask"): kind for kind, at in places.items()}
    # Nobody keeps the weights, but whoever listens makes the model write them down: then a head's weights that are
    # computed again are the model's own, to the last digit, and not those of a kernel that never writes them.
    written = {at.format(layer="*", what="weights"): _nothing for at in places.values()}
    wanted += masks
    with torch.no_grad(), recording(wanted, watch=written) as trace, recording(stream_sites(state.config)) as stream:
        begin = time.perf_counter()
        logits = last_logits(state, last)
        milliseconds = (time.perf_counter() - begin) * 1000
    visible = {kind: trace[site] for site, kind in masks.items()}
    attention = {}
    for kind, at in places.items():
        queries, keys = tokens_of(state, kind)
        shape = len(queries.ids), len(keys.ids)
        attention[kind] = Attention(
            origins.origins(trace, at, state.num_layers, scheme(state, kind)),
            visible[kind].expand(1, 1, *shape)[0, 0].contiguous().numpy(),
            len(queries.pieces),
        )
    return Pass(
        attention=attention,
        next_token=logits.softmax(-1).numpy() if state.gives_logits else np.zeros(0, np.float32),
        stream=dict(stream),
        milliseconds=milliseconds,
    )


def _of_file(array: AttentionFile) -> Pass:
    """What a file holds of a pass that somebody else has run: the weights alone."""
    heads = of_weights(
        array_files.weights_of(array),
        is_causal=array.is_causal,
        tolerance=array.tolerance,
        shares_out_1=array.rows_sum_to_1,
    )
    return Pass(attention={"self": heads}, next_token=np.zeros(0, np.float32), stream={}, milliseconds=0.0)


@cached()
def summary(state: ModelState, kind: str) -> Summary:
    """A map and numbers of all heads of one kind of attention, as in `Pass.attention`."""
    return run(state).attention[kind].summary()


def _nothing(site: str, weights: Tensor) -> None:
    """Look at weights, and take nothing of them."""
