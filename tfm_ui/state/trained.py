"""Trained weights as the model's state sees them: the field that names them, their shape, the texts that they read.

Trained weights fix the model's shape. Those of a task know its tokens alone: so a text box is read as it stands if all
of its tokens are known, and otherwise an example of the task is read that was held out from training. Models that have
read prose read any text (pretrained.py).
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from tfm_core import POSITIONAL, TASKS, TrainingConfig, run_store
from tfm_core.model.trained import RANDOM
from tfm_core.training.config import of_task, read_name
from tfm_core.training.examples import held_out
from tfm_core.training.run import Run
from tfm_core.training.tasks.task import IGNORED, PAD

EXAMPLES = 9  # held-out examples that have names, @1 to @9
MOST_CHARS = 300  # of a name; one with all fields has about 270
STRETCH = 4  # schemes without a table may read this many times the trained length


def trains(name: str) -> TrainingConfig:
    """The run with this name, if a lens can show it: a transformer that answers with tokens.

    Raises:
        ValueError: if there can be no such run, or if it is another network.
    """
    config = read_name(name)
    if config.network != "transformer":
        raise ValueError(f"lenses show transformers, and it is a network of kind {config.network}")
    if config.about.classes:
        raise ValueError("lenses show models that answer with tokens, and it sorts whole texts into classes")
    return config


def run_config(name: str) -> TrainingConfig | None:
    """The configuration of the run with this name; None for names that no run can have, as of random weights."""
    try:
        return None if name == RANDOM else trains(name)
    except ValueError:
        return None


def run_of(name: str) -> Run | None:
    """The complete run with this name; None if it is not on this server, or if it diverged at its very end."""
    config = run_config(name)
    run = run_store().find(config) if config else None
    return run if run and run.is_complete and not run.problem else None


def problem_of(name: str) -> str:
    """Why the run with this name ended early, in a sentence; "" if it did not, or if it is not on this server."""
    config = run_config(name)
    run = run_store().find(config) if config else None
    return run.problem if run else ""


@cache
def offered() -> tuple[str, ...]:
    """The names of the runs that ship with the app, in teaching order. Their files are looked for, not read."""
    digits = "[0-9a-f]" * 16
    tasks = [task for task, about in TASKS.items() if not about.classes]
    return tuple(of_task(task).name for task in tasks if any(run_store().shipped.glob(f"{task}-{digits}-*.json")))


def longest_of(config: TrainingConfig) -> int:
    """How many tokens these weights can read: as many as they were trained on, where positions have a table."""
    if POSITIONAL[config.positional].ends_at_max_len() or not config.about.stretches:
        return config.about.length
    return STRETCH * config.about.length


class Example(NamedTuple):
    """An example of a task that was held out.

    Attributes:
        text: its tokens, separated by spaces.
        target: what the decoder of an encoder-decoder reads; "" if there is none.
        answers: the right token at each position of the text that is written, "" where nothing is asked.
    """

    text: str
    target: str
    answers: tuple[str, ...]


@cache  # of at most all tasks
def examples_of(task: str) -> tuple[Example, ...]:
    """The first held-out examples of a task."""
    drawn, vocabulary = held_out(of_task(task), EXAMPLES), (PAD, *TASKS[task].vocabulary)

    def text(ids: list[int]) -> str:
        return " ".join(vocabulary[number] for number in ids if number)  # shorter texts of a task end in padding

    targets = [""] * len(drawn) if drawn.target is None else [text(ids) for ids in drawn.target.tolist()]
    of_tokens = [] if TASKS[task].spans else drawn.answers.tolist()  # places of a span are no tokens
    answers = [tuple("" if number == IGNORED else vocabulary[number] for number in ids) for ids in of_tokens]
    answers = answers or [()] * len(drawn)
    return tuple(map(Example, map(text, drawn.source.tolist()), targets, answers))


def example_number(text: str) -> int | None:
    """Which example the content of a text box names, from 0: "@3" is the third."""
    named = re.fullmatch(f"@([1-{EXAMPLES}])", text.strip())
    return int(named[1]) - 1 if named else None


@dataclass(frozen=True)
class Reading:
    """What trained weights read of a text box.

    Attributes:
        text: the tokens, separated by spaces.
        example: the number of the example that is read, from 0; None if it is the reader's own text.
        note: what should be said of it; "" if nothing.
        is_asked_for: whether the reader has typed this, or named this example.
    """

    text: str
    example: int | None
    note: str
    is_asked_for: bool = True


def source_reading(config: TrainingConfig, typed: str) -> Reading:
    """What is read of the text box: an example by name, the reader's tokens, or else the first example."""
    examples = examples_of(config.task)
    if (number := example_number(typed)) is not None:
        return Reading(examples[number].text, number, _of_example(config, number))
    if not (why := _why_not(config, typed)):
        return _as_typed(config, typed.split())
    first = examples[0].text
    return Reading(
        first, 0, f"The model reads an example of its task, {_few(first.split())}: {why}.", is_asked_for=False
    )


def target_reading(config: TrainingConfig, typed: str, source: Reading) -> Reading:
    """What the decoder reads: as for the source; an example's own target, or for a text of the reader's the start."""
    examples = examples_of(config.task)
    if (number := example_number(typed)) is not None:
        return Reading(examples[number].target, number, _of_example(config, number))
    if not (why := _why_not(config, typed)):
        return Reading(" ".join(typed.split()), None, "")
    if source.example is None:
        start = examples[0].target.partition(" ")[0]
        return Reading(start, None, f"The decoder begins with {start}: {why}.", is_asked_for=False)
    of_example = examples[source.example].target
    note = f"The decoder reads the example’s own target, {_few(of_example.split())}: {why}."
    return Reading(of_example, source.example, note, is_asked_for=False)


def _as_typed(config: TrainingConfig, pieces: list[str]) -> Reading:
    """The reader's tokens, after the token with which all examples of the task begin, if there is one."""
    task, starts = config.about, {example.text.partition(" ")[0] for example in examples_of(config.task)}
    notes = []
    if len(starts) == 1 and pieces[0] not in starts:
        (start,) = starts
        pieces = [start, *pieces]
        notes.append(f"{start} is read before it, as before all texts of the task.")
    unknown = list(dict.fromkeys(piece for piece in pieces if piece not in task.vocabulary))
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        notes.append(f"These weights do not know “{unknown[0][:20]}”{more}: read as {task.unknown}.")
    return Reading(" ".join(pieces), None, " ".join(notes))


def _why_not(config: TrainingConfig, typed: str) -> str:
    """Why a text is not read as it stands; "" if it is."""
    task = config.about
    pieces = typed.split()
    unknown = next((piece for piece in pieces if piece not in task.vocabulary and not task.unknown), "")
    if pieces and not unknown:
        return ""
    short = unknown if len(unknown) <= 20 else f"{unknown[:19]}…"
    known = _few(task.vocabulary)
    return f"“{short}” is none of {known}, which these weights know" if unknown else f"these weights know {known}"


def _of_example(config: TrainingConfig, number: int) -> str:
    return f"Example {number + 1} of “{config.about.title}”: held out, so never trained on."


def _few(pieces: tuple[str, ...] | list[str]) -> str:
    """Tokens in a row, the middle left out where they are many."""
    return " ".join(pieces if len(pieces) <= 6 else [*pieces[:3], "…", pieces[-1]])
