"""The model's passes under a mask of the reader's, and their caches; keys as in compute.py."""

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import (
    TOKENIZERS,
    Influence,
    MultiHeadAttention,
    Trace,
    Transformer,
    TransformerConfig,
    causal_mask,
    influence,
    padding_mask,
    recording,
)
from tfm_core.recording import Edit, Watch
from tfm_core.tokens import FIRST_ID
from tfm_ui.compute import place, transformer
from tfm_ui.mask_composition import combined, parse
from tfm_ui.mask_setting import Setting
from tfm_ui.model_state import ModelState


def forward(
    setting: Setting,
    sites: Collection[str] = (),
    *,
    mask: Tensor | None = None,
    source: Tensor | None = None,
    target: Tensor | None = None,
    model: Transformer | None = None,
    edits: Mapping[str, Edit] | None = None,
    watch: Mapping[str, Watch] | None = None,
) -> tuple[Tensor, Trace]:
    """The model's logits, (batch, seq, vocab), under exactly the setting's mask, and what was recorded. Not kept.

    By itself the model would hide padding, too, and a decoder the future: `mask` replaces all that, in each layer of
    the attention that the setting names.

    Args:
        setting: the sentence and its mask.
        sites: what is recorded.
        mask: another one than the setting's; boolean, broadcasts to (batch, head, query, key).
        source: other token ids than the sentence's, (batch, seq).
        target: other ones than the target text's, of an encoder-decoder.
        model: another one of the same shape: `precise`, say.
        edits: as in `recording`, beside the mask's.
        watch: as in `recording`.
    """
    state = setting.model
    inputs = [state.source_tokens.batch if source is None else source]
    if state.is_encoder_decoder:
        own = state.target_tokens.batch if target is None else target
        inputs.append(own.expand(len(inputs[0]), -1) if len(own) == 1 else own)
    mask = setting.mask if mask is None else mask
    ours = {at(setting, "*", "mask"): lambda own: mask.expand_as(own)}
    given = {"cross_mask" if setting.place == "cross" else "mask": mask}
    with torch.no_grad(), recording(sites, ours | dict(edits or {}), watch) as trace:
        logits: Tensor = (model or transformer(state.config))(*inputs, **given)
    return logits, trace


def at(setting: Setting, layer: int | str, what: str) -> str:
    """The recording's name of a place in the attention that the mask is for; layers from 0."""
    return place(setting.model, setting.place).format(layer=layer, what=what)


def reads(setting: Setting, layer: int) -> tuple[str, str]:
    """The recording's names of what the queries and the keys of a layer's attention, from 0, are made of."""
    state, pre = setting.model, setting.model.norm == "pre"
    queries = at(setting, layer, "normed" if pre else "residual_before")
    memory = "encoder.final_norm" if pre else stream(state, state.num_layers - 1, encoder=True)
    return queries, memory if setting.place == "cross" else queries


def stream(state: ModelState, layer: int, *, encoder: bool = False) -> str:
    """The recording's name of the residual stream behind a layer, from 0, of the stack that writes the output."""
    stack = ("encoder." if encoder else "decoder.") if state.is_encoder_decoder else ""
    return f"{stack}layers.{layer}.feed_forward.residual_after"


@st.cache_resource(max_entries=6, show_spinner=False, hash_funcs={TransformerConfig: repr})
def precise(config: TransformerConfig) -> Transformer:
    """The model in float64, in which small effects and rounding are far apart."""
    return copy.deepcopy(transformer(config)).double()


def read_by(
    setting: Setting, layer: int, *, mask: Tensor | None = None, source: Tensor | None = None
) -> tuple[MultiHeadAttention, Tensor, Tensor]:
    """The attention of a layer, from 0, and what its queries and its keys are made of, (batch, seq, d_model).

    In self-attention the two are the same tensor. `mask` and `source` as in `forward`.
    """
    state, path = setting.model, at(setting, layer, "").removesuffix(".")
    queries, keys = reads(setting, layer)
    _, trace = forward(setting, {queries, keys}, mask=mask, source=source)
    model = transformer(state.config)
    attention = (model if state.is_encoder_decoder else model.stack).get_submodule(path)
    assert isinstance(attention, MultiHeadAttention)
    return attention, trace[queries], trace[keys]


