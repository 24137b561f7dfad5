"""What is computed of the model for the pages, and its caches; those of lone schemes are in compute_positions.py.

Every key is a frozen dataclass of numbers, strings and booleans, hashed by its repr: Streamlit's own way takes longer
than the pass itself. Results are shared by all users: read, never write.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import (
    POSITIONAL,
    Positional,
    ScaleExperiment,
    Transformer,
    TransformerConfig,
    causal_mask,
    recording,
)
from tfm_core import scale_experiment as measure_scale
from tfm_ui.attention import Attention, Reader, bytes_needed
from tfm_ui.compared import Compared, compare
from tfm_ui.feasible import tokens_of
from tfm_ui.inside import Inside, sites
from tfm_ui.inside import inside as put_together
from tfm_ui.lines import Lines, kept, maps
from tfm_ui.model_state import ModelState
from tfm_ui.readings import HeadSeen, Reading, Shared, read, see
from tfm_ui.readings import shared as compare_weights
from tfm_ui.rerun import Bench, Side, possible

BUDGET = 300_000_000  # bytes that one request may take beside its model


@dataclass(frozen=True)
class Pass:
    """What one run of the model left behind.

    Attributes:
        attention: "self" of the single stack; "encoder", "decoder", "cross" of an encoder-decoder.
        next_token: float32 (vocab), the probabilities at the last token of the text (of the target, if there is one).
        parameters: how many numbers the model consists of.
        milliseconds: the time of this pass, recording included.
    """

    attention: Mapping[str, Attention]
    next_token: NDArray[np.float32]
    parameters: int
    milliseconds: float

    @property
    def exact(self) -> bool:
        """Whether the maps of all heads have a cell per weight."""
        return all(attention.block == 1 for attention in self.attention.values())


# Which attention lives where, in a single stack and in an encoder-decoder: name -> site of the recording.
PLACES = {
    False: {"self": "layers.{layer}.self_attention.{what}"},
    True: {
        "encoder": "encoder.layers.{layer}.self_attention.{what}",
        "decoder": "decoder.layers.{layer}.self_attention.{what}",
        "cross": "decoder.layers.{layer}.cross_attention.{what}",
    },
}


def kind_of(state: ModelState, kind: str) -> str:
    """The kind of attention that a control asks for, as `Pass.attention` knows it: a single stack has but one."""
    return kind if state.is_encoder_decoder else "self"


def place(state: ModelState, kind: str) -> str:
    """The recording's name of one kind of attention, with `{layer}` and `{what}` to be put in."""
    return PLACES[state.is_encoder_decoder][kind]


def too_large(state: ModelState) -> str:
    """Why this model is not run, in one sentence; "" if it is: checked before anything is computed."""
    source, target = len(state.source_tokens.ids), len(state.target_tokens.ids)
    longest = max(source, target) if state.is_encoder_decoder else source
    needed = bytes_needed(state.num_heads, longest, longest, bias=adds_bias(state))
    if needed <= BUDGET:
        return ""
    return (
        f"{state.num_heads} heads on {longest} tokens need {needed / 1e6:.0f} MB at a time; "
        f"{BUDGET / 1e6:.0f} MB is the limit. Fewer heads or fewer tokens fit."
    )


@st.cache_resource(max_entries=12, show_spinner=False, hash_funcs={TransformerConfig: repr})
def transformer(config: TransformerConfig) -> Transformer:
    """The model of this configuration, ready to run."""
    return Transformer(config).eval()


def forward(state: ModelState, source: Tensor | None = None, target: Tensor | None = None) -> Tensor:
    """The model's logits, (1, seq, vocab). Kept nowhere: what is wanted of the pass is recorded around it.

    Args:
        state: the model, and the texts that it reads.
        source: other token ids than the text's, of the same shape.
        target: other ones than the target text's.
    """
    inputs = [state.source_tokens.batch if source is None else source]
    if state.is_encoder_decoder:
        inputs.append(state.target_tokens.batch if target is None else target)
    mask = causal_mask(state.seq_len) if state.masks_the_future else None
    logits: Tensor = transformer(state.config)(*inputs, mask=mask)
    return logits


def scheme(state: ModelState, kind: str) -> Positional | None:
    """The positional scheme that may act in this kind of attention."""
    stack = {"self": "stack", "encoder": "encoder"}.get(kind, "decoder")
    found: Positional | None = None if kind == "cross" else getattr(transformer(state.config), stack).positional
    return found


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={ModelState: repr})
def inside(state: ModelState, kind: str, layer: int) -> Inside:
    """What one attention read and wrote.

    Args:
        state: the model, and the texts that it reads.
        kind: "self" of a single stack; "encoder", "decoder" or "cross" of an encoder-decoder.
        layer: from 0.
    """
    at = place(state, kind).replace("{layer}", str(layer))
    model, (path, _, name) = transformer(state.config), at.removesuffix(".{what}").rpartition(".")
    block = (model if state.is_encoder_decoder else model.stack).get_submodule(path)
    pre_norm = state.norm == "pre"
    encoded = f"encoder.{'final_norm' if pre_norm else f'layers.{state.num_layers - 1}.feed_forward.residual_after'}"
    wanted = sites(at, Positional if kind == "cross" else POSITIONAL[state.positional], pre_norm=pre_norm)
    with torch.no_grad(), recording([*wanted, encoded] if kind == "cross" else wanted) as trace:
        forward(state)
    return put_together(block, name, trace, at, trace[encoded] if kind == "cross" else None)


