"""What a page says: every sentence, law, shape and fact that follows from its link, by the place where it stands.

The page writes them when it is run. Between two runs they travel with the pictures (tfm_ui/pictures/registry.py), and
the browser puts them into the same places (assets/pictures/words.js), so that a moved control runs no page.

A place is the value of an element's attribute `data-words`. What stands there is one of
    {"text": pieces}          pieces as in tfm_ui/text/glossary.py; "title" beside it is the element's tooltip
    {"laws": [[holds, pieces], ...]}
    {"facts": [[name, value], ...]}
    {"tokens": items}         a row of tokens, as in tfm_ui/text/token_row.py
    {"later": true}           it is being renewed: nothing of it has been computed

A tick of a dragged control renews all of it but what slow panels say, and the answer beside them; that follows at rest.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tfm_ui.live import passes
from tfm_ui.page import header, questions
from tfm_ui.page.lens import Lens, View
from tfm_ui.page.reading import how_it_is_read
from tfm_ui.pictures.panel import Block, Columns, Note, Panel, panels_in
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import token_row
from tfm_ui.text.glossary import marked

Places = dict[str, Mapping[str, Any]]
LATER: Mapping[str, Any] = {"later": True}
OF_A_PANEL = ("title", "shape", "said", "laws", "how")  # what the names of a panel's places begin with


def names(lens: Lens) -> tuple[str, str, str]:
    """The names by which the browser asks for a lens's words, for the answer of its question, and for slow words."""
    return f"{lens.name}.words", f"{lens.name}.answer", f"{lens.name}.slow"


def of_page(lens: Lens, model: ModelState, state: LensState) -> dict[str, Places]:
    """What a lens's page says of a link, for each tick; nothing where that cannot be shown.

    Left out are the answer of its question, which is asked for where it is open, and what slow panels say: in their
    places stands `LATER`, and nothing of it is computed.
    """
    view = lens.view_of(state)
    if view.why_not_shown(model, state):
        return {"places": {}}
    places = _of_header(lens, model, state) | _of_model(model)
    if view.tells_what_is_read:
        places.update(of_what_is_read(view, model, state))
    blocks = view.shown(model, state)
    for number, block in enumerate(blocks):
        places.update(_of_block(block, str(number)))
    if has_slow(panels_in(blocks)):
        places["answer"] = LATER
    return {"places": places}


def of_slow_panels(lens: Lens, model: ModelState, state: LensState) -> dict[str, Places]:
    """What the slow panels of a lens's page say of a link, for who rests there; nothing where that cannot be shown."""
    view = lens.view_of(state)
    if view.why_not_shown(model, state):
        return {"places": {}}
    slow = [panel for panel in panels_in(view.shown(model, state)) if panel.slow]
    return {"places": {place: spoken for panel in slow for place, spoken in _of_panel(panel).items()}}


def has_slow(panels: Sequence[Panel]) -> bool:
    """Whether one of these panels is slow: then the answer beside them, which may look at it, is renewed with it."""
    return any(panel.slow for panel in panels)


def of_answer(lens: Lens, model: ModelState, state: LensState) -> dict[str, Places]:
    """The answer of the question on screen; nothing where that cannot be shown."""
    if lens.view_of(state).why_not_shown(model, state):
        return {"places": {}}
    now = questions.asked(lens.questions, state, model)
    return {"places": {"answer": {"text": marked(now.answer(model, state))}}}


def _of_model(model: ModelState) -> Places:
    texts = ("text", "target") if model.is_encoder_decoder else ("text",)
    notes = {name: how_it_is_read(model, name) for name in texts}
    return {f"read_{name}": {"text": [note], "title": note} for name, note in notes.items()}


def of_what_is_read(view: View[Any], model: ModelState, state: LensState) -> Places:
    """The line above the main picture: its tokens, or what it is made from instead.

    All three places are named, also where nothing stands: what the page before has said there must go.
    """
    texts = view.texts(model, state)
    return {
        "read_instead": {"text": marked(view.reads_instead(model, state))},
        "reads": {"tokens": token_row.read(texts, "→" if model.is_encoder_decoder else "beside")},
        "signs": {"text": [token_row.signs(texts)]},
    }


def _of_header(lens: Lens, model: ModelState, state: LensState) -> Places:
    view = lens.view_of(state)
    if view.badge:
        return {"badge": {"text": [view.badge(model, state)]}}
    if not view.uses_model:
        return {}
    facts = header.all_facts(model, passes.run(model) if view.reads_pass else None)
    return {
        "facts_label": {"text": [header.label(model, lens.beside)]},
        "facts": {"facts": [[name, value] for name, value in facts.items()]},
    }


def _of_block(block: Block | None, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    match block:
        case Panel():
            later = {f"{part}_{block.key}": LATER for part in OF_A_PANEL}
            yield from (later if block.slow else _of_panel(block)).items()
        case Columns(columns):
            for number, column in enumerate(columns):
                for below, inside in enumerate(column):
                    yield from _of_block(inside, f"{place}_{number}_{below}")
        case Note(text, "plain"):
            yield f"note_{place}", {"text": marked(text)}


def _of_panel(panel: Panel) -> Places:
    stands: Mapping[str, Mapping[str, Any]] = {
        "title": {"text": [panel.title]},
        "shape": {"text": [panel.shape]},
        "said": {"text": marked(panel.sentence())},
        "laws": {"laws": [[bool(holds), marked(law)] for law, holds in panel.laws().items()]},
        "how": {"text": marked(panel.how_to_read)},
    }
    row = {f"tokens_{panel.key}": {"tokens": panel.word_row}} if panel.word_row else {}
    return {f"{part}_{panel.key}": stands[part] for part in OF_A_PANEL} | row
