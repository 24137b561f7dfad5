"""The view "logit": what each source adds to the logit of a next token, or to the difference of two."""

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core.study.attribution.sources import BIASES, CROSS, HEAD, NETWORK, Source
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.why.panel import AFTER_MR, BY_CHANCE, NAMES, LogitPanel, draw_acts, instead_of_a_logit
from tfm_ui.lenses.attention.why.parts import Named, named, why_no_logit
from tfm_ui.lenses.attention.why.recipes import logit_in_parts
from tfm_ui.lenses.attention.why.streams import logits_at, ranked, token_name
from tfm_ui.live.script import of_model, script
from tfm_ui.page.lens import View
from tfm_ui.page.questions import MODEL, Prediction, Question
from tfm_ui.pictures import maps, signed
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Columns
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

BARS = 14  # sources that have a bar


class Logit(LogitPanel):
    """The largest sources as bars."""

    name = "logit"
    locked = True
    canvas = CHART

    @property
    def title(self) -> str:
        token, minus = self.tokens_asked
        less = "" if minus is None else f" − {token_name(self.model, minus)}"
        return f"Next after {self.at}: {token_name(self.model, token)}{less}"

    @property
    def shape(self) -> str:
        return f"{len(self.values)} sources"

    @property
    def how_to_read(self) -> str:
        return (
            "A bar: what the source’s vector adds directly, with the last norm’s statistics held fixed. What later "
            "heads and networks make of it is in their bars."
        )

    @cached_property
    def shown_sources(self) -> Named:
        """The sources that have a bar."""
        return named(self.parts.sources, np.abs(self.values), BARS)

    def sentence(self) -> str:
        """The sum, the largest source, and how likely both tokens are."""
        ids, shares = ranked(self.model, self.position)
        token, minus = self.tokens_asked
        likely = [
            f"{token_name(self.model, i)} {formats.percent(shares[ids.index(i)])}"
            for i in (token, minus)
            if i is not None
        ]
        total, most = float(self.values.sum()), int(np.abs(self.values).argmax())
        share = float(abs(self.values[most]) / (np.abs(self.values).sum() or 1))
        largest = f"{self.parts.names[most]} with {signed.signed(float(self.values[most]))}"
        sentence = (
            f"After {self.at} {self.whose} is {signed.signed(total)} ({', '.join(likely)}). Largest: {largest}, "
            f"{formats.percent(share)} of all by size."
        )
        return " ".join(filter(None, [sentence, self.model.if_random(BY_CHANCE)]))

    def laws(self) -> dict[str, bool]:
        """The parts sum to the model's own logit, or difference."""
        logits = logits_at(self.model, self.position).astype(np.float64)
        token, minus = self.tokens_asked
        of_model = float(logits[token] - (0.0 if minus is None else logits[minus]))
        error = abs(of_model - float(self.values.sum()))
        logit = "logit" if minus is None else "difference of logits"
        law = f"all sources sum to the model’s {logit} (error {formats.tiny(error)})"
        return {law: error <= 1e-4 * max(1.0, float(np.abs(self.values).sum()))}

    def table(self) -> pd.DataFrame:
        """A row per source, the largest first by size."""
        order = np.argsort(-np.abs(self.values), kind="stable")
        names = self.parts.names
        return pd.DataFrame({"logit": self.values[order]}, index=pd.Index([names[i] for i in order], name="source"))

    def picture(self) -> Content:
        """A bar per named source, and one for the others together."""
        shown = self.shown_sources
        values = shown.summed(self.values, 0)
        chosen = [shown.at.index(self.chosen)] if self.chosen in shown.at else []
        return signed.content(shown.names, values.tolist(), unit="logit", rows="source", chosen=chosen)

    def recipe(self) -> str:
        """A script that leaves the parts in `parts`, (source)."""
        token, minus = self.tokens_asked
        return script(logit_in_parts, **of_model(self.model), position=self.position, token=token, minus=minus)


