"""Tokens that a reader has put in place of drawn ones, as a link writes them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfm_ui.state.fields import whole_number

MOST_STEPS = 200
MOST_FORCED = 12
EXPECTED = (
    f"it can hold at most {MOST_FORCED} pairs of a step and a token id, such as 3.417, separated by spaces; "
    f"steps go from 1 to {MOST_STEPS}"
)


@dataclass(frozen=True)
class Forced:
    """The field of these tokens: "3.417 9.88" puts token 417 at step 3, and token 88 at step 9."""

    label: str

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The valid pairs by step; of several at a step, the last."""
        words = raw.replace(",", " ").split()
        pairs = {pair[0]: pair[1] for word in words if (pair := _pair(word))}
        text = written(dict(sorted(pairs.items())[:MOST_FORCED]))
        return text, "" if text == " ".join(words) else EXPECTED


def forced_in(text: str) -> dict[int, int]:
    """The number of a step, from 1 -> the token id that is put there."""
    return dict(pair for word in text.split() if (pair := _pair(word)))


def written(forced: Mapping[int, int]) -> str:
    """The text of these pairs, by step."""
    return " ".join(f"{step}.{token}" for step, token in sorted(forced.items()))


def _pair(word: str) -> tuple[int, int] | None:
    step, _, token = word.partition(".")
    numbers = whole_number(step), whole_number(token)
    if numbers[0] is None or numbers[1] is None or not 1 <= numbers[0] <= MOST_STEPS:
        return None
    return numbers[0], numbers[1]
