"""Fine-tuning a body in one of the `WAYS`, as heavy work of the app's worker."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW

from tfm_core.model.choices import check_choice
from tfm_core.model.classifier import SequenceClassifier
from tfm_core.model.initialization import generator
from tfm_core.model.trained import RANDOM, trained_weights
from tfm_core.training.compare.finetuning.labelled import BODIES, SETS, Sentences, drawn, held_out
from tfm_core.training.compare.finetuning.looks import Heads, Looks, looks_of, moved, weights_of
from tfm_core.training.compare.finetuning.ways import WAYS

SIZES = (50, 200, 1_000)  # examples
SEEDS = (0, 1, 2)
STEPS = {50: 60, 200: 100, 1_000: 200}  # the same for all ways
BATCH, WARMUP, DECAY, CLIP = 16, 0.1, 0.01, 1.0
OUTPUT = 0.25  # of the first logits' usual spread, as in networks.py: training begins near guessing evenly
POINTS = 5  # of the curve, before the last one
EVALUATED = 128  # held-out sentences of each point
LOOKED_AT = 64  # held-out sentences on which heads are looked at
SHOWN = range(11, 14)  # pieces of the sentence whose maps are kept: they can be read
AT_ONCE = 64  # sentences of a pass
REPORT_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What is fine-tuned, how, and on what.

    Attributes:
        task: a key of `SETS`.
        way: a key of `WAYS`.
        examples: one of `SIZES`.
        seed: of the examples, their order, the head and whatever else begins at random.
        body: a key of `BODIES`.

    Raises:
        ValueError: naming the field, what was expected and what came.
    """

    task: str
    way: str
    examples: int
    seed: int = 0
    body: str = "lab-bert"

    def __post_init__(self) -> None:
        for field, choices in (("task", SETS), ("way", WAYS), ("body", BODIES)):
            check_choice(field, getattr(self, field), choices)
        if self.examples not in SIZES:
            raise ValueError(f"examples: expected one of {', '.join(map(str, SIZES))}; got {self.examples!r}")
        if type(self.seed) is not int or self.seed < 0:
            raise ValueError(f"seed: expected a whole number from 0 on, got {self.seed!r}")

    @property
    def steps(self) -> int:
        """How many steps are made."""
        return STEPS[self.examples]

    @property
    def name(self) -> str:
        """Its name as a file."""
        return "-".join(map(str, asdict(self).values()))


@dataclass(frozen=True)
class TunedPoint:
    """A point of the curve.

    Attributes:
        step: after how many steps.
        loss: of training, the mean since the point before, nats; None before the first step.
        accuracy: share of right labels, of the first `EVALUATED` held-out sentences.
    """

    step: int
    loss: float | None
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """What has come of it.

    Attributes:
        tuning: what was asked for.
        trained: how many parameters were trained.
        seconds: that the steps took, without the looks at it on the way.
        curve: its points.
        accuracy: share of right labels of all held-out sentences, at the end; so far None.
        before: where the heads looked before the first step.
        after: and where at the end.
        moved: how far each head's weights have moved, see `looks.moved`.
        maps: "before" and "after" -> (layer, head, query, key), the weights on `shown_sentence`; may be left out.
        made_with: the version of torch.
    """

    tuning: Tuning
    trained: int
    seconds: float
    curve: tuple[TunedPoint, ...]
    accuracy: float | None
    before: Looks
    after: Looks | None
    moved: Heads
    maps: dict[str, Tensor]
    made_with: str


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


def shown_sentence(task: str, body: str) -> Tensor:
    """The first held-out sentence that is short enough for its maps to be read: token ids (1, seq)."""
    every = held_out(task, body)
    lengths = (every.source != BODIES[body].config.pad_id).sum(1)
    fits = (lengths >= SHOWN.start) & (lengths < SHOWN.stop)
    number = int(fits.long().argmax())
    return every.source[number : number + 1, : lengths[number]]


def shape_of_maps(tuning: Tuning) -> torch.Size:
    """The shape of the maps on the shown sentence: (layer, head, query, key)."""
    config, length = BODIES[tuning.body].config, shown_sentence(tuning.task, tuning.body).shape[1]
    return torch.Size((config.num_layers, config.num_heads, length, length))


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
