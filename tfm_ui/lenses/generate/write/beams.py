"""Beam search: the texts that it followed, as a tree, and the best that came out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_core import Beams
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.courses import Settings
from tfm_ui.lenses.generate.of_course import REPLAY
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.write.recipe import recipe_of_beams
from tfm_ui.pictures import figures
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.panel import Result
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class Searched(Result):
    """A search after the sidebar's text.

    Attributes:
        model: the sidebar's model, whose text is the prompt.
        width: how many texts are followed.
        steps: how many tokens were asked for.
        greedy: how the same text is written greedily, for the comparison.
    """

    model: ModelState
    width: int
    steps: int
    greedy: Settings

    @cached_property
    def search(self) -> Beams:
        """The whole search."""
        return courses.beams_of(self.model, self.width, self.steps)

    @property
    def best(self) -> str:
        """The best text."""
        pieces = self.model.tokens_by.pieces
        return self.model.tokens_by.join([pieces[token] for token in self.search.texts[0].tokens])

    @cached_property
    def greedy_score(self) -> float:
        """The sum of the log probabilities of as many likeliest tokens."""
        steps = courses.course_of(self.model, self.greedy).steps[: len(self.search.steps)]
        return sum(float(step.logits.double().log_softmax(0)[step.token]) for step in steps)

    def sentence(self) -> str:
        """The best text's probability beside the greedy one's."""
        best, steps = self.search.texts[0], len(self.search.steps)
        cut = f" The context has room for {formats.plural(steps, 'token')}." if steps < self.steps else ""
        better = best.score - self.greedy_score
        than = (
            "the same as greedily"
            if abs(better) < 1e-6
            else f"{formats.number(abs(better))} {'more' if better > 0 else 'less'} than greedily"
        )
        return (
            f"{formats.plural(self.width, 'text')} followed for {formats.plural(steps, 'step')}. The best has a log "
            f"probability of {formats.number(best.score)}, {than}.{cut}"
        )

    def table(self) -> pd.DataFrame:
        """A row per beam of each step."""
        pieces = self.model.tokens_by.pieces
        rows = [
            {
                "step": number,
                "beam": rank,
                "goes on from beam": beam.parent + 1,
                "token": pieces[beam.token],
                "id": beam.token,
                "log probability": beam.log_probability,
                "sum": beam.score,
            }
            for number, step in enumerate(self.search.steps, 1)
            for rank, beam in enumerate(step.beams, 1)
        ]
        return pd.DataFrame(rows).set_index("step")

    def laws(self) -> dict[str, bool]:
        """What must hold of the search."""
        sums = [[beam.score for beam in step.beams] for step in self.search.steps]
        before = [[0.0], *sums]
        return {
            "a beam’s sum is its parent’s sum and its token’s log probability": all(
                abs(before[number][beam.parent] + beam.log_probability - beam.score) < 1e-9
                for number, step in enumerate(self.search.steps)
                for beam in step.beams
            ),
            "beams are in the order of their sums": all(each == sorted(each, reverse=True) for each in sums),
        }

    def recipe(self) -> str:
        """Plain Python that gives the same text."""
        return recipe_of_beams(self.model, self.width, len(self.search.steps))


def searched(model: ModelState, state: GenerateState) -> Searched:
    """What the link asks for."""
    greedy = courses.settings_of(model, state)
    return Searched(model, state.width, state.steps, Settings(greedy.sampling, state.steps, "window"))


def beams(model: ModelState, state: GenerateState) -> Content:
    """The content for beams.js: of each step each beam's token, parent and sum; none of a model that writes nothing."""
    if reason := courses.why_not_write(model):
        return {"about": reason, "prompt": [], "steps": []}, np.zeros(0, np.float32)
    shown, pieces = searched(model, state), model.tokens_by.pieces
    header = {
        "about": shown.sentence(),
        "prompt": [pieces[token] for token in shown.search.prompt],
        "steps": [
            [{"piece": pieces[beam.token], "parent": beam.parent, "score": beam.score} for beam in step.beams]
            for step in shown.search.steps
        ],
    }
    return header, np.zeros(0, np.float32)


def figure(header: Header, numbers: NDArray[np.float32]) -> go.Figure:
    """The sums of all beams over the steps."""
    steps = header["steps"]
    most = max((len(step) for step in steps), default=0)
    traces = [
        go.Scatter(
            name=f"beam {rank + 1}",
            x=[number for number, step in enumerate(steps, 1) if rank < len(step)],
            y=[step[rank]["score"] for step in steps if rank < len(step)],
            text=[figures.plain(step[rank]["piece"]) for step in steps if rank < len(step)],
            mode="lines+markers",
        )
        for rank in range(most)
    ]
    layout = {
        "template": figures.TEMPLATE,
        "xaxis": {"title": {"text": "step"}},
        "yaxis": {"title": {"text": "sum of log probabilities, nats"}},
    }
    return go.Figure(traces, layout)


BEAMS = Canvas(
    "lenses/generate/beams",
    """
<div class="beams flow" data-picture>
  <div class="texts"></div>"""
    + REPLAY % ""
    + """
  <canvas tabindex="0" role="application"></canvas>
</div>
""",
    figure,
)
PICTURES = {"generate_beams": Picture(BEAMS, beams)}
