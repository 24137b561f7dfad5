"""All attentions: what each query sees on the same weights, how far the output moves, and what each costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from streamlit.column_config import NumberColumn, TextColumn
from torch import Tensor

from tfm_core import (
    ATTENTION,
    AttentionCost,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    attention_costs,
    recording,
    visible_pairs,
)
from tfm_core.model.linear_attention import linear_attention, linear_attention_weights
from tfm_ui.lenses.model.machine import LayerPanel, SubLayerPanel, inputs_of, modules_of, read
from tfm_ui.lenses.model.state import PREFIX, possible
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import and_scores, transformer
from tfm_ui.live.script import script
from tfm_ui.live.tables import SIDE, matrix
from tfm_ui.live.tensors.attention import SCORE_IS_SCALED, of_attention
from tfm_ui.live.tensors.step import Step, beside
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import OpenTable, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MANY = SIDE // 2  # a side of each map, as there are five
LENGTHS = tuple(2**power for power in range(4, 13))  # 16 to 4,096 tokens
COLUMNS = {
    "grows with": TextColumn(help="n tokens, d = d_model, dₖ = d / heads"),
    "pairs seen": NumberColumn(format="localized", help="of a query and a key"),
    "multiply-adds needed": NumberColumn(format="localized", help="for these pairs alone, without the projections"),
    "computed here": NumberColumn(format="localized", help="multiply-adds of the code of this app"),
    "numbers held": NumberColumn(
        format="localized",
        help="scores; the sums over the keys and their normaliser; or a maximum and a running sum for each query",
    ),
}


@dataclass(frozen=True)
class Variant:
    """One attention in place of the full one, in the chosen layer and head."""

    weights: Tensor
    """(query, key); of linear attention those that it implies."""

    visible: Tensor
    """Boolean (query, key), which pairs it lets see each other."""

    off: float
    """The largest difference of the layer's attention output from that of full attention."""


def alone(
    model: Transformer, attention: str, site: str, x: Tensor, mask: Tensor, wanted: Sequence[str]
) -> tuple[Tensor, Mapping[str, Tensor]]:
    """An attention with the weights of the one at a site, run by itself on x: its output, and what is wanted of it."""
    modules = modules_of(model)
    positional, at_site = (
        modules.get_submodule(site.rpartition("layers.")[0] + "positional"),
        modules.get_submodule(site),
    )
    assert isinstance(at_site, MultiHeadAttention)
    with torch.device("meta"):
        other = ATTENTION[attention](**at_site.shape).eval()
    other.load_state_dict(at_site.state_dict(), assign=True)
    other.prefix = f"{site}."
    with torch.no_grad(), recording([f"{site}.{name}" for name in wanted]) as inside:
        output = other(x, mask=mask, positional=positional)
    return output, inside


def of_head(inside: Mapping[str, Tensor], site: str, head: int) -> tuple[Tensor, Tensor]:
    """The weights of a head, and which pairs it lets see each other, (query, key)."""
    weights = inside[f"{site}.weights"]
    return weights[0, head], inside[f"{site}.mask"].expand_as(weights)[0, head]


