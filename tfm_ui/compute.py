"""What is computed for the pages, and the only caches.

Every key is a frozen dataclass of numbers, strings and booleans. Results are shared by all users: read, never write.
"""

import gc
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st
import torch
from numpy.typing import NDArray

from tfm_core import Transformer, TransformerConfig, causal_mask, recording
from tfm_ui.model_state import ModelState


@dataclass(frozen=True)
class Attention:
    """All heads of one kind of attention in one pass.

    Attributes:
        weights: float32 (layer, head, query, key).
        visible: boolean (query, key), False where a mask forbids to look; alike in all layers and heads.
    """

    weights: NDArray[np.float32]
    visible: NDArray[np.bool_]


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


# Which attention lives where, in a single stack and in an encoder-decoder: name -> site of the recording.
PLACES = {
    False: {"self": "layers.{layer}.self_attention.{what}"},
    True: {
        "encoder": "encoder.layers.{layer}.self_attention.{what}",
        "decoder": "decoder.layers.{layer}.self_attention.{what}",
        "cross": "decoder.layers.{layer}.cross_attention.{what}",
    },
}


def weight_sites(state: ModelState, name: str) -> list[str]:
    """The recording's names of one kind of attention's weights, a site per layer."""
    place = PLACES[state.is_encoder_decoder][name]
    return [place.format(layer=layer, what="weights") for layer in range(state.num_layers)]


@st.cache_resource(max_entries=8, show_spinner=False)
def transformer(config: TransformerConfig) -> Transformer:
    """The model of this configuration, ready to run."""
    return Transformer(config).eval()


@st.cache_resource(max_entries=16, show_spinner=False)
def run(state: ModelState) -> Pass:
    """Run the model on the text, keeping the weights of every head."""
    model = transformer(state.config)
    source, target = state.source_tokens, state.target_tokens
    inputs = (source.batch, target.batch) if state.is_encoder_decoder else (source.batch,)
    mask = causal_mask(state.seq_len) if state.masks_the_future else None
    with torch.no_grad(), recording(["*.weights", "*.0.*.masked_scores"]) as trace:
        begin = time.perf_counter()
        logits = model(*inputs, mask=mask)
        milliseconds = (time.perf_counter() - begin) * 1000

    attention = {}
    for name, place in PLACES[state.is_encoder_decoder].items():
        masked = trace[place.format(layer=0, what="masked_scores")]
        attention[name] = Attention(
            weights=torch.cat([trace[site] for site in weight_sites(state, name)]).numpy(),
            visible=(masked[0, 0] > -torch.inf).numpy(),
        )
    read = (target if state.is_encoder_decoder else source).pieces
    return Pass(
        attention=attention,
        next_token=logits[0, len(read) - 1].softmax(-1).numpy(),
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        milliseconds=milliseconds,
    )


def preload() -> None:
    """In the server, before its first visitor: the first pass of a process takes ten times as long as the others."""
    torch.set_num_threads(1)  # two collapse under a busy neighbour
    run(ModelState(seed=0))  # so that the badge tells the time of a pass, and not of a start
    run(ModelState())
    go.Figure(go.Heatmap(z=np.eye(2))).to_json()


@st.cache_resource(show_spinner=False)
def warm_up() -> None:
    """Once per process, after the first visit's imports: leave what lives long out of garbage collection.

    Streamlit collects after every script run, which takes 125 ms with torch loaded and stalls every user; frozen
    objects are skipped.
    """
    preload()
    gc.collect()
    gc.freeze()
