"""The schemes that the lens shows, as modules of the library without a model, and vectors that they add or turn.

A scheme that enters a model at several places is shown once for each of them, as if it entered nowhere else.

Results of the cache are shared: never write.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core import POSITIONAL, Positional
from tfm_core.model.initialization import fill_parameters
from tfm_core.model.trained import RANDOM, put_trained
from tfm_core.positional.schemes import PAIRINGS
from tfm_core.study.position_laws import drawn_pair, turned_to_each
from tfm_ui.lenses.positions.state import HALVES, WIDEST, PositionsState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import Code
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.trained import run_of

ENTERS = {  # place -> where that is, in words
    "encode": "before the first layer, where it is added to the embeddings",
    "rotate": "inside each self-attention, where it turns queries and keys",
    "bias_at": "inside each self-attention, where it is added to the scores",
}
DOES = {"encode": "added to embeddings", "rotate": "turned", "bias_at": "added to scores"}  # the same in titles


def enters(name: str) -> str:
    """Where a scheme enters a model, in words."""
    return " and ".join(ENTERS[place] for place in POSITIONAL[name].enters()) or "nowhere"


def those(place: str = "", *, of_waves: bool = False) -> list[str]:
    """The names of the schemes that enter at this one of `PLACES`, or anywhere; if asked, where they are waves."""
    places = {name: scheme.waves_at if of_waves else scheme.enters() for name, scheme in POSITIONAL.items()}
    return [name for name, at in places.items() if (place in at if place else at)]


def parameters(name: str, *, d_model: int, num_heads: int, max_len: int) -> int:
    """How many numbers a scheme of these sizes learns."""
    with torch.device("meta"):  # counted, not drawn
        scheme = POSITIONAL[name](d_model=d_model, num_heads=num_heads, max_len=max_len)
    return sum(parameter.numel() for parameter in scheme.parameters())


def lone_scheme(
    *, name: str, seed: int, weights: str = RANDOM, stack: str = "stack", place: str = "", **sizes: Any
) -> Positional:
    """A positional scheme without a model, its weights those that a single stack of this seed has, or a trained one.

    With a place, it is what a scheme of several places does there.
    """
    kind = POSITIONAL[name].at(place) if place else POSITIONAL[name]
    scheme = kind(**sizes)
    holder = torch.nn.ModuleDict({stack: torch.nn.ModuleDict({"positional": scheme})})
    fill_parameters(holder, seed)
    if weights != RANDOM:
        put_trained(holder, weights)
    return scheme.eval().requires_grad_(False)


def added_vectors(spec: Mapping[str, Any], rows: int) -> Tensor:
    """What a scheme adds to the embeddings at the first `rows` positions, (position, width)."""
    vectors = lone_scheme(**spec).encode(rows)
    assert vectors is not None
    return vectors


def turned_pair(scheme: Positional, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """A drawn query and a drawn key, each turned to each position: twice (length, width)."""
    query, key = drawn_pair(scheme.d_model, seed)
    return turned_to_each(scheme, query, length), turned_to_each(scheme, key, length)


def compared_vectors(scheme: Positional, rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """What positions are compared by: the vectors that are added, twice; or a query and a key, turned to each one."""
    added = scheme.encode(rows)
    return turned_pair(scheme, rows, seed) if added is None else (added, added)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """How a scheme is made: its name in `POSITIONAL`, its arguments, the seed of its weights, or who trained them."""

    name: str
    d_model: int
    num_heads: int
    max_len: int
    bidirectional: bool
    base: float
    seed: int
    weights: str = RANDOM
    """"random", or the name of a run, whose stack has the scheme."""
    stack: str = "stack"
    place: str = ""
    """The place where it is shown, of several places where it enters; "" if there are not several."""
    pairing: str = HALVES
    """Of a scheme that turns, which dimensions turn together, one of `PAIRINGS`."""

    @property
    def arguments(self) -> dict[str, Any]:
        """What `lone_scheme` is called with."""
        left_out = [*(["weights", "stack"] if self.weights == RANDOM else []), *([] if self.place else ["place"])]
        left_out += ["pairing"] if self.pairing == HALVES else []
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    @property
    def kind(self) -> type[Positional]:
        """The scheme's class; of several places where it enters, at the one that is shown."""
        return POSITIONAL[self.name].at(self.place) if self.place else POSITIONAL[self.name]

    def defined(self, length: int) -> int:
        """How many of the first `length` positions the scheme is defined for: a table ends at max_len."""
        return min(length, self.max_len) if self.kind.ends_at_max_len() else length


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
    vectors = module_of(spec).encode(spec.defined(length))
    if vectors is None:
        raise ValueError(f"expected a scheme that is added to the embeddings, got {spec.name}")
    missing = length - len(vectors)
    return F.pad(vectors, (0, 0, 0, missing), value=torch.nan) if missing else vectors


def compared(spec: Spec, length: int) -> tuple[Tensor, Tensor]:
    """What positions are compared by, twice (length, width): vectors that are added, or a query and a key, turned."""
    scheme = module_of(spec)
    if "encode" in scheme.enters():
        return encoding(spec, length), encoding(spec, length)
    return turned_pair(scheme, length, spec.seed)