class LogitHeads(LogitPanel):
    """All heads and networks as a map: layers by what writes in them."""

    name = "logit_heads"
    canvas = MAPS
    title = "All heads and networks"
    how_to_read = "Rows: layers. Columns: heads, and the network. Click a head to open what it gave."

    @property
    def shape(self) -> str:
        return f"layer × writer = {self.model.num_layers} × {len(self.writers)}"

    def _column(self, source: Source) -> int:
        return self.writers.index((source.kind, source.head))

    @property
    def groups(self) -> dict[str, float]:
        """What heads, networks, embeddings with positions, and biases add together."""
        kinds = np.array([source.kind for source in self.parts.sources])
        heads, networks = np.isin(kinds, [HEAD, CROSS]), kinds == NETWORK
        biases = kinds == BIASES
        which = {"heads": heads, "networks": networks, "embeddings": ~(heads | networks | biases), "biases": biases}
        return {name: float(self.values[those].sum()) for name, those in which.items()}

    def sentence(self) -> str:
        """What heads, networks and the rest add together."""
        return f"Together: {formats.listed([f'{name} {signed.signed(value)}' for name, value in self.groups.items()])}."

    def table(self) -> pd.DataFrame:
        """A row per layer."""
        names = [self._name(*column) for column in self.writers]
        rows = pd.Index([f"layer {layer + 1}" for layer in range(self.model.num_layers)], name="layer")
        return pd.DataFrame(self._map, index=rows, columns=names)

    @property
    def _map(self) -> NDArray[np.float64]:
        values = np.zeros((self.model.num_layers, len(self.writers)))
        for source, value in zip(self.parts.sources, self.values, strict=True):
            if source.part:
                values[source.layer, self._column(source)] = value
        return values

    @staticmethod
    def _name(kind: str, head: int) -> str:
        return {HEAD: f"head {head + 1}", CROSS: f"cross {head + 1}", NETWORK: "network"}[kind]

    def picture(self) -> Content:
        """The map; the chosen source ringed."""
        values, chosen = self._map.astype(np.float32), self.parts.sources[self.chosen]
        drawn = Map(name="", values=values, scale=around_zero(float(np.abs(values).max())), unit="logit")
        names = [self._name(*column) for column in self.writers]
        rows = [f"layer {layer + 1}" for layer in range(self.model.num_layers)]
        picked = (chosen.layer, self._column(chosen)) if chosen.part else None
        codes = [Source(kind, 0, head).code for kind, head in self.writers]
        return maps.content(
            [drawn],
            rows=Axis(rows, "layer", "layer"),
            columns=Axis(names, "what writes", "writer", "value"),
            picked=picked,
            asks=("attention_from_layer", "attention_from_key"),
            places=(list(range(1, len(rows) + 1)), codes),
            square=False,
        )

    def tools(self) -> None:
        """Draw how the chosen head is opened."""
        draw_acts(self, *[self.opened] * self.opened.source.is_head)


def what_makes_the_logit(model: ModelState, state: AttentionState) -> str:
    """What heads, networks and embeddings add to the logit."""
    if reason := why_no_logit(model):
        return f"{reason} So nothing is split here."
    return f"{Logit(model, state).sentence()} {LogitHeads(model, state).sentence()}"


def group_of_logit(model: ModelState, state: AttentionState) -> str:
    """Whether heads, networks or embeddings add most to the logit, by size."""
    if why_no_logit(model):
        return ""
    sums = LogitHeads(model, state).groups
    return max(sums, key=lambda name: abs(sums[name]))


def difference_of_logits(model: ModelState, state: AttentionState) -> float:
    """The logit, or the difference, in e-folds."""
    return 0.0 if why_no_logit(model) else float(Logit(model, state).values.sum())


def odds_of_logit(model: ModelState, state: AttentionState) -> str:
    """What the difference of two logits means for their tokens."""
    if reason := why_no_logit(model):
        return f"{reason} So nothing is split here."
    logit = Logit(model, state)
    total = float(logit.values.sum())
    if logit.tokens_asked[1] is None:
        return f"{logit.sentence()} Alone, a logit says nothing: the softmax sees differences. Subtract another."
    times = formats.count(round(np.exp(min(abs(total), 20.0)), 1)) if abs(total) < 20 else "over 400 million"
    return (
        f"{logit.sentence()} A difference of {signed.signed(total)} makes one of the two {times} times as likely as "
        "the other, as the softmax makes e to the difference of it."
    )


QUESTIONS = (
    Question(
        "Who says it",
        "After the second “Mr”, Lab GPT’s likeliest token leads the second. Do heads, networks or embeddings add most "
        "to that?",
        what_makes_the_logit,
        Prediction(
            ask="Which adds most?",
            measured=group_of_logit,
            options=("heads", "networks", "embeddings", "biases"),
            hides=("logit*",),
        ),
        model=NAMES,
        controls={"view": "logit", "query": AFTER_MR["query"]},
        because="in the end only the logits count, and each part of the model adds to them.",
    ),
    Question(
        "A difference of logits",
        "Random weights: the likeliest next token leads the second by a little. How large is the difference of their "
        "logits?",
        odds_of_logit,
        Prediction(ask="How large is it?", measured=difference_of_logits, hides=("logit*",)),
        controls={"view": "logit"},
        given=MODEL | {"query", "rank", "against"},
        because="random weights show how small such a lead is when nothing was learned.",
    ),
)


VIEW: View[AttentionState] = View(
    title="Which logit",
    tab="why",
    choice="Which logit",
    exercise="head-logit",
    shows=[Columns([[Logit], [LogitHeads]], widths=(1, 1))],
    controls=("rank", "against"),
    line="line_logit",
    questions=QUESTIONS,
    instead=instead_of_a_logit,
)
