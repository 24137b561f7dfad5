"""What a network answers to held-out examples: which labels are taken for which, and what it looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from tfm_core import TrainingConfig, Transformer, recording
from tfm_core.training.baselines import label_ids, labels_of
from tfm_core.training.config import of_task
from tfm_core.training.examples import FINAL, held_out
from tfm_core.training.networks import network
from tfm_core.training.scores import site
from tfm_core.training.tasks.counting import CLS
from tfm_core.training.tasks.task import Examples
from tfm_core.training.tasks.textbook import GROUPS, counts
from tfm_ui.lenses.training.panels import RunPanel
from tfm_ui.lenses.training.runs import run_of
from tfm_ui.lenses.training.state import PREFIX
from tfm_ui.live.cache import cached, never
from tfm_ui.page import controls
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.learn.told import tokens_of
from tfm_ui.pictures.map_scale import SHARES, from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

FIRST, WRONG = 6, 4  # rows: of the first held-out examples, and of the most confident mistakes
ELSE = "something else"
AT_ONCE = 128  # examples of a pass
TASKS_AT_ONCE = 8  # whose examples are kept: there are few, and others would push them out of the cache


@dataclass(frozen=True)
class Answers:
    """What a network answers to every held-out example."""

    probabilities: Tensor
    """float32 (example, label), of the softmax over all that the network can say."""

    chosen: Tensor
    """int64 (example), the number of the label that it says; where it says something else, how many labels there are.
    """

    labels: Tensor
    """int64 (example), the number of the right label."""

    looks: Tensor
    """float32 (example, head, key), the last layer's weights of the token at which the answer is said; of a network
    that pools by the mean, the mean over all tokens.
    """

    @property
    def is_right(self) -> Tensor:
        """Whether the label of each example is right."""
        return self.chosen == self.labels


@cached(heavy=never, always_kept=TASKS_AT_ONCE)
def examples_of(task: str) -> Examples:
    """The held-out examples that everything here is measured on."""
    return held_out(of_task(task), FINAL)


def read_by_network(config: TrainingConfig, ids: Tensor) -> list[str]:
    """The tokens of an example as the network reads it, without padding."""
    return tokens_of(config, filter(None, ids.tolist()))


@cached(heavy=never, always_kept=TASKS_AT_ONCE)
def texts(task: str) -> Sequence[str]:
    """Each of them as a text, without the token at which the answer is said."""
    read = (read_by_network(of_task(task), ids) for ids in examples_of(task).source)
    return [" ".join(token for token in tokens if token != CLS) for tokens in read]


def pools(config: TrainingConfig) -> bool:
    """Whether the answer is read from the mean over all tokens."""
    return bool(config.about.classes) and config.pooling == "mean"


@torch.no_grad()
def answers_with(config: TrainingConfig, weights: Mapping[str, Tensor]) -> Answers:
    """What a network answers with these weights; where there are none, with its first."""
    task, examples = config.about, examples_of(config.task)
    model = network(config).eval()
    model.load_state_dict(dict(weights), strict=False)  # tied weights have two names in it
    last = site("self", config.num_layers - 1, task.architecture)
    logits, looks = [], []
    for begin in range(0, len(examples), AT_ONCE):
        inputs = examples[begin : begin + AT_ONCE].inputs
        with recording(last) as trace:
            # The answer stands at the first token: logits over the vocabulary of all the others take longest of all.
            logits.append(
                model.unembedding(model.stack(*inputs)[:, 0]) if isinstance(model, Transformer) else model(*inputs)
            )
        looks.append(trace[last].mean(2) if pools(config) else trace[last][:, :, 0].clone())
    all_logits, ids = torch.cat(logits), label_ids(task)
    hits = all_logits.argmax(-1)[:, None] == ids
    return Answers(
        probabilities=all_logits.softmax(-1)[:, ids],
        chosen=torch.where(hits.any(1), hits.long().argmax(1), len(ids)),
        labels=labels_of(task, examples),
        looks=torch.cat(looks),
    )


@cached(heavy=never)
def _answers(config: TrainingConfig, done: int) -> Answers:
    """What the weights after `done` steps answer; `done` is only here to tell results apart."""
    run = run_of(config)
    return answers_with(config, run.weights if run else {})


class AnswersPanel(RunPanel):
    """A panel about what a classifier answers to held-out examples."""

    task_field = "labelled"
    sources = (answers_with,)
    canvas = MAPS
    shape = ""
    slow = True  # a pass over all held-out examples, 30 ms

    @cached_property
    def answers(self) -> Answers:
        """What the run answers by now, or with its first weights."""
        run = run_of(self.config)
        return _answers(self.config, run.done if run else 0)


class Confusion(AnswersPanel):
    """Which labels are taken for which."""

    title = "What is taken for what"
    how_to_read = "A row per right label, a column per label that the network says: the diagonal is right."

    @cached_property
    def counts(self) -> np.ndarray:
        """Right label x said label; the last column is anything else, and is there only if it is needed."""
        labels = len(self.config.about.labels)
        pairs = self.answers.labels * (labels + 1) + self.answers.chosen
        counts: np.ndarray = torch.bincount(pairs, minlength=labels * (labels + 1)).view(labels, labels + 1).numpy()
        return counts if counts[:, -1].any() else counts[:, :-1]

    @property
    def columns(self) -> list[str]:
        """The labels that are said, and at the end anything else, if it is needed."""
        return [*self.config.about.labels, ELSE][: self.counts.shape[1]]

    def sentence(self) -> str:
        """The most frequent mistake."""
        labels, total = self.config.about.labels, len(self.answers.labels)
        right = int(self.answers.is_right.sum())
        share = f"{formats.count(right)} of {formats.count(total)} held-out labels are right."
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        if not wrong.any():
            return share
        places = places_of_largest(wrong.astype(np.float32))
        pairs = [
            f"“{labels[row]}” taken for “{self.columns[column]}”"
            for row, column in (divmod(place, wrong.shape[1]) for place in places)
        ]
        return f"{share} The most frequent mistake: {formats.listed(pairs)}, {formats.count(int(wrong.max()))} times."

    def table(self) -> pd.DataFrame:
        """The counts."""
        index = pd.Index(self.config.about.labels, name="right label \\ said")
        return pd.DataFrame(self.counts, index=index, columns=self.columns)

    def laws(self) -> Mapping[str, bool]:
        return {"the counts add up to all held-out examples": int(self.counts.sum()) == len(self.answers.labels)}

    def picture(self) -> Content:
        """How many of each label get each label."""
        counts = self.counts.astype("float32")
        scale = from_zero(float(counts.max()))
        return maps.content(
            [Map(name="held-out examples", values=counts, scale=scale, unit="examples", whole=True)],
            rows=Axis(self.config.about.labels, "right label", "right label"),
            columns=Axis(self.columns, "what the network says", "said"),
        )


class Sentences(AnswersPanel):
    """A few held-out examples, what the network says of them, and what it looks at in one of them."""

    name = "training_looks"
    key = "training_sentences"
    title = "Examples that were never trained on"
    how_to_read = (
        f"The first {FIRST} held-out examples, then the {WRONG} most confident mistakes. A click on a row shows it."
    )

    @property
    def open_table(self) -> OpenTable:
        number, labels = st.column_config.NumberColumn, self.config.about.labels
        shares = {name: number(format="%.1f%%", help="the probability that the network gives it") for name in labels}
        columns = {"text": st.column_config.TextColumn(width="large"), **shares}
        return OpenTable(columns, row=self.row, choose=_choose, not_on_phones=labels)

    @property
    def who(self) -> str:
        """The token whose weights are shown."""
        if pools(self.config):
            return "all tokens together"
        return CLS if CLS in self.config.about.vocabulary else "the first token"

    @cached_property
    def rows(self) -> list[int]:
        """The numbers of the first held-out examples, then of the most confident mistakes."""
        answers = self.answers
        first = list(range(min(FIRST, len(answers.labels))))
        sure = answers.probabilities.max(1).values.masked_fill(answers.is_right, -1)
        mistakes = sure.argsort(descending=True, stable=True)[: int((sure > 0).sum())].tolist()
        every = texts(self.config.task)
        once = set({every[number]: number for number in reversed(mistakes)}.values())  # some may be there twice
        return first + [number for number in mistakes if number in once and number not in first][:WRONG]

    @property
    def row(self) -> int:
        """The row of the table that is looked at, from 0."""
        return min(self.state.example, len(self.rows)) - 1

    @property
    def example(self) -> int:
        """The number of the example that is looked at."""
        return self.rows[self.row]

    def tokens(self, example: int) -> list[str]:
        """The example's tokens as the network reads it, without padding."""
        return read_by_network(self.config, examples_of(self.config.task).source[example])

    def label(self, number: int) -> str:
        """The name of what is said."""
        return [*self.config.about.labels, ELSE][number]

    def most(self, example: int) -> str:
        """The token to which the heads together give most weight."""
        tokens = self.tokens(example)
        mean = self.answers.looks[example].mean(0)[: len(tokens)]
        return f"{tokens[int(mean.argmax())]} ({formats.weight(float(mean.max()))})"

    def sentence(self) -> str:
        """The example that is looked at."""
        example, answers = self.example, self.answers
        share = answers.probabilities[example].max()
        right, chosen = self.label(int(answers.labels[example])), self.label(int(answers.chosen[example]))
        verdict = "which is right" if right == chosen else f"but it is “{right}”"
        text, sure = texts(self.config.task)[example], formats.percent(float(share))
        answer = f"“{text}”: the network says “{chosen}” ({sure}), {verdict}."
        weights = answers.looks[example].mean(0).numpy()
        places = places_of_largest(weights)
        token = self.tokens(example)[places[0]]
        heads = f", the mean of {self.config.num_heads} heads" if self.config.num_heads > 1 else ""
        look = "look" if pools(self.config) else "looks"
        return (
            f"{answer} In the last layer {self.who} {look} most at “{token}”{one_of_ties(len(places))}: "
            f"{formats.weight(float(weights.max()))} of the weight{heads}."
        )

    def table(self) -> pd.DataFrame:
        """A row per example."""
        answers, labels = self.answers, self.config.about.labels
        rows: list[dict[str, object]] = []
        for example in self.rows:
            shares = zip(labels, answers.probabilities[example], strict=True)
            row: dict[str, object] = {
                "text": texts(self.config.task)[example],
                "right": self.label(int(answers.labels[example])),
                "said": self.label(int(answers.chosen[example])),
                **{name: 100 * float(share) for name, share in shares},
            }
            if self.config.task.startswith("textbook"):
                of_group = counts(examples_of(self.config.task).source[example : example + 1])[0].tolist()
                row["counts"] = ", ".join(f"{count} {group}" for group, count in zip(GROUPS, of_group, strict=True))
            row["looks most at"] = self.most(example)
            rows.append(row)
        return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="example"))

    def laws(self) -> Mapping[str, bool]:
        sums = self.answers.probabilities.sum(1)
        rows = self.answers.looks.sum(-1)
        return {
            "the probabilities of the labels add up to at most 1": bool((sums < 1 + 1e-5).all()),
            "rows of weights sum to 1": bool(torch.allclose(rows, torch.ones_like(rows), atol=1e-5)),
        }

    def picture(self) -> Content:
        """What the answer's token looks at in one example, head by head, without padding."""
        tokens = self.tokens(self.example)
        weights = self.answers.looks[self.example, :, : len(tokens)].numpy()
        heads = [f"head {number + 1}" for number in range(self.config.num_heads)]
        return maps.content(
            [Map(name=f"weights of {self.who}", values=weights, scale=SHARES, unit="weight")],
            rows=Axis(heads, "head of the last layer", "head"),
            columns=Axis(tokens, "key (column): is looked at", "key", "key"),
            square=False,
        )


def _choose(row: int) -> None:
    controls.change(PREFIX, example=row + 1)
