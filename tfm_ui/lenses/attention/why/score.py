"""The score of the locked cell in parts: the sources of the query, those of the key, and what each pair gives."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import POSITIONAL
from tfm_core.study.attribution.scores import ScoreParts, attribute_score, query_terms, score_parts
from tfm_core.study.attribution.sources import Source
from tfm_core.study.attribution.streams import Streams
from tfm_ui.lenses.attention.why.panel import BY_CHANCE, PartsPanel, draw_acts
from tfm_ui.lenses.attention.why.parts import Named, named, parts_of
from tfm_ui.lenses.attention.why.recipes import score_in_parts
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.attention import SCORE_IS_SCALED
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import maps, signed
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Source as Function
from tfm_ui.text import formats, token_labels

PAIRS = 8  # that a chart names
# The largest source stands out from so many times the median on: 4 of 180 random models, of 2 to 6 layers, reach it.
STANDS_OUT, FEW = 20, 4
CLICKS = ("attention_from_query", "attention_from_key")


class ScorePanel(PartsPanel):
    """A panel on one score in parts."""

    sources: Sequence[Function] = (score_parts, query_terms, Streams.before)

    @cached_property
    def parts(self) -> ScoreParts:
        """The score of the locked cell."""
        return self._parts_at(self.column)

    def _parts_at(self, key: int) -> ScoreParts:
        return parts_of(self.model, self.kind, self.layer, self.head, self.row, key)

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """(query source, key source), what each pair gives."""
        return self.parts.parts.numpy()

    @property
    def tensors(self) -> Step:
        of_pair = f"of query {self.row + 1} and key {self.column + 1} in head {self.head + 1}"
        about = f"what each pair of sources gives the score {of_pair}"
        bias = torch.tensor(self.parts.scheme, dtype=torch.float64)
        score = torch.tensor(self.score_on_screen)
        return live_steps.attention(self.model, self.kind, self.layer).also(
            held("parts", ("query source", "key source"), self.parts.parts, about),
            held("added", (), bias, "what the positional scheme adds to this score"),
            held("score", (), score, f"the score {of_pair}, as in “scaled”", "parts.sum() + added"),
            note=f"{SCORE_IS_SCALED} Who wrote what is not computed again: its parts are taken as they are.",
        )

    @cached_property
    def of_queries(self) -> Named:
        """The sources of the query that are named: those with the largest sums, or the largest pair."""
        return named(self.parts.query_side, self._sizes(1))

    @cached_property
    def of_keys(self) -> Named:
        """The sources of the key that are named, likewise."""
        return named(self.parts.key_side, self._sizes(0))

    def _sizes(self, axis: int) -> NDArray[np.float64]:
        sizes: NDArray[np.float64] = np.maximum(np.abs(self.matrix.sum(axis)), np.abs(self.matrix).max(axis))
        return sizes

    @cached_property
    def drawn(self) -> NDArray[np.float64]:
        """The matrix with the sources that are not named summed into a last row and a last column."""
        drawn: NDArray[np.float64] = self.of_keys.summed(self.of_queries.summed(self.matrix, 0), 1)
        return drawn

    @cached_property
    def largest(self) -> tuple[int, int]:
        """The pair that gives most, by size: its places in `matrix`."""
        row, column = divmod(int(np.abs(self.matrix).argmax()), self.matrix.shape[1])
        return row, column

    @cached_property
    def chosen(self) -> tuple[int, int]:
        """The chosen pair: that of the link, as far as it names one; otherwise the largest."""
        codes = [source.code for source in self.parts.query_side], [source.code for source in self.parts.key_side]
        asked = self.state.from_query, self.state.from_key
        row, column = (
            names.index(code) if code in names else at
            for names, code, at in zip(codes, asked, self.largest, strict=True)
        )
        return row, column

    @property
    def chosen_sources(self) -> tuple[Source, Source]:
        """The source of the query and that of the key that are chosen."""
        row, column = self.chosen
        return self.parts.query_side[row], self.parts.key_side[column]

    @cached_property
    def rival(self) -> int | None:
        """The key with which the locked one is compared: the one looked at most among the others.

        None if there is no other, or if the query may not look at the locked one.
        """
        if not self.visible[self.column]:
            return None
        others = np.where(self.visible, self.weights, -1.0)
        others[self.column] = -1.0
        return int(others.argmax()) if others.max() >= 0 else None

    @cached_property
    def lead(self) -> NDArray[np.float64]:
        """(query source, key source), how much more each pair gives the locked key than its rival; zeros if alone."""
        if self.rival is None:
            return np.zeros_like(self.matrix)
        lead: NDArray[np.float64] = self.matrix - self._parts_at(self.rival).parts.numpy()
        return lead

    @property
    def lead_of_scheme(self) -> float:
        """What the positional scheme adds to that."""
        return 0.0 if self.rival is None else self.parts.scheme - self._parts_at(self.rival).scheme

    @property
    def scheme_name(self) -> str:
        """The positional scheme as its paper calls it."""
        return POSITIONAL[self.model.positional].about.called

    @property
    def score_on_screen(self) -> float:
        """The score that the step-by-step view shows: computed from queries and keys, as the model does."""
        return float(self.inside.origin.scores(self.head)[self.row, self.column])


class Why(ScorePanel):
    """The pairs as a matrix."""

    name = "why"
    locked = True
    canvas = MAPS

    @property
    def title(self) -> str:
        looks = "looks" if self.visible[self.column] else "may not look"
        return f"Why {self.query_name} {looks} at {self.key_name}"

    @property
    def shape(self) -> str:
        return (
            f"layer {self.state.layer}, head {self.state.head}: {self.matrix.shape[0]} × {self.matrix.shape[1]} sources"
        )

    @property
    def how_to_read(self) -> str:
        return (
            "Rows: what the query is made of. Columns: what the key is made of. L1 H4 is layer 1, head 4. A cell: what "
            "this pair gives the score, divided by √dₖ. Exact with the norms’ statistics held fixed as they were in "
            "this pass. Click a cell of a head to open it; nothing else can be split further."
        )

    def sentence(self) -> str:
        """The score with its sum, and which pair made the difference to the key looked at second."""
        return " ".join(filter(None, [self.about_score(), self.about_lead(), self.model.if_random(BY_CHANCE)]))

    def about_score(self) -> str:
        """The score as a sum, and the weight that it becomes."""
        parts = self.parts
        row, column = self.chosen
        share = formats.percent(float(abs(self.matrix[row, column]) / (np.abs(self.matrix).sum() or 1)))
        which = "The largest pair, which is ringed," if self.chosen == self.largest else "The ringed pair"
        pair = f"{parts.query_sources[row]} × {parts.key_sources[column]}"
        whole = f"the sum of {formats.plural(self.matrix.size, 'pair')}"
        if parts.scheme:
            of_pairs = formats.number(float(self.matrix.sum()))
            whole += f" ({of_pairs}) and of what {self.scheme_name} adds ({signed.signed(parts.scheme)})"
        score = formats.number(parts.total)
        if not self.visible[self.column]:
            weight = "; the mask hides it, so its weight is 0"
        else:
            keys = formats.plural(int(self.visible.sum()), "visible key")
            weight = f"; the softmax over {keys} makes it the weight {formats.weight(float(self.weights[self.column]))}"
        return (
            f"{self.query_name} gives {self.key_name} the score {score}, {whole}{weight}. {which} is {pair}: "
            f"{signed.signed(float(self.matrix[row, column]))}, {share} of all by size."
        )

    @property
    def source_of_lead(self) -> int:
        """The source of the key that makes most of its lead over the rival, or of its deficit."""
        total = float(self.lead.sum()) + self.lead_of_scheme
        return int((self.lead.sum(0) * np.sign(total)).argmax())

    @property
    def lead_source(self) -> str:
        """The name of that source; "" if there is no other key."""
        return self.parts.key_sources[self.source_of_lead] if self.rival is not None else ""

    @property
    def lead_layer(self) -> int:
        """The layer, from 1, in which it wrote; 0 of embeddings, positions and biases, and if there is no other key."""
        return self.parts.key_side[self.source_of_lead].layer + 1 if self.rival is not None else 0

    @property
    def stands_out(self) -> bool:
        """Whether the largest source of the key, in its lead, is many times the median one."""
        sizes = np.abs(self.lead.sum(0))
        median = float(np.median(sizes))
        return len(sizes) > FEW and median > 0 and bool(sizes.max() >= STANDS_OUT * median)

    def about_lead(self) -> str:
        """The locked key's lead over its rival, or what it trails by, and the source of its key that makes most."""
        if self.rival is None:
            return ""
        total = float(self.lead.sum()) + self.lead_of_scheme
        other = f"“{self.keys[self.rival]}”"
        if abs(total) < 1e-6:
            return f"Its score and that of {other} are the same."
        side = 1.0 if total > 0 else -1.0  # what is told counts in the direction of the difference
        ahead = f"{self.key_name} {'leads' if total > 0 else 'trails'} {other} by {formats.number(abs(total))}"
        at = self.source_of_lead
        most, whole = side * float(self.lead[:, at].sum()), abs(total)
        of_scheme = side * self.lead_of_scheme
        if of_scheme > most:
            return f"{ahead}: {signed.signed(of_scheme)} of it come from {self.scheme_name}, whatever the tokens are."
        source = self.parts.key_side[at]
        where, wrote = f"{source.name} on the key’s side", self.about_writer(source)
        if most <= whole:
            what = f"{signed.signed(most)} of it come from {where}{wrote}"
        else:
            what = f"{where} gives {signed.signed(most)}{wrote}; all else gives {signed.signed(whole - most)}"
        pair = int((side * self.lead[:, at]).argmax())
        largest = (
            f"with {self.parts.query_sources[pair]} on the query’s side, {signed.signed(side * self.lead[pair, at])}"
        )
        return f"{ahead}: {what}. Its largest pair is {largest}. {self.about_standing_out()}".strip()

    def about_writer(self, source: Source) -> str:
        """What the head that is the source looks at where the key stands; "" of other sources."""
        if not source.is_head:
            return ""
        opening = self.opening(source, "k")
        at = opening.opened(self.model).key - 1
        _, tokens = self.tokens_in(opening.kind)
        same = opening.kind != "cross"
        if same and at == self.column:
            return f", which wrote what it took from {self.key_name} itself"
        before = ", the token before it" if same and at == self.column - 1 else ""
        return f", which wrote there mostly what it took from “{token_labels.labels(tokens)[at]}”{before}"

    def about_standing_out(self) -> str:
        """Whether that source stands out from the others: with random weights chance alone makes some large."""
        sizes = np.abs(self.lead.sum(0))
        median = float(np.median(sizes))
        times = formats.count(round(float(sizes.max() / median))) if median > 0 else ""
        name = self.parts.key_sources[int(sizes.argmax())]
        if self.stands_out:
            return f"{name[0].upper()}{name[1:]} stands out: it is {times} times the median source."
        if len(sizes) <= FEW:
            return self.model.if_random("So few sources cannot stand out from each other.")
        return self.model.if_random(
            f"No source stands out: the largest is {times} times the median, as chance makes it, too."
        )

    def laws(self) -> dict[str, bool]:
        """The parts sum to the score."""
        error = abs(self.parts.total - self.score_on_screen)
        size = float(np.abs(self.matrix).sum())
        return {f"all parts sum to the score (error {formats.tiny(error)})": error <= 1e-5 * max(1.0, size)}

    def table(self) -> pd.DataFrame:
        """A row for each pair, the largest first by size; the positional scheme's part has a row, too."""
        rows, columns = np.unravel_index(np.argsort(-np.abs(self.matrix), axis=None, kind="stable"), self.matrix.shape)
        queries, keys = self.parts.query_sources, self.parts.key_sources
        index = pd.MultiIndex.from_arrays(
            [
                [*(queries[row] for row in rows), *[self.model.positional] * bool(self.parts.scheme)],
                [*(keys[column] for column in columns), *[self.model.positional] * bool(self.parts.scheme)],
            ],
            names=["query source", "key source"],
        )
        values = [*self.matrix[rows, columns].tolist(), *[self.parts.scheme] * bool(self.parts.scheme)]
        return pd.DataFrame({"score": values}, index=index)

    def picture(self) -> Content:
        """The pairs of named sources, the chosen one ringed."""
        values = self.drawn.astype(np.float32)
        row, column = self.chosen
        drawn = Map(name="", values=values, scale=around_zero(float(np.abs(values).max())), unit="score")
        return maps.content(
            [drawn],
            rows=Axis(self.of_queries.shorts, "from the query’s side", "query source", "query"),
            columns=Axis(self.of_keys.shorts, "from the key’s side", "key source", "key"),
            picked=(_place(self.of_queries, row), _place(self.of_keys, column)),
            asks=CLICKS,
            places=(self.of_queries.codes, self.of_keys.codes),
        )

    def tools(self) -> None:
        """Draw what can be done with the chosen sources, and the way back."""
        query, key = self.chosen_sources
        draw_acts(self, self.opening(query, "q"), self.opening(key, "k"), can_hold_out=True)

    def recipe(self) -> str:
        """A script that leaves the parts in `parts`, (query source, key source)."""
        cell = {"layer": self.layer, "head": self.head, "query": self.row, "key": self.column}
        return script(score_in_parts, **of_model(self.model), attention=self.kind, **cell)


