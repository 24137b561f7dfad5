"""How Lab GPT is trained: its configuration, its optimizers, its schedule; a run can be stopped and continued.

Matrices inside the layers learn by Muon (Jordan et al. 2024), which makes each step's update orthogonal; embeddings,
norms and biases by AdamW. In a trial of 4.5 minutes each, AdamW alone came to 1.77 bits per byte, with Muon to 1.67.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW, Muon, Optimizer

from tfm_core.language.bpe import SPECIAL
from tfm_core.language.head_scores import head_scores, losses_by_name
from tfm_core.language.lab_gpt import UNTRAINED
from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import generator
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.transformer import Transformer

BETAS = (0.9, 0.98)
LONGEST_GRADIENT = 1.0  # the norm to which gradients are cut
SHORTEST = 8  # tokens of a stretch that is repeated
LOOK = 250  # steps between two points of the curve
EACH = 4  # one in this many held-out windows is read for a point of the curve


class Phase(NamedTuple):
    """A part of training in which some windows repeat a stretch of tokens: it pays to look up what came earlier.

    Attributes:
        after: the step after which it begins.
        repeats: the share of windows that repeat a stretch of prose, of a random length.
        shuffled: the share of these whose tokens come from anywhere, so that they are no prose.
    """

    after: int
    repeats: float
    shuffled: float


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The numbers of a run, which its card names.

    Attributes:
        steps: how many.
        batch_size: windows of a step, of max_len tokens each.
        learning_rate: of AdamW, for embeddings, norms and biases, at its peak.
        matrix_rate: of Muon, for the matrices of the layers, at its peak.
        warmup: steps in which both rates rise.
        fall: the share of the steps, at the end, in which they fall to 0 in a line.
        weight_decay: of the matrices.
        dropout: of what each sub-layer adds to the residual stream.
        phases: which windows are repetitions, from when on; before the first, all are plain prose.
        seed: of the first weights, the windows and the dropout.
    """

    steps: int = 10_500
    batch_size: int = 16
    learning_rate: float = 2e-3
    matrix_rate: float = 0.02
    warmup: int = 200
    fall: float = 0.4
    weight_decay: float = 0.05
    dropout: float = 0.1
    phases: tuple[Phase, ...] = (
        Phase(3_000, 0.1, 0.0),
        Phase(4_000, 0.3, 0.5),
        Phase(5_500, 0.06, 0.5),
        Phase(6_000, 0.12, 0.6),
    )
    seed: int = 0

    def rate(self, step: int) -> float:
        """The factor on both rates at a step, from 1: a rise, a flat part, a fall to 0."""
        return min(1.0, step / self.warmup, (self.steps - step) / (self.fall * self.steps))


@dataclass(frozen=True)
class Texts:
    """What is read, as token ids in one row, documents separated by the start token.

    Attributes:
        training, held_out: int64 (token).
        held_out_bytes: how many bytes of UTF-8 the held-out documents have.
    """

    training: Tensor
    held_out: Tensor
    held_out_bytes: int


