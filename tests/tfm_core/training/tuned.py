"""A small body that reads sentences in no time, and runs and grids made by hand."""

from collections.abc import Mapping, Sequence

import torch

from tfm_core.language.lab_bert import lab_bert_tokenizer
from tfm_core.model.config import TransformerConfig
from tfm_core.training.compare.finetuning.labelled import Body, drawn, held_out
from tfm_core.training.compare.finetuning.looks import Looks
from tfm_core.training.compare.finetuning.outcome import (
    SEEDS,
    SIZES,
    Bag,
    Grid,
    Tuned,
    TunedPoint,
    Tuning,
    shape_of_maps,
)

SMALL = Body(
    "a small body",
    TransformerConfig(vocab_size=4096, d_model=8, num_heads=2, num_layers=2, norm="post", max_len=128),
    lab_bert_tokenizer,
)
TRAINED = {"nothing": 1_334_659, "frozen": 387, "whole": 1_334_659, "lora-2": 4_483, "lora-8": 16_771}


def sentences(count: int, task: str = "speech"):
    """The first held-out sentences, and some to learn from."""
    return drawn(task, "lab-bert", 50, 0), held_out(task, "lab-bert")[:count]


def tuned(tuning: Tuning, accuracy: float, **more) -> Tuned:
    """A run with this share of right labels, whose maps are even."""
    shape = shape_of_maps(tuning)
    even = tuple((0.25,) * shape[1] for _ in range(shape[0]))
    still = tuple((0.0 if tuning.way == "frozen" else 0.5,) * shape[1] for _ in range(shape[0]))
    maps = {when: torch.full(shape, 1 / shape[-1], dtype=torch.float16) for when in ("before", "after")}
    known = {
        "trained": TRAINED[tuning.way],
        "seconds": 2.5,
        "curve": (TunedPoint(0, None, 0.5), TunedPoint(tuning.steps, 0.25, accuracy)),
        "accuracy": accuracy,
        "before": Looks(even, even, even),
        "after": Looks(even, even, even),
        "moved": still,
        "maps": maps if tuning.seed == 0 else {},
        "made_with": "torch of a test",
    }
    return Tuned(tuning=tuning, **(known | more))


def grid_of(rights: Mapping[str, Sequence[float]], task: str = "authors", bag: float = 0.6) -> Grid:
    """A grid in which each way has the same share of right labels with each number of examples, one for each seed."""
    runs = [
        tuned(Tuning(task=task, way=way, examples=size, seed=seed), rights[way][seed])
        for way in rights
        for size in SIZES
        for seed in SEEDS
    ]
    bags = tuple(Bag(size, seed, bag) for size in SIZES for seed in SEEDS)
    return Grid(task, "lab-bert", tuple(runs), bags, 0.34, 700, 1_334_659, 321.0)
