"""One run: its curve, and what its heads looked at before and after."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core.training.compare.finetuning.labelled import BODIES, SETS
from tfm_core.training.compare.finetuning.looks import Heads, Looks, looks_of, moved
from tfm_core.training.compare.finetuning.outcome import EVALUATED, Tuned, Tuning, shown_sentence
from tfm_core.training.compare.finetuning.tuning import LOOKED_AT, finetune
from tfm_ui.lenses.training.finetune.results import TunedPanel, run_of, tuning_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.live.script import Code, script
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

STEP = "step of training"
LOOKS = {"first": "[CLS]", "last": "[SEP]", "previous": "previous token"}
PICKS = ("training_layer", "training_head")
ALIKE = 1e-3  # a distance below it is none that a reader could see
Floats = NDArray[np.float32]


def one_run(*, tuning: Tuning) -> Tuned:
    """A run from its first step to its last."""
    for step in finetune(tuning):
        latest = step.tuned
    return latest


def not_there(model: ModelState, state: TrainingState) -> Note | None:
    """What is missing where a run, or its maps, are not there; None if they are."""
    run = run_of(tuning_of(state))
    if run is None:
        return Note(f"Nobody has trained this run with seed {state.seed} yet: press Fine-tune.", "info")
    if not run.maps:
        return Note(
            f"The maps of seed {state.seed} do not come with the app: press Fine-tune, and they are computed.", "info"
        )
    return None


class FinetuneCurve(TunedPanel):
    """How the run went."""

    title = "The run"
    canvas = CHART
    sources = (finetune,)

    @property
    def how_to_read(self) -> str:
        return (
            f"Left: right labels of {EVALUATED} held-out sentences, always the same. Right: the loss on what is learned"
            " from, the mean since the point before; dashed: guessing evenly."
        )

    @property
    def chance(self) -> float:
        """The loss of who gives each label the same probability, nats."""
        return float(np.log(len(self.labels)))

    @property
    def labels(self) -> tuple[str, ...]:
        """What a sentence may be."""
        return SETS[self.tuning.task].labels

    def sentence(self) -> str:
        """What has come of it, and in how many seconds."""
        run, last = self.run, self.run.curve[-1]
        seconds = formats.duration(1000 * run.seconds)
        begin = f"{self.named}: after {formats.plural(last.step, 'step')} and {seconds} of training"
        if run.accuracy is None:
            return f"{begin} {formats.percent(last.accuracy, 3)} of {EVALUATED} held-out labels are right so far."
        learned = f", the training loss is {formats.number(last.loss)}" if last.loss is not None else ""
        return f"{begin} {formats.percent(run.accuracy, 3)} of all held-out labels are right{learned}."

    def picture(self) -> Content:
        """Right labels on the left, the loss on the right."""
        points = self.run.curve
        across = [0, self.tuning.steps]
        losses = [point for point in points if point.loss is not None]
        right = Line(
            "held out", [point.step for point in points], [point.accuracy for point in points], self.way.colour
        )
        loss = Line("trained on", [p.step for p in losses], [p.loss or 0.0 for p in losses], self.way.colour)
        even = Line(f"ln {len(self.labels)}", across, [self.chance] * 2, "muted", "dashed")
        return lines.content(
            [
                Chart(STEP, "right labels, held out", [right], reach=(0, 1)),
                Chart(STEP, "loss, nats", [loss, even], reach=(0,)),
            ]
        )

    def table(self) -> pd.DataFrame:
        """A row per point of the curve."""
        rows = [
            {"step": point.step, "training loss": point.loss, "right labels": point.accuracy}
            for point in self.run.curve
        ]
        return pd.DataFrame(rows).set_index("step")

    def laws(self) -> Mapping[str, bool]:
        steps = [point.step for point in self.run.curve]
        return {"the points are in the order of the steps": steps == sorted(set(steps))}

    def recipe(self) -> str:
        return script(one_run, tuning=Code(repr(self.tuning), Tuning))


class FinetuneHeads(TunedPanel):
    """How far each head has moved, and how much it looks at [CLS], [SEP] and the token before."""

    title = "What the heads looked at, before and after"
    canvas = MAPS
    sources = (looks_of, moved)

    @property
    def how_to_read(self) -> str:
        return (
            f"A cell is a head, the mean over all tokens of {LOOKED_AT} held-out sentences. Moved: the share of its "
            "weight that a head now puts on other tokens, the total variation distance. A click chooses a head."
        )

    @property
    def is_shown(self) -> bool:
        run = run_of(self.tuning)
        return run is not None and run.after is not None

    @property
    def after(self) -> Looks:
        """Where the heads looked at the end."""
        assert self.run.after, "expected a run that has ended, got one under way"
        return self.run.after

    @cached_property
    def far(self) -> Floats:
        """How far each head has moved, (layer, head)."""
        return _array(self.run.moved)

    @property
    def picked(self) -> tuple[int, int]:
        """Layer and head that are chosen, from 0."""
        layers, heads = self.far.shape
        return min(self.state.layer, layers) - 1, min(self.state.head, heads) - 1

    def sentence(self) -> str:
        """Which head has moved most, and where the chosen one looks."""
        if float(self.far.max()) < ALIKE:
            why = "so far that one could see it" if self.far.any() else ": each looks exactly where it looked before"
            return f"{self.named}: no head has moved {why}.".replace(" :", ":")
        places = places_of_largest(self.far)
        layer, head = divmod(places[0], self.far.shape[1])
        most, mean = formats.percents(float(self.far.max()), float(self.far.mean()))
        told = (
            f"{self.named}: head {head + 1} of layer {layer + 1}{one_of_ties(len(places))} has moved most, {most} of "
            f"its weight; the mean of all heads is {mean}."
        )
        return f"{told} {self._picked()}"

    def _picked(self) -> str:
        layer, head = self.picked
        parts = []
        for field, name in LOOKS.items():
            before, after = (getattr(looks, field)[layer][head] for looks in (self.run.before, self.after))
            parts.append(f"{name} {' → '.join(formats.weights(before, after))}")
        return f"Head {head + 1} of layer {layer + 1}, before → after: {', '.join(parts)}."

    def picture(self) -> Content:
        """Layers and heads: how far they moved, and three weights before and after."""
        layers, heads = self.far.shape
        top = float(self.far.max())
        drawn = [Map(name="moved", values=self.far, scale=from_zero(top), unit="share of weight")]
        for field, name in LOOKS.items():
            for when, looks in (("before", self.run.before), ("after", self.after)):
                values = _array(getattr(looks, field))
                drawn.append(Map(name=f"{name}, {when}", values=values, scale=SHARES, unit="weight"))
        return maps.content(
            drawn,
            rows=Axis([str(number + 1) for number in range(layers)], "layer", "layer"),
            columns=Axis([str(number + 1) for number in range(heads)], "head", "head"),
            picked=self.picked,
            asks=PICKS,
        )

    def table(self) -> pd.DataFrame:
        """A row per head."""
        rows = []
        for layer in range(self.far.shape[0]):
            for head in range(self.far.shape[1]):
                row: dict[str, object] = {"layer": layer + 1, "head": head + 1, "moved": float(self.far[layer, head])}
                for field, name in LOOKS.items():
                    row[f"{name}, before"] = getattr(self.run.before, field)[layer][head]
                    row[f"{name}, after"] = getattr(self.after, field)[layer][head]
                rows.append(row)
        return pd.DataFrame(rows)

    def laws(self) -> Mapping[str, bool]:
        looks = [_array(getattr(each, field)) for each in (self.run.before, self.after) for field in LOOKS]
        laws = {"weights and distances lie between 0 and 1": all(_are_shares(each) for each in (*looks, self.far))}
        if self.tuning.way == "frozen":
            laws["a frozen body has not moved"] = not self.far.any()
        return laws

    def recipe(self) -> str:
        return script(one_run, tuning=Code(repr(self.tuning), Tuning))


class FinetuneMaps(TunedPanel):
    """The maps of one head on one held-out sentence, before and after."""

    canvas = MAPS
    sources = (finetune,)

    @property
    def title(self) -> str:
        layer, head = self.place
        return f"Layer {layer + 1}, head {head + 1} on one sentence, before and after"

    how_to_read = "Rows are queries and sum to 1, columns are keys. The sentence is held out."

    @property
    def is_shown(self) -> bool:
        run = run_of(self.tuning)
        return run is not None and run.maps.keys() >= {"before", "after"}

    @property
    def place(self) -> tuple[int, int]:
        """Layer and head, from 0."""
        config = BODIES[self.tuning.body].config
        return min(self.state.layer, config.num_layers) - 1, min(self.state.head, config.num_heads) - 1

    @cached_property
    def both(self) -> tuple[Floats, Floats]:
        """The weights before and after, (query, key)."""
        layer, head = self.place
        before, after = (self.run.maps[when][layer, head].float().numpy() for when in ("before", "after"))
        return before, after

    @cached_property
    def tokens(self) -> list[str]:
        """The pieces of the sentence."""
        pieces = BODIES[self.tuning.body].tokenizer().pieces
        return [pieces[number] for number in shown_sentence(self.tuning.task, self.tuning.body)[0].tolist()]

    def sentence(self) -> str:
        """Which token gained most, and which lost most, over all rows."""
        before, after = self.both
        change = (after - before).mean(0)
        far = float(np.abs(after - before).sum(1).mean() / 2)
        if far < ALIKE:
            return f"{self.named}: on this sentence the head looks where it looked before."
        gained, lost = int(change.argmax()), int(change.argmin())
        more, less = formats.weights(float(change[gained]), float(-change[lost]))
        return (
            f"{self.named}: on this sentence the head has moved {formats.percent(far)} of its weight. As the mean over "
            f"all rows, “{self.tokens[gained]}” has gained most, {more}; “{self.tokens[lost]}” has lost most, {less}."
        )

    def picture(self) -> Content:
        """Two maps of one scale."""
        drawn = [
            Map(name=name, values=values, scale=SHARES, unit="weight")
            for name, values in zip(("before", "after"), self.both, strict=True)
        ]
        return maps.content(
            drawn,
            rows=Axis(self.tokens, "query (row): looks", "query", "query"),
            columns=Axis(self.tokens, "key (column): is looked at", "key", "key"),
        )

    def table(self) -> pd.DataFrame:
        """A row per query and key."""
        before, after = self.both
        rows = [
            {"query": query, "key": key, "before": float(before[row, column]), "after": float(after[row, column])}
            for row, query in enumerate(self.tokens)
            for column, key in enumerate(self.tokens)
        ]
        return pd.DataFrame(rows)

    def laws(self) -> Mapping[str, bool]:
        return {"rows of weights sum to 1": all(np.allclose(each.sum(1), 1, atol=5e-3) for each in self.both)}

    def recipe(self) -> str:
        return script(one_run, tuning=Code(repr(self.tuning), Tuning))


def _array(heads: Heads) -> Floats:
    return np.array(heads, np.float32)


def _are_shares(values: Floats) -> bool:
    return bool((values >= 0).all() and (values <= 1 + 1e-5).all())
