"""What a decoder writes, token by token, and where in the source each token comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import TrainingConfig, Transformer, TransformerConfig
from tfm_core.training.decoding import Decoded, decode_greedily
from tfm_core.training.scores import pattern_score
from tfm_core.training.tasks.task import Examples
from tfm_ui.lenses.training.decode.source import (
    NO_DECODER,
    SourcePanel,
    end_of,
    most_written,
    shown_model,
    start_of,
)
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import Code, config_code, script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import bars, lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import SHARES
from tfm_ui.pictures.maps import ABSENT, MAPS, Axis, Map
from tfm_ui.pictures.panel import Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

LIKELIEST = 8  # tokens


def decoding(*, config: TransformerConfig, source: Tensor, start: int, steps: int, end: int | None) -> Decoded:
    """What the model writes."""
    model = Transformer(config).eval()
    decoded = decode_greedily(model, source, start=start, steps=steps, end=end)
    return decoded


@cached(heavy=never)
def _decoded(config: TrainingConfig, source: tuple[int, ...], done: int) -> Decoded:
    """What the weights after `done` steps write; `done` is only here to tell results apart."""
    return decode_greedily(
        shown_model(config),
        torch.tensor([source]),
        start=start_of(config),
        steps=most_written(config, source),
        end=end_of(config),
    )


class Decode(SourcePanel):
    """A source, and what the decoder has written up to a step: each head's weights on the source."""

    how_to_read = (
        "A row for each token that the decoder writes, a column for each source token. Drag “Tokens written” to walk "
        "through the steps. A cell without a number has a weight under 0.005."
    )
    sources: Sequence[Source] = (decode_greedily, pattern_score, Transformer)
    canvas = MAPS

    @property
    def is_shown(self) -> bool:
        return not self.config.about.spans

    @classmethod
    def content(cls, model: ModelState, state: TrainingState) -> Content:
        """What is drawn for a link; of a task without a decoder, nothing."""
        if cls(model, state).is_shown:
            return super().content(model, state)
        return maps.nothing(NO_DECODER) if cls.canvas is MAPS else lines.content([], about=NO_DECODER)

    @property
    def steps(self) -> int:
        """How many tokens are written in all."""
        return len(self.decoded.written)

    @property
    def step(self) -> int:
        """How many tokens are written; the next one is being decided."""
        return min(self.state.written, self.steps)

    @property
    def row(self) -> int:
        """The step whose decision is on screen: the last one when all is written."""
        return min(self.step, self.steps - 1)

    @property
    def title(self) -> str:
        return f"{self.config.about.title}: where each token comes from"

    @property
    def shape(self) -> str:
        return formats.plural(self.steps, "step")

    @cached_property
    def decoded(self) -> Decoded:
        """What was written at all steps."""
        return _decoded(self.config, self.source, self.run.done)

    @property
    def tensors(self) -> Step:
        decoded = self.decoded
        cross = torch.stack([*decoded.cross.values()])
        about = "where each step looked in the source: cross-attention of all heads"
        note = (
            "The weights of cross-attention and the probabilities are saved as the model made them, without what they "
            "came from: the .py makes of them what was written, and nothing else."
        )
        return Step(
            self.title,
            [
                held("source", ("source",), torch.tensor(self.source), "the ids that are read"),
                held("read", ("step",), decoded.read, "the id that the decoder had read last"),
                held("weights", ("layer", "head", "step", "source"), cross, about),
                held("probabilities", ("step", "vocab"), decoded.probabilities, "of the next token"),
                held("written", ("step",), decoded.written, "the likeliest id", "probabilities.argmax(-1)"),
            ],
            note=note,
        )

    @property
    def right(self) -> int:
        """How many tokens are right when all is written."""
        both = min(self.steps, len(self.answers))
        return int((self.decoded.written[:both] == self.answers[:both]).sum())

    @property
    def cells(self) -> NDArray[np.bool_]:
        """Where the right tokens stand, (step, source); at steps after the right end, nowhere."""
        examples = Examples(torch.tensor([self.source]), self.answers[None])
        cells: NDArray[np.bool_] = self.config.about.patterns[0].cells(examples)[0].numpy()[: self.steps]
        return np.pad(cells, ((0, self.steps - len(cells)), (0, 0)))

    @property
    def looking(self) -> list[int]:
        """The steps whose right token comes from any token of the source in particular, from 0."""
        return [int(step) for step in np.flatnonzero(self.cells.any(-1))]

    @property
    def heads(self) -> dict[str, NDArray[np.float32]]:
        """Name -> its cross-attention, (step, source)."""
        return {
            f"layer {layer + 1}, head {head + 1}": weights[head].numpy()
            for layer, weights in enumerate(self.decoded.cross.values())
            for head in range(len(weights))
        }

    def right_at(self, step: int) -> str:
        """The right token at a step; "" after the right end."""
        return self.names(self.answers[step : step + 1])[0] if step < len(self.answers) else ""

    @property
    def likeliest(self) -> tuple[list[str], list[float]]:
        """The likeliest tokens of the step on screen, and their probabilities."""
        top = self.decoded.probabilities[self.row].topk(min(LIKELIEST, self.config.about.vocab_size))
        return self.names(top.indices), top.values.tolist()

    @property
    def best(self) -> tuple[str, int]:
        """The head whose largest weight lies most often where the right token stands, and how often."""
        cells = self.cells
        hits = {
            name: sum(bool(cells[row, weights[row].argmax()]) for row in self.looking)
            for name, weights in self.heads.items()
        }
        name = max(hits, key=lambda head: hits[head])
        return name, hits[name]

    def sentence(self) -> str:
        """What is written, what comes next, and how much of the whole is right."""
        so_far = " ".join(self.names(self.decoded.written)[: self.step]) or "nothing yet"
        names, probabilities = self.likeliest
        count, (head, hits) = len(self.answers), self.best
        what = "The last token was" if self.step >= self.steps else "The next token is"
        return (
            f"Source: {_ended(self.names(self.source))} Written: {_ended([so_far])} {what} “{names[0]}”, with "
            f"probability {formats.weight(probabilities[0])}. When all is written, {self.right} of {count} tokens are "
            f"right, and {head} looks most at the right source token in {hits} of the "
            f"{formats.plural(len(self.looking), 'step')} that {'has' if len(self.looking) == 1 else 'have'} one."
        )

    def table(self) -> pd.DataFrame:
        """A row per step."""
        decoded = self.decoded
        rows = {
            "written": self.names(decoded.written),
            "right": [self.right_at(step) for step in range(self.steps)],
            "probability": decoded.probabilities.amax(-1).tolist(),
        }
        looks = {
            f"{name} looks most at": self.names(torch.tensor(self.source)[weights.argmax(-1)])
            for name, weights in self.heads.items()
        }
        return pd.DataFrame({**rows, **looks}, index=pd.RangeIndex(1, self.steps + 1, name="step"))

    def laws(self) -> Mapping[str, bool]:
        every = [*self.heads.values(), self.decoded.probabilities.numpy()]
        return {
            "rows of weights sum to 1, and so do probabilities": all(
                bool((np.abs(rows.sum(-1) - 1) < 1e-5).all()) for rows in every
            )
        }

    def recipe(self) -> str:
        """The same decoding, without the app; none of weights that nobody else has."""
        if not self.run.is_complete:
            return ""
        config = replace(self.config.transformer, weights=self.config.name)
        source = Code(f"torch.tensor([{list(self.source)}])")
        steps = most_written(self.config, self.source)
        ends = {"start": start_of(self.config), "steps": steps, "end": end_of(self.config)}
        return script(decoding, config=config_code(config), source=source, **ends)

    def picture(self) -> Content:
        """Each head's weights on the source, a row for each token that is written."""
        later = np.arange(self.steps) > self.row
        tokens = [
            "·" if is_later else token for token, is_later in zip(self.names(self.decoded.written), later, strict=True)
        ]
        return maps.content(
            [
                Map(
                    name=name,
                    values=np.where(later[:, None], ABSENT, weights).astype(np.float32),
                    scale=SHARES,
                    unit="weight",
                )
                for name, weights in self.heads.items()
            ],
            rows=Axis(tokens, "token that is written", "step", "query"),
            columns=Axis(self.names(self.source), "source token that is looked at", "source token", "key"),
            absent="not written yet",
        )


