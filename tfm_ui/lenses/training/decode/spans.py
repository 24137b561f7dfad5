"""Where a network says that an answer begins in its source, and where it ends."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from tfm_core import TrainingConfig, run_store
from tfm_core.training.config import read_name
from tfm_core.training.networks import network
from tfm_ui.lenses.training.decode.source import SourcePanel
from tfm_ui.lenses.training.runs import shown_run
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import Code, script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import SHARES
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NO_SPAN = "This task has a decoder: its answer is no span of the source."


def reading(*, config: TrainingConfig, source: Tensor) -> Tensor:
    """The probability of each token that the answer begins there, and that it ends there, (2, seq)."""
    run = run_store().find(config)
    assert run
    model = network(config).eval()
    model.load_state_dict(dict(run.weights))
    with torch.no_grad():
        ends: Tensor = model(source)[0].softmax(-1)
    return ends


@cached(heavy=never)
def _ends(config: TrainingConfig, source: tuple[int, ...], done: int) -> Tensor:
    """The probabilities with the weights after `done` steps, which is only here to tell results apart."""
    model = network(config).eval()
    model.load_state_dict(dict(shown_run(config).weights), strict=False)
    with torch.no_grad():
        ends: Tensor = model(torch.tensor([source]))[0].softmax(-1)
    return ends


class DecodeSpan(SourcePanel):
    """Two distributions over the tokens of the source: where the answer begins, and where it ends."""

    how_to_read = (
        "A column for each token that is read: the question, then the story. Each row is a distribution over all of "
        "them, so it sums to 1. A cell without a number has less than 0.005."
    )
    sources = (network,)
    canvas = MAPS

    @property
    def title(self) -> str:
        return f"{self.config.about.title}: where the answer begins and ends"

    @property
    def is_shown(self) -> bool:
        return self.config.about.spans

    @classmethod
    def content(cls, model: ModelState, state: TrainingState) -> Content:
        """What is drawn for a link; of a task without spans, nothing."""
        return super().content(model, state) if cls(model, state).is_shown else maps.nothing(NO_SPAN)

    @property
    def shape(self) -> str:
        return f"(2, {len(self.source)})"

    @cached_property
    def ends(self) -> Tensor:
        """The probabilities, float32 (2, source)."""
        return _ends(self.config, self.source, self.run.done)

    @property
    def said(self) -> tuple[int, int]:
        """The likeliest places of the first and of the last token of the answer, from 0."""
        begin, end = self.ends.argmax(-1).tolist()
        return begin, end

    @property
    def is_right(self) -> bool:
        """Whether both ends are right."""
        return list(self.said) == self.answers.tolist()

    @property
    def right_ends(self) -> int:
        """How many of both ends are right."""
        return sum(said == right for said, right in zip(self.said, self.answers.tolist(), strict=True))

    def span(self, begin: int, end: int) -> str:
        """The tokens from one place to the other; "" if the end comes first."""
        return " ".join(self.names(self.source)[begin : end + 1])

    def sentence(self) -> str:
        """What the network says, how sure it is of both ends, and what is right."""
        tokens, (begin, end) = self.names(self.source), self.said
        sure = [formats.percent(float(share)) for share in self.ends.amax(-1)]
        span = self.span(begin, end)
        right = self.span(*self.answers.tolist())
        answer = f"so the answer is “{span}”" if span else "before it begins, so there is no answer"
        verdict = (
            "That is right." if self.is_right else f"Right is “{right}”, from token {int(self.answers[0]) + 1} on."
        )
        return (
            f"Read: {' '.join(tokens)} The answer begins at token {begin + 1}, “{tokens[begin]}” ({sure[0]}), and ends "
            f"at token {end + 1}, “{tokens[end]}” ({sure[1]}), {answer}. {verdict}"
        )

    def table(self) -> pd.DataFrame:
        """A row per token."""
        rows = {"token": self.names(self.source), "begins": self.ends[0].tolist(), "ends": self.ends[1].tolist()}
        return pd.DataFrame(rows, index=pd.RangeIndex(1, len(self.source) + 1, name="place"))

    def laws(self) -> Mapping[str, bool]:
        return {"both distributions sum to 1": bool(((self.ends.sum(-1) - 1).abs() < 1e-5).all())}

    def recipe(self) -> str:
        """The same distributions, without the app; none of weights that nobody else has."""
        if not self.run.is_complete:
            return ""
        named = Code(f"read_name({self.config.name!r})", read_name)
        return script(reading, config=named, source=Code(f"torch.tensor([{list(self.source)}])"))

    @property
    def tensors(self) -> Step:
        return Step(
            self.title,
            [
                held("source", ("source",), torch.tensor(self.source), "the ids that are read"),
                held("probabilities", ("end", "source"), self.ends, "where the answer begins, and where it ends"),
                held("said", ("end",), self.ends.argmax(-1), "the likeliest places", "probabilities.argmax(-1)"),
            ],
            note="The probabilities are saved as the network made them, without what they came from.",
        )

    def picture(self) -> Content:
        """Both distributions, a row each."""
        return maps.content(
            [Map(name="probability", values=self.ends.numpy().astype(np.float32), scale=SHARES, unit="probability")],
            rows=Axis(["begins", "ends"], "end of the answer", "end"),
            columns=Axis(self.names(self.source), "token of question and story", "token", "key"),
            square=False,
        )
