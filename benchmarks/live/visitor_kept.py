"""What visitors do, and what they note."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.live.visitor_page import with_values


@dataclass
class Kept:
    """What was seen by visitors; all times are in seconds.

    Attributes:
        openings: from a link's first request until its page and its pictures are there.
        pictures: from a move to its pictures and words, where nobody had asked for this value before.
        known: the same of a value that others had asked for.
        pages: from a move until its page has been run.
        moves: how many moves there were, and of how many nobody has seen pictures, as the next came before.
        refused: answers of 503 in place of pictures.
        errors: what went wrong, in words.
    """

    openings: list[float] = field(default_factory=list)
    pictures: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    moves: int = 0
    overtaken: int = 0
    refused: int = 0
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Move:
    """What a visitor does: gives controls other values.

    Attributes:
        values: the link's parameter -> its value.
        at: when, as `time.perf_counter` tells it.
        is_known: whether somebody has asked for these values before.
    """

    values: Mapping[str, str]
    at: float
    is_known: bool = False

    def is_in(self, query: str) -> bool:
        """Whether a link has these values."""
        return with_values(query, self.values) == with_values(query, {})
