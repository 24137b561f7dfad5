"""All ways on all numbers of examples with all seeds, beside naive Bayes; and the search for their learning rates."""

import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import mean

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.training.compare.finetuning.labelled import BODIES, SETS, Sentences, drawn, held_out, not_drawn
from tfm_core.training.compare.finetuning.outcome import SEEDS, SIZES, Bag, Grid, Tuned, Tuning
from tfm_core.training.compare.finetuning.tuning import Finetuning, finetune
from tfm_core.training.compare.finetuning.ways import WAYS
from tfm_core.training.tasks.bags import naive_bayes

RATES = (3e-4, 1e-3, 3e-3, 1e-2)  # learning rates that are tried
TRIED = 200  # examples that a rate is tried with
TRIED_ON = 600  # sentences of the training side that it is measured on
TRIED_SEED = 7


def grid(task: str, body: str = "lab-bert") -> Iterator[tuple[float, Grid]]:
    """Fine-tune a body on a task in all ways: the share that is done, and what there is by then.

    All with the first seed first. The maps of other seeds are left out: a file has room for some.
    """
    began, runs = time.perf_counter(), list[Tuned]()
    asked = [
        Tuning(task=task, way=way, examples=size, seed=seed, body=body)
        for seed in SEEDS
        for size in SIZES
        for way in WAYS
    ]
    for number, tuning in enumerate(asked, 1):
        *_, last = finetune(tuning)
        runs.append(last.tuned if tuning.seed == SEEDS[0] else replace(last.tuned, maps={}))
        yield number / len(asked), _grid(task, body, tuple(runs), time.perf_counter() - began)


def bags_of(task: str, body: str) -> tuple[Bag, ...]:
    """Naive Bayes on the examples of each size and seed."""
    tested = held_out(task, body)
    return tuple(
        Bag(size, seed, bag_accuracy(drawn(task, body, size, seed), tested, task, body))
        for size in SIZES
        for seed in SEEDS
    )


def bag_accuracy(examples: Sentences, tested: Sentences, task: str, body: str) -> float:
    """The share of right labels of multinomial naive Bayes over pieces: what a text says whatever its order."""
    classes = len(SETS[task].labels)
    weights, biases = naive_bayes(counts(examples.source, body), examples.labels, classes)
    told = F.linear(counts(tested.source, body), weights, biases).argmax(1)
    return float((told == tested.labels).double().mean())


def counts(source: Tensor, body: str) -> Tensor:
    """How often each piece is in each sentence, float64 (sentence, piece); special tokens are not counted."""
    known = BODIES[body]
    table = torch.zeros(len(source), known.config.vocab_size, dtype=torch.float64)
    table.scatter_add_(1, source, torch.ones(source.shape, dtype=torch.float64))
    table[:, : known.tokenizer().first_id] = 0
    return table


def rates(body: str = "lab-bert") -> Iterator[tuple[str, float, float]]:
    """A way, a learning rate, and the mean share of right labels of all tasks, without a look at what is held out."""
    for way in WAYS:
        for rate in RATES:
            yield way, rate, mean(_tried(task, way, rate, body) for task in SETS)


def _tried(task: str, way: str, rate: float, body: str) -> float:
    tuning = Tuning(task=task, way=way, examples=TRIED, seed=TRIED_SEED, body=body)
    others = not_drawn(task, body, TRIED, TRIED_SEED, TRIED_ON)
    *_, last = Finetuning(tuning, drawn(task, body, TRIED, TRIED_SEED), tested=others, learning_rate=rate).steps()
    return last.tuned.accuracy or 0.0


def _grid(task: str, body: str, runs: tuple[Tuned, ...], seconds: float) -> Grid:
    tested, training = held_out(task, body), drawn(task, body, max(SIZES), SEEDS[0])
    most = int(training.labels.bincount().argmax())
    return Grid(
        task=task,
        body=body,
        runs=runs,
        bags=bags_of(task, body),
        most_frequent=float((tested.labels == most).double().mean()),
        tested=len(tested),
        parameters=max(run.trained for run in runs),
        seconds=seconds,
    )
