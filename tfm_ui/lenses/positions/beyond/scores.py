"""Scores and biases at distances that no text of max_len tokens has."""

from dataclasses import dataclass

import pandas as pd
from torch import Tensor

from tfm_core.positional.schemes import T5
from tfm_ui.lenses.positions.beyond import recipe
from tfm_ui.lenses.positions.beyond.max_len import as_trained, where
from tfm_ui.lenses.positions.schemes import Scheme, schemes, specs_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class Scores(Result):
    """A and B, as far as they act on scores.

    Attributes:
        state: what was asked for.
        sides: each with its unit and a value per distance, float32 (length), of a key so far before the query.
    """

    state: PositionsState
    sides: list[tuple[Scheme, str, Tensor]]

    def sentence(self) -> str:
        """The value at the farthest distance within max_len, and beyond."""
        return " ".join(self._about(*side) for side in self.sides)

    def _about(self, scheme: Scheme, unit: str, values: Tensor) -> str:
        within, length = min(self.state.max_len, len(values)), len(values)
        said = f"{scheme.title}: {unit} is {formats.number(values[within - 1].item())} at distance {within - 1}"
        if length > within:
            said += f", the farthest within max_len, and {formats.number(values[-1].item())} at {length - 1}"
        if not isinstance(scheme.module, T5):
            return f"{said}."
        first = scheme.module.shared_from
        reached = "" if length > first else " None on screen is as far."
        return f"{said}. Keys from distance {first} on share one bucket, and so one bias.{reached}"

    def laws(self) -> dict[str, bool]:
        """What must hold of each scheme's numbers at large distances."""
        kept = {}
        for scheme, _, values in self.sides:
            if isinstance(scheme.module, T5):
                shared = values[scheme.module.shared_from :]
                if len(shared) > 1:
                    kept[f"{scheme.title}: one bias for {formats.plural(len(shared), 'distance')}"] = bool(
                        (shared == shared[0]).all()
                    )
            elif scheme.has("bias_at") and len(values) > 2:
                steps = values.double().diff()
                straight = (steps - steps[0]).abs().max() <= 1e-6 * values.abs().max()
                kept[f"{scheme.title}: every step farther costs the same"] = bool(straight)
        return kept

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        columns = {f"{scheme.title}, {unit}": values.tolist() for scheme, unit, values in self.sides}
        return pd.DataFrame({"max_len": where(self.state), **columns}).rename_axis("distance")

    def recipe(self) -> str:
        """A script that leaves each side's values in `scores`."""
        shown = specs_of([scheme for scheme, *_ in self.sides])
        return script(recipe.scores, schemes=shown, length=self.state.length, head=self.state.bias_head)


def scores(model: ModelState, state: PositionsState) -> Scores:
    """The scores or biases of A and B, for keys before the query: every model has these."""
    state, sides = as_trained(model, state), []
    for scheme in schemes(model, state):
        if scheme.has("bias_at") or scheme.has("rotate"):
            unit = f"bias of head {state.bias_head + 1}" if scheme.has("bias_at") else "Rₘq·R₀k"
            values = recipe.score_behind(scheme.module, state.length, state.bias_head, model.seed)
            sides.append((scheme, unit, values.float()))
    return Scores(state, sides)
