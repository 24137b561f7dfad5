"""Fine-tuning a body in one of the `WAYS`, as heavy work of the app's worker."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW

from tfm_core.model.classifier import SequenceClassifier
from tfm_core.model.initialization import generator
from tfm_core.model.trained import RANDOM, trained_weights
from tfm_core.training.compare.finetuning.labelled import BODIES, SETS, Sentences, drawn, held_out
from tfm_core.training.compare.finetuning.looks import looks_of, moved, weights_of
from tfm_core.training.compare.finetuning.outcome import (
    EVALUATED,
    Tuned,
    TunedPoint,
    Tuning,
    shown_sentence,
)
from tfm_core.training.compare.finetuning.ways import WAYS

BATCH, WARMUP, DECAY, CLIP = 16, 0.1, 0.01, 1.0
OUTPUT = 0.25  # of the first logits' usual spread, as in networks.py: training begins near guessing evenly
POINTS = 5  # of the curve, before the last one
LOOKED_AT = 64  # held-out sentences on which heads are looked at
AT_ONCE = 64  # sentences of a pass
REPORT_SECONDS = 0.2


@dataclass(frozen=True)
class TuningStep:
    """A step of the job: how far it is, and what there is by now.

    Attributes:
        share: of the steps, 0 to 1.
        seconds_left: an estimate.
        doing: in words.
        tuned: what there is.
    """

    share: float
    seconds_left: float
    doing: str
    tuned: Tuned


def finetune(tuning: Tuning) -> Iterator[TuningStep]:
    """Fine-tune, and report every fifth of a second. Closing the generator stops it.

    Raises:
        ValueError: if the body's weights are not there.
    """
    yield from Finetuning(tuning, drawn(tuning.task, tuning.body, tuning.examples, tuning.seed)).steps()


def classifier(tuning: Tuning) -> SequenceClassifier:
    """The network before its first step: what is trained of it has `requires_grad`.

    The head reads the mean of the last hidden states, as Reimers and Gurevych 2019: what a body that was trained on
    masked words alone has in [CLS] nobody has ever asked of it.
    """
    way, config = WAYS[tuning.way], BODIES[tuning.body].config
    model = SequenceClassifier(replace(config, weights=RANDOM, seed=tuning.seed), len(SETS[tuning.task].labels))
    with torch.no_grad():
        model.head.weight.mul_(OUTPUT)
        if way.pretrained and config.weights != RANDOM:
            weights = trained_weights(config.weights)
            for name, parameter in model.stack.named_parameters():
                parameter.copy_(weights[f"stack.{name}"])
    way.prepare(model, tuning.seed)
    model.head.requires_grad_()
    return model


class Finetuning:
    """A run under way.

    Args:
        tuning: what is asked for.
        examples: what is learned from.
        tested: what it is measured on; all held-out sentences, if nothing else is said.
        learning_rate: the way's own, if nothing else is said.
    """

    def __init__(
        self,
        tuning: Tuning,
        examples: Sentences,
        *,
        tested: Sentences | None = None,
        learning_rate: float = 0.0,
    ) -> None:
        self.tuning, self.examples = tuning, examples
        self.tested = held_out(tuning.task, tuning.body) if tested is None else tested
        self.rate = learning_rate or WAYS[tuning.way].learning_rate
        self.model = classifier(tuning).eval()  # nothing in it differs in training, as there is no dropout
        self.trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.body_is_fixed = not any(parameter.requires_grad for parameter in self.model.stack.parameters())
        self.pad = self.model.config.pad_id
        self.curve: list[TunedPoint] = []
        self.losses: list[float] = []
        self.seconds = 0.0
        self.looked_at = self._trimmed(self.tested.source[:LOOKED_AT])
        self.shown = shown_sentence(tuning.task, tuning.body)
        self.before, self.maps = weights_of(self.model, self.looked_at), {"before": self._map()}
        self.after: Tensor | None = None
        self.accuracy: float | None = None

    @cached_property
    def optimizer(self) -> AdamW:
        """The optimizer, made at the first step: torch imports its compiler for it."""
        return AdamW(self.trained, self.rate, weight_decay=DECAY, fused=True)

    @cached_property
    def vectors(self) -> tuple[Tensor, Tensor]:
        """What a fixed body makes of the examples and of the held-out sentences: computed once for all steps."""
        return self._vectors(self.examples.source), self._vectors(self.tested.source)

    def steps(self) -> Iterator[TuningStep]:
        """Train to the end."""
        clock, total = time.perf_counter, self.tuning.steps
        began = reported = clock()
        self._point(0)
        for step, batch in enumerate(self._batches(), 1):
            begin = clock()
            self._step(step, batch)
            self.seconds += clock() - begin
            if step % (total // POINTS) == 0 and step < total:
                self._point(step)
            if clock() - reported >= REPORT_SECONDS and step < total:
                reported = clock()
                left = (reported - began) / step * (total - step)
                yield TuningStep(step / total, left, f"step {step} of {total}", self.tuned())
        self.after, self.maps["after"] = weights_of(self.model, self.looked_at), self._map()
        self._point(total)
        right = self._logits_of_tested().argmax(1) == self.tested.labels
        self.accuracy = float(right.double().mean())
        yield TuningStep(1.0, 0.0, "done", self.tuned())

    def tuned(self) -> Tuned:
        """What there is by now."""
        read, after = self.looked_at != self.pad, self.after
        return Tuned(
            tuning=self.tuning,
            trained=sum(parameter.numel() for parameter in self.trained),
            seconds=self.seconds,
            curve=tuple(self.curve),
            accuracy=self.accuracy,
            before=looks_of(self.before, read),
            after=None if after is None else looks_of(after, read),
            moved=() if after is None else moved(self.before, after, read),
            maps=dict(self.maps),
            made_with=f"torch {torch.__version__}",
        )

    def _batches(self) -> Iterator[Tensor]:
        """The numbers of each step's examples: all once in each epoch, in another order."""
        count, made, epoch = len(self.examples), 0, 0
        while True:
            order = torch.randperm(count, generator=generator(self.tuning.seed, f"epoch {epoch}"))
            for batch in (order[begin : begin + BATCH] for begin in range(0, count, BATCH)):
                if made == self.tuning.steps:
                    return
                made += 1
                yield batch
            epoch += 1

    def _step(self, step: int, batch: Tensor) -> None:
        total = self.tuning.steps
        share = min(step / (WARMUP * total), (total - step + 1) / (total - WARMUP * total))
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * min(1.0, share)
        self.optimizer.zero_grad()
        if self.body_is_fixed:
            logits = self.model.head(self.vectors[0][batch])
        else:
            logits = self.model(self._trimmed(self.examples.source[batch]))
        loss = F.cross_entropy(logits, self.examples.labels[batch])
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.trained, CLIP)
        self.optimizer.step()
        self.losses.append(loss.item())

    def _point(self, step: int) -> None:
        recent = self.losses[self.curve[-1].step :] if self.curve else []
        right = self._logits_of_tested(EVALUATED).argmax(1) == self.tested.labels[:EVALUATED]
        loss = sum(recent) / len(recent) if recent else None
        self.curve.append(TunedPoint(step, loss, float(right.double().mean())))

    @torch.no_grad()
    def _logits_of_tested(self, most: int | None = None) -> Tensor:
        vectors = self.vectors[1][:most] if self.body_is_fixed else self._vectors(self.tested.source[:most])
        logits: Tensor = self.model.head(vectors)
        return logits

    @torch.no_grad()
    def _vectors(self, source: Tensor) -> Tensor:
        parts = (source[begin : begin + AT_ONCE] for begin in range(0, len(source), AT_ONCE))
        return torch.cat([self.model.vectors(self._trimmed(part)) for part in parts])

    def _trimmed(self, source: Tensor) -> Tensor:
        """The same sentences without the padding that all of them have."""
        return source[:, : int((source != self.pad).sum(1).max())]

    def _map(self) -> Tensor:
        return weights_of(self.model, self.shown)[:, 0].half()
