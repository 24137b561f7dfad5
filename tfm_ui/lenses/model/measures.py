"""What lessons measure on the pages of the Model lens."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch

from tfm_ui.lenses.model.block.steps import Block
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.machine import inputs_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState


def block_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the block that is ringed in the machine on screen has."""
    return Diagram(model, state).picked.block.parameters


def machine_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the machine on screen has in all, whatever its shape."""
    return Diagram(model, state).parameters


def pooled_cosine(model: ModelState, state: ModelLensState) -> float:
    """The cosine between the pooled output and the last hidden state of the first token; 0 without a pooler."""
    if not model.config.pooler:
        return 0.0
    return float(torch.cosine_similarity(*(vector.double() for vector in _first_and_pooled(model)), dim=0))


def same_twice(model: ModelState, state: ModelLensState) -> str:
    """Whether two passes add the same numbers here, each with a draw of the dropout of its own: "yes" or "no"."""
    one, other = (Block(model, replace(state, dropout_draw=state.dropout_draw + more)).dropped for more in (0, 1))
    return "yes" if torch.equal(one, other) else "no"


@cached()
def _first_and_pooled(model: ModelState) -> tuple[torch.Tensor, torch.Tensor]:
    """The last hidden state of the first token, and the pooled output, (d_model) both."""
    inputs, mask = inputs_of(model)
    with torch.no_grad():
        states = transformer(model.config).states(*inputs, mask=mask)
        return states[0, 0], transformer(model.config).pooled(states)[0]


MEASURES: Mapping[str, Callable[[ModelState, ModelLensState], float | str]] = {
    measure.__name__: measure for measure in (block_parameters, machine_parameters, pooled_cosine, same_twice)
}
