"""The base class of all lenses' states: a state is a frozen dataclass with a `control(...)` for each field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from tfm_ui.state.fields import Limits, Name, control
from tfm_ui.state.model_state import ModelState


@dataclass(frozen=True, kw_only=True)
class LensState:
    """The base class of a lens's state; a lens without controls uses it as it is.

    Attributes:
        question: the name of the question on screen, as links have it; "" is the first question of the visible view.
        PLACES: the names of the fields that say what is on screen: the view, then what a view shows in place of another
            picture. A link that names a question alone opens what the question is about.
        NOT_SET_UP: the names of fields that no question sets: they say what is on screen, not how it is made.
        EARLIER: parameters that links had once -> the fields that mean together what each of them meant. A link with
            such a parameter sets these fields to its value, unless it has them too.
    """

    EARLIER: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    PLACES: ClassVar[tuple[str, ...]] = ("view",)
    NOT_SET_UP: ClassVar[frozenset[str]] = frozenset({"question"})

    question: str = control(Name("Question"), default="", held=True, local=True)

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """Field name -> attributes of its control that are narrower with this model, such as {"high": 4}."""
        return {}

    @staticmethod
    def without_meaning(model: ModelState) -> set[str]:
        """The fields that mean nothing for this model: their controls are not drawn."""
        return set()
