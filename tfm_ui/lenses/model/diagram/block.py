"""One block of the diagram: its formula, and what flows in and out of it; of a shape without tensors, what it has."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import pandas as pd
import streamlit as st
import torch
from torch import Tensor, nn

from tfm_core import (
    ATTENTION,
    POSITIONAL,
    FeedForward,
    MultiHeadAttention,
    SequenceClassifier,
    Transformer,
    TransformerConfig,
    TransformerLayer,
    attention_scores,
    attention_weights,
    recording,
)
from tfm_core.model.linear_attention import linear_attention
from tfm_core.model.transformer import OutputTransform, Stack
from tfm_core.study.blocks import Block
from tfm_ui.lenses.model.diagram.counted import Counted, DiagramPanel, added_up
from tfm_ui.lenses.model.machine import in_script
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.live.windows import part_of
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.maps import MAPS
from tfm_ui.pictures.panel import Source
from tfm_ui.text import formats

IN, OUT = "flows in", "flows out"
SOURCES: Mapping[str, Sequence[Source]] = {
    "embedding": (Stack.embed, nn.Embedding.forward),
    "token_types": (Stack.embed, nn.Embedding.forward),
    "position": (Stack.place,),
    "norm": (TransformerLayer._add, nn.LayerNorm.forward),
    "cross_attention": (MultiHeadAttention.forward, attention_scores, attention_weights),
    "feed_forward": (FeedForward.forward,),
    "sum": (TransformerLayer._add,),
    "pooler": (Transformer.pooled,),
    "transform": (OutputTransform.forward,),
    "logits": (Transformer.logits,),
    "head": (SequenceClassifier.forward,),
}
ACTIVATION = {
    "relu": (r"\mathrm{ReLU}", r"\max(0, z)"),
    "gelu": (r"\mathrm{GELU}", r"z\,\Phi(z)"),
    "silu": (r"\mathrm{SiLU}", r"z\,\sigma(z)"),
}  # name -> what it is called, and its definition


def formulas(block: Block, config: TransformerConfig) -> list[str]:
    """The formula of a block, as LaTeX: one line, or several.

    Vaswani et al. 2017, Ba et al. 2016, Zhang and Sennrich 2019, Shazeer 2020, Katharopoulos et al. 2020, Ainslie et
    al. 2023, Devlin et al. 2019.
    """
    match block.kind:
        case "embedding":
            scale = r"\sqrt{d_{\mathrm{model}}}\; " if config.scale_embeddings else ""
            return [rf"x_i = {scale}E_{{\mathrm{{token}}(i)}}"]
        case "token_types":
            return [r"x_i \leftarrow x_i + t_0,\quad t_0 \text{ of the first type, as all tokens here are}"]
        case "position":
            return [r"x_i \leftarrow x_i + p_i"]
        case "norm":
            return [_norm(config)]
        case "self_attention" | "cross_attention":
            bias = " + b^O" if config.output_bias else ""
            return [
                *_attention(block, config),
                rf"\mathrm{{MultiHead}} = \mathrm{{Concat}}(\mathrm{{head}}_1, \dots)\,W^O{bias}",
            ]
        case "feed_forward":
            return [_feed_forward(config)]
        case "sum":
            read = rf"\mathrm{{{_called(config)}}}(x)" if config.norm == "pre" else "x"
            return [rf"x + \mathrm{{SubLayer}}({read})"]
        case "pooler":
            return [r"\mathrm{pooled} = \tanh(x_1 W + b)"]
        case "transform":
            name, _ = ACTIVATION.get(config.activation, ("f", ""))
            return [rf"y = \mathrm{{{_called(config)}}}({name}(x W + b))"]
        case "head":
            return [r"\mathrm{logits} = \Big(\frac{1}{n}\sum_i x_i\Big) W + b"]
        case _:
            bias = " + b" if config.head == "masked" else ""
            return [rf"\mathrm{{logits}} = x {'E' if config.tie_embeddings else 'W'}^\top{bias}"]


def _called(config: TransformerConfig) -> str:
    """The norms' name in formulas."""
    return "LayerNorm" if config.normalization == "layer" else "RMSNorm"


def _norm(config: TransformerConfig) -> str:
    if config.normalization == "layer":
        return r"\mathrm{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta"
    return r"\mathrm{RMSNorm}(x) = \gamma \odot \frac{x}{\sqrt{\frac{1}{d} \sum_i x_i^2 + \varepsilon}}"


