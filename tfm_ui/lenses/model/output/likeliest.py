"""The probabilities: of the likeliest tokens at the chosen position, and of the likeliest token at every position."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from streamlit.column_config import NumberColumn, ProgressColumn, TextColumn
from torch import Tensor, nn, special

from tfm_core import Transformer, TransformerConfig
from tfm_ui.lenses.model.naming import name_of
from tfm_ui.lenses.model.output.outcome import OutputPanel, probabilities, ranks_of, run
from tfm_ui.lenses.model.state import PREFIX
from tfm_ui.page import controls
from tfm_ui.pictures import chart
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.figures import INK, SMALL, axis_title, colour_of, plain
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.pictures.rows import End, Name, in_rows
from tfm_ui.text import formats, units
from tfm_ui.text.ties import one_of_ties, places_of_largest

ROUNDING = 1e-9  # of float64
NOTHING = "The weights are random: this says nothing about language."
BAR, PAIR = 34, 40  # the height of a row with one bar and with two, in pixels
AT_ONCE = 2**21  # probabilities that are looked at at a time
SHIFT = 0.2  # from the middle of a pair to the middle of a bar, in rows


def likeliest(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    token: int,
    temperature: float,
    top: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The ids of the likeliest tokens at a position, their logits, and their probabilities at this temperature."""
    (recorded,), _ = run(config, inputs, mask, ["logits"])
    ids = recorded[token].topk(top).indices
    logits, shares = recorded[token][ids], probabilities(recorded[token], temperature)[ids]
    return ids, logits, shares


