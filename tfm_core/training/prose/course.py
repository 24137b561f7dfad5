"""A course of training on prose: its rates, its optimizers, its checkpoint, so that it can be stopped and continued.

Matrices inside the layers learn by Muon (Jordan et al. 2024), which makes each step's update orthogonal; embeddings,
norms and biases by AdamW.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Muon, Optimizer

from tfm_core.model.initialization import generator
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.transformer import Transformer

BETAS = (0.9, 0.98)
LONGEST_GRADIENT = 1.0  # the norm to which gradients are cut
LOOK = 250  # steps between two points of the curve


def half_precision() -> torch.autocast:
    """Products of a pass in bfloat16 if the processor multiplies it itself; weights and their updates stay float32.

    With such instructions a step takes half the time; without them it would take ten times as long.
    """
    return torch.autocast("cpu", torch.bfloat16, enabled=torch.cpu.get_capabilities().get("avx512_bf16", False))


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The numbers of a course that do not depend on what is learned, which its card names.

    Attributes:
        steps: how many.
        learning_rate: of AdamW, for embeddings, norms and biases, at its peak.
        matrix_rate: of Muon, for the matrices of the layers, at its peak.
        warmup: steps in which both rates rise.
        fall: the share of the steps, at the end, in which they fall to 0 in a line.
        weight_decay: of the matrices.
        dropout: of what each sub-layer adds to the residual stream.
        seed: of the first weights, of what is read and of the dropout.
    """

    steps: int
    learning_rate: float = 2e-3
    matrix_rate: float = 0.02
    warmup: int = 200
    fall: float = 0.4
    weight_decay: float = 0.05
    dropout: float = 0.1
    seed: int = 0

    def rate(self, step: int) -> float:
        """The factor on both rates at a step, from 1: a rise, a flat part, a fall to 0."""
        return min(1.0, step / self.warmup, (self.steps - step) / (self.fall * self.steps))


class Course(ABC):
    """A run from its beginning, or from where a checkpoint has left it.

    Args:
        rates: its numbers.
        model: what learns, with its first weights.
        heads: what learns beside it, by name.
        checkpoint: a file that is written every `LOOK` steps, and read if it is there.
    """

    def __init__(
        self,
        rates: Rates,
        model: Transformer,
        *,
        heads: dict[str, nn.Module] | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        self.rates, self.checkpoint = rates, checkpoint
        self.model = model.train()
        self.heads = nn.ModuleDict(heads or {})
        for module in self.model.modules():
            if isinstance(module, TransformerLayer):
                module.dropout = nn.Dropout(rates.dropout)  # and none inside the sub-layers, where it takes more time
        matrices = list[nn.Parameter]()
        others = list(self.heads.parameters())
        for name, parameter in self.model.named_parameters():
            (matrices if ".layers." in name and parameter.dim() == 2 else others).append(parameter)
        self.optimizers: tuple[Optimizer, ...] = (
            Muon(matrices, lr=rates.matrix_rate, weight_decay=rates.weight_decay),
            AdamW(others, rates.learning_rate, BETAS, weight_decay=0.0, fused=True),
        )
        self.learning = [*self.model.parameters(), *self.heads.parameters()]
        self.peaks = rates.matrix_rate, rates.learning_rate
        self.step, self.seconds, self.curve = 0, 0.0, list[dict[str, float]]()
        if checkpoint and checkpoint.exists():
            self._read(torch.load(checkpoint, weights_only=True))

    @abstractmethod
    def loss(self) -> Tensor:
        """The loss of this step, of what depends on the seed and the step alone."""

    @abstractmethod
    def measured(self) -> dict[str, float]:
        """What a point of the curve tells, measured in evaluation mode."""

    def points(self) -> Iterator[dict[str, float]]:
        """Train to the end; yield the curve's points as they come, with the mean training loss since the last one."""
        began, before, losses = time.perf_counter(), self.seconds, list[float]()
        while self.step < self.rates.steps:
            losses.append(self._step())
            if self.step % LOOK and self.step < self.rates.steps:
                continue
            self.seconds = before + time.perf_counter() - began
            self.curve.append(self._point(sum(losses) / len(losses)))
            losses.clear()
            if self.checkpoint:
                self._write(self.checkpoint)
            yield self.curve[-1]

    def _step(self) -> float:
        self.step += 1
        for optimizer, peak in zip(self.optimizers, self.peaks, strict=True):
            optimizer.param_groups[0]["lr"] = peak * self.rates.rate(self.step)
            optimizer.zero_grad()
        torch.default_generator.manual_seed(generator(self.rates.seed, f"dropout {self.step}").initial_seed())
        loss = self.loss()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.learning, LONGEST_GRADIENT)
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()

    def _point(self, loss: float) -> dict[str, float]:
        self.model.eval()
        measured = self.measured()
        self.model.train()
        return {"step": self.step, "seconds": self.seconds, "training_loss": loss, **measured}

    def _write(self, path: Path) -> None:
        state = {
            "model": self.model.state_dict(),
            "heads": self.heads.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "step": self.step,
            "seconds": self.seconds,
            "curve": self.curve,
        }
        part = path.with_suffix(".part")
        torch.save(state, part)
        part.replace(path)

    def _read(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.heads.load_state_dict(state.get("heads", {}))
        for optimizer, known in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(known)
        self.step, self.seconds, self.curve = state["step"], state["seconds"], state["curve"]
