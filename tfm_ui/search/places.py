"""Where each control is: in which views, and with which other settings, as `python -m tests.places` has measured it.

Rows of controls are drawn by functions, too, so that only the pages themselves tell which controls they have.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from tfm_ui.folders import ASSETS

FILE = ASSETS / "search" / "places.json"


@dataclass(frozen=True)
class Place:
    """Where a control is.

    Attributes:
        views: the names of the views of its lens that show it; of a control of the model none, as all pages show it.
        needs: parameter of a link -> the value without which it is not shown; empty if it is shown at first.
    """

    views: Sequence[str]
    needs: Mapping[str, str]


@cache
def places() -> Mapping[str, Place]:
    """Parameter of a link -> where its control is."""
    return {name: Place(**place) for name, place in json.loads(FILE.read_text(encoding="utf-8")).items()}
