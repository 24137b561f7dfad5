"""What the view "decode" says: what is written so far, what comes next, and where the decoder looks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import TrainingConfig, Transformer, TransformerConfig
from tfm_core.training.decoding import Decoded, decode_greedily
from tfm_core.training.examples import probes
from tfm_core.training.networks import network
from tfm_core.training.run import Run
from tfm_core.training.tasks.order import START
from tfm_core.training.tasks.task import PAD, Examples
from tfm_ui.lenses.training.runs import shown_config, shown_run
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import Code, config_code, script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

FEWEST = 2
SHOWN = 8  # likeliest tokens


def config_of_pair(state: TrainingState) -> TrainingConfig:
    """What is trained for this view; as `shown_config`, of the task with two texts."""
    return shown_config(replace(state, task=state.pair))


def longest(config: TrainingConfig) -> int:
    """How many tokens the source may have: learned positions end with the trained length."""
    return config.about.length * (1 if config.positional == "learned" else 2)


def source_of(config: TrainingConfig, typed: str) -> tuple[tuple[int, ...], str]:
    """The source's ids, and why the typed text is not read, in a sentence; "" if it is."""
    example = tuple(probes(config).source[0].tolist())
    words = typed.split()
    if not words:
        return example, ""
    known = [piece for piece in config.about.vocabulary if piece != START]
    if strange := next((word for word in words if word not in known), None):
        wanted = f"{known[0]} to {known[-1]}"
        return example, f"“{strange[:20]}” is not among the tokens {wanted}; an example that was held out is read."
    most = longest(config)
    if not FEWEST <= len(words) <= most:
        count = formats.plural(len(words), "token")
        return example, f"{count}, but {FEWEST} to {most} can be read; an example that was held out is read."
    return tuple(1 + config.about.vocabulary.index(word) for word in words), ""


def decoding(*, config: TransformerConfig, source: Tensor, start: int) -> Decoded:
    """What the model writes: as many tokens as the source has."""
    model = Transformer(config).eval()
    decoded = decode_greedily(model, source, start=start, steps=source.shape[1])
    return decoded


@cached(heavy=never)
def _decoded(config: TrainingConfig, source: tuple[int, ...], done: int) -> Decoded:
    """What the weights after `done` steps write; `done` is only here to tell results apart."""
    run = shown_run(config)
    model = network(config)
    model.load_state_dict(dict(run.weights), strict=False)
    assert isinstance(model, Transformer)
    return decode_greedily(model.eval(), torch.tensor([source]), start=start_of(config), steps=len(source))


def start_of(config: TrainingConfig) -> int:
    """The id of the token that the decoder reads first."""
    return 1 + config.about.vocabulary.index(START)


@dataclass(frozen=True)
class Written(Result):
    """A source, and what the decoder has written up to a step.

    Attributes:
        config: of the run.
        run: whose weights write.
        source: ids.
        step: how many tokens are written; the next one is being decided.
    """

    config: TrainingConfig
    run: Run
    source: tuple[int, ...]
    step: int

    @property
    def decoded(self) -> Decoded:
        """What was written at all steps."""
        return _decoded(self.config, self.source, self.run.done)

    @property
    def row(self) -> int:
        """The step whose decision is on screen: the last one when all is written."""
        return min(self.step, len(self.source) - 1)

    def names(self, ids: Tensor | tuple[int, ...]) -> list[str]:
        """Tokens in words."""
        pieces = (PAD, *self.config.about.vocabulary)
        return [pieces[int(number)] for number in ids]

    @cached_property
    def right(self) -> Tensor:
        """The right answers, int64 (step)."""
        solve = self.config.about.solve
        assert solve
        answers: Tensor = solve(torch.tensor([self.source]))[0]
        return answers

    @property
    def cells(self) -> NDArray[np.bool_]:
        """Where the right tokens stand, (step, source)."""
        examples = Examples(torch.tensor([self.source]), self.right[None])
        cells: NDArray[np.bool_] = self.config.about.patterns[0].cells(examples)[0].numpy()
        return cells

    @property
    def heads(self) -> dict[str, NDArray[np.float32]]:
        """Name -> its cross-attention, (step, source)."""
        return {
            f"layer {layer + 1}, head {head + 1}": weights[head].numpy()
            for layer, weights in enumerate(self.decoded.cross.values())
            for head in range(len(weights))
        }

    @property
    def likeliest(self) -> tuple[list[str], list[float]]:
        """The likeliest tokens of the step on screen, and their probabilities."""
        top = self.decoded.probabilities[self.row].topk(min(SHOWN, self.config.about.vocab_size))
        return self.names(top.indices), top.values.tolist()

    @property
    def best(self) -> tuple[str, int]:
        """The head whose largest weight lies most often where the right token stands, and how often."""
        cells = self.cells
        hits = {
            name: sum(bool(cells[row, weights[row].argmax()]) for row in range(len(cells)))
            for name, weights in self.heads.items()
        }
        name = max(hits, key=lambda head: hits[head])
        return name, hits[name]

    def sentence(self) -> str:
        """What is written, what comes next, and how much of the whole is right."""
        written, count = self.names(self.decoded.written), len(self.source)
        so_far = " ".join(written[: self.step]) or "nothing yet"
        names, probabilities = self.likeliest
        right = int((self.decoded.written == self.right).sum())
        head, hits = self.best
        what = "The last token was" if self.step >= count else "The next token is"
        return (
            f"Source: {' '.join(self.names(self.source))}. Written: {so_far}. {what} “{names[0]}”, with probability "
            f"{formats.weight(probabilities[0])}. When all is written, {right} of {count} tokens are right, and "
            f"{head} looks most at the right source token in {hits} of {count} steps."
        )

    def table(self) -> pd.DataFrame:
        """A row per step."""
        decoded = self.decoded
        rows = {
            "written": self.names(decoded.written),
            "right": self.names(self.right),
            "probability": decoded.probabilities.amax(-1).tolist(),
        }
        looks = {
            name: self.names(torch.tensor(self.source)[weights.argmax(-1)]) for name, weights in self.heads.items()
        }
        looks = {f"{name} looks most at": tokens for name, tokens in looks.items()}
        return pd.DataFrame({**rows, **looks}, index=pd.RangeIndex(1, len(self.source) + 1, name="step"))

    def laws(self) -> Mapping[str, bool]:
        """Whether rows of weights sum to 1, and probabilities too."""
        every = [*self.heads.values(), self.decoded.probabilities.numpy()]
        return {
            "rows of weights sum to 1, and so do probabilities": all(
                bool((np.abs(rows.sum(-1) - 1) < 1e-5).all()) for rows in every
            )
        }

    def recipe(self) -> str:
        """The same decoding, without the app."""
        if not self.run.is_complete:
            return ""
        config = replace(self.config.transformer, weights=self.config.name)
        source = Code(f"torch.tensor([{list(self.source)}])")
        return script(decoding, config=config_code(config), source=source, start=start_of(self.config))


@dataclass(frozen=True)
class Next(Written):
    """The distribution of the next token."""

    def sentence(self) -> str:
        """What it would write, and how sure it is."""
        names, probabilities = self.likeliest
        right = self.names(self.right)[self.row]
        verdict = "which is right" if names[0] == right else f"but “{right}” would be right"
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


def written(state: TrainingState) -> Written:
    """What the link shows."""
    config = config_of_pair(state)
    source, _ = source_of(config, state.source)
    return Written(config, shown_run(config), source, min(state.written, len(source)))
