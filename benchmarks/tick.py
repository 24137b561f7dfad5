"""Where the processor time of a tick goes, over all views: of the pictures and words, and of a run of the page.

A tick is a seed that nobody has asked for. Pictures and words come at each of them, the page runs when a visitor rests.
What slow panels show and say is no part of a tick: it is asked for at rest, and stands in a column of its own.

The command ends with 1 where a tick is too dear for what it is: see `above_bars`.
"""

import gzip
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from itertools import count
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl, urlencode, urlsplit

import torch
from streamlit.testing.v1 import AppTest

from benchmarks.live.parts import Parts
from benchmarks.live.process_tree import ProcessTree
from benchmarks.live.serve import ROOT, running_server
from benchmarks.live.views import links
from benchmarks.measure import AboveBarError, Figure, Figures, show
from benchmarks.streamlit_private import app_test
from tfm_core import Transformer
from tfm_core.model.transformer import Stack
from tfm_ui.lenses import lens
from tfm_ui.live import cache
from tfm_ui.page import words as page_words
from tfm_ui.pictures import registry
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import PICTURES, WORDS, Asked
from tfm_ui.server import packed
from tfm_ui.settings import ENTRIES

LINK, BUILD, PASS, CONTENT = "reading the link", "building models", "running models", "what pictures show"
SAID, KEEP, ENCODE, PACK, REST = "words", "keeping results", "encoding", "packing", "everything else"
PARTS = (LINK, BUILD, PASS, CONTENT, SAID, KEEP, ENCODE, PACK, REST)
SERVER = "the server around it"
SCRIPT, DELTAS, SERIALISE = "the script", "elements into messages", "messages into bytes"
MODELS = "building and running models"  # for what it says; pictures have them in the cache of another process
PLACES: dict[str, list[tuple[Any, str]]] = {
    LINK: [(registry, "read"), (registry, "query_of")],
    BUILD: [(Transformer, "__init__")],
    PASS: [(Transformer, "forward"), (Stack, "run")],
    KEEP: [(cache, "held_bytes")],
    ENCODE: [(registry, "encode")],
    PACK: [(gzip, "compress")],
}
PAGE_PLACES: dict[str, list[tuple[Any, str]]] = {
    MODELS: PLACES[BUILD] + PLACES[PASS],
    SCRIPT: [app_test.SCRIPT],
    DELTAS: [app_test.ELEMENTS],
}
VIEW_BAR, MEAN_BAR = 40.0, 12.0  # milliseconds of a tick's pictures and words: of one view, and of all in the mean

ANSWER = {part: Figure(f"Pictures and words of a tick, mean over all views: {part}", "", "ms") for part in PARTS}
WHOLE = Figure("Pictures and words of a tick, mean over all views: all of it", "", "ms")
DEAREST = Figure("Pictures and words of a tick, of the dearest view", "", "ms")
AT_REST = Figure("Slow pictures at rest, with all words, of the dearest view that has any", "", "ms")
AROUND = Figure(f"Pictures and words of a tick, mean over all views: {SERVER}, with HTTP", "", "ms")
PAGE = {
    part: Figure(f"A run of the page, mean over all views: {part}", "", "ms")
    for part in (MODELS, SCRIPT, DELTAS, SERIALISE)
}
FIGURES = [*ANSWER.values(), WHOLE, DEAREST, AT_REST, AROUND, *PAGE.values()]


class _Alone:
    """The turn of somebody who waits for nobody."""

    def check_wanted(self) -> None:
        """The answer is wanted."""

    def enter_slow_lane(self) -> None:
        """Pass at once: nobody waits for the slow lane here."""


@dataclass(frozen=True)
class Asks:
    """What a view asks for: at each tick, and at rest.

    Attributes:
        link: of its first question.
        names: of its pictures that are not slow, and of its words.
        at_rest: of its slow pictures, and of its words and those of slow panels; nothing if it has no slow panel.
    """

    link: str
    names: Sequence[str]
    at_rest: Sequence[str]

    @property
    def lens(self) -> str:
        """The name of the view's lens."""
        return urlsplit(self.link).path.strip("/")

    def query(self, seed: int) -> str:
        """The link's query with this seed."""
        return "&".join(filter(None, [urlsplit(self.link).query, urlencode({"seed": seed})]))


def main(rounds: int = 5, page_rounds: int = 3) -> Figures:
    """Measure each view in turn, round after round, so that drift affects all alike."""
    torch.set_num_threads(1)
    every = [_asks(link) for link in links()]
    seeds = count(1000)  # none that anybody has asked for; a seed has four digits at most
    by_view = _answers({asks: asks.names for asks in every}, seeds, rounds)
    apart = count(5000, 20)  # on Distance, draws of a seed are also those of the next nine
    resting = _answers({asks: asks.at_rest for asks in every if asks.at_rest}, apart, rounds)
    pages = _page_runs(every, seeds, page_rounds)
    around = _around(every, seeds, rounds) - statistics.mean(sum(parts.values()) for parts in by_view.values())
    ticks, rests = ({link: sum(parts.values()) for link, parts in each.items()} for each in (by_view, resting))
    rows = [
        [link, *(f"{parts[part]:.1f}" for part in PARTS), f"{ticks[link]:.1f}", *_cell(rests.get(link))]
        for link, parts in by_view.items()
    ]
    means = {part: statistics.mean(parts[part] for parts in by_view.values()) for part in PARTS}
    whole = sum(means.values())
    rows.append(["mean", *(f"{means[part]:.1f}" for part in PARTS), f"{whole:.1f}"])
    show(
        f"Pictures and words of a tick, ms of processor, median of {rounds} rounds "
        f"(bars: {VIEW_BAR:g} for a view, a mean of {MEAN_BAR:g})",
        ["view", *PARTS, "all", "at rest"],
        rows,
    )
    show(
        "Around it, and a run of the page, ms of processor, mean over all views",
        ["", "ms"],
        [[SERVER, f"{around:.1f}"], *([part, f"{ms:.1f}"] for part, ms in pages.items())],
    )
    figures = {ANSWER[part]: means[part] for part in PARTS} | {PAGE[part]: pages[part] for part in PAGE}
    figures |= {WHOLE: whole, DEAREST: max(ticks.values()), AROUND: around}
    figures |= {AT_REST: max(rests.values())} if rests else {}
    if above := above_bars(ticks):
        raise AboveBarError(above, figures)
    return figures


