"""The schemes that the lens shows, as modules of the library, and what they add. Results are shared: never write."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core import POSITIONAL, Positional
from tfm_core.model.trained import RANDOM
from tfm_ui.lenses.positions.maths import lone_scheme, turned_pair
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import Code
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.trained import run_of

LEARNS = ("learned", "t5")  # schemes that have parameters of their own


@dataclass(frozen=True, kw_only=True)
class Spec:
    """How a scheme is made: its name in `POSITIONAL`, its arguments, and the seed of its weights, or who trained them.

    Attributes:
        weights: "random", or the name of a run, whose stack has the scheme.
    """

    name: str
    d_model: int
    num_heads: int
    max_len: int
    bidirectional: bool
    base: float
    seed: int
    weights: str = RANDOM
    stack: str = "stack"

    @property
    def arguments(self) -> dict[str, Any]:
        """What `lone_scheme` is called with."""
        known = asdict(self)
        return known if self.weights != RANDOM else {k: v for k, v in known.items() if k not in ("weights", "stack")}


@cached(heavy=never)
def module_of(spec: Spec) -> Positional:
    """The scheme itself."""
    return lone_scheme(**spec.arguments)


@cached(heavy=never)
def encoding(spec: Spec, length: int) -> Tensor:
    """What a scheme adds to the embeddings, (length, width); NaN where it has nothing to add.

    Raises:
        ValueError: for a scheme that is not added to the embeddings.
    """
    vectors = module_of(spec).encode(defined(spec, length))
    if vectors is None:
        raise ValueError(f"expected a scheme that is added to the embeddings, got {spec.name}")
    missing = length - len(vectors)
    return F.pad(vectors, (0, 0, 0, missing), value=torch.nan) if missing else vectors


def defined(spec: Spec, length: int) -> int:
    """How many of the first `length` positions the scheme is defined for: a table ends at max_len."""
    return min(length, spec.max_len) if "max_len" in POSITIONAL[spec.name].about.depends_on else length


@dataclass(frozen=True)
class Scheme:
    """A scheme that is shown.

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
        return module_of(self.spec)

    @property
    def width(self) -> int:
        """The width of its vectors."""
        return self.spec.d_model

    @property
    def title(self) -> str:
        """The scheme's side and its name, for a panel's title."""
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
        """Whether its numbers are learned in training, and noise before that."""
        return any(True for _ in self.module.parameters())

    @property
    def trained_on(self) -> str:
        """The run that has trained its numbers; "" if none has."""
        return "" if self.spec.weights == RANDOM else self.spec.weights

    def defined(self, length: int) -> int:
        """How many of the first `length` positions it is defined for."""
        return defined(self.spec, length)

    def added(self, length: int) -> Tensor:
        """What it adds at each position, (length, width), NaN where it is not defined."""
        return encoding(self.spec, length)

    def compared(self, length: int) -> tuple[Tensor, Tensor] | None:
        """What positions are compared by, twice (length, width): vectors that are added, or a query and a key, turned.

        None of a scheme that has neither.
        """
        if self.has("encode"):
            return self.added(length), self.added(length)
        return turned_pair(self.module, length, self.spec.seed) if self.has("rotate") else None


def schemes(model: ModelState, state: PositionsState) -> list[Scheme]:
    """A, and B if it is something else."""
    return [_scheme(side, name, model, state) for name, side in state.sides.items()]


def chosen(model: ModelState, state: PositionsState, side: str, place: str) -> Scheme | None:
    """The scheme of this side, if it enters at this place."""
    return next((scheme for scheme in schemes(model, state) if scheme.side == side and scheme.has(place)), None)


def aside_of(model: ModelState, state: PositionsState) -> str:
    """What was changed of what the controls ask for; "" if nothing."""
    return " ".join(scheme.aside for scheme in schemes(model, state) if scheme.aside)


def plain_scheme(model: ModelState, state: PositionsState, name: str) -> Scheme:
    """A scheme that stands beside A and B, and is neither."""
    return _scheme("", name, model, state)


def specs_of(shown: Sequence[Scheme]) -> Code:
    """How these schemes are made, by their sides, for the header of a recipe."""
    lines = [f"    {scheme.side!r}: {scheme.spec.arguments!r}," for scheme in shown]
    return Code("\n".join(["{", *lines, "}"]) if lines else "{}")


def _as_trained(side: str, model: ModelState, state: PositionsState) -> Scheme:
    """The scheme of the sidebar's model, whose numbers were trained: it has the sizes that it was trained with."""
    config = model.config
    spec = Spec(
        name=config.positional,
        d_model=config.d_model,
        num_heads=config.num_heads,
        max_len=config.max_len,
        bidirectional=model.architecture != "decoder",
        base=PositionsState.base,
        seed=model.seed,
        weights=model.weights,
        stack="encoder" if model.is_encoder_decoder else "stack",
    )
    sizes = f"a width of {config.d_model}, {config.num_heads} heads, {config.max_len} positions"
    return Scheme(side, config.positional, spec, f"{config.positional} is shown as it was trained: {sizes}.")


def _scheme(side: str, name: str, model: ModelState, state: PositionsState) -> Scheme:
    if side and name == model.positional and model.trained and run_of(model.weights) and name in LEARNS:
        return _as_trained(side, model, state)
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
