"""The sidebar's model with the attention that this lens gives it, what a pass of it records, and panels on it."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core import ATTENTION, FeedForward, Tokens, Transformer, TransformerConfig, causal_mask, recording
from tfm_core.model.trained import RANDOM
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live import streams
from tfm_ui.live.cache import cached
from tfm_ui.live.inside import Inside, of_stream
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import Code, config_code, of_model, script
from tfm_ui.live.tables import Part, matrix
from tfm_ui.live.tensors.attention import of_attention
from tfm_ui.live.tensors.layers import of_network
from tfm_ui.live.tensors.parts import normed
from tfm_ui.live.tensors.step import Step
from tfm_ui.live.windows import pooled
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.pictures.panel import Panel
from tfm_ui.state.model_state import MAX_LEN, ModelState
from tfm_ui.text import token_labels
from tfm_ui.text.token_row import Text


class ModelPanel(Panel):
    """A panel of this lens."""

    state: ModelLensState


def config_of(model: ModelState, state: ModelLensState) -> TransformerConfig:
    """The sidebar's configuration with the lens's attention: what every view of this lens runs."""
    return state.config(model)


def drawn_config_of(model: ModelState, state: ModelLensState) -> TransformerConfig:
    """The same shape with weights drawn from the seed, for any number of tokens, where no training is looked at."""
    return replace(config_of(model, state), weights=RANDOM, max_len=MAX_LEN)


def prefix(model: ModelState, stack: str) -> str:
    """How the sites of a stack begin in a recording: "" in a model of one stack."""
    return f"{stack}." if model.is_encoder_decoder else ""


def tokens_of_stack(model: ModelState, stack: str) -> Tokens:
    """The text that a stack reads, "encoder" or "decoder"."""
    return model.target_tokens if model.is_encoder_decoder and stack == "decoder" else model.source_tokens


def read_of(tokens: Tokens) -> int:
    """How many tokens are looked at: all but padding; of a text that is all padding, all."""
    return len(tokens.pieces) or len(tokens.ids)


def token_of(tokens: Tokens, state: ModelLensState) -> int:
    """The chosen token, from 0; the last of the text, where it ends before."""
    return min(state.token, read_of(tokens)) - 1


def inputs_of(model: ModelState) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """What the model is called with, and the mask that it is handed."""
    texts = [model.source_tokens, *([model.target_tokens] if model.is_encoder_decoder else [])]
    return tuple(text.batch for text in texts), causal_mask(model.length) if model.masks_the_future else None


def inputs_of_first(
    model: ModelState, config: TransformerConfig, count: int
) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """What `inputs_of` gives, for whoever looks at first tokens alone: a stack that never looks ahead reads no others.

    What it computes at these tokens is the same, to rounding, and of a long text takes a fraction of the time.
    """
    inputs, mask = inputs_of(model)
    if not (model.looks_back_only and ATTENTION[config.attention].has_cache):  # others depend on the length
        return inputs, mask
    *whole, cut = inputs
    return (*whole, cut[:, :count]), None if mask is None else mask[:count, :count]


def texts_of_first(model: ModelState, config: TransformerConfig, count: int) -> list[Text]:
    """The texts whose tokens are read where `inputs_of_first` is."""
    inputs, _ = inputs_of_first(model, config, count)
    texts = (model.source_tokens, model.target_tokens)
    return [Text(tokens).first(ids.shape[1]) for tokens, ids in zip(texts, inputs, strict=False)]


@cached()
def read(model: ModelState, config: TransformerConfig, sites: tuple[str, ...]) -> Mapping[str, Tensor]:
    """Site -> what the pass recorded there, with the batch axis of 1. A site may be a pattern, as in `recording`.

    Ask for few sites: they are kept in the cache.
    """
    inputs, mask = inputs_of(model)
    with torch.no_grad(), recording(sites) as trace:
        transformer(config)(*inputs, mask=mask)
    return dict(trace)


def in_script(model: ModelState, config: TransformerConfig) -> dict[str, Code]:
    """The header of a recipe: `config`, the texts, the model's `inputs`, its `mask`; see `of_model`."""
    return of_model(model) | {"config": config_code(config)}


def modules_of(model: Transformer) -> nn.Module:
    """The module below which submodules have the names that recordings use."""
    return model if model.config.architecture == "encoder-decoder" else model.stack


