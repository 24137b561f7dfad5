"""Where each control of each lens is, as the pages themselves show it: in which views, and with which other settings.

A row of controls may be drawn by a function, so that only its page tells which controls are in it. Some controls are
there only with another setting, such as that of an encoder-decoder: then one change of one setting is looked for.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache

from streamlit.testing.v1 import AppTest

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import new_app
from tests.tfm_ui.payloads import decode
from tfm_ui.lenses import lens, lenses
from tfm_ui.page.lens import Lens
from tfm_ui.pictures.knobs import KNOBS
from tfm_ui.pictures.registry import Asked, CannotBeShown, made
from tfm_ui.state.fields import Choice, Flag, controls_of, held_by
from tfm_ui.state.links import as_text
from tfm_ui.state.model_state import ModelState

WIDGETS = ("text_area", "slider", "select_slider", "selectbox", "number_input", "toggle", "button_group")
UNBOUND = re.compile(r"^_(\w+)_\d+$")  # the key of a widget that is not bound to the link (tfm_ui/page/unbound.py)
SAYS_WHERE = {"question", "view"}  # fields that tabs and the row of the question set
# Parameter of a control that no setting alone brings onto a page -> the view that has it.
ELSEWHERE = {
    "clinic_table": "mask",  # with a mask of several tables
    "generate_chat": "write",  # with weights that answer messages, which are fetched
    "model_batch": "diagram",  # of a shape that is counted, and run once
    "model_batch_tokens": "diagram",
    "model_own_target": "diagram",  # numbers of one’s own, of an encoder-decoder
    "model_others": "tokens",  # where a model is installed
    "profiling_device": "compare",  # on a machine with a graphics card
}

Places = dict[str, dict[str, object]]  # parameter -> "views", and with which other parameters, "needs"


def of_lens(this: Lens) -> Places:
    """Where the controls of a lens are: each widget that is to be there, and each slider above a picture."""
    fields = {this.prefix + name for name in controls_of(this.state)} - {this.prefix + name for name in SAYS_WHERE}
    widgets = fields - {this.prefix + name for name in held_by(this.state)}
    views = {view: shown(this, view) for view in this.views}
    places: Places = {}
    of_this = {name for there in views.values() for name in there if name in fields}
    for parameter in sorted(widgets | of_this):
        if at := [view for view, there in views.items() if parameter in there]:
            places[parameter] = {"views": at, "needs": {}}
    for parameter in sorted(widgets - places.keys()):
        places[parameter] = _with_a_change(this, parameter)
    return dict(sorted(places.items()))


def of_model() -> Places:
    """What the controls of the model need that are not in the sidebar at first; they stand beside every page."""
    at_first = shown(lens("heads"), "heads")
    missing = controls_of(ModelState).keys() - held_by(ModelState) - at_first
    places: Places = {name: {"views": [], "needs": {}} for name in controls_of(ModelState)}
    for parameter in missing:
        needs = next(needs for needs in _changes(ModelState, "") if parameter in _on_page("heads", **needs))
        places[parameter]["needs"] = needs
    return places


def all_of_them() -> Places:
    """All controls: of the model, and of each lens."""
    places = of_model()
    for each in lenses():
        places |= of_lens(each)
    return places


def shown(this: Lens, view: str, **changes: str) -> set[str]:
    """The parameters whose controls a view shows, with these changes of a link that asks for nothing else."""
    at = {f"{this.prefix}view": view} if len(this.views) > 1 else {}
    return _on_page(this.name, **at, **changes) | _knobs(this, view, {**at, **changes})


@lru_cache(1024)
def _page(name: str, query: tuple[tuple[str, str], ...]) -> frozenset[str]:
    app: AppTest = go_to(new_app(**dict(query)), name).run()
    if app.exception:
        raise ValueError(f"expected a page, got {app.exception[0].value} at {name}?{query}")
    keys = [widget.key or "" for kind in WIDGETS for widget in app.get(kind)]
    return frozenset(UNBOUND.sub(r"\1", key) for key in keys)


def _on_page(name: str, **query: str) -> set[str]:
    return set(_page(name, tuple(sorted(query.items()))))


def _knobs(this: Lens, view: str, query: Mapping[str, str]) -> set[str]:
    """The parameters of the sliders that stand beside the controls of a view."""
    parameters: set[str] = set()
    asked = Asked("&".join(f"{name}={value}" for name, value in query.items()))
    for name, picture in this.views[view].pictures.items():
        if picture.canvas is KNOBS:
            with suppress(CannotBeShown):
                header, _ = decode(made(name, asked))
                parameters |= {knob["parameter"] for knob in header["knobs"]}
    return parameters


def _with_a_change(this: Lens, parameter: str) -> dict[str, object]:
    """The views that show a control when one setting is changed, and that change: of the lens, else of the model."""
    if parameter in ELSEWHERE:
        return {"views": [ELSEWHERE[parameter]], "needs": {}}
    for needs in [*_changes(this.state, this.prefix), *_changes(ModelState, "")]:
        if at := [view for view in this.views if parameter in shown(this, view, **needs)]:
            return {"views": at, "needs": needs}
    raise ValueError(f"expected a page that shows the control of {parameter}, got none with one change; see ELSEWHERE")


def _changes(state: type[object], prefix: str) -> Iterator[dict[str, str]]:
    """Each value of each choice and switch that is not the default, as a parameter of a link."""
    for name, (field, default) in controls_of(state).items():  # type: ignore[arg-type]
        if name in SAYS_WHERE:
            continue
        options = field.options if isinstance(field, Choice) else (True, False) if isinstance(field, Flag) else ()
        yield from ({prefix + name: as_text(option)} for option in options if option != default)