def by_position(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, read: int, temperature: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The id of each position's likeliest token, its probability, and the entropy of all, in nats."""
    (recorded,), _ = run(config, inputs, mask, ["logits"])
    every = probabilities(recorded[:read], temperature)
    ids = recorded[:read].argmax(-1)
    shares, entropies = every.amax(-1), special.entr(every).sum(-1)
    return ids, shares, entropies


class Output(OutputPanel):
    """The likeliest tokens at the chosen position, in descending order of their logits."""

    sources = (likeliest, probabilities, Transformer.logits, nn.Linear.forward)
    canvas = CHART

    @cached_property
    def listed(self) -> list[int]:
        """The ids of those that are listed."""
        ids: list[int] = self.logits[self.token].topk(min(self.state.top, self.vocab)).indices.tolist()
        return ids

    @cached_property
    def called(self) -> list[str]:
        """Their names."""
        return [name_of(self.model, i) for i in self.listed]

    @property
    def scores(self) -> Tensor:
        """Their logits."""
        return self.logits[self.token][self.listed]

    def every(self, temperature: float) -> Tensor:
        """The probabilities of all tokens at the chosen position."""
        return probabilities(self.logits[self.token], temperature)

    def entropy(self, temperature: float) -> float:
        """The entropy of these, in nats."""
        return float(special.entr(self.every(temperature)).sum())

    @cached_property
    def shares(self) -> Tensor:
        """The probabilities of those listed at the chosen temperature, float64."""
        return self.every(self.state.temperature)[self.listed]

    @cached_property
    def plain(self) -> Tensor:
        """The probabilities of those listed at temperature 1."""
        return self.every(1.0)[self.listed]

    @property
    def even(self) -> float:
        """The probability of a token if all were equally likely."""
        return 1 / self.vocab

    @property
    def times_even(self) -> float:
        """How many even shares the likeliest has."""
        return self.shares[0].item() / self.even

    @property
    def position(self) -> str:
        """Which position it is."""
        return f"position {self.token + 1}, “{self.names[self.token]}”"

    @property
    def title(self) -> str:
        return f"Likeliest tokens at “{self.names[self.token]}”"

    @property
    def how_to_read(self) -> str:
        names = (
            "“·” stands for a space: most tokens begin with one."
            if self.model.pretrained and self.model.looks_back_only
            else "No word of these texts has an id that is shown without a word."
        )
        return f"Beside each bar: logit / temperature → through the softmax, its probability. {names}"

    def sentence(self) -> str:
        """The likeliest token, how much likelier than others it is, and what the temperature does to that."""
        alike = one_of_ties(len(places_of_largest(self.logits[self.token].numpy())))
        sentences = [
            f"At {self.position}, the likeliest of {formats.count(self.vocab)} tokens is {self.called[0]}{alike}, "
            f"{formats.percent(self.shares[0].item(), 3)}: {units.times(self.times_even)} an even share.",
            f"The {len(self.listed)} that are listed have {formats.percent(float(self.shares.sum()), 3)} together.",
            self._of_temperature(),
            self.model.if_random(NOTHING, self.right_at(self.token)),
        ]
        return " ".join(filter(None, sentences))

    def _of_temperature(self) -> str:
        temperature = self.state.temperature
        if temperature == 1:
            return ""
        does = "widens" if temperature < 1 else "narrows"
        return (
            f"Dividing by {temperature:g} {does} all gaps between logits: at temperature 1 {self.called[0]} "
            f"has {formats.percent(self.plain[0].item(), 3)}. The order stays."
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of a softmax, each with the error that was measured."""
        temperature = self.state.temperature
        off = abs(float(self.every(temperature).sum()) - 1)
        in_logs = (self.logits[self.token].double() / temperature).log_softmax(-1)[self.listed]
        gaps = (self.scores[0] - self.scores).double() / temperature
        apart = float((in_logs[0] - in_logs - gaps).abs().max())
        end, last = self.modules.unembedding, self.vectors[-1][self.token]
        with torch.no_grad():  # a masked-word head has more than a matrix
            last = self.modules.transform(last) if self.config.head == "masked" else last
            products = end.weight[self.listed] @ last
            products = products if end.bias is None else products + end.bias[self.listed]
        product = float((products - self.scores).abs().max())
        return {
            f"the {formats.count(self.vocab)} probabilities sum to 1 (error {formats.tiny(off)})": off < ROUNDING,
            f"ln(p₁ / p) is the gap to the largest logit / temperature (largest error {formats.tiny(apart)})": apart
            < 1e-4,
            f"each logit is the dot product of the {self._final} with the token’s row of the output matrix"
            f"{'' if self.modules.unembedding.bias is None else ', plus its bias'} (largest error "
            f"{formats.tiny(product)})": product < 1e-3 * max(1.0, self.largest / 100),
        }

    @property
    def _final(self) -> str:
        return "vector after the head’s dense layer and norm" if self.config.head == "masked" else "final vector"

    def table(self) -> pd.DataFrame:
        """A row per listed token."""
        return pd.DataFrame(
            {
                "id": self.listed,
                "logit": self.scores.numpy(),
                "logit / temperature": (self.scores.double() / self.state.temperature).numpy(),
                "probability": self.shares.numpy(),
                "probability at temperature 1": self.plain.numpy(),
            },
            index=pd.Index(self.called, name="token"),
        )

    def picture(self) -> Content:
        """A bar per token at the chosen temperature; at any other than 1, a bar at temperature 1 below it."""
        temperature = self.state.temperature
        alone, divided = temperature == 1, "" if temperature == 1 else f" / {temperature:g}"
        shares, below = ([formats.percent(share, 3) for share in each.tolist()] for each in (self.shares, self.plain))
        ways = [
            f"{formats.number(logit)}{divided} → {share}"
            for logit, share in zip(self.scores.tolist(), shares, strict=True)
        ]
        series = [(f"temperature {temperature:g}", "result", self.shares, 0.0 if alone else -SHIFT, ways)]
        if not alone:
            series.append(("temperature 1", "muted", self.plain, SHIFT, below))
        rows, names = range(len(self.listed)), [plain(name) for name in self.called]
        bars: list[dict[str, Any]] = []
        ends = []
        for name, role, values, shift, texts in series:
            bars.append(
                {
                    "type": "bar",
                    "name": name,
                    "orientation": "h",
                    "y": np.array(rows) + shift,
                    "x": values.numpy(),
                    "width": 0.6 if alone else 2 * SHIFT - 0.04,
                    "marker": {"color": colour_of(role)},
                    "customdata": [f"{token}, {name}: {text}" for token, text in zip(names, texts, strict=True)],
                    "hovertemplate": "%{customdata}<extra></extra>",
                }
            )
            each = zip(texts, rows, values.tolist(), strict=True)
            ends += [End(text, row + shift, share, size=SMALL) for text, row, share in each]
        return chart.content(
            in_rows(
                bars,
                names=[Name(name, row) for row, name in enumerate(names)],
                ends=ends,
                last=len(rows) - 1,
                pixels=BAR if alone else PAIR,
                rows="next token" if self.model.looks_back_only else "token here",
                axis=self._axis(),
                shapes=[self._dotted()],
            )
        )

    def _axis(self) -> dict[str, Any]:
        full = max(float(self.shares.max()), float(self.plain.max()), self.even)
        title = f"probability; dotted: an even share of {formats.percent(self.even)}"
        ticks = ".0%" if full > 0.1 else ".1%" if full > 0.01 else ".2%"
        return {"title": axis_title(title), "range": [0, full], "tickformat": ticks}

    def _dotted(self) -> dict[str, Any]:
        """The dotted line of an even share."""
        upright = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": self.even, "x1": self.even}
        return upright | {"line": {"color": INK, "width": 2, "dash": "dot"}}

    def recipe(self) -> str:
        """A script that leaves `ids`, `logits` and `shares`."""
        return self.script(likeliest, token=self.token, temperature=self.state.temperature, top=len(self.listed))


class OutputPositions(OutputPanel):
    """The likeliest token of each position."""

    title = "Every position"
    how_to_read = (
        "A row for each position of the text. A click on a row shows its tokens above; a click on a column’s name "
        "sorts."
    )
    sources = (by_position, ranks_of, probabilities)

    @cached_property
    def _measured(self) -> tuple[Tensor, Tensor, Tensor]:
        """What is said of all probabilities of each position, float64 (position): the largest, entropy, and sum.

        A few positions at a time: of a large vocabulary, the probabilities of all would take gigabytes.
        """
        chunks = torch.split(self.logits, max(1, AT_ONCE // self.vocab))
        parts = (probabilities(chunk, self.state.temperature) for chunk in chunks)
        measured = ((part.amax(-1), special.entr(part).sum(-1), part.sum(-1)) for part in parts)
        largest, entropies, sums = (torch.cat(each) for each in zip(*measured, strict=True))
        return largest, entropies, sums

    @property
    def likeliest(self) -> Tensor:
        """The id of each position's likeliest token."""
        ids: Tensor = self.logits.argmax(-1)
        return ids

    @cached_property
    def called(self) -> list[str]:
        """The names of these tokens."""
        return [name_of(self.model, i) for i in self.likeliest.tolist()]

    @cached_property
    def shares(self) -> Tensor:
        """Their probabilities."""
        return self._measured[0]

    @cached_property
    def entropies(self) -> Tensor:
        """The entropy of each position's probabilities, in nats."""
        return self._measured[1]

    @property
    def open_table(self) -> OpenTable:
        columns = {
            "likeliest": TextColumn(help="the likeliest token of the vocabulary"),
            "probability": ProgressColumn(
                format="%.2f%%",
                min_value=0,
                max_value=100 * float(self.shares.max()),
                help="of that token, at this temperature",
            ),
            "entropy": NumberColumn(format="%.2f", help="nats; 0 is one token alone"),
            "rank of itself": NumberColumn(help="of the token that stands there; 1 is the likeliest"),
        }
        return OpenTable(
            columns,
            row=self.token,
            choose=lambda row: controls.change(PREFIX, token=row + 1),
            not_on_phones=("entropy", "rank of itself"),
        )

    def sentence(self) -> str:
        """How sure the model is, from the surest position to the least sure."""
        most, highest = self.shares.numpy(), math.log(self.vocab)
        surest, count = places_of_largest(most), len(most)
        alike = one_of_ties(len(surest))
        low, high = (formats.number(float(end)) for end in self.entropies.aminmax())
        return (
            f"The largest probability of a token is at “{self.names[surest[0]]}”{alike}: "
            f"{formats.percent(float(most[surest[0]]), 3)} for {self.called[surest[0]]}. "
            f"Entropies: {units.span(low, high)} nats; {formats.number(highest)} is an even choice among all "
            f"{formats.count(self.vocab)} tokens. At {self.first} of {formats.plural(count, 'position')} the "
            f"likeliest token is the token that stands there itself. "
            + self.model.if_random(NOTHING, self.right_in_all())
        )

    def laws(self) -> dict[str, bool]:
        """Each row is a distribution."""
        off = float((self._measured[2] - 1).abs().max())
        over = max(0.0, float(self.entropies.max()) - math.log(self.vocab))
        return {
            f"each position’s probabilities sum to 1 (largest error {formats.tiny(off)})": off < ROUNDING,
            f"no entropy is above ln {formats.count(self.vocab)} (by {formats.tiny(over)})": over < ROUNDING,
        }

    def table(self) -> pd.DataFrame:
        """A row per position."""
        return pd.DataFrame(
            {
                "likeliest": self.called,
                "probability": 100 * self.shares.numpy(),
                "entropy": self.entropies.numpy(),
                "rank of itself": self.ranks.numpy(),
            },
            index=pd.Index(self.names, name="position"),
        )

    def recipe(self) -> str:
        """A script that leaves `ids`, `shares` and `entropies`."""
        return self.script(by_position, read=self.read, temperature=self.state.temperature)
