"""What questions are called in links: by names, which stay when questions are inserted or reordered. Pure."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from tfm_ui.page.question_numbers import NAMES

END = "end"  # in the place of a name: all questions of the lens have been asked, and the row says what comes next


def name_in_links(title: str) -> str:
    """A title as a name of letters, digits and hyphens: "Why √dₖ" is "why-dk"."""
    plain = unicodedata.normalize("NFKD", title.replace("’", "")).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def names_in_links(lens: str, names: Sequence[str]) -> Mapping[str, Any]:
    """The limits of the field `question` of a lens's state: its questions' names, END, and what numbers stood for."""
    numbered = enumerate(NAMES.get(lens, "").split(), 1)
    return {
        "names": (*names, END),
        "older": {"0": "", **{str(number): name for number, name in numbered}},
    }
