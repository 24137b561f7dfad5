"""What becomes of the query's weights without a source: what the parts foretell beside what interventions do."""

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core.study.attribution.held_out import HeldOut, held_out, silence
from tfm_core.study.attribution.sources import Source
from tfm_core.study.attribution.streams import place_of
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.why.score import ScorePanel, softmaxed
from tfm_ui.lenses.attention.why.streams import streams
from tfm_ui.live.cache import cached
from tfm_ui.pictures import chart
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.figures import axis_title, colour_of, plain
from tfm_ui.pictures.rows import Name, in_rows
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

KEYS = 8  # that have a row
SIDES = {  # what a weight is -> colour role and symbol
    "as it is": ("muted", "circle"),
    "expected from the parts": ("key", "diamond"),
    "this head reads without it": ("value", "square"),
    "silenced in the model": ("result", "x"),
}
NOTHING_OUT = "No source is held out here. Hold one out below the matrix: its weights then stand beside those now."


@cached()
def rows_without(
    model: ModelState, kind: str, layer: int, head: int, query: int, key: int | None, source: Source
) -> HeldOut:
    """The scores of a query without a source; all numbers from 0. Shared: never write into it."""
    recorded = streams(model)
    place = place_of(recorded.model, kind, layer)
    return held_out(recorded, place, head=head, query=query, source=source, key=key)


class Without(ScorePanel):
    """The weights of the query's row, as they are and without the source that is held out."""

    of_key = False
    shape = ""
    canvas = CHART
    sources = (held_out, silence)

    @property
    def is_shown(self) -> bool:
        """Whether the link holds a source of this side out, and names one that there is."""
        side = self.parts.key_side if self.of_key else self.parts.query_side
        code = self.state.from_key if self.of_key else self.state.from_query
        is_out = self.state.out == ("key" if self.of_key else "query")
        return is_out and code in [source.code for source in side]

    @property
    def slow(self) -> bool:
        """A pass of the model for each source."""
        return self.model.is_heavy

    @property
    def source(self) -> Source:
        """The source that is held out."""
        return self.chosen_sources[self.of_key]

    @cached_property
    def rows(self) -> dict[str, NDArray[np.float64]]:
        """What a weight is -> float64 (key); where nothing is held out, as it is alone."""
        if not self.is_shown:
            return {next(iter(SIDES)): self.weights.astype(np.float64)}
        key = self.column if self.of_key else None
        result = rows_without(self.model, self.kind, self.layer, self.head, self.row, key, self.source)
        scores = [result.scores, result.expected, result.normed_anew, result.silenced]
        return {
            name: softmaxed(row.numpy(), self.visible)
            for name, row in zip(SIDES, scores, strict=True)
            if row is not None
        }

    @property
    def weight_left(self) -> float:
        """The weight of the locked key, the source silenced, or unread where it cannot be; as it is, if none is out."""
        return float([*self.rows.values()][-1][self.column])

    @cached_property
    def shown_keys(self) -> list[int]:
        """The keys that have a row: the locked one, and those of the largest weights."""
        largest = np.stack([*self.rows.values()]).max(0)
        largest[self.column] = 2.0
        order = np.argsort(-largest, kind="stable")[:KEYS]
        return sorted(int(key) for key in order if self.visible[key] or key == self.column)

    @property
    def title(self) -> str:
        token = self.key_name if self.of_key else self.query_name
        return f"Without {self.source.name} at {token}"

    @property
    def how_to_read(self) -> str:
        return (
            "Expected: its parts are taken out of the score, norms as they were. Reads without it: this head’s norm is "
            "computed anew. Silenced: it writes nothing there, and all later layers answer."
        )

    def sentence(self) -> str:
        """The weight of the locked key in all four, and why they differ."""
        if not self.is_shown:
            return NOTHING_OUT
        if not self.visible[self.column]:
            return f"The mask hides the score of {self.key_name}: its weight is 0, with the source and without."
        weights = {name: float(row[self.column]) for name, row in self.rows.items()}
        said = formats.listed([f"{formats.weight(value)} {name}" for name, value in weights.items()])
        values = list(weights.values())
        apart = max(abs(values[1] - other) for other in values[1:])
        if self.source.kind == "biases":
            why = "The model cannot do without its biases, so nothing is silenced."
        elif apart < 0.01:
            why = "Here what the parts foretell holds to within 0.01."
        elif self.inside.norm is None:
            why = "There is no norm between the stream and this head; what differs comes from the layers in between."
        else:
            why = (
                "What the parts foretell holds norms and earlier layers fixed; measured, the norm divides by another "
                "number, and later heads and networks write something else."
            )
        return f"The weight of {self.key_name}: {said}. {why}"

    def laws(self) -> dict[str, bool]:
        """The row as it is equals the model's."""
        error = float(np.abs(self.rows["as it is"] - self.weights).max())
        return {f"the weights as they are equal the model’s (largest error {formats.tiny(error)})": error < 1e-4}

    def table(self) -> pd.DataFrame:
        """A row per key that may be seen."""
        shown = np.flatnonzero(self.visible)
        columns = {name: row[shown] for name, row in self.rows.items()}
        names = self.numbered[1]
        return pd.DataFrame(columns, index=pd.Index([names[key] for key in shown], name="key"))

    def picture(self) -> Content:
        """A row per key, a mark per weight."""
        keys = self.shown_keys
        traces = [
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": row[keys],
                "y": np.arange(len(keys)),
                "marker": {"color": colour_of(SIDES[name][0]), "symbol": SIDES[name][1], "size": 12},
                "customdata": [f"{plain(self.keys[key])}, {name}: {formats.weight(float(row[key]))}" for key in keys],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
            for name, row in self.rows.items()
        ]
        figure = in_rows(
            traces,
            names=[
                Name(f"<b>{plain(self.keys[key])}</b>" if key == self.column else plain(self.keys[key]), row)
                for row, key in enumerate(keys)
            ],
            ends=[],
            last=len(keys) - 1,
            pixels=34,
            rows="key",
            axis={"title": axis_title("weight"), "range": [-0.02, 1.02]},
        )
        return chart.content(figure)


class WithoutQuery(Without):
    """The weights without a source of the query."""

    name = "why_without_query"


class WithoutKey(Without):
    """The weights without a source of the key."""

    name = "why_without_key"
    of_key = True


def held_out_in(model: ModelState, state: AttentionState) -> Without:
    """The panel of the side on which the link holds a source out."""
    return (WithoutKey if state.out == "key" else WithoutQuery)(model, state)