class DecodeNext(Decode):
    """The distribution of the next token."""

    title = "The next token"
    shape = ""
    how_to_read = "The probabilities of the likeliest tokens; all together have 100 %."
    sources = (decode_greedily,)
    canvas = CHART

    def sentence(self) -> str:
        """What it would write, and how sure it is."""
        names, probabilities = self.likeliest
        right = self.right_at(self.row)
        instead = f"but “{right}” would be right" if right else "but nothing more should be written"
        verdict = "which is right" if names[0] == right else instead
        read = self.names(self.decoded.read)[self.row]
        return (
            f"Step {self.row + 1}: the decoder has read “{read}” last, and writes “{names[0]}” with probability "
            f"{formats.weight(probabilities[0])}, {verdict}."
        )

    def table(self) -> pd.DataFrame:
        """A row per token of the vocabulary, the likeliest first."""
        probabilities = self.decoded.probabilities[self.row]
        order = probabilities.argsort(descending=True)
        return pd.DataFrame(
            {"probability": probabilities[order].tolist()}, index=pd.Index(self.names(order), name="token")
        )

    def picture(self) -> Content:
        """The likeliest tokens of the step on screen."""
        names, probabilities = self.likeliest
        return bars.content(names, probabilities, rows="token")


def _ended(words: list[str]) -> str:
    """Words as a sentence: with a stop, unless they have one."""
    text = " ".join(words)
    return text if text.endswith(".") else f"{text}."
