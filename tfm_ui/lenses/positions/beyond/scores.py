"""Scores and biases at distances that no text of max_len tokens has."""

from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from tfm_core.positional.schemes import T5
from tfm_core.study.position_laws import drawn_pair
from tfm_ui.lenses.positions.beyond.vectors import where
from tfm_ui.lenses.positions.measured import head_of, opening, turns
from tfm_ui.lenses.positions.pairs import turned
from tfm_ui.lenses.positions.schemes import Scheme, schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look


@dataclass(frozen=True)
class Scores:
    """A and B, as far as they act on scores.

    Attributes:
        model, state: what was asked for.
        sides: each with its unit and a value per distance, float32 (length), of a key so far behind the query.
    """

    model: ModelState
    state: PositionsState
    sides: list[tuple[Scheme, str, Tensor]]

    @property
    def sentence(self) -> str:
        """The value at the farthest distance within max_len, and beyond."""
        return " ".join(self._about(*side) for side in self.sides)

    def _about(self, scheme: Scheme, unit: str, values: Tensor) -> str:
        within, length = min(self.state.max_len, len(values)), len(values)
        said = f"{scheme.title}: {unit} is {look.number(values[within - 1].item())} at distance {within - 1}"
        if length > within:
            said += f", the farthest within max_len, and {look.number(values[-1].item())} at {length - 1}"
        if not isinstance(scheme.module, T5):
            return f"{said}."
        first = scheme.module.shared_from
        reached = "" if length > first else " None on screen is as far."
        return f"{said}. Keys from distance {first} on share one bucket, and so one bias.{reached}"

    def laws(self) -> dict[str, bool]:
        """What each scheme promises beyond."""
        found = {}
        for scheme, _, values in self.sides:
            if isinstance(scheme.module, T5):
                shared = values[scheme.module.shared_from :]
                if len(shared) > 1:
                    found[f"{scheme.title}: one bias for {look.plural(len(shared), 'distance')}"] = bool(
                        (shared == shared[0]).all()
                    )
            elif scheme.has("bias_at") and len(values) > 2:
                steps = values.double().diff()
                straight = (steps - steps[0]).abs().max() <= 1e-6 * values.abs().max()
                found[f"{scheme.title}: every step farther costs the same"] = bool(straight)
        return found

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        columns = {f"{scheme.title}, {unit}": values.tolist() for scheme, unit, values in self.sides}
        return pd.DataFrame({"max_len": where(self.state), **columns}).rename_axis("distance")

    @property
    def recipe(self) -> str:
        """Lines of Python that leave each side's values in `scores_A` and `scores_B`."""
        length = self.state.length
        lines = opening(self.model, [scheme for scheme, *_ in self.sides])
        for scheme, *_ in self.sides:
            if scheme.has("bias_at"):
                lines.append(
                    f"scores_{scheme.side} = {scheme.side}.bias_at(-torch.arange({length}))[{head_of(self.state)}]"
                )
            else:
                lines += [*turns(self.model, scheme, length), f"scores_{scheme.side} = rows @ others[0]"]
        return "\n".join(lines)


def scores(model: ModelState, state: PositionsState) -> Scores:
    """What is asked for of A and B: of keys behind the query, as every model has them."""
    at, found = torch.arange(state.length), []
    for scheme in schemes(model, state):
        if scheme.has("bias_at"):
            bias = scheme.module.bias_at(-at)
            assert bias is not None
            found.append((scheme, f"bias of head {head_of(state) + 1}", bias[head_of(state)].float()))
        elif scheme.has("rotate"):
            rows, others = (turned(scheme.module, x, state.length) for x in drawn_pair(scheme.width, model.seed))
            found.append((scheme, "Rₘq·R₀k", rows @ others[0]))
    return Scores(model, state, found)
