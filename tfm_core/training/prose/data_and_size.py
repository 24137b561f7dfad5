"""How Lab GPT's loss falls with its size and with the amount of prose: its recipe at four sizes and four amounts.

Kaplan et al. 2020, "Scaling Laws for Neural Language Models", and Hoffmann et al. 2022, "Training Compute-Optimal Large
Language Models", ask this of models up to a thousand times as large. Each run here is Lab GPT's recipe
(tfm_core/training/prose/recipe.py) without its windows that repeat, shorter where there is less prose; its loss is the
lowest on the held-out documents, as Kaplan et al. stop early.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tokenizers
import torch

from tfm_core.language.lab_gpt import TOKENIZER, UNTRAINED
from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import generator
from tfm_core.training.prose.corpus import corpus_in
from tfm_core.training.prose.read import read
from tfm_core.training.prose.recipe import Recipe, Texts, Training
from tfm_core.training.prose.size_table import NAME as NAME

WIDTHS = (32, 64, 96, 160)  # d_model, with heads of 32 dimensions, as Lab GPT's; 4 layers
# The share of the training tokens -> steps: less prose is learned by heart sooner.
STEPS = {1 / 27: 500, 1 / 9: 1_000, 1 / 3: 1_500, 1.0: 2_000}
STRETCH = 2_048  # tokens that stay together, when a part of the prose is taken
MOST_WARMUP = 4  # warm-up is at most one in this many steps


@dataclass(frozen=True)
class Cell:
    """A run: one size and one amount of prose.

    Attributes:
        width: d_model.
        share: of the training tokens.
    """

    width: int
    share: float

    @property
    def config(self) -> TransformerConfig:
        """The model, with random weights: Lab GPT's, but narrower."""
        heads = self.width // (UNTRAINED.d_model // UNTRAINED.num_heads)
        return replace(UNTRAINED, d_model=self.width, num_heads=heads)

    @property
    def recipe(self) -> Recipe:
        """Lab GPT's, without repetitions, with fewer steps."""
        steps = STEPS[self.share]
        return replace(Recipe(), steps=steps, warmup=min(Recipe().warmup, steps // MOST_WARMUP), phases=())


def cells() -> list[Cell]:
    """All of them, small models first."""
    return [Cell(width, share) for width in WIDTHS for share in STEPS]


def part_of(texts: Texts, share: float) -> Texts:
    """This share of the training tokens, in stretches from everywhere; a smaller share is a part of a larger one."""
    stretches = len(texts.training) // STRETCH
    order = torch.randperm(stretches, generator=generator(0, "stretches of prose"))
    taken = order[: max(1, round(share * stretches))].sort().values
    places = (taken[:, None] * STRETCH + torch.arange(STRETCH)).flatten()
    return replace(texts, training=texts.training[places])


def outcome(cell: Cell, training: Training) -> dict[str, Any]:
    """What is kept of a run that has ended."""
    matrices = (parameter.numel() for name, parameter in training.model.named_parameters() if ".layers." in name)
    nats = math.log(2) * training.texts.held_out_bytes / len(training.texts.held_out)  # a token, of a bit a byte
    best = min(training.curve, key=lambda point: point["bits_per_byte"])
    return {
        "d_model": cell.width,
        "parameters": sum(parameter.numel() for parameter in training.model.parameters()),
        "layer_parameters": sum(matrices),
        "tokens": len(training.texts.training),
        "steps": cell.recipe.steps,
        "read": cell.recipe.steps * cell.recipe.batch_size * cell.config.max_len,
        "loss": best["bits_per_byte"] * nats,
        "best_step": round(best["step"]),
        "training_loss": training.curve[-1]["training_loss"],
        "bits_per_byte": best["bits_per_byte"],
        "seconds": training.seconds,
        "curve": [
            [round(point["step"]), point["training_loss"], point["bits_per_byte"] * nats] for point in training.curve
        ],
    }


def make(
    texts: Path, work: Path, out: Path, tell: Callable[[str, float], None], *, again: bool = False
) -> Iterator[dict[str, Any]]:
    """Fetch the corpus, cut it by Lab GPT's tokenizer, and train all of it; yield what comes out.

    Args:
        texts: a folder with the corpus; if it is not there, it is fetched.
        work: keeps the checkpoint of the run under way.
        out: the table, as JSON; what is in it is not trained anew.
        tell: gets a line and the share of the runs that is done.
        again: whether what is in it is trained anew all the same.

    Raises:
        ValueError: if the texts cannot be had.
    """
    ids = read(corpus_in(texts), tokenizers.Tokenizer.from_file(str(TOKENIZER)))
    for folder in (work, out.parent):
        folder.mkdir(parents=True, exist_ok=True)
    if again:
        out.unlink(missing_ok=True)
    yield from run(ids, work, out, tell)


def run(texts: Texts, work: Path, out: Path, tell: Callable[[str, float], None]) -> Iterator[dict[str, Any]]:
    """Train what is not in the file yet, and write the file after each run; yield what comes out.

    Args:
        texts: the corpus as token ids.
        work: keeps the checkpoint of the run under way: who stops it goes on from there.
        out: the table, as JSON.
        tell: gets a line and the share of the runs that is done.
    """
    table = json.loads(out.read_text("utf-8")) if out.exists() else []
    known = {(row["d_model"], row["steps"]) for row in table}
    every = cells()
    for number, cell in enumerate(every):
        if (cell.width, cell.recipe.steps) in known:
            continue
        checkpoint = work / f"{NAME}-{cell.width}-{cell.recipe.steps}.pt"
        training = Training(cell.recipe, part_of(texts, cell.share), checkpoint, config=cell.config)
        for point in training.points():
            line = f"d_model {cell.width}, {cell.share:.0%} of the prose, step {point['step']:.0f}"
            tell(line, (number + point["step"] / cell.recipe.steps) / len(every))
        table.append(outcome(cell, training))
        out.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
        checkpoint.unlink()
        yield table[-1]
