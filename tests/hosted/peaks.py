"""The memory that pictures take while they are computed: each in a process of its own, a copy of this one.

`python -m tests.hosted.peaks`, with a server's settings in the environment, reads a line of JSON for each picture,
[name, query], and prints one for each: what `Peak` has. "leaks in full" and "draws in full" are measured in the same
way: all of what a view shows a part of, computed as the job does it, and kept as the server does it. It works on Linux
alone, which counts pages by process.
"""

import gc
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from tests.hosted.answering import answer_all
from tfm_core.allocator import give_back
from tfm_ui.jobs.table import JOBS
from tfm_ui.lenses import preloaded as preloaded
from tfm_ui.lenses.masks.leaks.measured import all_of as all_leaks
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.lenses.model.distance.reach import Distance
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.exact import Exact
from tfm_ui.pictures.registry import Asked, CannotBeShown, made, needed
from tfm_ui.state.lens_state import LensState
from tfm_ui.store import exact

KIBIBYTE = 1024
IN_FULL: dict[str, tuple[Callable[..., Exact | None], type[LensState], str]] = {
    "leaks in full": (all_leaks, MasksState, "masks"),
    "draws in full": (lambda model, state: Distance(model, state).exact, ModelLensState, "model"),
}


@dataclass(frozen=True)
class Peak:
    """What one picture took.

    Attributes:
        said: bytes that it needs, by its own account.
        peak: bytes at most, beyond what the process had before.
        held: bytes that it still has when the picture is done: results in the cache, and what was not given back.
        seconds: how long it took.
        refused: the sentence that was said in its place; "" if it was drawn.
    """

    said: int
    peak: int
    held: int
    seconds: float
    refused: str


def pages() -> dict[str, int]:
    """What Linux counts of this process, in bytes: VmHWM, the most since the last reset, RssAnon, and others."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = (line.split() for line in lines if line.startswith(("Vm", "Rss")))
    return {name.rstrip(":"): int(size) * KIBIBYTE for name, size, *_ in sizes}


def measured(name: str, query: str) -> Peak:
    """Compute a picture, or all of one, in this process."""
    if name not in IN_FULL:
        return _measured(needed(name, Asked(query)), lambda: made(name, query))
    all_of, state, prefix = IN_FULL[name]
    asked = Asked(query)
    whole = all_of(asked.model, asked.lens(state, prefix))
    assert whole is not None, "the view leaves nothing out"
    return _measured(whole.needs, lambda: _in_full(whole))


def _in_full(whole: Exact) -> None:
    if whole.why_not:
        raise CannotBeShown(whole.why_not)
    *_, last = resolve_name(JOBS[whole.job])(whole.argument)
    exact.keep(whole.key, last.numbers, "nobody")


def _measured(said: int, compute: Callable[[], Any]) -> Peak:
    """What it takes. Pages of files count for nothing: the programs that all processes share."""
    gc.collect()
    give_back()
    Path("/proc/self/clear_refs").write_text("5")  # the most begins anew
    before, begin, refused = pages(), time.monotonic(), ""
    try:
        compute()
    except CannotBeShown as reason:
        refused = str(reason)
    seconds, after = time.monotonic() - begin, pages()
    gc.collect()
    peak = after["VmHWM"] - after["RssFile"] - after["RssShmem"] - before["RssAnon"]
    return Peak(said, max(0, peak), pages()["RssAnon"] - before["RssAnon"], round(seconds, 3), refused)


def answer(name: str, query: str) -> dict[str, Any]:
    """What a peak has."""
    return asdict(measured(name, query))


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    answer_all(answer)
