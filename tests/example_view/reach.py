"""The view "reach": how far from itself each query of a head looks, on average."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, attention_weights, recording
from tfm_ui.lenses.attention.inside import AttentionPanel
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.script import of_model, script
from tfm_ui.page.lens import View
from tfm_ui.page.questions import Question
from tfm_ui.pictures import bars
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def mean_distance(weights: Tensor) -> Tensor:
    """How far the keys stand from the query, on average over its weights, in tokens: (query,) of (query, key)."""
    queries, keys = torch.arange(weights.shape[0]), torch.arange(weights.shape[1])
    return (weights * (queries[:, None] - keys).abs()).sum(-1)


def of_head(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str, head: int
) -> Tensor:
    """The distance of each query. Its body is in the script that the reader copies."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording() as trace:
        model(*inputs, mask=mask)
    distances = mean_distance(trace[site][0, head])  # (query,), in tokens
    return distances


class Reach(AttentionPanel):
    """A bar per query: how far it looks on average, as a share of the longest way there is."""

    title = "Reach"
    how_to_read = "A bar per query: the mean distance of what it looks at, as a share of the length."
    sources = (mean_distance, attention_weights)
    canvas = CHART

    @cached_property
    def distances(self) -> list[float]:
        """The distance of each query that is a token."""
        distances: list[float] = mean_distance(self.inside.weights(self.head))[: self.read].tolist()
        return distances

    @property
    def furthest(self) -> int:
        """The query that looks furthest, from 0."""
        return int(np.argmax(self.distances))

    def sentence(self) -> str:
        mean = formats.number(float(np.mean(self.distances)))
        return f"On average, the queries of this head look {mean} tokens away."

    def laws(self) -> dict[str, bool]:
        longest = max(len(self.queries), len(self.keys)) - 1
        return {"no query looks further than the text is long": all(0 <= x <= longest + 1e-4 for x in self.distances)}

    def table(self) -> pd.DataFrame:
        """A row per query."""
        names, _ = self.numbered
        return pd.DataFrame({"distance": self.distances}, index=pd.Index(names[: self.read], name="query"))

    def picture(self) -> Content:
        return bars.content(self.queries[: self.read], [x / len(self.keys) for x in self.distances])

    def recipe(self) -> str:
        """A script that leaves `distances`."""
        return script(of_head, **of_model(self.model), site=self.site("weights"), head=self.head)


def furthest(model: ModelState, state: AttentionState) -> str:
    """The answer: who looks furthest. It is computed from what is on screen: true of any text."""
    reach = Reach(model, state)
    if not reach.distances:
        return "There is no token."
    return f"“{reach.queries[reach.furthest]}”: {formats.number(reach.distances[reach.furthest])} tokens on average."


VIEW: View[AttentionState] = View(
    title="Reach",
    shows=[Reach],
    controls=("kind", "layer", "head"),
    reads_pass=True,
    questions=(
        Question(
            "Far",
            "Which token looks furthest?",
            furthest,
            controls={"view": "reach"},
            because="the dictionary has no order, and in a text keys stand near or far.",
        ),
        Question(
            "Another head",
            "Does the second head look as far?",
            furthest,
            controls={"view": "reach", "head": 2},
            because="heads of one layer share the text, and not how far they look.",
        ),
    ),
)
