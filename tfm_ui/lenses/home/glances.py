"""A glance at the model for each card of Home. Nothing is drawn here."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_core import STORE
from tfm_core.training.config import of_task
from tfm_core.training.run import Run
from tfm_ui.live import passes, places
from tfm_ui.state.model_state import ModelState

PARTS = {  # part of the model -> a sign of it in the names of its modules
    "embedding": "embedding",
    "positions": "positional",
    "attention": "attention",
    "feed-forward": "feed_forward",
}
REST = "norms and the rest"
LEARNED = of_task("reverse")  # the run that the Training lens opens on; it comes with the app


@dataclass(frozen=True)
class Positions:
    """What a positional scheme does at each position.

    Attributes:
        name: what is shown.
        columns: what a column is.
        values: float32 (position, column).
    """

    name: str
    columns: str
    values: NDArray[np.float32]


def positions(model: ModelState) -> Positions:
    """What the model's own scheme does: the vectors that it adds, a vector that it turns, or the bias of head 1."""
    scheme = passes.scheme(model, places.kind_of(model, "encoder"))
    assert scheme is not None  # only cross-attention has none
    length = model.length
    with torch.no_grad():
        if (added := scheme.encode(length)) is not None:
            return Positions(f"{model.positional}: added to each token", "dimension", added.numpy())
        ones = torch.ones(1, 1, length, model.config.head_dim)
        if (turned := scheme.rotate(ones)) is not None:
            return Positions(f"{model.positional}: a vector of ones, turned", "dimension", turned[0, 0].numpy())
        if (bias := scheme.bias(length, length)) is not None:
            return Positions(f"{model.positional}: added to the scores of head 1", "key", bias[0].numpy())
    nothing = np.zeros((length, model.d_model), np.float32)
    return Positions("none: nothing is added", "dimension", nothing)


def parameters_by_part(model: ModelState) -> dict[str, int]:
    """Part of the model -> how many parameters it has; parts without a parameter are left out."""
    counts = dict.fromkeys([*PARTS, REST], 0)
    for name, parameter in passes.transformer(model.config).named_parameters():
        counts[_part_of(name)] += parameter.numel()
    return {part: count for part, count in counts.items() if count}


def learned() -> Run:
    """How `LEARNED` was learned."""
    run = STORE.find(LEARNED)
    assert run is not None  # shipped
    return run


def _part_of(name: str) -> str:
    *modules, _ = name.split(".")
    if any("norm" in module for module in modules):
        return REST
    return next((part for part, sign in PARTS.items() if any(sign in module for module in modules)), REST)