@st.cache_resource(max_entries=6, show_spinner=False, hash_funcs={ModelState: repr})
def compared(state: ModelState, a: str, b: str, kind: str, layer: int, head: int) -> Compared:
    """The model with changes A beside the model with changes B.

    Args:
        state: the model, and the texts that it reads.
        a: changes, as in a link; those that this model does not allow are passed over.
        b: likewise.
        kind: of attention; any, of a single stack.
        layer: from 0.
        head: from 0.

    Raises:
        ValueError: if the model is `too_large`.
    """
    if reason := too_large(state):
        raise ValueError(reason)
    before, after = (possible(changes, state) for changes in (a, b))
    return compare(_bench(state, kind, layer, head), before, after, _changed(state, a, kind, layer, head))


@st.cache_resource(max_entries=3, show_spinner=False, hash_funcs={ModelState: repr})
def _changed(state: ModelState, changes: str, kind: str, layer: int, head: int) -> Side:
    return _bench(state, kind, layer, head).run(possible(changes, state))


def _bench(state: ModelState, kind: str, layer: int, head: int) -> Bench:
    return Bench(
        forward=lambda source, target: forward(state, source, target if state.is_encoder_decoder else None),
        place=lambda kind: place(state, kind_of(state, kind)),
        state=state,
        kind=kind if state.is_encoder_decoder else "encoder",
        layer=layer,
        head=head,
    )


def adds_bias(state: ModelState) -> bool:
    """Whether the positional scheme adds something to the scores."""
    return "bias_at" in POSITIONAL[state.positional].enters()


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs={ModelState: repr})
def run(state: ModelState) -> Pass:
    """Run the model on the text, and take from each layer's weights what is kept of them.

    Raises:
        ValueError: if it is `too_large`.
    """
    if reason := too_large(state):
        raise ValueError(reason)
    model = transformer(state.config)
    source, target = state.source_tokens, state.target_tokens
    readers = {}
    for kind in PLACES[state.is_encoder_decoder]:
        queries, _ = tokens_of(state, kind)
        readers[kind] = Reader(len(queries.pieces), scheme(state, kind))
    watch = {site: see for kind, reader in readers.items() for site, see in reader.watches(place(state, kind)).items()}
    with torch.no_grad(), recording([], watch=watch):
        begin = time.perf_counter()
        logits = forward(state)
        milliseconds = (time.perf_counter() - begin) * 1000
    last = len((target if state.is_encoder_decoder else source).pieces) - 1
    return Pass(
        attention={kind: reader.attention() for kind, reader in readers.items()},
        next_token=logits[0, last].softmax(-1).numpy(),
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        milliseconds=milliseconds,
    )


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs={ModelState: repr})
def lines(state: ModelState, kind: str, layer: int, how: str) -> Lines:
    """The weights behind the arcs.

    Args:
        state: the model, and the texts that it reads.
        kind: as in `Pass.attention`.
        layer: from 0.
        how: "heads", "mean", "max" or "rollout".
    """
    attention = run(state).attention[kind]
    return kept(maps(attention, layer, how), attention.visible, how)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs={ModelState: repr, tuple: repr})
def reading(state: ModelState, layer: int, *, order: tuple[int, ...] = (), batch: int = 1, along: str = "") -> Reading:
    """A pass of the single stack, or of the encoder of an encoder-decoder; arguments as in `readings.read`."""
    kind = "encoder" if state.is_encoder_decoder else "self"
    model, at = transformer(state.config), place(state, kind).replace("{layer}", str(layer))
    stack = model.encoder if state.is_encoder_decoder else model.stack
    return read(stack, state, at, order=order, batch=batch, along=along)


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs={ModelState: repr})
def head_seen(state: ModelState, layer: int, head: int) -> HeadSeen:
    """A head of that pass; layer and head from 0."""
    own = reading(state, layer, order=())  # its key is what is given, and the shuffle gives an order
    return see(own.attention[0], head)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs={TransformerConfig: repr})
def shared(config: TransformerConfig, plain: TransformerConfig) -> Shared:
    """Which weights the models of these two have in common: with large ones side by side, that takes a while."""
    return compare_weights(transformer(config), transformer(plain))


@st.cache_resource(max_entries=32, show_spinner=False)
def scale_experiment(widths: tuple[int, ...], draws: int, keys: int, seed: int) -> ScaleExperiment:
    """The library's experiment of this name."""
    return measure_scale(widths, draws=draws, keys=keys, seed=seed)
