"""A run on held-out examples: what it writes of each, alone and after the right tokens, and what it gets wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from tfm_core import TrainingConfig
from tfm_core.training.config import of_task
from tfm_core.training.decoding import FIRST, Exposure, exposure
from tfm_core.training.examples import held_out
from tfm_core.training.networks import network
from tfm_core.training.scores import right
from tfm_core.training.tasks.task import Examples
from tfm_core.training.tasks.written import text_of
from tfm_ui.lenses.training.decode.source import NO_DECODER, shown_model, start_of
from tfm_ui.lenses.training.panels import RunPanel
from tfm_ui.lenses.training.runs import shown_run
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.live.cache import cached, never
from tfm_ui.page import controls
from tfm_ui.pictures import bars, lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.learn.told import tokens_of
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MEASURED = 512  # held-out examples at most
LISTED, RIGHT_ONES = 10, 3  # rows of mistakes, and rows of right ones where there is no mistake


@lru_cache(maxsize=8)
def measured_on(task: str) -> Examples:
    """The held-out examples that everything here is measured on."""
    return held_out(of_task(task), MEASURED)


@cached(heavy=never)
def exposure_of(config: TrainingConfig, done: int) -> Exposure:
    """What the weights after `done` steps write; `done` is only here to tell results apart."""
    return exposure(shown_model(config), measured_on(config.task), start=start_of(config))


@cached(heavy=never)
def _spans(config: TrainingConfig, done: int) -> Tensor:
    """The spans that the weights after `done` steps say, int64 (example, 2)."""
    model = network(config).eval()
    model.load_state_dict(dict(shown_run(config).weights), strict=False)
    with torch.no_grad():
        said: Tensor = model(measured_on(config.task).source).argmax(-1)
    return said


def share(wrong: tuple[int, int]) -> str:
    """How many of how many, and in percent."""
    part, whole = wrong
    return (
        f"{formats.count(part)} of {formats.count(whole)} ({formats.percent(part / whole)})" if whole else "none of 0"
    )


class HeldOutPanel(RunPanel):
    """A panel about what a run writes of all held-out examples that are measured."""

    task_field = "pair"
    canvas = CHART
    slow = True  # a pass for each token that is written
    shape = ""

    @property
    def key(self) -> str:
        # The link stays the same when a run ends: by another key the browser asks for the picture again.
        return f"{self.name}_{self.run.done}"

    @cached_property
    def examples(self) -> Examples:
        """What is measured on."""
        return measured_on(self.config.task)

    @cached_property
    def exposure(self) -> Exposure:
        """What the decoder writes; of a task with a decoder."""
        return exposure_of(self.config, self.run.done)


class DecodeExposure(HeldOutPanel):
    """The share of right tokens at each place, after the right tokens and after its own."""

    title = "Teacher forcing beside writing alone"
    how_to_read = (
        "While it learns, the decoder reads the right tokens before each place: teacher forcing. When it writes alone, "
        "it reads its own. Each dot is the share of right tokens at this place, among the held-out examples that have "
        "it."
    )
    sources = (exposure, Exposure)

    @property
    def is_shown(self) -> bool:
        return not self.config.about.spans

    @classmethod
    def content(cls, model: ModelState, state: TrainingState) -> Content:
        """What is drawn for a link; of a task without a decoder, an empty chart."""
        return super().content(model, state) if cls(model, state).is_shown else lines.content([], about=NO_DECODER)

    @property
    def differs(self) -> bool:
        """Whether any token is right by one way of reading and wrong by the other."""
        told = self.exposure
        return not told.right(told.forced).equal(told.right(told.alone))

    @property
    def accuracies(self) -> tuple[float, float]:
        """The share of right tokens after the right ones, and after its own."""
        told, asked = self.exposure, int(self.exposure.asked.sum())
        return int(told.right(told.forced).sum()) / asked, int(told.right(told.alone).sum()) / asked

    @property
    def wrong_after_own(self) -> float:
        """The share of wrong tokens after each example's first mistake, when it goes on alone; 0 without a mistake."""
        wrong, later = self.exposure.wrong_after_first(self.exposure.alone)
        return wrong / later if later else 0.0

    @property
    def wrong_after_right(self) -> float:
        """The same share when it is given the right tokens."""
        wrong, later = self.exposure.wrong_after_first(self.exposure.forced)
        return wrong / later if later else 0.0

    def sentence(self) -> str:
        """Both shares, what follows an example's own first mistake, and what follows one that is put in."""
        count = formats.plural(len(self.examples), "held-out example")
        forced, alone = formats.percents(*self.accuracies)
        if forced == alone:
            begin = f"Of {count}, {forced} of the tokens are right, after the right tokens and after its own alike."
        else:
            begin = f"Of {count}, {forced} of the tokens are right after the right ones, and {alone} after its own."
        return f"{begin} {self.after_first()} {self.after_forced()}"

    def after_first(self) -> str:
        """What follows the first mistake of each example."""
        told = self.exposure
        count = int((told.first_mistakes >= 0).sum())
        if not count:
            return (
                "It makes no mistake on them, so there is nothing that a mistake could spoil: a run that is stopped "
                "earlier, by fewer steps, shows it."
            )
        alone, forced = told.wrong_after_first(told.alone), told.wrong_after_first(told.forced)
        if not alone[1]:
            return f"{formats.plural(count, 'example')} {_has(count)} a mistake, always at the last place."
        later = f"{formats.plural(alone[1], 'token')} that {'follows' if alone[1] == 1 else 'follow'}"
        return (
            f"{formats.plural(count, 'example')} {_has(count)} a mistake. Of the {later} an example’s first mistake, "
            f"{share(alone)} are wrong when it goes on from its own tokens, and {share(forced)} when it is given the "
            "right ones."
        )

    def after_forced(self) -> str:
        """What follows a wrong first token that is put into every example."""
        told = self.exposure
        misled, before = told.wrong_after_forced(told.misled), told.wrong_after_forced(told.forced)
        return (
            f"With the likeliest wrong token put in at place {FIRST + 1} of every example, {share(misled)} of the "
            f"later tokens are wrong; after the right ones {share(before)}."
        )

    def table(self) -> pd.DataFrame:
        """A row per place."""
        told = self.exposure
        rows = {
            "examples": told.asked.sum(0).tolist(),
            "right after the right tokens": told.by_place(told.forced),
            "right after its own tokens": told.by_place(told.alone),
            f"right after a wrong token at place {FIRST + 1}": told.by_place(told.misled),
            "first mistakes": [int((told.first_mistakes == place).sum()) for place in range(told.answers.shape[1])],
        }
        return pd.DataFrame(rows, index=pd.RangeIndex(1, told.answers.shape[1] + 1, name="place"))

    def laws(self) -> Mapping[str, bool]:
        told = self.exposure
        both = [(told.right(said) | ~told.asked).all(1) for said in (told.forced, told.alone)]
        places = torch.arange(told.answers.shape[1])
        before = (told.first_mistakes[:, None] < 0) | (places <= told.first_mistakes[:, None])
        same = (told.forced == told.alone) | ~before | ~told.asked
        return {
            "an example is right as a whole by both ways of reading, or by none": both[0].equal(both[1]),
            "up to an example's first mistake both ways say the same": bool(same.all()),
        }

    def picture(self) -> Content:
        """Three lines over the places."""
        told = self.exposure
        places = list(range(1, told.answers.shape[1] + 1))
        return lines.content(
            [
                Chart(
                    "place in the answer",
                    "share of right tokens",
                    [
                        Line("after the right tokens", places, told.by_place(told.forced), "ink"),
                        Line("after its own tokens", places, told.by_place(told.alone), "head 1", "dashed"),
                        Line(f"wrong token at {FIRST + 1}", places, told.by_place(told.misled), "head 3"),
                    ],
                    reach=(0, 1),
                )
            ]
        )


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


