"""What is read in the view "decode": a source that somebody has typed, or an example that was held out."""

import re
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import POSITIONAL, TrainingConfig, Transformer
from tfm_core.training.networks import network
from tfm_core.training.tasks.task import IGNORED, START, Task
from tfm_core.training.tasks.written import END, text_of
from tfm_ui.lenses.training.panels import RunPanel
from tfm_ui.lenses.training.runs import shown_run
from tfm_ui.pictures.learn.left_out import probes_of
from tfm_ui.pictures.learn.told import tokens_of
from tfm_ui.text import formats

FEWEST = 2  # tokens of a source, where tasks have sources of any length
NAMED = 3  # tokens that are named as examples
NO_DECODER = "This task has no decoder: its answer is a span of the source."


def longest(config: TrainingConfig) -> int:
    """How many tokens the source may have: a table of positions ends with the trained length."""
    is_bound = POSITIONAL[config.positional].ends_at_max_len() or not config.about.stretches
    return config.about.length * (1 if is_bound else 2)


def known_to(task: Task) -> list[str]:
    """The tokens that a source may have."""
    return [piece for piece in task.vocabulary if piece not in (START, END)]


def pieces_of(task: Task, typed: str) -> list[str]:
    """What somebody has typed as the task's tokens: "Twenty-first" as twenty and first; others as they are."""
    known, pieces = set(known_to(task)), list[str]()
    for word in typed.split():
        parts = [part for part in re.findall(r"[^\W_]+|[^\w\s]", word.lower()) if part != "-"]
        pieces += parts if word not in known and parts and known.issuperset(parts) else [word]
    return pieces


def source_of(config: TrainingConfig, typed: str) -> tuple[tuple[int, ...], str]:
    """The source's ids, and why the typed text is not read, in a sentence; "" if it is."""
    task = config.about
    example = tuple(text_of(probes_of(config.task).source[0].tolist()))
    pieces = pieces_of(task, typed)
    if not pieces:
        return example, ""
    if problem := _problem(config, pieces):
        return example, f"{problem}; an example that was held out is read."
    ids = tuple(1 + task.vocabulary.index(piece) for piece in pieces)
    assert task.solve
    try:
        task.solve(torch.tensor([ids]))
    except ValueError as problem:
        told = str(problem).removeprefix("source: ")
        return example, f"{told[:1].upper()}{told[1:]}; an example that was held out is read."
    return ids, ""


def _problem(config: TrainingConfig, pieces: list[str]) -> str:
    """Why these pieces can be no source of the task, whatever they say; "" if they can."""
    task, known, most = config.about, known_to(config.about), longest(config)
    if strange := next((piece for piece in pieces if piece not in known), None):
        if task.stretches:
            return f"“{strange[:20]}” is not among the tokens {known[0]} to {known[-1]}"
        few = ", ".join(known[:NAMED])
        return f"“{strange[:20]}” is not among the {len(known)} tokens that this task knows, such as {few}"
    fewest = FEWEST if task.stretches else 1
    if not fewest <= len(pieces) <= most:
        return f"{formats.plural(len(pieces), 'token')}, but {fewest} to {most} can be read"
    return ""


def start_of(config: TrainingConfig) -> int:
    """The id of the token that the decoder reads first."""
    return 1 + config.about.vocabulary.index(START)


def end_of(config: TrainingConfig) -> int | None:
    """The id of the token after which the decoder writes nothing; None where it writes as many as the source has."""
    return 1 + config.about.vocabulary.index(config.about.end) if config.about.end else None


def most_written(config: TrainingConfig, source: tuple[int, ...]) -> int:
    """How many tokens are written at most: as many as any right answer has."""
    return probes_of(config.task).answers.shape[1] if config.about.end else len(source)


def shown_model(config: TrainingConfig) -> Transformer:
    """The encoder-decoder as far as it is trained."""
    model = network(config)
    model.load_state_dict(dict(shown_run(config).weights), strict=False)
    assert isinstance(model, Transformer)
    return model.eval()


class SourcePanel(RunPanel):
    """A panel about what a run does with the source."""

    task_field = "pair"

    @cached_property
    def _source(self) -> tuple[tuple[int, ...], str]:
        return source_of(self.config, self.state.source)

    @property
    def source(self) -> tuple[int, ...]:
        """The ids of the source."""
        return self._source[0]

    @property
    def problem(self) -> str:
        """Why the typed source is not read; "" if it is."""
        return self._source[1]

    @property
    def key(self) -> str:
        # The link stays the same when a run ends: by another key the browser asks for the picture again.
        return f"{self.name}_{self.run.done}"

    @cached_property
    def answers(self) -> Tensor:
        """The right answers, int64 (step); where a span is asked, the places where it begins and ends."""
        solve = self.config.about.solve
        assert solve
        answers: Tensor = solve(torch.tensor([self.source]))[0]
        return answers[answers != IGNORED]

    def names(self, ids: Tensor | tuple[int, ...]) -> list[str]:
        """Tokens in words."""
        return tokens_of(self.config, ids)
