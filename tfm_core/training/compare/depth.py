"""Depth, trained: the four wirings of tfm_core/model/layer.py at four depths, with and without a warm-up, three seeds.

All runs have the same recipe, and those of one seed the same first weights and the same examples: only wiring, depth
and warm-up differ. Vaswani et al. 2017 trained post-norm with a warm-up; Xiong et al. 2020 say why it needs one.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW

from tfm_core.model.config import TransformerConfig
from tfm_core.model.layer import WIRINGS, TransformerLayer, through_wired
from tfm_core.model.transformer import Transformer
from tfm_core.training.config import TrainingConfig, of_task
from tfm_core.training.examples import EVALUATED, FINAL, batches, held_out
from tfm_core.training.networks import OUTPUT
from tfm_core.training.scores import look, loss_of
from tfm_core.training.tasks.task import Examples

LAYERS = (2, 6, 12, 24)
WARMUPS = (0, 100)  # steps
SEEDS = (0, 1, 2)
LEARNED = 0.99  # share of right held-out answers
SURE = 4.0  # standard errors by which a loss is below guessing's, or the run cannot be told from guessing
APART = 10  # steps that a point of the training curve is the mean of
EACH = 20  # steps between two points of the held-out curve
BETAS = (0.9, 0.98)  # Vaswani et al. 2017, section 5.3


@dataclass(frozen=True, kw_only=True)
class DepthRecipe:
    """What all runs share.

    Attributes:
        task: a key of `TASKS`.
        d_model, num_heads: as in `TransformerConfig`; the feed-forward network has 4 d_model hidden units.
        steps: how many.
        batch_size: examples of a step.
        learning_rate: of AdamW after the warm-up; it does not fall, and gradients are not cut.
        weight_decay: of AdamW.
        looked_at: steps at whose beginning each layer's gradients are measured.
    """

    task: str = "reverse"
    d_model: int = 32
    num_heads: int = 2
    steps: int = 400
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    looked_at: tuple[int, ...] = (1, 10, 50, 100, 200, 400)

    def training(self, seed: int) -> TrainingConfig:
        """The configuration of a single layer, whose examples are those of all depths."""
        shape = {"d_model": self.d_model, "num_heads": self.num_heads}
        return of_task(self.task, **shape, num_layers=1, batch_size=self.batch_size, seed=seed)

    @property
    def guessing(self) -> float:
        """The loss of whoever gives each answer the same probability, nats."""
        return math.log(len(self.training(0).about.vocabulary))


@dataclass(frozen=True, order=True)
class Cell:
    """What differs between two runs.

    Attributes:
        wiring: a key of `WIRINGS`.
        layers: how many.
        warmup: steps in which the learning rate rises from 0.
        seed: of the first weights and of the examples.
    """

    wiring: str
    layers: int
    warmup: int
    seed: int


@dataclass(frozen=True)
class DepthRun:
    """What came out of a run. What is not finite is NaN or inf.

    Attributes:
        cell: which run.
        parameters: how many numbers were trained.
        losses: the mean training loss of each `APART` steps, nats.
        points: step, held-out loss and held-out accuracy, on the way.
        gradients: step -> the Frobenius norm of each layer's gradient, of all of its parameters, first layer first.
        matrices: step -> the same of each layer's last matrix, `feed_forward.output_projection.weight`.
        loss: on many held-out examples at the end, nats.
        error: its standard error.
        accuracy: the share of right answers there.
        ended: the step whose loss was not finite, at which the run ended; 0 if there was none.
        seconds: how long it took.
    """

    cell: Cell
    parameters: int
    losses: tuple[float, ...]
    points: tuple[tuple[int, float, float], ...]
    gradients: dict[int, tuple[float, ...]]
    matrices: dict[int, tuple[float, ...]]
    loss: float
    error: float
    accuracy: float
    ended: int
    seconds: float

    def failed(self, guessing: float) -> bool:
        """Whether it cannot be told from guessing, or has come to numbers that are not finite.

        Args:
            guessing: the loss of guessing.
        """
        return not self.loss + SURE * self.error < guessing

    @property
    def learned(self) -> bool:
        """Whether nearly all held-out answers are right."""
        return self.accuracy >= LEARNED


class Wired(nn.Module):
    """A transformer's encoder with another wiring: token ids (batch, seq) in, logits (batch, seq, vocab) out.

    A wiring with norms before its sub-layers has a final norm, as in Xiong et al. 2020; "no norm" has none anywhere.

    Args:
        config: of an encoder; its norm has no effect.
        wiring: a key of `WIRINGS`.
    """

    def __init__(self, config: TransformerConfig, wiring: str) -> None:
        super().__init__()
        self.model, self.wiring = Transformer(replace(config, norm="pre")), WIRINGS[wiring]
        with torch.no_grad():
            self.model.unembedding.weight.mul_(OUTPUT)

    @property
    def layers(self) -> list[TransformerLayer]:
        """The layers, the first first."""
        return list(self.model.stack.layers)  # type: ignore[arg-type]

    @property
    def trained(self) -> list[nn.Parameter]:
        """All parameters but those of norms that are not there."""
        if self.wiring.norm_before:
            return list(self.parameters())
        idle = "norm." if not self.wiring.norm_after else "final_norm."
        return [parameter for name, parameter in self.named_parameters() if idle not in name]

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, seq, vocab)."""
        stack = self.model.stack
        x = stack.place(stack.embed(tokens))
        for layer in self.layers:
            (x,) = through_wired(layer, [self.wiring], [x], positional=stack.positional)
        if self.wiring.norm_before and stack.final_norm is not None:
            x = stack.final_norm(x)
        return self.model.logits(x)