def on_the_same_weights(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    names: Sequence[str],
    site: str,
    head: int,
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Each attention in place of the full one at a site, on its recorded input: weights, visible pairs, outputs."""
    reads = f"{site}.normed" if config.norm == "pre" else f"{site}.residual_before"
    model = Transformer(config).eval()
    with torch.no_grad(), recording([reads, f"{site}.mask"]) as trace:
        model(*inputs, mask=mask)
    weights, visible, outputs = {}, {}, {}
    for name in names:
        output, inside = alone(model, name, site, trace[reads], trace[f"{site}.mask"], ["weights", "mask"])
        weights[name], visible[name] = of_head(inside, site, head)
        outputs[name] = output[0]
    return weights, visible, outputs


def attend(
    model: ModelState, config: TransformerConfig, attention: str, site: str, wanted: Sequence[str]
) -> tuple[Tensor, Mapping[str, Tensor]]:
    """What `alone` gives of an attention in the live model, on what is read there under full attention. Not kept.

    Args:
        model: the sidebar's model.
        config: its configuration, with full attention.
        attention: the attention that runs.
        site: where it stands: the attention of a layer and stack.
        wanted: the names of what is recorded there.
    """
    reads = "normed" if config.norm == "pre" else "residual_before"
    # All layers at once, so that another layer or stack needs no other pass.
    sites = tuple(f"*layers.*.self_attention.{what}" for what in (reads, "mask"))
    trace = read(model, config, sites)
    return alone(transformer(config), attention, site, trace[f"{site}.{reads}"], trace[f"{site}.mask"], wanted)


# What another attention changes: queries, keys and their scores it does not.
OF_EACH = ("products", "kept", "mask", "M", "masked", "weights", "head_output", "heads", "output")


@cached()
def variants(
    model: ModelState, config: TransformerConfig, names: tuple[str, ...], site: str, head: int
) -> tuple[dict[str, Variant], float]:
    """Attention -> what it does at this site; and the largest number of the full attention's output there."""
    full = attend(model, config, "full", site, ["weights"])[0]

    def variant(name: str) -> Variant:  # of all heads' weights one is kept, before the next attention writes its own
        output, inside = attend(model, config, name, site, ["weights", "mask"])
        weights, visible = of_head(inside, site, head)
        return Variant(weights.clone(), visible.clone(), float((output - full).abs().max()))

    return {name: variant(name) for name in names}, float(full.abs().max())


@cached()
def logits_off(model: ModelState, config: TransformerConfig, names: tuple[str, ...]) -> dict[str, float]:
    """Attention -> the largest difference of the logits from those with full attention; the same weights. Of a model
    without logits, that of its last hidden states.

    It takes a pass for each, so only those ask who show it.
    """
    inputs, mask = inputs_of(model)
    with torch.no_grad():
        full, *others = (transformer(replace(config, attention=name))(*inputs, mask=mask) for name in ("full", *names))
    return {name: float((logits - full).abs().max()) for name, logits in zip(names, others, strict=True)}


class Efficient(SubLayerPanel):
    """The attentions side by side, in the chosen layer, stack and head."""

    sub_layer = "self_attention"
    title = "Who sees whom, on the same weights"
    sources: Sequence[Source] = (
        *(on_the_same_weights, MultiHeadAttention.forward),
        *(ATTENTION[name].pattern for name in ("window", "strided")),
        *(linear_attention, linear_attention_weights),
    )
    canvas = MAPS
    needs = and_scores(3)

    @cached_property
    def config(self) -> TransformerConfig:
        """The sidebar's configuration, with full attention."""
        return replace(self.model.config, attention="full")

    @cached_property
    def _variants(self) -> tuple[dict[str, Variant], float]:
        return variants(self.model, self.config, possible(self.model), self.site, self.head - 1)

    @property
    def by_name(self) -> dict[str, Variant]:
        """Attention -> what it does."""
        return self._variants[0]

    @property
    def tensors(self) -> Step:
        """The first attention whole, and of the others what differs: all read the same, with the same weights."""
        first, *others = (of_attention(self.inside(name), f"Attentions in {self.where}") for name in self.by_name)
        steps = {
            name: replace(step, tensors=[each for each in step.tensors if each.name in OF_EACH])
            for name, step in zip(list(self.by_name)[1:], others, strict=True)
        }
        return first.also(*beside("", steps).tensors, note=SCORE_IS_SCALED)

    @property
    def largest(self) -> float:
        """The largest number, without its sign, of what full attention puts out in this layer."""
        return self._variants[1]

    @cached_property
    def allowed(self) -> int:
        """How many pairs the model's own mask leaves."""
        return int(self.by_name["full"].visible.sum())

    def share(self, name: str) -> float:
        """The share of these pairs that an attention sees."""
        return int(self.by_name[name].visible.sum()) / max(1, self.allowed)

    def sentence(self) -> str:
        """What each leaves, and how far the output moves."""
        changes = []
        for name, variant in self.by_name.items():
            if name == "full":
                continue
            sees = "" if self.share(name) == 1 else f", which sees {formats.percent(self.share(name))} of the pairs"
            changes.append(f"{name} attention{sees}: {_size(variant.off)}")
        return (
            f"Largest difference of the layer’s attention output from the full one, whose largest number is "
            f"{formats.number(self.largest)}: {'; '.join(changes)}. The weights are "
            f"{self.model.if_random('random', 'trained with full attention')} and the same for all. These "
            "differences do not measure quality: a model trained with this attention would adapt to it."
        )

    @property
    def how_to_read(self) -> str:
        return (
            f"The weights of head {self.head} in {self.where}, each attention on the same input. "
            f"Hatched: hidden. Linear: the matrix that it implies and never writes.{self.shared_with}"
        )

    @property
    def shared_with(self) -> str:
        """Which heads have the keys and values of this one, in a sentence with a space before it; "" if none do."""
        each = self.config.num_heads // self.config.kv_heads
        if each == 1:
            return ""
        number = (self.head - 1) // each
        first, last = number * each + 1, (number + 1) * each
        heads = f"{first} and {last}" if each == 2 else f"{first} to {last}"
        return f" Heads {heads} share their keys and values: key-value head {number + 1}."

    @property
    def shape(self) -> str:
        return f"query × key = {len(self.names)} × {len(self.names)}"

    def laws(self) -> dict[str, bool]:
        """Rows sum to 1, hidden pairs have no weight, and fused is full."""
        sums = {name: variant.weights.double().sum(-1) for name, variant in self.by_name.items()}
        seeing = {name: variant.visible.any(-1) for name, variant in self.by_name.items()}
        off = max(float((sums[name] - seeing[name].double()).abs().max()) for name in sums)
        hidden = max(float(v.weights.masked_fill(v.visible, 0).abs().max()) for v in self.by_name.values())
        fused = self.by_name["fused"].off
        return {
            f"each row of weights sums to 1, or to 0 where nothing is visible (largest error {formats.tiny(off)})": off
            < 1e-4,
            "what a query may not see has weight 0": hidden == 0,
            f"fused puts out what full does, to rounding (largest difference {formats.tiny(fused)})": fused
            <= 1e-4 * max(1.0, self.largest),
        }

    def picture(self) -> Content:
        """A map of weights for each attention, on one scale; what a query may not see is blank."""
        size = len(self.names)
        part = part_of(self.state.efficient_part, size, size, MANY)
        whole = part.exact and (part.rows, part.columns) == (size, size)
        top = max(float(variant.weights.max()) for variant in self.by_name.values())
        return maps.content(
            [
                Map(
                    name=name,
                    values=pooled(matrix(variant.weights.masked_fill(~variant.visible, float("nan"))), part),
                    scale=from_zero(top),
                    unit="weight, one scale",
                )
                for name, variant in self.by_name.items()
            ],
            rows=Axis(part.row_names(self.names), "query", "query", "query"),
            columns=Axis(part.column_names(self.names), "key", "key", "key"),
            part=None if whole else part,
            zooms=PREFIX + "efficient_part",
            blank="hidden",
            counted_from=1,
        )

    def table(self) -> pd.DataFrame:
        """A row per attention."""
        off = logits_off(self.model, self.config, tuple(self.by_name))
        ends = "logits" if self.model.gives_logits else "last hidden states"
        return pd.DataFrame(
            {
                "pairs seen": [int(variant.visible.sum()) for variant in self.by_name.values()],
                "share of pairs": [self.share(name) for name in self.by_name],
                "largest difference of the output": [variant.off for variant in self.by_name.values()],
                f"largest difference of the {ends}": [off[name] for name in self.by_name],
            },
            index=pd.Index(list(self.by_name), name="attention"),
        )

    def recipe(self) -> str:
        """A script that leaves `weights`, `visible` and `outputs`, attention -> tensor."""
        return self.script(on_the_same_weights, names=tuple(self.by_name), site=self.site, head=self.head - 1)


def costs_by_length(
    *, names: Sequence[str], lengths: Sequence[int], d_model: int, num_heads: int, causal: bool
) -> Mapping[str, Sequence[AttentionCost]]:
    """Attention -> its costs at each length."""
    costs = {
        name: [attention_costs(name, n, d_model=d_model, num_heads=num_heads, causal=causal) for n in lengths]
        for name in names
    }
    return costs


class EfficientGrowth(LayerPanel):
    """The costs of the self-attention of one layer of the chosen stack, for a text without padding."""

    title = "What each costs"
    sources = (attention_costs, visible_pairs)
    open_table = OpenTable(COLUMNS, not_on_phones=("pairs seen", "numbers held"))
    canvas = CHART
    needs = and_scores(3)

    @property
    def causal(self) -> bool:
        """Whether later keys are hidden."""
        return self.stack == "decoder" or self.model.masks_the_future

    @property
    def n(self) -> int:
        """The length of the text on screen."""
        return len(self.tokens.ids)

    @cached_property
    def _arguments(self) -> dict[str, Any]:
        sizes = {"d_model": self.model.d_model, "num_heads": self.model.num_heads, "causal": self.causal}
        return {"names": tuple(ATTENTION), "lengths": (*LENGTHS, self.n), **sizes}

    @cached_property
    def _costs(self) -> Mapping[str, Sequence[AttentionCost]]:
        return costs_by_length(**self._arguments)

    @property
    def by_length(self) -> dict[str, Sequence[AttentionCost]]:
        """Attention -> its costs at each of LENGTHS."""
        return {name: costs[:-1] for name, costs in self._costs.items()}

    @property
    def on_screen(self) -> dict[str, AttentionCost]:
        """Attention -> its costs at n."""
        return {name: costs[-1] for name, costs in self._costs.items()}

    def sentence(self) -> str:
        """Which needs the least here and at the longest text, and what the code here really computes."""
        last = {name: costs[-1] for name, costs in self.by_length.items()}
        head_dim = self.model.d_model // self.model.num_heads
        ratio = last["full"].needed / last["linear"].needed
        return (
            f"For the {formats.plural(self.n, 'token')} on screen {_least(self.on_screen)} the fewest multiply-adds; "
            f"for {formats.count(LENGTHS[-1])} tokens {_least(last)} the fewest, and full attention "
            f"{formats.count(round(ratio))} times as many as linear. Linear attention needs fewer than "
            f"full once a query sees more than dₖ + ½ = {head_dim + 0.5} keys{' on average' if self.causal else ''}. "
            "Window and stride are masks over all pairs here, so the code computes as much as for full attention: what "
            "they save, a kernel that skips hidden pairs must earn."
        )

    @property
    def how_to_read(self) -> str:
        sharing = self.model.config.kv_heads < self.model.num_heads
        shared = " Each head is counted alone, also where heads share keys and values." if sharing else ""
        return (
            f"Of one layer’s self-attention without its projections, d_model {self.model.d_model}, "
            f"{formats.plural(self.model.num_heads, 'head')}. The table is for the {formats.plural(self.n, 'token')} "
            "on screen. Padding counts as tokens. With one head, n d dₖ is the n d² of the papers; linear "
            "attention’s normaliser, n d more, is counted. What is held is what lasts: "
            "the one tile that the fused kernel works on, and its output, are left out. Time is measured in Profiling."
            f"{shared}"
        )

    def picture(self) -> Content:
        """Multiply-adds needed and numbers held, against the length of the text, both on log axes."""
        charts = []
        for attribute, heading in (("needed", "multiply-adds needed"), ("kept", "numbers held at a time")):
            series = [
                Line(name, LENGTHS, [getattr(cost, attribute) for cost in by_length], f"head {at % 8 + 1}")
                for at, (name, by_length) in enumerate(self.by_length.items())
            ]
            charts.append(Chart("tokens", heading, series, "log2", "log10", marks={"this text": self.n}))
        return lines.content(charts)

    def laws(self) -> dict[str, bool]:
        """Nothing needs more than is computed."""
        every = [cost for costs in (*self.by_length.values(), list(self.on_screen.values())) for cost in costs]
        return {
            "no attention needs more multiply-adds than the code computes": all(
                cost.needed <= cost.computed for cost in every
            ),
            "fused attention computes exactly what full does": self.on_screen["fused"].computed
            == self.on_screen["full"].computed,
        }

    def table(self) -> pd.DataFrame:
        """A row per attention, for the text on screen."""
        return pd.DataFrame(
            {
                "grows with": [ATTENTION[name].order for name in self.on_screen],
                "pairs seen": [cost.pairs for cost in self.on_screen.values()],
                "multiply-adds needed": [cost.needed for cost in self.on_screen.values()],
                "computed here": [cost.computed for cost in self.on_screen.values()],
                "numbers held": [cost.kept for cost in self.on_screen.values()],
            },
            index=pd.Index(list(self.on_screen), name="attention"),
        )

    def recipe(self) -> str:
        """A script that leaves `costs`, attention -> its costs at each length; the last length is that of the text."""
        return script(costs_by_length, **self._arguments)


def _size(number: float) -> str:
    return formats.tiny(number) if number < 1e-3 else formats.number(number)


def _least(costs: dict[str, AttentionCost]) -> str:
    smallest = min(cost.needed for cost in costs.values())
    least = [name for name, cost in costs.items() if cost.needed == smallest]
    return f"{formats.listed(least)} attention {'needs' if len(least) == 1 else 'need'}"