def same_numbers(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors of one shape are the same, bit for bit: those in one place of memory need not be read."""
    return (a.data_ptr() == b.data_ptr() and a.shape == b.shape) or torch.equal(a, b)


class LayerPanel(ModelPanel):
    """A panel on the chosen layer, and on the tokens that its stack reads."""

    @cached_property
    def config(self) -> TransformerConfig:
        """The configuration of the live model."""
        return config_of(self.model, self.state)

    @property
    def stack(self) -> str:
        """The stack that is looked at."""
        return self.state.stack if self.model.is_encoder_decoder else self.model.architecture

    @property
    def layer(self) -> int:
        """The chosen layer, from 1."""
        return min(self.state.layer, self.model.num_layers)

    @property
    def head(self) -> int:
        """The chosen head, from 1."""
        return min(self.state.head, self.model.num_heads)

    @property
    def where(self) -> str:
        """The layer in words."""
        return f"layer {self.layer}" + (f" of the {self.stack}" if self.model.is_encoder_decoder else "")

    @property
    def tokens(self) -> Tokens:
        """The text that the stack reads."""
        return tokens_of_stack(self.model, self.stack)

    @cached_property
    def names(self) -> list[str]:
        """A label per token, padding included."""
        return token_labels.labels(self.tokens)

    @property
    def read(self) -> int:
        """How many tokens sentences speak of: all but padding."""
        return read_of(self.tokens)

    @property
    def token(self) -> int:
        """The chosen token, from 0."""
        return token_of(self.tokens, self.state)

    def script(self, recipe: Callable[..., Any], **arguments: Any) -> str:
        """A recipe as a script, whose header begins with the live model."""
        return script(recipe, **in_script(self.model, self.config), **arguments)

    def maps(
        self,
        tables: Mapping[str, Tensor],
        part: Part,
        zooms: str,
        along: tuple[str, str] = ("dimension of d_model", "dimension"),
        **more: Any,
    ) -> Content:
        """A map of each table, (token, dimension), all on one scale.

        Args:
            tables: name -> the numbers.
            part: which part of them is looked at.
            zooms: the field of the state that holds this part.
            along: the name of the axis of columns, and that of one column.
            more: further arguments of `tfm_ui.pictures.maps.content`.
        """
        whole = part.exact and (part.rows, part.columns) == (part.height, part.width)
        top = max(float(values.nan_to_num().abs().max()) for values in tables.values())
        return maps.content(
            [
                Map(name=name, values=pooled(matrix(values), part), scale=around_zero(top), unit="one scale")
                for name, values in tables.items()
            ],
            rows=Axis(part.row_names(self.names), "token", "token"),
            # The numbers on a counted axis would begin at 0 for a part, too.
            columns=Axis(part.column_names([str(i + 1) for i in range(part.width)]), *along, counted=whole),
            square=False,
            part=None if whole else part,
            zooms=PREFIX + zooms,
            counted_from=1,
            **more,
        )


class SubLayerPanel(LayerPanel):
    """A panel on one sub-layer of the chosen layer."""

    @property
    @abstractmethod
    def sub_layer(self) -> str:
        """The sub-layer that is looked at, such as "feed_forward"."""

    @property
    def site(self) -> str:
        """How this sub-layer's sites begin in a recording, such as "layers.0.feed_forward"."""
        return f"{prefix(self.model, self.stack)}layers.{self.layer - 1}.{self.sub_layer}"

    def inside(self, attention: str = "") -> Inside:
        """The attention of the chosen layer, on what it read in a pass, where the sub-layer is one.

        Args:
            attention: another kind in place of the one that the model has, with its weights and on what it read.
        """
        config, layer, crosses = self.config, self.layer - 1, self.sub_layer == "cross_attention"
        kind = "cross" if crosses else self.stack if self.model.is_encoder_decoder else "self"
        masks = [place.format(layer="*", what="mask") for place in streams.kinds(config).values()]
        stream = read(self.model, config, (*streams.stream_sites(config), *masks))
        place = streams.kinds(config)[kind].replace("{layer}", str(layer))
        queries = stream[place.format(what="residual_before")].shape[1]
        keys = stream[streams.memory_site(config)].shape[1] if crosses else queries
        mask = stream[place.format(what="mask")]
        visible = mask[(None,) * (4 - mask.dim())].expand(1, -1, queries, keys)[0, 0]
        pattern = None if crosses else ATTENTION[attention or config.attention].pattern(queries, keys)
        visible = visible if pattern is None else visible & pattern
        model = transformer(replace(config, attention=attention) if attention else config)
        return of_stream(model, stream, visible.contiguous(), kind=kind, layer=layer)

    def taken(self, called: str) -> Step:
        """The tensors of the sub-layer in the live model, from the residual stream to what it adds."""
        title = f"{called[0].upper()}{called[1:]} of {self.where}"
        modules = modules_of(transformer(self.config))
        network, norm = modules.get_submodule(self.site), modules.get_submodule(f"{self.site}_norm")
        if not isinstance(network, FeedForward):
            return of_attention(self.inside(), title)
        assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
        site, is_pre = f"{self.site}.residual_before", self.config.norm == "pre"
        x = read(self.model, self.config, (site,))[site][0]
        with torch.no_grad():
            reads = norm(x) if is_pre else x
        step = of_network(network, reads, title, normed(x, norm if is_pre else None, reads, "X", "token"))
        return replace(step, constants={**step.constants, "norm_eps": self.config.norm_eps})