def _place(side: Named, at: int) -> int:
    """Where a source is drawn: among the others it is the last."""
    return side.at.index(at) if at in side.at else len(side.at)


class WhySide(ScorePanel):
    """The sources of one side, summed over the other."""

    canvas = CHART
    of_key = False

    @property
    def side(self) -> Named:
        """The sources of this side that are named."""
        return self.of_keys if self.of_key else self.of_queries

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """(source), what each gives the score with all of the other side."""
        sums: NDArray[np.float64] = self.matrix.sum(0 if self.of_key else 1)
        return sums

    @property
    def title(self) -> str:
        token = self.key_name if self.of_key else self.query_name
        return f"The {'key' if self.of_key else 'query'} of {token}"

    @property
    def shape(self) -> str:
        return formats.plural(len(self.sums), "source")

    @property
    def how_to_read(self) -> str:
        return "A bar: what this source gives the score, summed over the other side."

    def sentence(self) -> str:
        """The largest source."""
        at = int(np.abs(self.sums).argmax())
        names = self.parts.key_sources if self.of_key else self.parts.query_sources
        return (
            f"Largest: {names[at]}, {signed.signed(float(self.sums[at]))} of {formats.number(float(self.sums.sum()))}."
        )

    def table(self) -> pd.DataFrame:
        """A row per source."""
        names = self.parts.key_sources if self.of_key else self.parts.query_sources
        return pd.DataFrame({"score": self.sums}, index=pd.Index(names, name="source"))

    def picture(self) -> Content:
        """A bar per named source, and one for the others together."""
        values = self.side.summed(self.sums, 0)
        chosen = _place(self.side, self.chosen[self.of_key])
        return signed.content(self.side.names, values.tolist(), unit="score", rows="source", chosen=[chosen])

    def recipe(self) -> str:
        """The script of the matrix."""
        return Why(self.model, self.state).recipe()


