"""What there is to know of a classifier's run: the run, what it says of held-out examples, and the baselines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tfm_core import TrainingConfig, Transformer, recording
from tfm_core.training import baselines as simple
from tfm_core.training.baselines import Baseline, label_ids, labels_of
from tfm_core.training.config import of_task
from tfm_core.training.examples import FINAL, held_out
from tfm_core.training.networks import network
from tfm_core.training.scores import site
from tfm_core.training.tasks.counting import CLS
from tfm_core.training.tasks.task import PAD, Examples
from tfm_ui.lenses.training.classify.numbers import Classified
from tfm_ui.lenses.training.runs import config_of, run_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.live.cache import cached, never

AT_ONCE = 128  # examples of a pass
TASKS_AT_ONCE = 8  # whose examples are kept: there are few, and others would push them out of the cache
BESIDE = {"textbook": "textbook-random", "textbook-random": "textbook"}  # shown together


@dataclass(frozen=True)
class Said:
    """What a network says of every held-out example.

    Attributes:
        probabilities: float32 (example, label), of the softmax over all that the network can say.
        chosen: int64 (example), the number of the label that it says; where it says something else, how many labels
            there are.
        labels: int64 (example), the number of the right label.
        looks: float32 (example, head, key), the last layer's weights of the token at which the answer is said; of a
            network that pools by the mean, the mean over all tokens.
    """

    probabilities: Tensor
    chosen: Tensor
    labels: Tensor
    looks: Tensor

    @property
    def is_right(self) -> Tensor:
        """Whether the label of each example is right."""
        return self.chosen == self.labels

    @property
    def confusion(self) -> Tensor:
        """How many examples of each right label get each label, int64 (right, said); "else" is the last column."""
        count = self.probabilities.shape[1]
        pairs = self.labels * (count + 1) + self.chosen
        return torch.bincount(pairs, minlength=count * (count + 1)).reshape(count, count + 1)


def of_label(state: TrainingState) -> TrainingState:
    """The same controls for the task of this view."""
    return replace(state, task=state.labelled)


def examples_of(config: TrainingConfig) -> Examples:
    """The held-out examples that everything here is measured on."""
    return _held_out(config.task)


@cached(heavy=never, apart=TASKS_AT_ONCE)
def _held_out(task: str) -> Examples:
    return held_out(of_task(task), FINAL)


def tokens_of(config: TrainingConfig) -> Sequence[Sequence[str]]:
    """The tokens of each of them as the network reads them, without padding."""
    return _tokens(config.task)


@cached(heavy=never, apart=TASKS_AT_ONCE)
def _tokens(task: str) -> Sequence[Sequence[str]]:
    config = of_task(task)
    pieces = (PAD, *config.about.vocabulary)
    return [[pieces[number] for number in ids if number] for ids in examples_of(config).source.tolist()]


@cached(heavy=never, apart=TASKS_AT_ONCE)
def texts(task: str) -> Sequence[str]:
    """Each of them as a text, without the token at which the answer is said."""
    return [" ".join(token for token in tokens if token != CLS) for tokens in _tokens(task)]


def baselines(config: TrainingConfig) -> list[Baseline]:
    """Scores that need no network. They depend on the task alone, and for generated examples on which were drawn."""
    changes = {} if config.about.examples else {name: getattr(config, name) for name in ("seed", "steps", "batch_size")}
    return _baselines(of_task(config.task, **changes))


@cached(heavy=never, apart=32)
def _baselines(config: TrainingConfig) -> list[Baseline]:
    return simple.baselines(config)


def classified(state: TrainingState) -> Classified:
    """What there is of the run, and of the run with which it makes a pair."""
    config = config_of(state)
    beside = BESIDE.get(config.task)
    other = run_of(replace(config, task=beside)) if beside else None
    return Classified(config, run_of(config), baselines(config), len(examples_of(config)), other)


def has_ended(config: TrainingConfig) -> bool:
    """Whether the weights of the run stay as they are."""
    run = run_of(config)
    return bool(run and (run.is_complete or run.problem))


def said_by(config: TrainingConfig) -> Said:
    """What the run says by now, or with its first weights."""
    run = run_of(config)
    return _said(config, run.done if run else 0)


@cached(heavy=never)
def _said(config: TrainingConfig, done: int) -> Said:
    run = run_of(config)
    return told(config, run.weights if run else {})


@torch.no_grad()
def told(config: TrainingConfig, weights: Mapping[str, Tensor]) -> Said:
    """What a network says with these weights; where there are none, with its first."""
    task, examples = config.about, examples_of(config)
    model = network(config).eval()
    model.load_state_dict(dict(weights), strict=False)  # tied weights have two names in it
    pools = bool(task.classes) and config.pooling == "mean"
    last = site("self", config.num_layers - 1, task.architecture)
    logits, looks = [], []
    for begin in range(0, len(examples), AT_ONCE):
        inputs = examples[begin : begin + AT_ONCE].inputs
        with recording(last) as trace:
            # The answer stands at the first token: logits over the vocabulary of all the others take longest of all.
            logits.append(
                model.unembedding(model.stack(*inputs)[:, 0]) if isinstance(model, Transformer) else model(*inputs)
            )
        looks.append(trace[last].mean(2) if pools else trace[last][:, :, 0].clone())
    all_logits, ids = torch.cat(logits), label_ids(task)
    hits = all_logits.argmax(-1)[:, None] == ids
    return Said(
        probabilities=all_logits.softmax(-1)[:, ids],
        chosen=torch.where(hits.any(1), hits.long().argmax(1), len(ids)),
        labels=labels_of(task, examples),
        looks=torch.cat(looks),
    )
