"""What each attention costs as the text grows."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
from streamlit.column_config import NumberColumn, TextColumn

from tfm_core import ATTENTION, AttentionCost, attention_costs, visible_pairs
from tfm_ui.lenses.model.machine import ModelPanel, tokens_of_stack
from tfm_ui.live.passes import and_scores
from tfm_ui.live.script import script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.text import formats

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


def costs_by_length(
    *, names: Sequence[str], lengths: Sequence[int], d_model: int, num_heads: int, causal: bool
) -> Mapping[str, Sequence[AttentionCost]]:
    """Attention -> its costs at each length."""
    costs = {
        name: [attention_costs(name, n, d_model=d_model, num_heads=num_heads, causal=causal) for n in lengths]
        for name in names
    }
    return costs


class EfficientGrowth(ModelPanel):
    """The costs of the self-attention of one layer of the chosen stack, for a text without padding."""

    title = "What each costs"
    sources = (attention_costs, visible_pairs)
    open_table = OpenTable(COLUMNS, not_on_phones=("pairs seen", "numbers held"))
    canvas = CHART
    needs = and_scores(3)

    @property
    def causal(self) -> bool:
        """Whether later keys are hidden."""
        model = self.model
        writing = model.is_encoder_decoder and self.state.stack == "decoder"
        return writing or model.architecture == "decoder" or model.masks_the_future

    @property
    def n(self) -> int:
        """The length of the text on screen."""
        return len(tokens_of_stack(self.model, self.state.stack).ids)

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

    @cached_property
    def least(self) -> str:
        """The attentions that need the fewest multiply-adds at n."""
        return _least(self.on_screen)

    def sentence(self) -> str:
        """Which needs the least here and at the longest text, and what the code here really computes."""
        last = {name: costs[-1] for name, costs in self.by_length.items()}
        head_dim = self.model.d_model // self.model.num_heads
        ratio = last["full"].needed / last["linear"].needed
        return (
            f"For the {formats.plural(self.n, 'token')} on screen {self.least} the fewest multiply-adds; for "
            f"{formats.count(LENGTHS[-1])} tokens {_least(last)} the fewest, and full attention "
            f"{formats.count(round(ratio))} times as many as linear. Linear attention needs fewer than "
            f"full once a query sees more than dₖ + ½ = {head_dim + 0.5} keys{' on average' if self.causal else ''}. "
            "Window and stride are masks over all pairs here, so the code computes as much as for full attention: what "
            "they save, a kernel that skips hidden pairs must earn."
        )

    @property
    def how_to_read(self) -> str:
        return (
            f"Of one layer’s self-attention without its projections, d_model {self.model.d_model}, "
            f"{formats.plural(self.model.num_heads, 'head')}. The table is for the {formats.plural(self.n, 'token')} "
            "on screen. Padding counts as tokens. With one head, n d dₖ is the n d² of the papers; linear "
            "attention’s normaliser, n d more, is counted. What is held is what lasts: "
            "the one tile that the fused kernel works on, and its output, are left out. Time is measured in Profiling."
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


def _least(costs: dict[str, AttentionCost]) -> str:
    smallest = min(cost.needed for cost in costs.values())
    least = [name for name, cost in costs.items() if cost.needed == smallest]
    return f"{formats.listed(least)} attention {'needs' if len(least) == 1 else 'need'}"
