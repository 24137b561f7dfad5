"""The schemes that the lens shows, as modules of the library with the weights that a model of this seed would have."""

from dataclasses import dataclass

from tfm_core import POSITIONAL, Positional
from tfm_ui.lenses.positions.computed import Spec, lone_scheme
from tfm_ui.lenses.positions.state import NOTHING, PositionsState
from tfm_ui.state.model_state import ModelState


@dataclass(frozen=True)
class Scheme:
    """One of them.

    Attributes:
        side: "A" or "B".
        name: in `POSITIONAL`.
        spec: how it is made.
        aside: what was changed of what the controls ask for, in a sentence; "" if nothing.
    """

    side: str
    name: str
    spec: Spec
    aside: str

    @property
    def module(self) -> Positional:
        """The scheme itself."""
        return lone_scheme(self.spec)

    @property
    def width(self) -> int:
        """Of its vectors."""
        return self.spec.d_model

    @property
    def title(self) -> str:
        """For a panel."""
        return f"{self.side}: {self.name}"

    def has(self, place: str) -> bool:
        """Whether it enters at this one of `PLACES`."""
        return place in self.module.enters()

    @property
    def has_waves(self) -> bool:
        """Whether its numbers are sines and cosines."""
        return "base" in self.module.about.depends_on

    @property
    def is_trained(self) -> bool:
        """Whether its numbers would be learned, and are noise as long as they are not."""
        return any(True for _ in self.module.parameters())


def schemes(model: ModelState, state: PositionsState) -> list[Scheme]:
    """A, and B if it is something else."""
    sides = {"A": state.a} | ({} if state.b in (NOTHING, state.a) else {"B": state.b})
    return [_scheme(side, name, model, state) for side, name in sides.items()]


def chosen(model: ModelState, state: PositionsState, side: str, place: str) -> Scheme | None:
    """The scheme of this side, if it enters at this place."""
    return next((scheme for scheme in schemes(model, state) if scheme.side == side and scheme.has(place)), None)


def _scheme(side: str, name: str, model: ModelState, state: PositionsState) -> Scheme:
    turns_pairs = "rotate" in POSITIONAL[name].enters()
    width = max(2, state.width - state.width % 2) if turns_pairs else state.width
    aside = ""
    if width != state.width:
        aside = f"{name} turns pairs of dimensions: a width of {state.width} cannot be halved, {width} is shown."
    depends = POSITIONAL[name].about.depends_on
    spec = Spec(  # what a scheme does not depend on stays what it is while it is dragged
        name=name,
        d_model=width,
        num_heads=state.heads,
        max_len=state.max_len if "max_len" in depends else PositionsState.max_len,
        bidirectional=model.architecture != "decoder",
        base=state.base if "base" in depends else PositionsState.base,
        seed=model.seed,
    )
    return Scheme(side, name, spec, aside)