def _attention(block: Block, config: TransformerConfig) -> list[str]:
    """One head. The mask hides by adding minus infinity."""
    if block.kind == "self_attention" and not ATTENTION[config.attention].has_scores:
        return [
            r"\mathrm{head}_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j) v_j^\top}{\phi(q_i)^\top \sum_j \phi(k_j)},"
            r"\quad \phi(x) = \mathrm{elu}(x) + 1"
        ]
    ways = POSITIONAL[config.positional].enters() if block.kind == "self_attention" else ()
    query, key = (r"\tilde Q", r"\tilde K") if "rotate" in ways else ("Q", "K")
    bias = " + B" if "bias_at" in ways else ""
    source = r"\mathrm{memory}" if block.kind == "cross_attention" else "x"
    of_query, of_key = (" + b^Q", " + b^{K,V}") if config.qkv_bias else ("", "")
    projected = rf"Q = x W^Q{of_query},\quad K, V = {source}\, W^{{K,V}}{of_key}"
    sharing = config.num_heads // config.kv_heads
    of_head = rf"K, V \text{{ of head }} i: \text{{ key-value head }} \lceil i / {sharing} \rceil"
    shared = [of_head] if sharing > 1 else []
    turned = [r"\tilde q_m = R_m q_m,\quad \tilde k_n = R_n k_n"] if "rotate" in ways else []
    softmax = rf"\mathrm{{head}} = \mathrm{{softmax}}\Big(\frac{{{query} {key}^\top}}{{\sqrt{{d_k}}}}{bias} + M\Big) V"
    patterned = block.kind == "self_attention" and ATTENTION[config.attention].pattern(1, 1) is not None
    pattern = rf"\text{{ and the }} \mathrm{{{config.attention}}} \text{{ pattern lets it}}" if patterned else ""
    mask = rf"M_{{mn}} = 0 \text{{ where }} m \text{{ may attend to }} n{pattern},\ -\infty \text{{ elsewhere}}"
    return [projected, *shared, *turned, softmax, mask]


def _feed_forward(config: TransformerConfig) -> str:
    if config.activation == "swiglu":
        if not config.feed_forward_bias:
            return r"\mathrm{FFN}(x) = \big(\mathrm{SiLU}(x W_g) \odot (x W_1)\big) W_2"
        return r"\mathrm{FFN}(x) = \big(\mathrm{SiLU}(x W_g + b_g) \odot (x W_1 + b_1)\big) W_2 + b_2"
    name, definition = ACTIVATION.get(config.activation, ("f", ""))
    where = rf",\quad {name}(z) = {definition}" if definition else ""
    first, second = (" + b_1", " + b_2") if config.feed_forward_bias else ("", "")
    return rf"\mathrm{{FFN}}(x) = {name}(x W_1{first})\, W_2{second}{where}"


class CountedBlock(DiagramPanel):
    """The picked block of a shape that is only counted: what it has and costs, as there are no tensors to show."""

    key = "model_flow"
    locked = True

    @property
    def how_to_read(self) -> str:
        shared = "" if self.config.kv_heads == self.config.num_heads else ", d_kv = dₖ × key-value heads"
        others = f"dₖ = d / h{shared}, h heads, V token ids, C classes"
        return f"Costs: n tokens, m tokens of the encoder, d = d_model, {others}."

    @property
    def block(self) -> Block:
        """The block."""
        return self.picked.block

    @property
    def alike(self) -> list[Counted]:
        """All blocks of its kind."""
        return [item for item in self.items if item.name_in_link == self.picked.name_in_link]

    @property
    def title(self) -> str:
        layer = f"layer {self.block.layer + 1}" if self.block.layer is not None else ""
        place = ", ".join(filter(None, (self.stack if len(self.counts) > 1 else "", layer)))
        return f"The block: {self.name_of(self.block, self.stack)[0]}" + f" ({place})" * bool(place)

    @property
    def shape(self) -> str:
        return f"out: {self.shape_out(self.block, self.stack)[1]}"

    @property
    def sources(self) -> Sequence[Source]:
        """The program of the block; self-attention is the configuration's, with what it changes of the full one."""
        if self.block.kind == "norm" and self.config.normalization == "rms":
            return (TransformerLayer._add, nn.RMSNorm.forward)
        if self.block.kind != "self_attention":
            return SOURCES[self.block.kind]
        entry = ATTENTION[self.config.attention]
        changed: list[Source] = [entry.pattern, entry._attend] if entry is not MultiHeadAttention else []
        maths: list[Source] = [attention_scores, attention_weights] if entry.has_scores else [linear_attention]
        return [MultiHeadAttention.forward, *changed, *maths]

    def sentence(self) -> str:
        """Its parameters beside those of all blocks of its kind, and its costs as formulas with their values."""
        has = f"This block has {formats.plural(self.block.parameters, 'parameter')}"
        if len(alike := self.alike) > 1:
            total = formats.count(sum(item.block.parameters for item in alike))
            has += f"; the {formats.count(len(alike))} of its kind have {total} together"
        shared = self.shared_in_words() if self.block.kind.endswith("attention") else ""
        costs = self.picked.costs_in_words()
        why_none = "" if self.state.run else " No weight is made, so there are no tensors to show."
        return f"{has}. {shared}{costs}{why_none}"

    def table(self) -> pd.DataFrame:
        """A row per block of this kind."""
        return self.table_of(self.alike)

    def tools(self) -> None:
        """Draw the block's formulas."""
        for formula in formulas(self.block, self.config):
            st.latex(formula, width="content")
        if self.chosen.bias and self.block.kind == "logits":
            st.latex(r"\mathrm{logits} \leftarrow \mathrm{logits} + b", width="content")


