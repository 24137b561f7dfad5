"""What a scheme adds to the embeddings: its values by position and dimension, and what they come to."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch.nn.functional as F
from torch import Tensor

from tfm_core.positional.maths import sinusoidal_encoding
from tfm_ui.lenses.positions.schemes import Scheme, specs_of
from tfm_ui.lenses.positions.see import recipe
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import windows
from tfm_ui.live.script import script
from tfm_ui.live.tables import Part
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

CURVES = 8  # of chosen dimensions, at most: there are this many colours


@dataclass(frozen=True)
class Encoded(Result):
    """One scheme's vectors.

    Attributes:
        scheme: that is added to the embeddings.
        values: (length, width), NaN where it has none.
        position: that is looked at.
        seed: of the weights.
        base: of the sinusoids that a trained scheme is compared with.
    """

    scheme: Scheme
    values: Tensor
    position: int
    seed: int
    base: float

    @property
    def defined(self) -> int:
        """How many positions the scheme has a vector for."""
        return self.scheme.defined(len(self.values))

    @property
    def top(self) -> float:
        """The value furthest from 0."""
        low, high = self.values[: self.defined].aminmax()
        return max(-low.item(), high.item())

    def part(self, value: str) -> Part:
        """What the control's value means of this table."""
        return windows.part_of(value, *self.values.shape)

    @property
    def shape(self) -> str:
        """The shape in symbols and numbers."""
        length, width = self.values.shape
        return f"position × dimension = {formats.count(length)} × {formats.count(width)}"

    @property
    def about(self) -> str:
        """The picture in words."""
        length, width = self.values.shape
        positions, dimensions = formats.plural(length, "position"), formats.plural(width, "dimension")
        return f"{self.scheme.title}: {positions} by {dimensions}, none further from 0 than {formats.number(self.top)}."

    def sentence(self) -> str:
        """What it comes to."""
        vectors = self.values[: self.defined]
        low, high = (formats.number(end.item()) for end in vectors.aminmax())
        said = [f"All {formats.count(vectors.numel())} values lie from {low} to {high}."]
        if self.scheme.is_trained:
            spread = f"with a standard deviation of {vectors.std(correction=0):.2f}."
            said.append(
                f"They were learned, with “{self.scheme.trained_on}”, {spread}"
                if self.scheme.trained_on
                else f"Before training they are noise: random numbers of the model’s seed, {self.seed}, {spread}"
            )
        if (near := likeness(vectors)) is not None:
            said.append(f"The vectors of neighbours have a cosine of {formats.number(near)} on average{self._beside}.")
        if self.defined < len(self.values):
            beyond = len(self.values) - self.defined
            are = "1 position is" if beyond == 1 else f"{formats.count(beyond)} positions are"
            said.append(f"From position {self.defined} on, {are} not defined.")
        return " ".join(said)

    @property
    def _beside(self) -> str:
        """The cosine that sinusoids of this size have, to compare a trained scheme with."""
        if not self.scheme.is_trained:
            return ""
        waves = likeness(sinusoidal_encoding(self.defined, self.values.shape[1], base=self.base))
        return f"; sinusoids of this size have {formats.number(waves or 0)}"

    @property
    def waves(self) -> Tensor | None:
        """The wavelengths of its pairs of dimensions, in positions; None if it is not made of waves."""
        return self.scheme.module.wavelengths(self.values.shape[1])

    def laws(self) -> dict[str, bool]:
        """Whether each pair of dimensions of waves is a point on the unit circle: then all vectors are equally long."""
        width = self.values.shape[1]
        if self.waves is None or width < 2:
            return {}
        pairs = self.values[:, : width - width % 2].reshape(len(self.values), -1, 2)
        off = (pairs.square().sum(-1) - 1).abs().max().item()
        count = pairs.shape[1]
        where = "its pair" if count == 1 else f"all {count} pairs"
        return {f"sin² + cos² = 1 in {where}, at most {formats.tiny(off)} off": off < 1e-6}

    def table(self) -> pd.DataFrame:
        """A row per position, a column per dimension."""
        return pd.DataFrame(self.values.numpy(), index=pd.RangeIndex(len(self.values), name="position \\ dimension"))

    def recipe(self) -> str:
        """A script that leaves them in `values`, side -> (position, dimension)."""
        return recipe_of([self])


def recipe_of(sides: Sequence[Encoded]) -> str:
    """A script that leaves the vectors of these schemes in `values`, side -> (position, dimension)."""
    defined = {side.scheme.side: side.defined for side in sides}
    return script(recipe.added, schemes=specs_of([side.scheme for side in sides]), defined=defined)


def encoded(model: ModelState, state: PositionsState, scheme: Scheme) -> Encoded:
    """The vectors of a scheme that is added to the embeddings."""
    return Encoded(scheme, scheme.added(state.length), state.position, model.seed, state.base)


def likeness(rows: Tensor) -> float | None:
    """The mean cosine between the vectors of neighbouring positions; None of fewer than two vectors or dimensions."""
    if min(rows.shape) < 2:
        return None
    return F.cosine_similarity(rows[:-1], rows[1:], dim=-1).mean().item()


def dimensions(state: PositionsState, width: int) -> list[int]:
    """The dimensions whose curves are drawn, in the order of their colours."""
    return [int(dim) for dim in state.dims.split() if int(dim) < width][:CURVES]


def toggled(dims: Sequence[int], dim: int) -> str:
    """The field of the dimensions with one more, or one fewer; the others keep their places, as far as they can."""
    kept = list(dims)
    if dim in kept:
        kept[kept.index(dim)] = kept[-1]
        kept.pop()
    else:
        kept = [*kept[: CURVES - 1], dim]
    return " ".join(map(str, kept))