@dataclass(frozen=True)
class Obeyed:
    """One head under a mask; all (query, key).

    Attributes:
        scores: float32, before the mask.
        weights: float32, after it and the softmax.
        mask: boolean, True = may attend.
    """

    scores: NDArray[np.float32]
    weights: NDArray[np.float32]
    mask: NDArray[np.bool_]


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={Setting: repr})
def obeyed(setting: Setting, layer: int, head: int) -> Obeyed:
    """The chosen head of a pass under the setting's mask; layer and head from 0."""
    kept: dict[str, NDArray[np.float32]] = {}

    def keep(site: str, tensor: Tensor) -> None:
        kept[site.rpartition(".")[2]] = tensor[0, head].numpy().copy()

    forward(setting, watch={at(setting, layer, what): keep for what in ("scores", "weights")})
    return Obeyed(kept["scores"], kept["weights"], setting.mask.numpy())


LENGTHS = (16, 32, 64, 128, 256, 512, 1024)


@st.cache_data(max_entries=64, show_spinner=False)
def kept_by_length(composition: str, *, causal: bool) -> list[int]:
    """How many pairs a composition keeps of texts of LENGTHS tokens without padding.

    Of the longest the mask is made; that of a shorter text is its upper left corner, as is tested for each mask.

    Args:
        composition: as in a link (tfm_ui/mask_composition.py).
        causal: whether nobody looks ahead, whatever is composed.
    """
    ids = torch.full((1, LENGTHS[-1]), FIRST_ID)
    mask = combined(parse(composition)[0], ids, ids)
    mask = mask & causal_mask(LENGTHS[-1]) if causal else mask
    return [int(mask[:length, :length].sum()) for length in LENGTHS]


AT_ONCE = 2**10  # tokens of changed sentences that are run side by side: more take more memory, and no less time


def streams(setting: Setting) -> Callable[[Tensor], Tensor]:
    """Token ids (batch, token) -> the residual stream behind each layer, float64 (batch, layer, output, d_model).

    All masks are those of the sentence as it is written, whatever ids come. What is behind the last layer, above all
    the unembedding, which would take most of the time, is left out: it looks at each output by itself.
    """
    state, model, mask = setting.model, precise(setting.model.config), setting.mask
    sites = [stream(state, layer) for layer in range(state.num_layers)]
    exactly = {at(setting, "*", "mask"): lambda own: mask.expand_as(own)}
    source, target, padding = (
        state.source_tokens.batch,
        state.target_tokens.batch,
        padding_mask(state.source_tokens.batch),
    )
    memory = model.encoder(source, padding).detach() if setting.place == "decoder" else None

    def run(tokens: Tensor) -> Tensor:
        count = len(tokens)
        with torch.no_grad(), recording(sites, exactly) as trace:
            if memory is not None:
                model.decoder(tokens, mask, memory=memory.expand(count, -1, -1), memory_mask=padding)
            elif setting.place == "cross":
                model.decoder(target.expand(count, -1), memory=model.encoder(tokens, padding), memory_mask=mask)
            else:
                model.stack(tokens, mask)
        return torch.stack([trace[site] for site in sites], 1)

    return run


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={Setting: repr})
def influences(setting: Setting, places: tuple[int, ...], tries: int) -> Influence:
    """What moves behind each layer when one of these tokens of the keys' text is changed: (token, layer, output)."""
    tokens = setting.keys.batch
    return influence(
        streams(setting),
        tokens,
        vocab_size=TOKENIZERS[setting.model.tokenizer].vocab_size,
        tries=tries,
        places=places,
        at_once=max(1, AT_ONCE // (tokens.shape[1] * tries)),
    )
