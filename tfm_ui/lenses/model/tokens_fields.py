"""The controls of the view "tokens" of the Model lens."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from tfm_core.pretrained.schemes import ALWAYS, INSTALLED
from tfm_ui.state.fields import Choice, Flag, Text, Whole, control
from tfm_ui.state.pretrained import Brought, Known, is_here

YOURS = "your model"
MEASURES = ("tokens", "times English", "tokens a word", "tokens a character", "bytes a token")
SHOWN = ("pieces", "languages", "batch")
LEAST, MOST = 6, 48  # tokens of a row of a batch
SECOND_CHARS = 600


def installed() -> tuple[str, ...]:
    """The names of the schemes of installed models."""
    return tuple(name for name, weights in INSTALLED.items() if is_here(weights))


class HasWeights(Protocol):
    """The state of a model, as far as it is needed here: chains of imports stay short without its class."""

    @property
    def pretrained(self) -> Known | None:
        """The pretrained model whose weights are chosen."""


def names_of(model: HasWeights) -> tuple[str, ...]:
    """The schemes that can be chosen: those that are always there, of installed models, and of the one in the sidebar
    that a visitor has brought.
    """
    mine = model.pretrained
    return (*ALWAYS, *installed(), *([YOURS] if isinstance(mine, Brought) and mine.is_here else []))


@dataclass(frozen=True, kw_only=True)
class TokensFields:
    """The fields of this view; the lens's state has them, too."""

    PLACES: ClassVar[tuple[str, ...]] = ("view", "show")

    show: str = control(Choice("Show", SHOWN, "buttons"), default=SHOWN[0])
    cut: str = control(
        Choice("Tokenizer", (*ALWAYS, *INSTALLED, YOURS), help="Whose history is told, and who makes the batch."),
        default="Lab GPT",
    )
    others: bool = control(Flag("Installed models", help="Their tokenizers, too."), default=False)
    piece: int = control(Whole("Piece", 1, 99_999), default=1, held=True)
    second: str = control(Text("Second text", SECOND_CHARS), default="the dog ran")
    measure: str = control(Choice("Measure", MEASURES), default=MEASURES[0])
    row_length: int = control(
        Whole("max_length", LEAST, MOST, box=True, help="The most tokens of a row, with special ones."), default=10
    )
    paired: bool = control(
        Flag("Two texts in a row", help="With token types, if the tokenizer has them."), default=False
    )