@dataclass(frozen=True)
class Scheme:
    """A scheme that is shown, at one place where it enters, if it enters anywhere."""

    side: str
    """"A" or "B"; "" of a scheme that stands beside them."""
    name: str
    """Its name in `POSITIONAL`."""
    spec: Spec
    """How it is made."""
    aside: str
    """What was changed of what the controls ask for, in a sentence; "" if nothing."""

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
        """The scheme's side and its name, for a panel's title; of several places, which one is shown."""
        return f"{self.side}: {self.called}"

    @property
    def called(self) -> str:
        """Its name; of several places where it enters, with the one that is shown."""
        return f"{self.name}, {DOES[self.spec.place]}" if self.spec.place else self.name

    @property
    def key(self) -> str:
        """What stands for it in recipes: its side; of several places where it enters, with the one that is shown."""
        return f"{self.side}, {DOES[self.spec.place]}" if self.spec.place else self.side

    def has(self, place: str) -> bool:
        """Whether it enters at this one of `PLACES`."""
        return place in self.module.enters()

    @property
    def has_waves(self) -> bool:
        """Whether its numbers are sines and cosines."""
        return bool(self.module.waves_at)

    @property
    def is_trained(self) -> bool:
        """Whether its numbers are learned in training, and noise before that."""
        return any(True for _ in self.module.parameters())

    @property
    def trained_on(self) -> str:
        """The run that has trained its numbers; "" if none has."""
        return "" if self.spec.weights == RANDOM else self.spec.weights

    @property
    def shared_from(self) -> int | None:
        """The first distance back from which all keys share one bias; None if no two distances must."""
        return self.module.shared_from

    def defined(self, length: int) -> int:
        """How many of the first `length` positions it is defined for."""
        return self.spec.defined(length)

    def added(self, length: int) -> Tensor:
        """What it adds at each position, (length, width), NaN where it is not defined."""
        return encoding(self.spec, length)

    def sources(self, place: str) -> list[Callable[..., Any]]:
        """Its method of this place, and what that calls."""
        return [getattr(type(self.module), place), *self.module.equations]


def schemes(model: ModelState, state: PositionsState) -> list[Scheme]:
    """A, and B if it is something else; each as often as there are places where it enters, but once at least."""
    return [_scheme(side, name, model, state, place) for name, side in state.sides.items() for place in _places(name)]


def aside_of(model: ModelState, state: PositionsState) -> str:
    """What was changed of what the controls ask for; "" if nothing."""
    return " ".join(dict.fromkeys(scheme.aside for scheme in schemes(model, state) if scheme.aside))


def first_scheme(model: ModelState, state: PositionsState, place: str) -> Scheme:
    """The first of all schemes that enter at this one of `PLACES`, which stands beside A and B, and is neither."""
    name = those(place)[0]
    return _scheme("", name, model, state, place if place in _places(name) else "")


def _places(name: str) -> tuple[str, ...]:
    """The places where a scheme is shown, one by one; "" alone where there are not several."""
    places = POSITIONAL[name].enters()
    return places if len(places) > 1 else ("",)


def specs_of(shown: Sequence[Scheme]) -> Code:
    """How these schemes are made, by their sides, for the header of a recipe."""
    lines = [f"    {scheme.key!r}: {scheme.spec.arguments!r}," for scheme in shown]
    return Code("\n".join(["{", *lines, "}"]) if lines else "{}")


def _scheme(side: str, name: str, model: ModelState, state: PositionsState, place: str) -> Scheme:
    width = _possible_width(name, state.width)
    depends = POSITIONAL[name].about.depends_on
    spec = Spec(  # what a scheme does not depend on stays what it is while it is dragged
        name=name,
        d_model=width,
        num_heads=state.heads,
        max_len=state.max_len if "max_len" in depends else PositionsState.max_len,
        bidirectional=model.architecture != "decoder",
        base=state.base if "base" in depends else PositionsState.base,
        seed=model.seed,
        place=place,
    )
    turns = spec.kind.overrides("pairs")
    if turns:
        spec = replace(spec, pairing=state.pairing)
    has_learned = name == model.positional and model.trained and run_of(model.weights)
    if side and has_learned and spec.kind.tables:
        return _as_trained(side, model, spec)
    aside = f"{name} cannot have a width of {state.width}: {width} is shown."
    if "rotate" in POSITIONAL[name].enters():
        aside = f"{name} turns pairs of dimensions: a width of {state.width} cannot be halved, {width} is shown."
    asides = [aside] if width != state.width else []
    asides += [f"{name} turns {PAIRINGS[spec.pairing]}."] if turns and spec.pairing != HALVES else []
    return Scheme(side, name, spec, " ".join(asides))


def _possible_width(name: str, width: int) -> int:
    """The nearest width that a scheme can have, of one head if it turns queries and keys."""
    below, above = range(width, 0, -1), range(width + 1, WIDEST + 1)
    for near in sorted(chain(below, above), key=lambda other: abs(other - width)):  # of two as near, the smaller
        try:
            POSITIONAL[name].check(d_model=near, num_heads=1)
        except ValueError:
            continue
        return near
    return width


def _as_trained(side: str, model: ModelState, spec: Spec) -> Scheme:
    """The scheme of the sidebar's model, whose numbers were trained: it has the sizes that it was trained with."""
    config, stack = model.config, "encoder" if model.is_encoder_decoder else "stack"
    trained = replace(
        spec,
        d_model=config.d_model,
        num_heads=config.num_heads,
        max_len=config.max_len,
        base=PositionsState.base,
        weights=model.weights,
        stack=stack,
    )
    told = f"a width of {config.d_model}, {config.num_heads} heads, {config.max_len} positions"
    return Scheme(side, spec.name, trained, f"{spec.name} is shown as it was trained: {told}.")