class Training:
    """A run from its beginning, or from where a checkpoint has left it.

    Args:
        recipe: the numbers.
        texts: what is read.
        checkpoint: a file that is written every `LOOK` steps, and read if it is there.
        config: of the model.
    """

    def __init__(
        self, recipe: Recipe, texts: Texts, checkpoint: Path | None = None, *, config: TransformerConfig = UNTRAINED
    ) -> None:
        self.recipe, self.texts, self.checkpoint = recipe, texts, checkpoint
        self.model = Transformer(config).train()
        for module in self.model.modules():
            if isinstance(module, TransformerLayer):
                module.dropout = nn.Dropout(recipe.dropout)  # and none inside the sub-layers, where it takes more time
        matrices = list[nn.Parameter]()
        others = list[nn.Parameter]()
        for name, parameter in self.model.named_parameters():
            (matrices if ".layers." in name and parameter.dim() == 2 else others).append(parameter)
        self.optimizers: tuple[Optimizer, ...] = (
            Muon(matrices, lr=recipe.matrix_rate, weight_decay=recipe.weight_decay),
            AdamW(others, recipe.learning_rate, BETAS, weight_decay=0.0, fused=True),
        )
        self.peaks = recipe.matrix_rate, recipe.learning_rate
        self.step, self.seconds, self.curve = 0, 0.0, list[dict[str, float]]()
        if checkpoint and checkpoint.exists():
            self._read(torch.load(checkpoint, weights_only=True))

    def points(self) -> Iterator[dict[str, float]]:
        """Train to the end; yield the curve's points as they come, with the mean training loss since the last one."""
        began, before, losses = time.perf_counter(), self.seconds, list[float]()
        while self.step < self.recipe.steps:
            losses.append(self._step())
            if self.step % LOOK and self.step < self.recipe.steps:
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
            optimizer.param_groups[0]["lr"] = peak * self.recipe.rate(self.step)
            optimizer.zero_grad()
        windows = self._windows()
        torch.default_generator.manual_seed(generator(self.recipe.seed, f"dropout {self.step}").initial_seed())
        with torch.autocast("cpu", torch.bfloat16):  # twice as fast; weights and their updates stay float32
            logits = self.model(windows[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), windows[:, 1:].flatten())
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.model.parameters(), LONGEST_GRADIENT)
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()

    def _windows(self) -> Tensor:
        """(batch, max_len + 1), from places that depend on the seed and on the step alone."""
        random, length = generator(self.recipe.seed, f"windows {self.step}"), self.model.config.max_len
        begins = torch.randint(len(self.texts.training) - length, (self.recipe.batch_size, 1), generator=random)
        windows = self.texts.training[begins + torch.arange(length + 1)]
        phase = next((phase for phase in reversed(self.recipe.phases) if self.step > phase.after), None)
        if not phase:
            return windows
        # Stretches of many lengths: of a single one, a head could learn how far back to look, whatever stands there.
        stretches = torch.randint(SHORTEST, length // 2, (len(windows), 1), generator=random)
        repeated = windows.gather(1, torch.arange(length + 1) % stretches)
        repeat = torch.rand((len(windows), 1), generator=random) < phase.repeats
        anywhere = self.texts.training[torch.randint(len(self.texts.training), windows.shape, generator=random)]
        anywhere = anywhere.gather(1, torch.arange(length + 1) % stretches)
        shuffle = torch.rand((len(windows), 1), generator=random) < phase.shuffled
        return torch.where(repeat, torch.where(shuffle, anywhere, repeated), windows)

    def _point(self, loss: float) -> dict[str, float]:
        self.model.eval()
        bits = bits_per_byte(self.model, self.texts, each=EACH)
        scores = losses_by_name(head_scores(self.model, first_id=len(SPECIAL)))
        self.model.train()
        return {"step": self.step, "seconds": self.seconds, "training_loss": loss, "bits_per_byte": bits, **scores}

    def _write(self, path: Path) -> None:
        state = {
            "model": self.model.state_dict(),
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
        for optimizer, known in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(known)
        self.step, self.seconds, self.curve = state["step"], state["seconds"], state["curve"]


@torch.no_grad()
def bits_per_byte(model: Transformer, texts: Texts, *, each: int = 1) -> float:
    """The held-out loss, in bits per byte: independent of the tokenizer.

    A window's first half is context for its second half, so that a token has half the context before it at least.

    Args:
        model: in evaluation mode.
        texts: whose held-out part is read.
        each: 1 for all windows, 4 for every fourth.
    """
    length = model.config.max_len
    half, total, count = length // 2, 0.0, 0
    windows = texts.held_out.unfold(0, length + 1, half)[::each]
    for part in torch.split(windows, 16):
        losses = F.cross_entropy(model(part[:, :-1]).flatten(0, 1), part[:, 1:].flatten(), reduction="none")
        total += losses.view(len(part), length)[:, half:].double().sum().item()
        count += len(part) * (length - half)
    return total / count / math.log(2) * len(texts.held_out) / texts.held_out_bytes
