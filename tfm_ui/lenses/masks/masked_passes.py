"""The model's passes under a mask of the reader's, kept by tfm_ui/live/cache.py."""

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import (
    Influence,
    MultiHeadAttention,
    Trace,
    Transformer,
    TransformerConfig,
    causal_mask,
    influence,
    recording,
)
from tfm_core.model.recording import Edit, Watch
from tfm_core.model.tokens import FIRST_ID
from tfm_core.study import leak_test
from tfm_core.study.leak_test import LeakTest
from tfm_ui.lenses.masks.composition import combined, parse
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.live import origins, passes
from tfm_ui.live.cache import cached, never
from tfm_ui.live.origins import Heads
from tfm_ui.live.passes import memory_site, modules, transformer
from tfm_ui.live.places import place
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import HEAVY, pass_bytes


def forward_under_mask(
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
        second = state.target_tokens.batch if target is None else target
        inputs.append(second.expand(len(inputs[0]), -1) if len(second) == 1 else second)
    mask = setting.mask if mask is None else mask
    exactly = {at(setting, "*", "mask"): lambda automatic: mask.expand_as(automatic)}
    given = {argument_of(setting): mask}
    with torch.no_grad(), recording(sites, exactly | dict(edits or {}), watch) as trace:
        logits: Tensor = (model or transformer(state.config))(*inputs, **given)
    return logits, trace


def argument_of(setting: Setting) -> str:
    """The name of the model's argument that hands over the mask."""
    return "cross_mask" if setting.place == "cross" else "mask"


def at(setting: Setting, layer: int | str, what: str) -> str:
    """The recording's name of a place in the attention that the mask is for; layers from 0."""
    return place(setting.model, setting.place).format(layer=layer, what=what)


def reads(setting: Setting, layer: int) -> tuple[str, str]:
    """The recording's names of what the queries and the keys of a layer's attention, from 0, are made of."""
    queries = at(setting, layer, "normed" if setting.model.norm == "pre" else "residual_before")
    return queries, memory_site(setting.model) if setting.place == "cross" else queries


def stream(state: ModelState, layer: int, *, encoder: bool = False) -> str:
    """The recording's name of the residual stream after a layer, from 0, of the stack that writes the output."""
    stack = ("encoder." if encoder else "decoder.") if state.is_encoder_decoder else ""
    return f"{stack}layers.{layer}.feed_forward.residual_after"


def layer_sites(state: ModelState) -> list[str]:
    """The recording's names of the residual stream: what enters the first layer, what each leaves, and the output."""
    stack = "decoder." if state.is_encoder_decoder else ""
    layers = [stream(state, layer) for layer in range(state.num_layers)]
    end = [f"{stack}final_norm"] if state.norm == "pre" else []
    return [f"{stack}layers.0.self_attention.residual_before", *layers, *end]


@cached()
def precise(config: TransformerConfig) -> Transformer:
    """The model in float64, in which small effects and rounding are far apart."""
    model = transformer(config)
    # What deepcopy puts in place of each parameter, of which there is no other copy then.
    instead = {id(each): nn.Parameter(each.detach().double(), each.requires_grad) for each in model.parameters()}
    return copy.deepcopy(model, instead).double()


def read_by(
    setting: Setting, *, mask: Tensor | None = None, source: Tensor | None = None
) -> list[tuple[Tensor, Tensor]]:
    """What the queries and the keys of each layer's attention are made of, (batch, seq, d_model), in one pass.

    In self-attention the two are the same tensor. `mask` and `source` as in `forward_under_mask`.
    """
    sites = [reads(setting, layer) for layer in range(setting.model.num_layers)]
    _, trace = forward_under_mask(setting, {site for both in sites for site in both}, mask=mask, source=source)
    return [(trace[queries], trace[keys]) for queries, keys in sites]


def attention_of(setting: Setting, layer: int) -> MultiHeadAttention:
    """The attention of a layer, from 0."""
    attention = modules(setting.model).get_submodule(at(setting, layer, "").removesuffix("."))
    assert isinstance(attention, MultiHeadAttention)
    return attention


@cached()
def heads_under(setting: Setting) -> Heads:
    """All heads of a pass under the setting's mask."""
    where = place(setting.model, setting.place)
    _, trace = forward_under_mask(setting, origins.sites(where))
    scheme = passes.scheme(setting.model, setting.place)
    return Heads(origins.origins(trace, where, setting.model.num_layers, scheme), setting.mask.numpy())


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


@cached()
def obeyed(setting: Setting, layer: int, head: int) -> Obeyed:
    """The chosen head of a pass under the setting's mask; layer and head from 0."""
    heads = heads_under(setting)
    weights, scores = heads.with_scores(layer, head)
    return Obeyed(scores.numpy(), weights, heads.visible)


LENGTHS = (16, 32, 64, 128, 256, 512, 1024)


@cached(heavy=never, apart=256)
def kept_by_length(composition: str, *, causal: bool) -> list[int]:
    """How many pairs a composition keeps of texts of LENGTHS tokens without padding.

    The mask is made for the longest text; that of a shorter one is its upper left corner, as is tested for each mask.

    Args:
        composition: as in a link (tfm_ui/lenses/masks/composition.py).
        causal: whether nobody looks ahead, whatever is composed.
    """
    ids = torch.full((1, LENGTHS[-1]), FIRST_ID)
    mask = combined(parse(composition)[0], ids, ids)
    mask = mask & causal_mask(LENGTHS[-1]) if causal else mask
    return [int(mask[:length, :length].sum()) for length in LENGTHS]


AT_ONCE = 2**9  # tokens of changed sentences that are run side by side: more take more memory, and no less time


def streams(setting: Setting) -> Callable[[Tensor], Tensor]:
    """Token ids (batch, token) -> the residual stream after each layer, float64 (batch, layer, output, d_model)."""
    state = setting.model
    return leak_test.streams(
        precise(state.config),
        setting.place,
        state.source_tokens.batch,
        state.target_tokens.batch,
        mask=setting.mask,
        mask_site=at(setting, "*", "mask"),
        sites=[stream(state, layer) for layer in range(state.num_layers)],
    )


def in_full(setting: Setting, tries: int) -> LeakTest:
    """The same with every token of the keys' text changed, as plain values for the worker."""
    state, mask = setting.model, setting.mask
    return LeakTest(
        config=state.config,
        place=setting.place,
        source=tuple(state.source_tokens.ids),
        target=tuple(state.target_tokens.ids),
        mask=np.packbits(mask.numpy()).tobytes(),
        shape=(mask.shape[0], mask.shape[1]),
        mask_site=at(setting, "*", "mask"),
        sites=tuple(stream(state, layer) for layer in range(state.num_layers)),
        vocab_size=state.tokens_by.vocab_size,
        tries=tries,
        at_once=_at_once(setting, tries),
    )


def _at_once(setting: Setting, tries: int) -> int:
    """How many tokens are changed in one batch."""
    return max(1, AT_ONCE // (len(setting.keys.ids) * tries))


def _takes_long(setting: Setting, places: tuple[int, ...], tries: int) -> bool:
    """Each place is tried in a pass by itself."""
    state = setting.model
    return len(places) * tries * pass_bytes(state.config, state.longest) > HEAVY


@cached(heavy=_takes_long)
def influences(setting: Setting, places: tuple[int, ...], tries: int) -> Influence:
    """What moves after each layer when one of these tokens of the keys' text is changed: (token, layer, output)."""
    tokens = setting.keys.batch
    return influence(
        streams(setting),
        tokens,
        vocab_size=setting.model.tokens_by.vocab_size,
        tries=tries,
        places=places,
        at_once=_at_once(setting, tries),
    )
