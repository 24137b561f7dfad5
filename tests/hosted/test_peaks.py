"""What a picture says that it needs is what it takes: measured at corners of the sidebar, in processes of their own.

By preset: of a small host, and of a computer of one's own. Where a picture is refused, it takes nothing.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.hosted.answering import answering
from tests.hosted.peaks import Peak
from tfm_ui.lenses import lens, lenses
from tfm_ui.page.preview import DRAWING
from tfm_ui.page.words import has_slow, names
from tfm_ui.pictures.panel import panels_in
from tfm_ui.server.pool_member import FEW_THREADS
from tfm_ui.settings import ENTRIES
from tfm_ui.state.model_state import ModelState
from tfm_ui.visitors.workers import processors

TIMES = 1.3  # what is measured, over what was said
# Bytes that come on top: modules that a picture is the first to import, and what lies free between what is used.
NOISE = 16_000_000
# Bytes that the library transformers takes in a process which is the first to open a view that calls it, and keeps.
LIBRARY = 100_000_000
PRESETS = ("hosted", "local")
# The largest that a link can ask for: more tokens, layers and heads than a server allows are cut to what it allows.
LARGEST: dict[str, Any] = {
    "text": "@alice",
    "target": "@alice",
    "seq_len": 1024,
    "num_layers": 8,
    "num_heads": 16,
    "d_model": 256,
    "d_ff": 1024,
    "activation": "swiglu",
}
CORNERS: dict[str, dict[str, Any]] = {
    "two stacks": {"architecture": "encoder-decoder", "positional": "alibi"},
    "one stack": {"positional": "alibi"},
    "few heads": {"num_heads": 2, "positional": "t5", "causal": "false"},
    "few tokens": {"seq_len": 16, "num_layers": 2},
    "a decoder": {"architecture": "decoder", "positional": "rope", "d_ff": 0, "activation": "gelu", "num_layers": 4},
    "narrow": {"d_model": 32, "d_ff": 0, "activation": "gelu", "positional": "learned"},
}
# A layer takes as much memory as it does among many, which are run one after the other.
FEW_LAYERS = "few layers"
# The ends of a lens's own controls that make its pictures largest.
ENDS: dict[str, dict[str, Any]] = {
    "attention": {"lines": "rollout", "draws": 1000, "draw_keys": 64},
    "positions": {"length": 4096, "width": 512, "a": "learned", "b": "t5", "heads": 16},
    "masks": {"tries": 8, "texts": "\n".join(["one two three"] * 6)},
    "model": {
        "depth": 48,
        "depth_dropout": 0.5,
        "reach_seeds": 3,
        "reach_length": 128,
        "reach_kernel": 17,
        "attention": "window",
    },
    "generate": {"steps": 200, "method": "beam"},
    "clinic": {"d_model": 64, "num_heads": 8, "tokens": 32, "result": "99.5", "step": "loss"},
}
VIEWS = [(each.name, view) for each in lenses() for view in each.views]
# Measured in every run, besides one corner of each view: what once took most.
WORST = [("heads", next(iter(lens("heads").views))), ("model", "depth"), ("model", "distance"), ("masks", "leaks")]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count a process's pages")
Measure = Callable[[str, str, dict[str, Any]], Peak]


@pytest.fixture(scope="module")
def measure() -> Iterator[Measure]:
    """`measure("hosted", "heads", link)`: the peak of a picture in a worker of such a server, by tests.hosted.peaks."""
    with ExitStack() as running:

        @cache
        def program(preset: str) -> Callable[..., Any]:
            settings = FEW_THREADS | {"ATTENTION_LAB_PRESET": preset}
            return running.enter_context(answering("tests.hosted.peaks", settings))

        yield lambda preset, name, link: Peak(**program(preset)(name, urlencode(link)))


def names_of(name: str, view: str) -> list[str]:
    """The pictures of a view, its preview, and its words, which are computed from the same results: slow ones last."""
    of, in_view = lens(name), {"view": view} if len(lens(name).views) > 1 else {}
    panels = panels_in(of.blocks(ModelState(architecture="decoder"), of.state(**in_view)))
    words, _, slow_words = names(of)
    return [*of.views[view].pictures, f"{name}.preview", words, *([slow_words] if has_slow(panels) else [])]


def link_of(name: str, view: str, corner: str) -> dict[str, Any]:
    """A corner of the sidebar, and the view's own largest."""
    ends = ENDS.get(name, {}) | ({"view": view} if len(lens(name).views) > 1 else {})
    sidebar = CORNERS["two stacks"] | {"num_layers": 2} if corner == FEW_LAYERS else CORNERS[corner]
    return LARGEST | sidebar | {f"{name}_{key}": value for key, value in ends.items()}


