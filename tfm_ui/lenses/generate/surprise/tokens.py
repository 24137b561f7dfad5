"""How surprising each token of the text is to the model, A, and B beside it."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, surprise
from tfm_ui.lenses.generate.courses import why_not_score
from tfm_ui.lenses.generate.panel import GeneratePanel
from tfm_ui.lenses.generate.surprise.scored import TOP, score, scored
from tfm_ui.lenses.generate.surprise.sides import FIRST, OTHER_TEXT, Side, sides_of, why_no_other
from tfm_ui.live.script import Code, config_code, script
from tfm_ui.live.tensors.step import Step, beside, held
from tfm_ui.pictures import figures, heatmaps, lines
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats, units
from tfm_ui.text.ties import one_of_ties, places_of_largest
from tfm_ui.text.token_labels import named

WIDTH = 4 + 2 * TOP  # of a token: bits, probability, rank, entropy in bits, the likeliest tokens, their probabilities
COLOURS = {"A": "query", "B": "key"}
ROUNDING = 1e-9  # of float64
NOTHING = "There is nothing to rate: type a text of a few words, as the first token has no probability."
MOST_ON_PAPER = 16  # tokens in a table of a sheet
SAME = 1e-5  # bits: a smaller difference is rounding


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The surprise of each token of each side, as bars."""
    table, begin, drawn = np.asarray(numbers, np.float64).reshape(-1, WIDTH), 0, []
    for side in header["sides"]:
        rows = table[begin : begin + len(side["tokens"])]
        begin += len(rows)
        there = rows[side["first"] :]
        labels = side["labels"][side["first"] :]
        drawn.append(
            go.Bar(
                name=figures.plain(side["name"]),
                x=np.arange(side["first"] + 1, len(rows) + 1),
                y=there[:, 0],
                marker={"color": figures.colour_of(COLOURS[side["name"]])},
                text=[figures.plain(label) for label in labels],
                textposition="none",
                customdata=there[:, 1:3],
                hovertemplate="%{text}, token %{x}: %{y:.4g} bits, probability %{customdata[0]:.4g}, "
                "rank %{customdata[1]}",
            )
        )
    titles = [side["title"] for side in header["sides"]]
    return go.Figure(
        drawn,
        {
            "template": figures.TEMPLATE,
            "title": heatmaps.note(*titles),
            "xaxis": {"title": {"text": "token"}},
            "yaxis": {"title": {"text": "surprise, bits"}, "range": [0, 1.05 * (header["top"] or 1)]},
            "showlegend": len(drawn) > 1,
            "height": 420,
        },
    )