def cells(layers: Sequence[int] = LAYERS, warmups: Sequence[int] = WARMUPS, seeds: Sequence[int] = SEEDS) -> list[Cell]:
    """All runs: the first seed first, and shallow ones before deep ones."""
    every = product(seeds, layers, WIRINGS, warmups)
    return [Cell(wiring, depth, warmup, seed) for seed, depth, wiring, warmup in every]


def depth_run(cell: Cell, recipe: DepthRecipe) -> DepthRun:
    """Train one network to its end, or until its loss is no number any more."""
    began, config = time.perf_counter(), recipe.training(cell.seed)
    model = Wired(replace(config.transformer, num_layers=cell.layers), cell.wiring).train()
    trained = model.trained
    optimizer = AdamW(trained, recipe.learning_rate, BETAS, weight_decay=recipe.weight_decay, fused=True)
    few, examples = held_out(config, EVALUATED), batches(config)
    losses, points = list[float](), [_point(0, model, few)]
    gradients, matrices, ended = dict[int, tuple[float, ...]](), dict[int, tuple[float, ...]](), 0
    for step in range(1, recipe.steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = recipe.learning_rate * min(1.0, step / max(1, cell.warmup))
        optimizer.zero_grad()
        batch = next(examples)
        loss = loss_of(model(*batch.inputs), batch.answers)
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            ended = step
            break
        torch.autograd.backward(loss)
        if step in recipe.looked_at:
            gradients[step] = tuple(length(list(layer.parameters())) for layer in model.layers)
            matrices[step] = tuple(length([layer.feed_forward.output_projection.weight]) for layer in model.layers)
        optimizer.step()
        if step % EACH == 0:
            points.append(_point(step, model, few))
    loss_at_end, error, accuracy = _end(model, held_out(config, FINAL)) if not ended else (math.nan,) * 3
    return DepthRun(
        cell,
        sum(parameter.numel() for parameter in trained),
        tuple(sum(part) / len(part) for part in _parts(losses)),
        tuple(points),
        gradients,
        matrices,
        loss_at_end,
        error,
        accuracy,
        ended,
        time.perf_counter() - began,
    )


def depth_runs(recipe: DepthRecipe, every: Sequence[Cell], done: Sequence[DepthRun]) -> Iterator[DepthRun]:
    """Train those of these cells that are not done yet; each comes out when it has ended."""
    known = {run.cell for run in done}
    for cell in every:
        if cell not in known:
            yield depth_run(cell, recipe)


def length(parameters: Sequence[Tensor]) -> float:
    """The Frobenius norm of these parameters' gradients together; those that are not used have none.

    In float64, as the squares of what explodes do not fit into float32.
    """
    squares = (gradient.double().square().sum() for each in parameters if (gradient := each.grad) is not None)
    return math.sqrt(float(sum(squares)))


def _parts(losses: Sequence[float]) -> Iterator[Sequence[float]]:
    return (losses[begin : begin + APART] for begin in range(0, len(losses), APART))


def _point(step: int, model: nn.Module, examples: Examples) -> tuple[int, float, float]:
    looked = look(model, examples, attention=False)
    return step, looked.loss, looked.accuracy


@torch.no_grad()
def _end(model: nn.Module, examples: Examples) -> tuple[float, float, float]:
    """The loss, its standard error over examples, and the share of right answers."""
    logits = model.eval()(*examples.inputs)
    each = F.cross_entropy(logits.flatten(0, -2).double(), examples.answers.flatten(), reduction="none")
    each = each.view(len(examples), -1).mean(1)
    right = (logits.argmax(-1) == examples.answers).double().mean()
    return float(each.mean()), float(each.std() / math.sqrt(len(each))), float(right)