def flows_at(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, ends: Mapping[str, Sequence[str]]
) -> Mapping[str, Tensor]:
    """What flows in and out of a block, (token, d_model): the sum of what was recorded at these sites."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(sorted({site for sites in ends.values() for site in sites})) as trace:
        model(*inputs, mask=mask)
    flows = {end: added_up(trace, sites) for end, sites in ends.items() if sites}
    return flows


class Flow(CountedBlock):
    """What flows in and out of the picked block of the live model."""

    is_live = True
    canvas = MAPS

    @property
    def how_to_read(self) -> str:
        return f"What flows in and out, token × dimension, on one scale. {super().how_to_read}"

    @cached_property
    def ends(self) -> dict[str, Tensor]:
        """IN and OUT -> what flows there, (token, d_model).

        Nothing flows into the embedding but token ids, and what flows out of the logits is (token, vocab). The pooler
        reads the first token alone.
        """
        ends = {IN: self.block.reads, OUT: self.block.writes}
        flows = {end: added_up(self.recorded, sites) for end, sites in ends.items() if sites}
        return {end: x[:1] for end, x in flows.items()} if self.block.kind == "pooler" else flows

    def sentence(self) -> str:
        """The mean lengths at both ends, and what the block costs."""
        lengths = {end: formats.number(float(x.double().norm(dim=-1).mean())) for end, x in self.ends.items()}
        costs = self.picked.costs_in_words()
        if self.block.kind == "pooler":
            of_first = " and ".join(f"what {end} has a length of {length}" for end, length in lengths.items())
            first = f"The last hidden state of the first token, “{self.names[0]}”, makes one vector for the whole text"
            return f"{first}, recorded from the live pass: {of_first}. {costs}"
        means = " and ".join(f"what {end} has a mean length of {length}" for end, length in lengths.items())
        tokens = formats.plural(len(self.names), "token")
        shared = self.shared_in_words() if self.block.kind.endswith("attention") else ""
        return f"A vector for each of {tokens}, recorded from the live pass: {means}. {shared}{costs}"

    def table(self) -> pd.DataFrame:
        """A row per token and end."""
        tables = {end: pd.DataFrame(x.numpy(), index=self.names[: len(x)]) for end, x in self.ends.items()}
        return pd.concat(tables, names=["end", "token \\ dimension"])

    def laws(self) -> dict[str, bool]:
        """The block's own module, run on what flows in, gives what flows out."""
        off = float((self._given() - self.ends[OUT]).abs().max())
        size = float(self.ends[OUT].abs().max())
        law = f"the block, run on what flows in, gives what flows out (largest error {formats.tiny(off)})"
        return {law: off <= 1e-5 * max(1.0, size)}

    def _given(self) -> Tensor:
        """What the block makes of what flows in: its module alone, outside the model."""
        block, model = self.block, transformer(self.config)
        which = self.stack if len(self.counts) > 1 else "stack"
        stack, name = model.get_submodule(which), block.name.removeprefix(f"{which}.")
        assert isinstance(stack, Stack)
        x = self.ends[IN][None] if IN in self.ends else self.tokens.batch
        with torch.no_grad():
            match block.kind:
                case "embedding":
                    scale = stack.config.d_model**0.5 if stack.config.scale_embeddings else 1.0
                    given = stack.embedding(x) * scale
                case "token_types":
                    assert stack.token_types is not None  # this block is drawn of models that have them
                    given = x + stack.token_types(torch.zeros(x.shape[:2], dtype=torch.int64))
                case "position":
                    encoding = stack.positional.encode(x.shape[1])
                    assert encoding is not None  # this block is drawn of schemes that add one
                    given = x + encoding
                case "sum":
                    given = x
                case "logits":
                    given = model.unembedding(x)
                case "pooler":
                    given = model.pooler(x).tanh()
                case "transform":
                    given = model.transform(x)
                case "self_attention":
                    mask = self.recorded[f"{block.name}.mask"]
                    given = stack.get_submodule(name)(x, mask=mask, positional=stack.positional)
                case "cross_attention":
                    [source] = self.counts["encoder"][-1].block.writes
                    memory, mask = self.recorded[source], self.recorded[f"{block.name}.mask"]
                    given = stack.get_submodule(name)(x, memory, mask=mask)
                case _:
                    given = stack.get_submodule(name)(x)
        result: Tensor = given[0]
        return result

    def picture(self) -> Content:
        """What flows in and out; of the logits what flows in, as they are in the view "output"."""
        width = self.config.d_model
        drawn = {end: x for end, x in self.ends.items() if x.shape[-1] == width}
        part = part_of(self.state.flow_part, len(next(iter(drawn.values()))), width)
        return self.maps(drawn, part, "flow_part")

    def recipe(self) -> str:
        """A script that leaves `flows`."""
        ends = {IN: list(self.block.reads), OUT: list(self.block.writes)}
        return script(flows_at, **in_script(self.model, self.config), ends=ends)
