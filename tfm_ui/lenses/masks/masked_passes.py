"""The model's passes under a mask of the reader's, kept by tfm_ui/live/cache.py."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

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
    influence,
    recording,
)
from tfm_core.model.recording import Edit, Watch
from tfm_core.model.unfilled import copied
from tfm_core.study import leak_test
from tfm_core.study.leak_test import LeakTest
from tfm_ui.lenses.masks.state import MasksState, Setting, setting
from tfm_ui.live import origins, passes
from tfm_ui.live import streams as streams_of
from tfm_ui.live.cache import cached
from tfm_ui.live.inside import of_stream
from tfm_ui.live.origins import Heads
from tfm_ui.live.passes import modules, transformer
from tfm_ui.live.places import place
from tfm_ui.live.streams import memory_site
from tfm_ui.live.tensors.attention import of_attention
from tfm_ui.live.tensors.attention import title as title_of
from tfm_ui.live.tensors.step import Step
from tfm_ui.pictures.panel import Note, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import HEAVY, is_mapped, pass_bytes
from tfm_ui.text import token_labels


class MasksPanel(Panel):
    """A panel of this lens; most are about the chosen head of the chosen sentence."""

    state: MasksState

    @cached_property
    def setting(self) -> Setting:
        """The chosen sentence, and its mask."""
        return setting(self.model, self.state)

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """A label per query and per key, padding included."""
        return token_labels.labels(self.setting.queries), token_labels.labels(self.setting.keys)

    @property
    def pairs(self) -> str:
        """The shape of the sentence's mask."""
        return f"query × key = {' × '.join(str(len(names)) for names in self.names)}"

    @property
    def layer(self) -> int:
        """The chosen layer, from 0."""
        return min(self.state.layer, self.model.num_layers) - 1

    @property
    def head(self) -> int:
        """The chosen head, from 0."""
        return min(self.state.head, self.model.num_heads) - 1

    @property
    def where(self) -> str:
        """Which head it is."""
        return f"layer {self.layer + 1}, head {self.head + 1}"

    @property
    def tensors(self) -> Step | None:
        return attention_under(self.setting, self.layer)

    def aside(self) -> str:
        """What of the link the panel leaves out; "" if nothing."""
        return ""

    @classmethod
    def note(cls, model: ModelState, state: MasksState) -> Note | None:
        """What it leaves out, for `View.shows`."""
        aside = cls(model, state).aside()
        return Note(aside) if aside else None


def under_exactly(
    model: Transformer,
    inputs: Sequence[Tensor],
    mask: Tensor,
    argument: str,
    mask_site: str,
    sites: Collection[str],
    edits: Mapping[str, Edit] | None = None,
    watch: Mapping[str, Watch] | None = None,
) -> tuple[Tensor, Trace]:
    """What the logits are made of, (batch, seq, d_model), under a mask in place of all that the model hides by itself;
    and the recording.
    """
    exactly = {mask_site: lambda automatic: mask.expand_as(automatic)}
    handed: dict[str, Any] = {argument: mask}
    with torch.no_grad(), recording(sites, exactly | dict(edits or {}), watch) as trace:
        states = model.states(*inputs, **handed)
    return states, trace


def forward_under_mask(
    setting: Setting,
    sites: Collection[str] = (),
    *,
    mask: Tensor | None = None,
    source: Tensor | None = None,
    model: Transformer | None = None,
    edits: Mapping[str, Edit] | None = None,
    watch: Mapping[str, Watch] | None = None,
) -> tuple[Tensor, Trace]:
    """What logits are made of, (batch, seq, d_model), under exactly the setting’s mask, and the recording. Not kept.

    By itself the model would hide padding, too, and a decoder the future: `mask` replaces all that, in each layer of
    the attention that the setting names.

    Args:
        setting: the sentence and its mask.
        sites: what is recorded.
        mask: another one than the setting's; boolean, broadcasts to (batch, head, query, key).
        source: other token ids than the sentence's, (batch, seq).
        model: another one of the same shape: `precise`, say.
        edits: as in `recording`, beside the mask's.
        watch: as in `recording`.
    """
    state = setting.model
    inputs = [state.source_tokens.batch if source is None else source]
    if state.is_encoder_decoder:
        inputs.append(state.target_tokens.batch.expand(len(inputs[0]), -1))
    mask = setting.mask if mask is None else mask
    names = argument_of(setting), at(setting, "*", "mask")
    return under_exactly(model or transformer(state.config), inputs, mask, *names, sites, edits, watch)


def logits_under_mask(setting: Setting) -> Tensor:
    """The model's logits, (1, seq, vocab), under exactly the setting's mask."""
    return logits_of(setting, forward_under_mask(setting)[0])


def logits_of(setting: Setting, states: Tensor) -> Tensor:
    """The logits, (..., vocab), that the setting's model makes of these, (..., d_model); without a head, these."""
    with torch.no_grad():
        logits: Tensor = transformer(setting.model.config).logits(states)
    return logits


def argument_of(setting: Setting) -> str:
    """The name of the model's argument that hands over the mask."""
    return "cross_mask" if setting.place == "cross" else "mask"


def at(setting: Setting, layer: int | str, what: str) -> str:
    """The recording's name of a place in the attention that the mask is for; layers from 0."""
    return place(setting.model, setting.place).format(layer=layer, what=what)


def reads(setting: Setting, layer: int) -> tuple[str, str]:
    """The recording's names of what the queries and the keys of a layer's attention, from 0, are made of."""
    queries = at(setting, layer, "normed" if setting.model.norm == "pre" else "residual_before")
    return queries, memory_site(setting.model.config) if setting.place == "cross" else queries


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
    # With a cache, so that a parameter that stands in two places is one parameter again.
    return copied(transformer(config), cache(lambda each: nn.Parameter(each.detach().double(), each.requires_grad)))


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


def attention_under(setting: Setting, layer: int, *, mask: Tensor | None = None, source: Tensor | None = None) -> Step:
    """The attention that the setting names in a layer, from 0, under exactly its mask; all heads.

    Args:
        setting: the sentence and its mask.
        layer: from 0.
        mask: another one than the setting's, boolean (query, key).
        source: other token ids than the sentence's, (1, seq).
    """
    config, kind = setting.model.config, setting.place
    _, stream = forward_under_mask(setting, streams_of.stream_sites(config), mask=mask, source=source)
    visible = setting.mask if mask is None else mask
    inside = of_stream(transformer(config), stream, visible, kind=kind, layer=layer)
    return of_attention(inside, f"{title_of(kind, layer)}, under this mask")


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


AT_ONCE = 2**9  # tokens of changed sentences that are run side by side: more take more memory, and no less time


def streams(setting: Setting) -> Callable[[Tensor], Tensor]:
    """Token ids (batch, token) -> the residual stream after each layer, float64 (batch, layer, output, d_model)."""
    state = setting.model
    return leak_test.streams(
        leak_test.in_float64(transformer(state.config)) if is_mapped(state.config) else precise(state.config),
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