@dataclass(frozen=True)
class Row:
    """A held-out example: its source, what is right, and what the network says, in words."""

    source: str
    right: str
    said: str


class DecodeMistakes(HeldOutPanel):
    """Held-out examples that the run gets wrong, and how many, beside a way that needs no network."""

    how_to_read = "The bars are exact matches: examples all of whose answer is right. None of them was ever trained on."
    sources = (right, exposure)

    @property
    def title(self) -> str:
        return f"{self.config.about.title}: what it gets wrong"

    @property
    def open_table(self) -> OpenTable:
        text = st.column_config.TextColumn
        return OpenTable({"source": text(width="large")})

    @cached_property
    def said(self) -> Tensor:
        """What the network says of each example, int64 (example, place)."""
        return _spans(self.config, self.run.done) if self.config.about.spans else self.exposure.alone

    @cached_property
    def is_right(self) -> Tensor:
        """Which examples are right as a whole, boolean."""
        return right(self.said, self.examples.answers).all(1)

    @property
    def exact(self) -> float:
        """The share of examples that are right as a whole."""
        return float(self.is_right.float().mean())

    @cached_property
    def by_rule(self) -> float | None:
        """The share of them that the way without a network gets right; None where the task names none."""
        naive, answers = self.config.about.naive, self.examples.answers
        return float(right(naive.answer(self.examples.source), answers).all(1).float().mean()) if naive else None

    @cached_property
    def numbers(self) -> list[int]:
        """Which examples are listed: mistakes; where there are none, the first right ones."""
        wrong: list[int] = (~self.is_right).nonzero()[:LISTED, 0].tolist()
        return wrong or list(range(min(RIGHT_ONES, len(self.examples))))

    def row(self, number: int) -> Row:
        """An example in words."""
        source = text_of(self.examples.source[number].tolist())
        answers, said = self.examples.answers[number], self.said[number]
        return Row(" ".join(tokens_of(self.config, source)), self._words(source, answers), self._words(source, said))

    def _words(self, source: list[int], answer: Tensor) -> str:
        """An answer in words: as far as it goes, or the span of the source."""
        task = self.config.about
        if task.spans:
            begin, end = answer.tolist()
            words = " ".join(tokens_of(self.config, source[begin : end + 1]))
            return f"{words} (from token {begin + 1})" if words else "no span"  # a name may stand there twice
        tokens = [token for token in tokens_of(self.config, answer.tolist()) if token]
        if task.end in tokens:
            tokens = tokens[: tokens.index(task.end) + 1]
        return " ".join(tokens)

    def sentence(self) -> str:
        """How many are right, how many by the rule, and the first mistake."""
        task, total = self.config.about, len(self.examples)
        hits = int(self.is_right.sum())
        parts = [f"{formats.count(hits)} of {formats.count(total)} held-out examples are right as a whole."]
        if task.naive and self.by_rule is not None:
            rule, hits_by_rule = f"“{task.naive.name}” ({task.naive.about})", formats.percent(self.by_rule)
            parts.append(f"Without a network, {rule} gets {hits_by_rule} right.")
        if hits == total:
            parts.append("No mistake is left to show: the table has right ones.")
        else:
            row = self.row(self.numbers[0])
            if total - hits > LISTED:
                parts.append(f"The table has the first {LISTED} of {total - hits} mistakes.")
            parts.append(f"The first mistake: “{row.source}” becomes “{row.said}”, and “{row.right}” is right.")
        if not self.run.is_complete:
            parts.append("These weights are not trained to their end.")
        return " ".join(parts)

    def table(self) -> pd.DataFrame:
        """A row per example that is listed."""
        rows = [self.row(number) for number in self.numbers]
        columns: dict[str, Sequence[str]] = {
            "source": [row.source for row in rows],
            "said": [row.said for row in rows],
            "right": [row.right for row in rows],
        }
        return pd.DataFrame(columns, index=pd.Index([number + 1 for number in self.numbers], name="example"))

    def laws(self) -> Mapping[str, bool]:
        held = self.config.about.split(self.examples.source)
        return {"no example of the table was trained on": bool(held.all())}

    def picture(self) -> Content:
        """Exact matches: of the network, and of the rule."""
        naive = self.config.about.naive
        names, shares = ["network"], [self.exact]
        if naive and self.by_rule is not None:
            names, shares = [*names, naive.name], [*shares, self.by_rule]
        return bars.content(names, shares, rows="exact matches", of_one_whole=False)

    @property
    def following(self) -> int:
        """The row of the mistake after the one whose source is on screen, from 0; the first where none of them is."""
        sources = [self.row(number).source for number in self.numbers]
        typed = " ".join(self.state.source.split())
        return (sources.index(typed) + 1) % len(sources) if typed in sources else 0

    def below(self) -> None:
        """Draw the button that reads one mistake after the other above."""
        if bool(self.is_right.all()):
            return
        row = self.following
        st.button(
            f"Read mistake {row + 1} of {len(self.numbers)} above",
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"source": self.row(self.numbers[row]).source},
            icon=":material/arrow_upward:",
            type="tertiary",
            key="_training_mistake",
        )
