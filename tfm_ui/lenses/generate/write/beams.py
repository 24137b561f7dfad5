"""Beam search: the texts that it followed, as a tree, and the best that came out."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_core import Beams as Search
from tfm_core import Sampling, Transformer, TransformerConfig, beam_search
from tfm_core.model.tokens import Tokenizer
from tfm_ui.lenses.generate.courses import OF_A_BEAM_STEP, Settings, beams_of, course_of, in_a_tick
from tfm_ui.lenses.generate.panel import GeneratePanel, replay, tokenizer_itself
from tfm_ui.live.script import config_of, script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import figures
from tfm_ui.pictures.canvas import Content, Header
from tfm_ui.text import formats


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


def search(*, config: TransformerConfig, tokenizer: Tokenizer, prompt: Sequence[int], width: int, steps: int) -> str:
    """The best text of a beam search after the prompt."""
    model = Transformer(config).eval()
    beams = beam_search(model, prompt, width=width, steps=steps)
    text = tokenizer.join([tokenizer.pieces[token] for token in beams.texts[0].tokens])
    return text


class Beams(GeneratePanel):
    """A search after the sidebar's text."""

    title = "Beam search"
    how_to_read = (
        "A column per step, a row per text that was followed, the best on top. Lines lead to the text that "
        "each goes on from; what no text goes on from any more is pale. Numbers are sums of log probabilities."
    )
    sources = (beam_search,)
    canvas = replay("beams", figure, tip="")

    @property
    def asked(self) -> int:
        """How many steps are asked for."""
        return self.state.count(self.model)

    @cached_property
    def search(self) -> Search:
        """The whole search."""
        return beams_of(self.model, self.state.width, self.asked, self.state.chat_of(self.model))

    @property
    def tensors(self) -> Step | None:
        kept = [(number, beam) for number, step in enumerate(self.search.steps) for beam in step.beams]
        columns = {
            "step": ([number for number, _ in kept], "the step that kept it, from 0"),
            "token": ([beam.token for _, beam in kept], "the id that it ends in"),
            "parent": ([beam.parent for _, beam in kept], "which text of the step before it goes on from, from 0"),
            "log_probability": ([beam.log_probability for _, beam in kept], "of its token, in nats"),
            "score": ([beam.score for _, beam in kept], "the sum of these along its text"),
        }
        tensors = [held(name, ("kept text",), np.array(values), about) for name, (values, about) in columns.items()]
        return Step("Beam search", tensors, note="The search is not run again: what it kept is taken as it is.")

    @property
    def slow(self) -> bool:
        return not in_a_tick(self.model.config, OF_A_BEAM_STEP * self.asked)

    @property
    def best(self) -> str:
        """The best text."""
        return self.model.tokens_by.join(self.written(self.search.texts[0].tokens))

    @cached_property
    def greedily(self) -> tuple[tuple[int, ...], float]:
        """The likeliest tokens, one at each step, and the sum of their log probabilities."""
        chat = self.state.chat_of(self.model)
        endless = replace(chat, end="") if chat else None  # as the search: it has as many tokens as there are steps
        greedy = Settings(Sampling(greedy=True), self.asked, "window", chat=endless)
        steps = course_of(self.model, greedy).steps[: len(self.search.steps)]
        score = sum(float(step.logits.double().log_softmax(0)[step.token]) for step in steps)
        return tuple(step.token for step in steps), score

    @property
    def greedy_score(self) -> float:
        """The sum of their log probabilities."""
        return self.greedily[1]

    @property
    def shape(self) -> str:
        return f"steps × beams = {len(self.search.steps)} × {self.state.width}"

    def sentence(self) -> str:
        """The best text's probability beside the greedy one's."""
        best, steps = self.search.texts[0], len(self.search.steps)
        cut = f" The context has room for {formats.plural(steps, 'token')}." if steps < self.asked else ""
        tokens, _ = self.greedily
        better = best.score - self.greedy_score
        than = (
            "the same as greedily"
            if tokens == best.tokens or abs(better) < 1e-6
            else f"{formats.number(abs(better))} {'more' if better > 0 else 'less'} than greedily"
        )
        return (
            f"{formats.plural(self.state.width, 'text')} followed for {formats.plural(steps, 'step')}. The best has a "
            f"log probability of {formats.number(best.score)}, {than}.{cut}"
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

    def picture(self) -> Content:
        """The token, parent and sum of each beam of each step."""
        pieces = self.model.tokens_by.pieces
        header = {
            "prompt": self.written(self.search.prompt),
            "steps": [
                [{"piece": pieces[beam.token], "parent": beam.parent, "score": beam.score} for beam in step.beams]
                for step in self.search.steps
            ],
        }
        return header, np.zeros(0, np.float32)

    def recipe(self) -> str:
        """Plain Python that gives the same text."""
        return script(
            search,
            config=config_of(self.model),
            tokenizer=tokenizer_itself(self.model),
            prompt=list(self.search.prompt),
            width=self.state.width,
            steps=len(self.search.steps),
        )
