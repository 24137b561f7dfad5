"""What is measured of the lens's schemes, through the caches; and how the same is had in a plain Python shell."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.study.closest_rows import Closest
from tfm_core.study.position_laws import ShiftError
from tfm_ui.lenses.positions import computed as compute_positions
from tfm_ui.lenses.positions.computed import Spec
from tfm_ui.lenses.positions.pairs import Pairs
from tfm_ui.lenses.positions.schemes import Scheme
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.windows import Part
from tfm_ui.state.model_state import ModelState


def vectors(scheme: Scheme, length: int) -> Tensor:
    """What it adds at each position, (length, width), NaN where it has no such row."""
    return compute_positions.encoding(scheme.spec, length)


def pairs(state: PositionsState, scheme: Scheme) -> Pairs | None:
    """Its table position x position, as the controls ask for it."""
    return compute_positions.position_pairs(*_table_of(state, scheme))


def square(state: PositionsState, scheme: Scheme, part: Part) -> NDArray[np.float32] | None:
    """A part of this table, pooled."""
    return compute_positions.position_square(*_table_of(state, scheme), part)


def _table_of(state: PositionsState, scheme: Scheme) -> tuple[Spec, int, str, int]:
    biased = scheme.has("bias_at")  # what the table does not depend on is not asked for
    return scheme.spec, state.length, "" if biased else state.measure, head_of(state) if biased else 0


def head_of(state: PositionsState) -> int:
    """The head of the bias that is looked at, from 0."""
    return min(state.head, state.heads) - 1


def nearest(scheme: Scheme, length: int) -> Closest:
    """Its two positions that are nearest to each other."""
    return compute_positions.closest_positions(scheme.spec, length)


def shift_left(scheme: Scheme, length: int, shift: int) -> ShiftError | None:
    """What a linear map for this shift leaves."""
    return compute_positions.position_shift(scheme.spec, length, shift)


def known(scheme: Scheme, length: int) -> int:
    """How many of the positions it has."""
    return compute_positions.known(scheme.spec, length)


def opening(model: ModelState, schemes: Sequence[Scheme], *imports: str) -> list[str]:
    """The first lines of a script: the schemes by the names of their sides, with the weights of this seed."""
    lines = [
        "import torch",
        "from tfm_core import POSITIONAL",
        *["from tfm_core.model.initialization import fill_parameters"] * any(scheme.is_trained for scheme in schemes),
        *imports,
        "",
        "torch.set_num_threads(1)  # as the app does: the last digit depends on it",
    ]
    for scheme in schemes:
        side, given = scheme.side, ", ".join(f"{name}={value!r}" for name, value in scheme.spec.arguments.items())
        lines.append(f"{side} = POSITIONAL[{scheme.name!r}]({given})")
        if scheme.is_trained:
            stack = f'{{"stack": torch.nn.ModuleDict({{"positional": {side}}})}}'
            lines.append(f"fill_parameters(torch.nn.ModuleDict({stack}), {model.seed})  # as in a model of this seed")
            lines.append(f"{side}.requires_grad_(False)")
    return lines


def draws(model: ModelState, width: int) -> list[str]:
    """Lines that draw the query and the key."""
    return [
        "from tfm_core.study.position_laws import drawn_pair",
        f"query, key = drawn_pair({width}, seed={model.seed})",
    ]


def turns(model: ModelState, scheme: Scheme, length: int) -> list[str]:
    """Lines that leave both, turned to each position, in `rows` and `others`, (position, width)."""
    turned = f"{scheme.side}.rotate(x.expand(1, 1, {length}, -1))[0, 0]"
    return [*draws(model, scheme.width), f"rows, others = ({turned} for x in (query, key))"]
