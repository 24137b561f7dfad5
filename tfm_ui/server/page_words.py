"""What a page says, asked of the pool's workers: pictures of the same link make them compute the same (page/spoken.py).

A run of a page computed it once more, in the process that runs all pages: a third of the run, and up to 300 ms during
which no other page was run.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tfm_ui.pictures.registry import CannotBeShown
from tfm_ui.server.packed import AllFailed, TooLarge
from tfm_ui.server.pool import POOL, Question
from tfm_ui.visitors.compute_limiter import Busy
from tfm_ui.visitors.turn import SlowLaneNeeded, Turn, turn_to_compute

LENGTH = 4  # bytes before each answer, and before each header in one
NOT_NOW = AllFailed, Busy, CannotBeShown, SlowLaneNeeded, TooLarge


def ask(names: Sequence[str], query: str) -> Mapping[str, Mapping[str, Any]]:
    """Place -> what stands there, of the words with these names and the link with this query.

    Nothing where this process computes by itself, as without a started pool, or where no worker can tell: the page then
    computes it, and says what is wrong.
    """
    if not POOL.is_started:
        return {}
    with turn_to_compute() as turn:
        if not isinstance(turn, Turn):
            return {}
        try:
            answer = gzip.decompress(POOL.ask(Question(turn, names, query)))
        except NOT_NOW:
            return {}
    places: dict[str, Mapping[str, Any]] = {}
    at = 0
    while at < len(answer):
        begin = at + 2 * LENGTH
        header = json.loads(answer[begin : begin + int.from_bytes(answer[at + LENGTH : begin], "little")])
        places.update(header.get("places", {}))
        at += LENGTH + int.from_bytes(answer[at : at + LENGTH], "little")
    return places