def above_bars(ticks: Mapping[str, float]) -> list[str]:
    """A line for each view whose tick is above `VIEW_BAR`, the dearest first, and one if the mean is above `MEAN_BAR`.

    Args:
        ticks: link of a view -> the milliseconds of processor that a tick's pictures and words take.
    """
    dear = sorted((link for link, ms in ticks.items() if ms > VIEW_BAR), key=lambda link: -ticks[link])
    lines = [f"{link}: expected at most {VIEW_BAR:g} ms a tick, got {ticks[link]:.2f}" for link in dear]
    if (mean := statistics.mean(ticks.values())) > MEAN_BAR:
        lines.append(f"all views: expected a mean of at most {MEAN_BAR:g} ms, got {mean:.2f}")
    return lines


def _cell(ms: float | None) -> list[str]:
    return [] if ms is None else [f"{ms:.1f}"]


def _asks(link: str) -> Asks:
    shown = lens(urlsplit(link).path.strip("/"))
    asked = Asked(urlsplit(link).query)
    state = asked.lens(shown.state, shown.prefix)
    panels = panels_in(shown.blocks(asked.model, state))
    slow, quick = (
        dict.fromkeys(panel.picture_name for panel in panels if panel.picture_name and panel.slow == is_slow)
        for is_slow in (True, False)
    )
    words, _, slow_words = page_words.names(shown)
    return Asks(
        link,
        names=(*quick, *shown.view_of(state).beside, words),
        at_rest=(*slow, words, slow_words) if page_words.has_slow(panels) else (),
    )


def _answers(wanted: Mapping[Asks, Sequence[str]], seeds: "count[int]", rounds: int) -> dict[str, dict[str, float]]:
    """Link -> part -> the milliseconds of an answer with these names; the first round warms up."""
    spent: dict[str, list[dict[str, float]]] = {asks.link: [] for asks in wanted}
    for _ in range(rounds + 1):
        for asks, asked in wanted.items():
            parts = Parts()
            pictures = {
                name: replace(each, content=parts.timed(CONTENT, each.content)) for name, each in PICTURES.items()
            }
            words = {name: replace(each, said=parts.timed(SAID, each.said)) for name, each in WORDS.items()}
            with patch.dict(PICTURES, pictures), patch.dict(WORDS, words), parts.watching(PLACES), parts.charged(REST):
                packed.packed(_Alone(), asked, registry.read(asked, asks.query(next(seeds))))
            spent[asks.link].append(parts.seconds)
    return {
        link: {part: 1000 * statistics.median(each[part] for each in times[1:]) for part in PARTS}
        for link, times in spent.items()
    }


def _around(every: Sequence[Asks], seeds: "count[int]", rounds: int) -> float:
    """The milliseconds that all processes of a server take for an answer, mean over all views."""
    # With one worker, so that after one round all imports and first passes are over.
    with running_server(settings={ENTRIES["workers"].variable: "1"}) as (address, process):
        tree, connection = ProcessTree(process), HTTPConnection(urlsplit(address).netloc)
        before = 0.0
        for number in range(rounds + 1):
            if number == 1:
                before = tree.processor_seconds()
            for asks in every:
                names, body = "+".join(asks.names), asks.query(next(seeds))
                connection.request("POST", f"/pictures/{names}", body, {"Origin": address})
                answer = connection.getresponse()
                if answer.read() and answer.status != 200:
                    raise ValueError(f"expected status 200 for {names}, got {answer.status}")
        return 1000 * (tree.processor_seconds() - before) / rounds / len(every)


def _page_runs(every: Sequence[Asks], seeds: "count[int]", rounds: int) -> dict[str, float]:
    """Part -> the milliseconds of a run of the page after a tick of the seed, mean over all views."""
    spent: list[dict[str, float]] = []
    with app_test.pages_without_preparation():  # which a server does once, when it starts
        for asks in every:
            app = app_test.go_to(AppTest.from_file(str(ROOT / "app.py"), default_timeout=60), asks.lens)
            for name, value in parse_qsl(urlsplit(asks.link).query):
                app.query_params[name] = value
            app.run()
            spent += [_page_run(app, next(seeds)) for _ in range(rounds)]
    return {part: 1000 * statistics.mean(each[part] for each in spent) for part in PAGE}


def _page_run(app: AppTest, seed: int) -> dict[str, float]:
    if drawn := [box for box in app.number_input if box.key == "seed"]:
        drawn[0].set_value(seed)
    parts = Parts()
    with app_test.messages_kept() as messages, parts.watching(PAGE_PLACES):
        app.run()
    with parts.charged(SERIALISE):
        for message in messages:
            message.SerializeToString()
    if app.exception:
        raise ValueError(f"expected a page without errors, got {app.exception[0].message}")
    return parts.seconds