def asked_of(name: str, view: str, preset: str, *, everything: bool) -> Iterator[tuple[str, str]]:
    """What is measured of a view, each (picture, corner); in short, its words and one of its pictures at a corner.

    Which one is another one for each view. On a small host the words of the worst views, which compute all, are
    measured at every corner, and so are the many maps of Heads; where more is allowed, and takes seconds, the words
    are measured at the corner FEW_LAYERS.
    """
    number, pictures, is_worst = VIEWS.index((name, view)), names_of(name, view), (name, view) in WORST
    corners, words = [*CORNERS], pictures[-1]
    chosen = corners[number % len(corners)]
    if everything:
        yield from ((picture, corner) for corner in corners for picture in pictures)
    elif preset == "local":
        yield from [(words, FEW_LAYERS)] * is_worst
    else:
        of_worst = [words, f"{name}.preview"] if name == "heads" else [words]
        each = {(picture, corner) for corner in corners for picture in of_worst} if is_worst else {(words, chosen)}
        yield from sorted(each | {(pictures[number % len(pictures)], chosen)})


def fault(peak: Peak, preset: str, name: str, picture: str) -> str:
    """What is wrong with a measured peak, beside what was said, and with what is held then; "" if nothing is."""
    limit, caches = (getattr(ENTRIES[of], preset) for of in ("picture_bytes", "cache_bytes"))
    kept = caches // (1 + (ENTRIES["workers"].hosted if preset == "hosted" else processors())) + 2 * NOISE
    if preset == "local" and name == "masks":
        kept += LIBRARY
    if picture.endswith(".preview"):
        kept += DRAWING
    megabytes = f"{peak.peak / 1e6:.0f} MB of {peak.said / 1e6:.0f} MB that were said; {peak.held / 1e6:.0f} MB held"
    if peak.refused:
        return "" if peak.said > limit and peak.peak < NOISE else f"refused, {megabytes}: {peak.refused}"
    return megabytes if peak.peak > min(TIMES * peak.said, limit) + NOISE or peak.held > kept else ""


@pytest.mark.parametrize(
    ("preset", "whole", "link"),
    [
        ("hosted", "leaks in full", link_of("masks", "leaks", "narrow") | {"seq_len": 128, "masks_tries": 4}),
        ("local", "draws in full", link_of("model", "distance", "a decoder")),
    ],
)
def test_what_is_computed_in_full_takes_no_more_than_it_says(measure, preset, whole, link):
    peak = measure(preset, whole, link)
    assert not peak.refused
    assert NOISE < peak.peak <= TIMES * peak.said + NOISE


@pytest.mark.parametrize(("name", "view"), VIEWS)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_picture_takes_no_more_than_it_says_and_a_worker_no_more_than_its_limit(request, measure, preset, name, view):
    everything = request.config.getoption("all_combinations")
    measured = [*asked_of(name, view, preset, everything=everything)]
    if not measured:
        pytest.skip("with --all: what is largest takes seconds")
    faults = {
        f"{picture} at {corner}": problem
        for picture, corner in measured
        if (problem := fault(measure(preset, picture, link_of(name, view, corner)), preset, name, picture))
    }
    assert faults == {}