class WhyQuery(WhySide):
    """The sources of the query."""

    name = "why_query"


class WhyKey(WhySide):
    """The sources of the key."""

    name = "why_key"
    of_key = True


class WhyLead(ScorePanel):
    """What made the difference between the locked key and the one looked at second."""

    name = "why_lead"
    canvas = CHART
    shape = ""
    sources = (attribute_score,)

    @property
    def is_shown(self) -> bool:
        return self.rival is not None

    @property
    def title(self) -> str:
        return f"{self.key_name} beside “{self.keys[self.rival or 0]}”"

    @property
    def how_to_read(self) -> str:
        return (
            "A bar: how much more a pair of sources gives the locked key than the key that is looked at most among the "
            "others. The softmax sees differences alone."
        )

    @cached_property
    def bars(self) -> tuple[list[str], list[float]]:
        """The names and values of the largest pairs, what the scheme adds, and the sum of the others."""
        count = PAIRS + (self.lead.size == PAIRS + 1)  # a single other one has its name
        order = np.argsort(-np.abs(self.lead), axis=None, kind="stable")[:count]
        rows, columns = np.unravel_index(order, self.lead.shape)
        queries, keys = self.parts.query_sources, self.parts.key_sources
        names = [f"{queries[row]} × {keys[column]}" for row, column in zip(rows, columns, strict=True)]
        values = [float(value) for value in self.lead[rows, columns]]
        rest = self.lead.size - len(values)
        if rest:
            names.append(f"the other {formats.count(rest)}, summed")
            values.append(float(self.lead.sum()) - sum(values))
        if self.lead_of_scheme:
            names, values = [*names, self.scheme_name], [*values, self.lead_of_scheme]
        return names, values

    def sentence(self) -> str:
        """The difference, and the odds that it makes."""
        if self.rival is None:
            return f"{self.query_name} may look at no other token, so its score makes no difference."
        total = float(self.lead.sum()) + self.lead_of_scheme
        times = float(np.exp(min(abs(total), 50.0)))
        more = (
            "as much"
            if abs(total) < 5e-4
            else f"{times:,.2f} times as much"
            if times < 1000
            else "over 1,000 times as much"
        )
        first, second = self.key_name, f"“{self.keys[self.rival]}”"
        first, second = (first, second) if total >= 0 else (second, first)
        return (
            f"The scores differ by {formats.number(abs(total))}, so {first} gets {more} weight as {second}: the "
            "softmax makes e to the difference of it."
        )

    def laws(self) -> dict[str, bool]:
        """The weights' ratio is e to the difference."""
        if self.rival is None or min(self.weights[[self.column, self.rival]]) <= 1e-30:
            return {}
        logs = np.log(self.weights[[self.column, self.rival]].astype(np.float64))
        error = abs(float(logs[0] - logs[1]) - float(self.lead.sum()) - self.lead_of_scheme)
        law = f"the logarithm of the weights’ ratio is the difference (error {formats.tiny(error)})"
        return {law: error <= 1e-4 * max(1.0, float(np.abs(self.lead).sum()))}

    def table(self) -> pd.DataFrame:
        """A row per pair that has a bar."""
        names, values = self.bars
        return pd.DataFrame({"difference": values}, index=pd.Index(names, name="pair"))

    def picture(self) -> Content:
        """The largest pairs."""
        names, values = self.bars
        return signed.content(names, values, unit="difference of scores", rows="pair of sources")


def softmaxed(scores: NDArray[np.float64], visible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The weights (key) of scores (key), where a query may look at some key; zeros if it may look at none."""
    if not visible.any():
        return np.zeros_like(scores)
    shown = np.where(visible, scores, -np.inf)
    grown = np.exp(shown - shown.max())
    weights: NDArray[np.float64] = grown / grown.sum()
    return weights
