"""What a link shows, without a page: facts, words, panels with their tables and recipes, pictures, and its question.

All of it follows from the link alone. tests/pages/test_record_pages.py checks that it is what a page draws.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlencode

from tests.record.addresses import Link, recorded_links
from tests.record.pictures import picture_of
from tests.record.recipes import yields
from tests.record.statistics import describe, text
from tests.record.tables import table_of
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_core.training.folder import Folder
from tfm_core.training.outcomes import outcome_store
from tfm_core.training.store import run_store
from tfm_ui import lenses
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.page import words
from tfm_ui.page.lens import Lens
from tfm_ui.page.questions import Question
from tfm_ui.page.questions import asked as question_of
from tfm_ui.pictures.knobs import KNOBS
from tfm_ui.pictures.panel import Block, Columns, Note, Panel, panels_in
from tfm_ui.pictures.registry import Asked
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.links import Correction, link_parameters, read_link
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.glossary import plain_of

NOT_RECORDED = ("Computed in",)  # facts that are others each time

Record = dict[str, Any]


@contextmanager
def nothing_kept(*, measured: bool = False) -> Iterator[None]:
    """No run and no comparison but those that come with the app; of Profiling a made-up measurement, or none."""
    find = (lambda plan, name="": plausible(plan) if plan else None) if measured else lambda plan, name="": None
    with ExitStack() as stack:
        empty = Folder(Path(stack.enter_context(TemporaryDirectory())))
        for store, memory in ((run_store(), OrderedDict()), (outcome_store(), {})):
            stack.enter_context(patch.object(store.shelf, "place", empty))
            stack.enter_context(patch.object(store, "_memory", memory))
        stack.enter_context(patch.object(measurements, "find", find))
        yield


def content_of(link: Link) -> Record:
    """All that is recorded of a link."""
    with nothing_kept(measured=link.is_measured):
        lens, asked = lenses.lens(link.lens), read(link)
        model, state = asked.model, asked.lens(lens.state, lens.prefix)
        content = {
            "link": link.address,
            "parameters": describe(link_parameters(model, "") | link_parameters(state, lens.prefix)),
            "corrections": [str(each) for each in _corrections(lens, model, link) if each.reason],
            "question": _question(lens, link, model, state),
            **_page(lens, asked, model, state),
        }
    return {name: value for name, value in content.items() if value not in ({}, [], None)}


def read(link: Link) -> Asked:
    """The link as it is read. If it asks for nothing, it is what the lens opens with, see tfm_ui/page/opening.py."""
    return Asked(link.query or urlencode(lenses.lens(link.lens).opens_with))


def _corrections(lens: Lens, model: ModelState, link: Link) -> list[Correction]:
    """What tfm_ui/page/controls.py and tfm_ui/page/lens_page.py correct in a link."""
    query = parse_qs(link.query, keep_blank_values=True)
    return [*read_link(ModelState, "", query), *read_link(lens.state, lens.prefix, query, lens.limits(model))]


def _question(lens: Lens, link: Link, model: ModelState, state: LensState) -> Record:
    """The question whose link this is, or else the one that the page shows, and what it says."""
    named = [question for question in lens.questions if question.name == link.question]
    now = named[0] if named else question_of(lens.questions, state, model)
    said: Record = {"name": now.name, "ask": now.ask}
    if not lens.view_of(state).why_not_shown(model, state):
        said["answer"] = text(now.answer(model, state))
        said |= _prediction(now, model, state)
    return said


def _prediction(question: Question, model: ModelState, state: LensState) -> Record:
    if not (predict := question.predict):
        return {}
    return {"predict": {"ask": predict.ask, "measured": describe(predict.measured(model, state)), "unit": predict.unit}}


def _page(lens: Lens, asked: Asked, model: ModelState, state: LensState) -> Record:
    """What stands on the page: facts, how texts are read, panels and notes in their order, and pictures."""
    if reason := lens.view_of(state).why_not_shown(model, state):
        return {"cannot be shown": reason}
    blocks = lens.blocks(model, state)
    places = words.of_page(lens, model, state)["places"] | words.of_slow_panels(lens, model, state)["places"]
    panels = panels_in(blocks)
    in_panels = {panel.picture_name for panel in panels if panel.picture_name}
    return {
        "facts": _facts(places),
        "texts": {place: said(words) for place, words in places.items() if place.startswith("read_")},
        "reads": [said(places[place]) for place in ("reads", "signs") if place in places and said(places[place])],
        "order": [_placed(block) for block in blocks],
        "panels": {panel.key: _panel(panel, places) for panel in panels},
        "pictures": {name: picture_of(name, asked) for name in sorted(in_panels | in_no_panel(lens.name))},
    }


def said(spoken: Mapping[str, Any]) -> Any:
    """What stands in one of the places of tfm_ui/page/words.py, as plain text."""
    if "laws" in spoken:
        return [f"{'✓' if holds else '✕'} {_plain(pieces)}" for holds, pieces in spoken["laws"]]
    if "facts" in spoken:
        return {name: text(value) for name, value in spoken["facts"] if name not in NOT_RECORDED}
    if "tokens" in spoken:
        return text(" ".join(item if isinstance(item, str) else item[0] for item in spoken["tokens"]))
    return _plain(spoken["text"])


def _plain(pieces: Sequence[Any]) -> str:
    """A text without what the glossary explains."""
    return text("".join(map(plain_of, pieces)))


def _facts(places: words.Places) -> Record:
    """The line beside the tabs, and what it unfolds to."""
    return {name: said(places[name]) for name in ("badge", "facts_label", "facts") if name in places}


def _placed(block: Block | None) -> Any:
    """A block: the key of a panel, a note, or what stands side by side."""
    match block:
        case Panel():
            return block.key
        case Note(words, kind):
            return {"note": text(words), "kind": kind}
        case Columns(columns):
            return {"columns": [[_placed(inside) for inside in column] for column in columns]}
        case None:
            return None
    return "drawn by Streamlit"


def _panel(panel: Panel, places: words.Places) -> Record:
    recipe = panel.recipe()
    parts = {
        "title": said(places[f"title_{panel.key}"]),
        "shape": said(places[f"shape_{panel.key}"]),
        "how to read": said(places[f"how_{panel.key}"]),
        "sentence": said(places[f"said_{panel.key}"]),
        "laws": said(places[f"laws_{panel.key}"]),
        "picture": panel.picture_name,
        "table": table_of(panel.table()),
        "files": {kind: what for kind, (what, _, _) in panel.files.items()},
        "recipe": yields(recipe) if recipe else None,
    }
    return {name: part for name, part in parts.items() if part not in ("", [], {}, None)}


@cache
def in_no_panel(lens: str) -> frozenset[str]:
    """The pictures of a lens that no panel shows, whatever the link: those in rows of controls, and Home's cards."""
    pictures = lenses.lens(lens).pictures
    knobs = {name for name, picture in pictures.items() if picture.canvas is KNOBS}  # they are never in a panel
    left = set(pictures) - knobs
    for link in recorded_links():
        if left and link.lens == lens and not link.question:
            left -= _in_panels(link)
    return frozenset(left | knobs)


def _in_panels(link: Link) -> set[str]:
    """The pictures that a link's panels show."""
    lens, asked = lenses.lens(link.lens), read(link)
    state = asked.lens(lens.state, lens.prefix)
    with nothing_kept(measured=link.is_measured):
        if lens.view_of(state).why_not_shown(asked.model, state):
            return set()
        return {panel.picture_name for panel in panels_in(lens.blocks(asked.model, state))}