SURPRISE = Canvas(
    "lenses/generate/surprise",
    """
<div class="surprise" data-picture>
  <div class="sides"></div>
  <div class="legend"><span>0</span><i></i><span class="high"></span><span class="hint"></span></div>
  <div class="detail"></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)


def rated(
    *, sides: Sequence[tuple[TransformerConfig, Sequence[int], int]], context: int
) -> tuple[list[Tensor], list[float]]:
    """The surprise of each token but the first in bits, (token), and the perplexity, for each side.

    A side has a configuration, the tokens, and how many before it are read of each; 0 for all that the context holds.
    """
    logs = [
        score(Transformer(config).eval(), ids, context=context, memory=memory, top=1)[1]
        for config, ids, memory in sides
    ]
    bits = [-side / math.log(2) for side in logs]
    perplexities = [math.exp(-float(side.mean())) for side in logs]
    return bits, perplexities


def of_side(side: Side) -> Step:
    """A side's surprise to take along."""
    scores, axes = side.scored, ("token",)
    perplexity = torch.tensor(scores.perplexity, dtype=torch.float64)
    logs = scores.log_probabilities
    return Step(
        f"Side {side.name}",
        [
            held("tokens", axes, scores.tokens, "the ids that are rated: all but the first"),
            held("log_probabilities", axes, logs, "of each after those before it, in nats"),
            held("bits", axes, scores.bits, "how surprising each is", "-log_probabilities / ln_2"),
            held("perplexity", (), perplexity, "of the text", "(-log_probabilities).mean().exp()"),
        ],
        {"ln_2": math.log(2)},
    )


class SurprisePanel(GeneratePanel):
    """A panel about one text, or two sides."""

    @property
    def why_nothing(self) -> str:
        return why_not_score(self.model)

    @property
    def why_no_answer(self) -> str:
        return self.why_nothing or ("" if len(self.rated) == len(self.sides) else NOTHING)

    @cached_property
    def sides(self) -> Sequence[Side]:
        """The side A, and B if there is one; none where no token can be rated."""
        return [] if self.why_nothing else sides_of(self.model, self.state)

    @property
    def rated(self) -> list[Side]:
        """The sides that have tokens with a probability."""
        return [side for side in self.sides if side.scored.count]

    @property
    def tensors(self) -> Step | None:
        steps = {side.name: of_side(side) for side in self.rated}
        note = "The logits of all places are not kept: they would be the text times the vocabulary."
        return beside("How surprising each token is", steps, note) if steps else None

    @property
    def linked(self) -> bool:
        """Whether both have the same tokens."""
        return self.state.against != OTHER_TEXT

    @property
    def hint(self) -> str:
        """Why there is no B; "" if there is one."""
        return self.why_nothing or why_no_other(self.model, self.state)


class Surprise(SurprisePanel):
    """The text, coloured by surprise."""

    title = "How surprising each token is"
    how_to_read = (
        "The darker a token, the less the model expected it after the text before it; in dark mode, "
        "the lighter. Surprise is −log₂ of its probability, in bits. Click a token, or walk with the arrow "
        "keys, to see what was expected in its place."
    )
    sources = (surprise, scored, score)
    canvas = SURPRISE

    @property
    def shape(self) -> str:
        count = formats.plural(sum(side.scored.count for side in self.sides), "token")
        return f"{count} · {formats.count(self.model.config.vocab_size)} probabilities each"

    @cached_property
    def top(self) -> float:
        """The largest surprise on screen, in bits; 0 if there is none."""
        return max((float(side.scored.bits.max()) for side in self.rated), default=0.0)

    def sentence(self) -> str:
        """Each side's perplexity, and what surprises most; where both read the same, where they differ most."""
        if not self.rated:
            return NOTHING
        sentences = [self._of(side) for side in self.rated]
        if self.linked and len(self.rated) == len(self.sides) == 2:
            sentences.append(self._apart())
        sentences.append(f"The first token, “{self.rated[0].names[0]}”, has no probability: nothing stands before it.")
        if self.model.is_lab_gpt:
            sentences.append("In training, a start token stood before each text; no view puts one before yours.")
        for side in self.sides[: 1 if self.linked else None]:
            if side.dropped:
                whose = "the" if self.linked or len(self.sides) == 1 else f"{side.name}’s"
                whole, rated = formats.count(len(side.text)), formats.count(len(side.pieces))
                sentences.append(f"Of {whose} {whole} tokens the first {rated} are rated.")
        return " ".join(sentences)

    def _of(self, side: Side) -> str:
        scores = side.scored
        places = places_of_largest(scores.bits.numpy())
        worst = places[0]
        place = worst + FIRST
        many = len(self.sides) > 1
        subject = f"{side.name}{f', {side.label},' if side.label else ''} has a perplexity of" if many else "Perplexity"
        share = formats.percent(math.exp(float(scores.log_probabilities[worst])), 3)
        means = ", as in an even choice among so many tokens at each place: that is" if side is self.rated[0] else ""
        return (
            f"{subject} {units.three(scores.perplexity)}{means}, {units.three(side.bits_per_token)} bits a token and "
            f"{units.three(side.bits_per_byte)} bits a byte, over {formats.plural(scores.count, 'token')}. "
            f"“{side.names[place]}”, token {place + 1}{one_of_ties(len(places), 'tokens')}, surprises most: "
            f"{units.three(float(scores.bits[worst]))} bits, a probability of {share}."
        )

    def _apart(self) -> str:
        a, b = (side.scored.bits.numpy() for side in self.sides)
        less = int((b - a > SAME).sum())
        gaps = np.abs(a - b)
        places = places_of_largest(gaps, float(max(a.max(), b.max())))
        at = places[0] + FIRST
        return (
            f"A is less surprised than B at {less} of {formats.plural(len(a), 'token')}. They differ most at "
            f"“{self.sides[0].names[at]}”, token {at + 1}{one_of_ties(len(places), 'tokens')}: "
            f"{units.three(float(a[places[0]]))} bits and {units.three(float(b[places[0]]))}."
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of probabilities and their logarithms."""
        if not self.rated:
            return {}
        scores = [side.scored for side in self.rated]
        off = max(float(each.errors.max()) for each in scores)
        vocab = formats.count(self.model.config.vocab_size)
        apart = max(abs(2**each.bits_per_token / each.perplexity - 1) for each in scores)
        means = [math.exp(float(each.log_probabilities.sum()) / each.count) for each in scores]
        product = max(abs(mean * each.perplexity - 1) for mean, each in zip(means, scores, strict=True))
        return {
            f"the probabilities of all {vocab} tokens sum to 1 in each place (largest error {formats.tiny(off)})": off
            < ROUNDING,
            f"perplexity is 2 to the power of the bits a token (error {formats.tiny(apart)})": apart < ROUNDING,
            "perplexity is 1 / the geometric mean of the tokens’ probabilities (error "
            f"{formats.tiny(product)})": product < ROUNDING,
            "a token of rank 1 is the likeliest, and no other is": all(
                bool(((each.ranks == 1) == (each.top_shares[:, 0] <= each.log_probabilities.exp())).all())
                for each in scores
            ),
        }

    def table(self) -> pd.DataFrame:
        """A row per token of each side."""
        return pd.concat([self._table(side) for side in self.sides])

    def on_paper(self) -> pd.DataFrame | None:
        """The tokens with their numbers, if they have room on a page: a bar tells neither."""
        if len(self.sides) != 1 or len(self.sides[0].pieces) > MOST_ON_PAPER:
            return None
        return self.table()[["token", "probability", "bits", "perplexity up to here"]]

    def _table(self, side: Side) -> pd.DataFrame:
        scores, pieces = side.scored, self.model.tokens_by.pieces
        empty = [np.nan] * min(FIRST, len(side.pieces))
        columns: dict[str, Sequence[object]] = {}
        if len(self.sides) > 1:
            columns["side"] = [side.name] * len(side.pieces)
        columns |= {
            "token": side.pieces,
            "probability": [*empty, *scores.log_probabilities.exp().tolist()],
            "bits": [*empty, *scores.bits.tolist()],
            "rank": [*empty, *scores.ranks.tolist()],
            "entropy, bits": [*empty, *(scores.entropies / math.log(2)).tolist()],
            "perplexity up to here": [*empty, *scores.running.tolist()],
        }
        blanks = [""] * len(empty)
        for number in range(min(TOP, scores.top_ids.shape[1])):
            ids = scores.top_ids[:, number].tolist()
            columns[f"likeliest {number + 1}"] = [*blanks, *(pieces[token] for token in ids)]
            columns[f"its probability {number + 1}"] = [*empty, *scores.top_shares[:, number].tolist()]
        return pd.DataFrame(columns, index=pd.RangeIndex(1, len(side.pieces) + 1, name="place"))

    def picture(self) -> Content:
        """The tokens of both sides, and what was expected in the place of each."""
        ids = sorted({token for side in self.sides for token in side.scored.top_ids.ravel().tolist()})
        places = {token: place for place, token in enumerate(ids)}
        pieces = self.model.tokens_by.pieces
        header = {
            "sides": [self._drawn(side) for side in self.sides],
            "names": [named(pieces[token]) for token in ids],
            "top": self.top,
            "topText": units.three(self.top),
            "count": TOP,
            "vocab": self.model.config.vocab_size,
            "linked": self.linked,
            "hint": self.hint,
        }
        numbers = [_numbers(side, places).ravel() for side in self.sides]
        return header, np.concatenate([np.zeros(0, np.float32), *numbers])

    def _drawn(self, side: Side) -> dict[str, Any]:
        """What a side's header says."""
        perplexity = f"perplexity {units.three(side.scored.perplexity)}" if side.scored.count else ""
        name = f"{side.name}: {side.label or 'the text'}" if len(self.sides) > 1 else ""
        return {
            "title": " · ".join(filter(None, [name, perplexity])),
            "name": side.name,
            "tokens": side.pieces,
            "labels": side.names,
            "first": FIRST,
        }

    def recipe(self) -> str:
        """A script that leaves `bits` and `perplexities` of the sides."""
        if not self.rated:
            return ""
        configs = [config_code(side.config) for side in self.rated]
        sides = [
            f"({config}, {list(side.ids)}, {side.memory})" for config, side in zip(configs, self.rated, strict=True)
        ]
        named = {function for config in configs for function in config.functions}
        return script(rated, sides=Code(f"[{', '.join(sides)}]", *named), context=self.model.most_tokens)


def _numbers(side: Side, places: dict[int, int]) -> NDArray[np.float32]:
    """(token, WIDTH); NaN where a token has no probability."""
    scores = side.scored
    table = np.full((len(side.pieces), WIDTH), np.nan, np.float32)
    if not scores.count:
        return table
    rows, few = table[FIRST:], scores.top_ids.shape[1]
    rows[:, 0] = scores.bits.numpy()
    rows[:, 1] = scores.log_probabilities.exp().numpy()
    rows[:, 2] = scores.ranks.numpy()
    rows[:, 3] = scores.entropies.numpy() / math.log(2)
    rows[:, 4 : 4 + few] = [[places[token] for token in row] for row in scores.top_ids.tolist()]
    rows[:, 4 + TOP : 4 + TOP + few] = scores.top_shares.numpy()
    return table


def fewest_for_half(bits: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    """How few of these numbers, the largest first, add up to half of all."""
    sums = np.cumsum(np.sort(bits)[::-1])
    return int(np.searchsorted(sums, sums[-1] / 2) + 1)


class SurprisePlaces(SurprisePanel):
    """The sides over their tokens."""

    title = "Along the text"
    how_to_read = (
        "Left, the surprise of each token. Right, the perplexity of the text from its beginning up to "
        "each token: 2 to the power of the mean surprise so far."
    )
    sources = (scored, score, fewest_for_half)
    canvas = CHART

    def sentence(self) -> str:
        """How few tokens have half of the bits, and the perplexity in the middle of the text and at its end."""
        return " ".join(map(self._of, self.rated)) or NOTHING

    def _of(self, side: Side) -> str:
        scores = side.scored
        whose = f"{side.name}’s" if len(self.sides) > 1 else "the"
        few = fewest_for_half(scores.bits.numpy())
        middle = (scores.count + 1) // 2
        return (
            f"Half of {whose} {units.three(float(scores.bits.sum()))} bits fall on the {few} most surprising of "
            f"{formats.plural(scores.count, 'token')}. Up to token {middle + FIRST} the perplexity is "
            f"{units.three(float(scores.running[middle - 1]))}, at the end {units.three(scores.perplexity)}."
        )

    def picture(self) -> Content:
        """The surprise of each token, and the perplexity up to it."""
        bits, running = [], []
        for side in self.rated:
            name = f"{side.name}, {side.label}" if side.label else side.name
            x = [float(place) for place in range(FIRST + 1, len(side.pieces) + 1)]
            bits.append(Line(name, x, side.scored.bits.tolist(), COLOURS[side.name]))
            running.append(Line(name, x, side.scored.running.tolist(), COLOURS[side.name]))
        return lines.content(
            [
                Chart("token", "surprise, bits", bits, reach=[0]),
                Chart("token", "perplexity of the text up to here", running, y_scale="log10"),
            ]
        )

    def table(self) -> pd.DataFrame:
        """A row per token; a column for each side."""
        columns = {
            f"{what} {side.name}": pd.Series(
                values.numpy(), index=range(FIRST + 1, FIRST + 1 + side.scored.count), dtype=np.float64
            )
            for side in self.sides
            for what, values in (("bits", side.scored.bits), ("perplexity up to here", side.scored.running))
        }
        return pd.DataFrame(columns).rename_axis("place")

    def laws(self) -> dict[str, bool]:
        """Where the right chart ends."""
        if not self.rated:
            return {}
        apart = max(abs(float(side.scored.running[-1]) / side.scored.perplexity - 1) for side in self.rated)
        return {
            f"up to the last token the perplexity is that of the text (error {formats.tiny(apart)})": apart < ROUNDING
        }
