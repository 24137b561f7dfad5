"""How Lab GPT is trained: its configuration, its optimizers, its schedule; a run can be stopped and continued.

In a trial of 4.5 minutes each, AdamW alone came to 1.77 bits per byte, with Muon (course.py) to 1.67.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.language.bpe import SPECIAL
from tfm_core.language.head_scores import head_scores, losses_by_name
from tfm_core.language.lab_gpt import UNTRAINED
from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import generator
from tfm_core.model.transformer import Transformer
from tfm_core.training.prose.course import Course, Rates, half_precision

SHORTEST = 8  # tokens of a stretch that is repeated
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
class Recipe(Rates):
    """The numbers of a run, which its card names.

    Attributes:
        batch_size: windows of a step, of max_len tokens each.
        phases: which windows are repetitions, from when on; before the first, all are plain prose.
    """

    steps: int = 10_500
    batch_size: int = 16
    phases: tuple[Phase, ...] = (
        Phase(3_000, 0.1, 0.0),
        Phase(4_000, 0.3, 0.5),
        Phase(5_500, 0.06, 0.5),
        Phase(6_000, 0.12, 0.6),
    )


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


class Training(Course):
    """A run from its beginning, or from where a checkpoint has left it.

    Args:
        recipe: the numbers.
        texts: what is read.
        checkpoint: as `Course` has it.
        config: of the model.
    """

    def __init__(
        self, recipe: Recipe, texts: Texts, checkpoint: Path | None = None, *, config: TransformerConfig = UNTRAINED
    ) -> None:
        self.recipe, self.texts = recipe, texts
        super().__init__(recipe, Transformer(config), checkpoint=checkpoint)

    def loss(self) -> Tensor:
        """The cross-entropy of each window's tokens but the first."""
        windows = self._windows()
        with half_precision():
            logits = self.model(windows[:, :-1])
        return F.cross_entropy(logits.float().flatten(0, 1), windows[:, 1:].flatten())

    def measured(self) -> dict[str, float]:
        """The held-out loss, and what heads do on repeated tokens."""
        bits = bits_per_byte(self.model, self.texts, each=EACH)
        return {"bits_per_byte": bits, **losses_by_name(head_scores(self.model, first_id=len(SPECIAL)))}

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
