"""What a mistake of the catalogue is: the pieces of a layer that it exchanges, and what is to be said of it."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from tfm_core.study.exercise import Exercise
from tfm_core.study.pieces import Pieces


def always(_: Exercise) -> bool:
    """Every exercise has what the mistake is about."""
    return True


@dataclass(frozen=True)
class Mistake:
    """An entry of the catalogue.

    Attributes:
        about: the part of a transformer that it concerns.
        wrong: the exchanged pieces, by the name of the right one (`pieces.py`).
        right_is: what is right, as a formula or in a few words.
        wrong_is: what is computed instead.
        symptom: what one meets who trains or runs such a model.
        cure: what to do, in a sentence that names the call.
        source: where the right way is defined.
        needs: whether an exercise has what it is about.
        recognise: (right result, a result) -> what tells this mistake in it, "" if it is not this one: for mistakes
            that chance has a part in, which no second computation repeats.
    """

    about: str
    wrong: Pieces
    right_is: str
    wrong_is: str
    symptom: str
    cure: str
    source: str
    needs: Callable[[Exercise], bool] = always
    recognise: Callable[[Tensor, Tensor], str] | None = None
