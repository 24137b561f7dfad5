"""All ways beside each other: how many labels are right, over examples, parameters or seconds."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from tfm_core.model.config import TransformerConfig
from tfm_core.training.baselines import naive_bayes
from tfm_core.training.compare.finetuning.grid import bags_of, grid
from tfm_core.training.compare.finetuning.labelled import BODIES
from tfm_core.training.compare.finetuning.lora import LowRank, low_rank_parameters
from tfm_core.training.compare.finetuning.outcome import SIZES, STEPS, Grid
from tfm_core.training.compare.finetuning.tuning import BATCH, finetune
from tfm_core.training.compare.finetuning.ways import WAYS
from tfm_ui.lenses.training.finetune.results import GridPanel
from tfm_ui.lenses.training.state import PREFIX
from tfm_ui.live.script import script
from tfm_ui.page import controls
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import Note, OpenTable
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

RIGHT = "right labels, held out"
AXES = {
    "examples": "labelled sentences to learn from",
    "parameters": "parameters trained",
    "seconds": "seconds of training, one core",
}
BAG, MOST = "naive Bayes", "most frequent label"
COMMAND = "python -m tfm_core.training finetune"


def all_ways(*, task: str) -> Grid:
    """A task in all ways, on all numbers of examples and with all seeds: this takes minutes."""
    for _, made in grid(task):
        latest = made
    return latest


class Finetune(GridPanel):
    """The ways, and what knows no order."""

    canvas = CHART
    sources = (finetune, LowRank, bags_of, naive_bayes)

    @property
    def title(self) -> str:
        return f"{self.set.title}: {len(WAYS)} ways to learn it from few examples"

    @property
    def how_to_read(self) -> str:
        if self.state.against == "examples":
            what = "A ring is a seed, the line goes through the medians"
        else:
            what = f"A ring is a seed; all with {formats.count(self.shots)} examples"
        return (
            f"{what}. Dashed: {BAG}, which counts pieces and knows no order, and always the {MOST}. "
            f"Measured on {formats.count(self.grid.tested)} sentences that nothing is trained on."
        )

    def sentence(self) -> str:
        """Who is ahead, what pretraining is worth, and naive Bayes."""
        return " ".join([self.set.about, self.who_is_ahead(), self.worth_of_pretraining(), self.beside_bag()])

    def who_is_ahead(self) -> str:
        """The best way, and those that it is not clearly ahead of."""
        first, *others = self.level
        share = formats.percent(self.middle(first), 3)
        begin = f"With {formats.count(self.shots)} examples “{WAYS[first].title}” has the best median: {share} right."
        if not others:
            return f"{begin} Each of its seeds is clearly better than each seed of any other way."
        named = formats.listed([f"“{WAYS[way].title}” ({formats.percent(self.middle(way), 3)})" for way in others])
        return f"{begin} That it is better than {named}, the seeds and the held-out sentences cannot show."

    def worth_of_pretraining(self) -> str:
        """The whole model beside the same network from nothing."""
        ours, theirs = (formats.percent(self.middle(way), 3) for way in ("whole", "nothing"))
        verdict = self.ahead("whole", "nothing")
        both = f"The whole model reaches {ours}, the same network from nothing {theirs}"
        if verdict:
            what = "helps" if verdict > 0 else "harms"
            return f"{both}: what it had learned before {what}, more than seeds and chance can explain."
        return f"{both}: that what it had learned before helps cannot be seen here."

    def beside_bag(self) -> str:
        """Which ways are ahead of naive Bayes, and of which it is ahead."""
        ahead = {way: self.ahead_of_bag(way) for way in WAYS}
        better, worse = ([f"“{WAYS[way].title}”" for way in WAYS if ahead[way] == sign] for sign in (1, -1))
        bag = formats.percent(self.grid.bag(self.shots), 3)
        told = f"Naive Bayes has {bag}. Clearly ahead of it: {formats.listed(better)}."
        return f"{told} Clearly worse: {formats.listed(worse)}." if worse else told

    def picture(self) -> Content:
        """Lines over the number of examples, or rings over what was trained."""
        drawn = self._over_examples() if self.state.against == "examples" else self._over_costs()
        xs = [x for line in drawn for x in line.x]
        across = [min(xs), max(xs)]
        if self.state.against == "examples":
            bags = Line(BAG, SIZES, [self.grid.bag(size) for size in SIZES], "ink", "dashed")
        else:
            bags = Line(BAG, across, [self.grid.bag(self.shots)] * 2, "ink", "dashed")
        drawn += [bags, Line(MOST, across, [self.grid.most_frequent] * 2, "muted", "dashed")]
        return lines.content([Chart(AXES[self.state.against], RIGHT, drawn, x_scale="log10")])

    def _over_examples(self) -> list[Line]:
        drawn = []
        for name, way in WAYS.items():
            each = [(size, share) for size in SIZES for share in self.grid.accuracies(name, size)]
            medians = [self.middle(name, size) for size in SIZES]
            drawn.append(Line(way.title, SIZES, medians, way.colour))
            drawn.append(Line("", [x for x, _ in each], [share for _, share in each], way.colour, "dots"))
        return drawn

    def _over_costs(self) -> list[Line]:
        drawn = []
        for name, way in WAYS.items():
            runs = self.grid.of(name, self.shots)
            costs = [run.trained if self.state.against == "parameters" else run.seconds for run in runs]
            shares = self.grid.accuracies(name, self.shots)
            drawn.append(Line(way.title, costs, shares, way.colour, "dots"))
        return drawn

    def table(self) -> pd.DataFrame:
        """A row for each way, number of examples and seed."""
        rows: list[dict[str, object]] = [
            {
                "way": WAYS[run.tuning.way].title,
                "examples": run.tuning.examples,
                "seed": run.tuning.seed,
                "parameters trained": run.trained,
                "seconds": run.seconds,
                "right labels": run.accuracy,
            }
            for run in self.grid.runs
        ]
        rows += [
            {"way": BAG, "examples": bag.examples, "seed": bag.seed, "right labels": bag.accuracy}
            for bag in self.grid.bags
        ]
        return pd.DataFrame(rows)

    def laws(self) -> Mapping[str, bool]:
        config, head = BODIES[self.grid.body].config, head_parameters(self.grid, len(self.set.labels))
        ranked = [(way.rank, self.grid.of(name, SIZES[0])[0].trained) for name, way in WAYS.items() if way.rank]
        frozen = [run for run in self.grid.runs if run.tuning.way == "frozen"]
        return {
            "LoRA trains r (in + out) numbers for each matrix, and the head": all(
                trained == low_rank_parameters(config, rank) + head for rank, trained in ranked
            ),
            "a frozen body trains the head alone": all(run.trained == head for run in frozen),
            "the heads of a frozen body have not moved": all(
                share == 0 for run in frozen for row in run.moved for share in row
            ),
        }

    def recipe(self) -> str:
        return script(all_ways, task=self.state.tuned)

    @classmethod
    def facts(cls, model: ModelState, state: object) -> Note:
        """Where the sentences are from, what the body knows of them, and how all of it was computed."""
        panel = cls(model, state)
        made, known = panel.grid, panel.set
        steps = ", ".join(f"{STEPS[size]} steps with {formats.count(size)}" for size in SIZES)
        rates = ", ".join(f"{way.title} {way.learning_rate:g}" for way in WAYS.values())
        return Note(
            f"{known.origin} {known.read} It has never seen a label. Held out are {formats.count(made.tested)} "
            "sentences, chosen by a hash of their words; their paragraphs may have been read in pretraining. For all "
            f"ways {steps} examples, {BATCH} at a time, AdamW with a learning rate that rises and falls, no dropout; "
            f"highest rates: {rates}, each the best of four on sentences that are neither learned from nor held out. "
            "The head reads the mean of the last hidden states. A difference within the spread of the seeds is none. "
            f"{COMMAND} makes all {len(made.runs)} runs of this task again: {formats.count(round(made.seconds))} s on "
            f"one core of a busy machine, with {made.runs[0].made_with}.",
            "plain",
        )


class FinetuneWays(GridPanel):
    """The ways in numbers, of the number of examples that is chosen."""

    sources = (low_rank_parameters,)

    @property
    def title(self) -> str:
        return f"The ways with {formats.count(self.shots)} examples"

    how_to_read = "Medians over the seeds, and the lowest and the highest of them. A click on a row chooses the way."

    @property
    def row(self) -> int:
        """The row of the way that is chosen."""
        return list(WAYS).index(self.state.way)

    @property
    def open_table(self) -> OpenTable:
        number, share = st.column_config.NumberColumn, st.column_config.NumberColumn(format="%.1f%%")
        columns = {
            "share of all": st.column_config.NumberColumn(format="%.2f%%"),
            "seconds": number(format="%.1f"),
            **dict.fromkeys(("right", "lowest", "highest"), share),
        }
        return OpenTable(columns, row=self.row, choose=_choose, not_on_phones=["lowest", "highest"])

    def sentence(self) -> str:
        """What the chosen way trains."""
        way, run = WAYS[self.state.way], self.grid.of(self.state.way, self.shots)[0]
        share = formats.percent(run.trained / self.grid.parameters, 3)
        whole = f"{formats.count(run.trained)} of {formats.count(self.grid.parameters)} parameters, {share}"
        told = f"“{way.title}” trains {way.about}: {whole}."
        if not way.rank:
            return told
        config: TransformerConfig = BODIES[self.grid.body].config
        d, layers = config.d_model, config.num_layers
        return (
            f"{told} For each of {2 * layers} matrices W ({d} × {d}), {layers} of queries and {layers} of values, it "
            f"trains B ({d} × {way.rank}) and A ({way.rank} × {d}), {formats.count(2 * d * way.rank)} numbers, and "
            f"computes with W + α/r B A. B begins at zero, so it begins with exactly {BODIES[self.grid.body].title}."
        )

    def table(self) -> pd.DataFrame:
        """A row per way, then what knows no order."""
        rows: list[dict[str, object]] = []
        for name, way in WAYS.items():
            runs = self.grid.of(name, self.shots)
            seconds = sorted(run.seconds for run in runs)[len(runs) // 2]
            rows.append(
                {
                    "way": way.title,
                    "parameters": runs[0].trained,
                    "share of all": 100 * runs[0].trained / self.grid.parameters,
                    "seconds": seconds,
                    **_spread(self.grid.accuracies(name, self.shots)),
                }
            )
        bags = [bag.accuracy for bag in self.grid.bags if bag.examples == self.shots]
        rows.append({"way": BAG, **_spread(bags)})
        rows.append({"way": MOST, **_spread([self.grid.most_frequent])})
        return pd.DataFrame(rows).set_index("way")

    def laws(self) -> Mapping[str, bool]:
        shares = [run.accuracy or 0.0 for run in self.grid.runs]
        return {"all shares lie between 0 and 1": all(0 <= share <= 1 for share in shares)}

    def recipe(self) -> str:
        return ""


def head_parameters(made: Grid, labels: int) -> int:
    """How many numbers the head has: a weight for each label and dimension, and a bias for each label."""
    return (BODIES[made.body].config.d_model + 1) * labels


def _spread(shares: Sequence[float]) -> dict[str, object]:
    ranked = [100 * share for share in sorted(shares)]
    return {"right": ranked[len(ranked) // 2], "lowest": ranked[0], "highest": ranked[-1]}


def _choose(row: int) -> None:
    if row < len(WAYS):
        controls.change(PREFIX, way=list(WAYS)[row])
