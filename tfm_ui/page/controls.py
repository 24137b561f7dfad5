"""Connects a page's state, its widgets and the address bar, for all pages: no lens reads or writes session_state.

Each widget's key is its parameter in the link (Streamlit's `bind="query-params"`). Streamlit resets a bad value
silently; so the link is checked first, a bad value becomes the nearest possible one, and a notice says what changed.
Fields that are `held` have no widget: a picture sets them, and the address bar stores them.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from tfm_ui.page import undo
from tfm_ui.page.notices import dismiss, notify
from tfm_ui.state.fields import (
    Choice,
    Field,
    Flag,
    Limits,
    Number,
    State,
    Text,
    Whole,
    alone_in,
    controls_of,
    held_by,
)
from tfm_ui.state.links import as_text, read_link
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.streamlit_private.script_run import page_here

S = TypeVar("S", bound=State)

# Keys of the session state. They start with an underscore, which no parameter of a link does.
KNOWN, PAGE, REQUESTED = "_known", "_page", "_requested"
BEFORE, KEPT = "_before", "_kept"  # the prefixes of the previous run's page; the last values of all held fields
# The page that is on screen, by Streamlit's name for it; "" if parts of it are still to be drawn anew.
DRAWN = "_drawn"
TIMES_DRAWN = "_times_drawn"  # how many runs have drawn a whole page
# The number of the last change that a picture has asked for: by it the browser sees whether the page is up to date.
HEARD = "_heard"
FOOT = "foot"  # the fragment at the foot of the page, which says what Undo would take back


def open_link(state: type[State], prefix: str = "", limits: Limits | None = None) -> None:
    """Make a state's fields part of this page's link, and correct bad values in the link that opened the session.

    Call it before `draw` draws any of the fields. A state without a prefix is the model's and must come first.
    """
    apply_requested()
    known: dict[str, type[State]] = st.session_state.setdefault(KNOWN, {})
    if not prefix:  # the model's fields come first, on every page
        st.session_state[BEFORE] = st.session_state.get(PAGE, [])
        st.session_state[DRAWN] = ""
    st.session_state[PAGE] = ["", prefix] if prefix else [""]
    if prefix in known and prefix not in st.session_state[BEFORE]:
        _come_back(state, prefix)
    if prefix not in known:
        query = {name: st.query_params.get_all(name) for name in st.query_params}
        corrections = read_link(state, prefix, query, limits)
        for correction in corrections:
            if correction.reason:
                notify(str(correction))
            if correction.value == "":
                del st.query_params[correction.name]
            else:
                st.query_params[correction.name] = as_text(correction.value)
        known[prefix] = state  # only now: another act may end the run at any of these, and then the next run corrects
        if corrections:
            st.rerun()  # with the corrected link: Streamlit takes the values and shows them in the address bar


def all_is_drawn() -> None:
    """Note that the whole page has been drawn. Call it at the end of a run of the page."""
    st.session_state[DRAWN] = page_here()
    st.session_state[TIMES_DRAWN] = times_drawn() + 1


def times_drawn() -> int:
    """How many runs have drawn a whole page: those that another act has ended have not."""
    times: int = st.session_state.get(TIMES_DRAWN, 0)
    return times


def states() -> list[tuple[State, str]]:
    """The current states of this page with their prefixes: what the page's link must bring back."""
    known: dict[str, type[State]] = st.session_state[KNOWN]
    return [(current(known[prefix], prefix), prefix) for prefix in st.session_state[PAGE]]


def draw(
    state: type[State], name: str, where: DeltaGenerator, *, prefix: str = "", limits: Limits | None = None
) -> None:
    """Draw the widget of one field.

    Args:
        state: the dataclass of controls.
        name: the name of the field.
        where: the container to draw in.
        prefix: the prefix of the state's parameters in the link.
        limits: as in `controls_of`.
    """
    field, default = controls_of(state, limits)[name]
    key = prefix + name
    if isinstance(field, Whole) and st.session_state.get(key, field.low) > field.high:
        st.session_state[key] = field.high  # the limit has fallen below the value
    undo.shown({key: _widget(field, where, key, default, prefix)})


def _widget(field: Field, where: DeltaGenerator, key: str, default: Any, prefix: str) -> Any:
    common: dict[str, Any] = {"key": key, "bind": "query-params", "on_change": _changed, "args": (key, field, prefix)}
    match field:
        case Text():
            # max_chars is not used: with it, Streamlit would ignore a longer paste without a word.
            return where.text_area(field.label, default, height=field.height, **common)
        case Whole(box=True):
            return where.number_input(field.label, field.low, field.high, default, help=field.help, **common)
        case Whole():
            return where.slider(field.label, field.low, field.high, default, help=field.help, **common)
        case Choice():
            common["help"] = field.help
            if field.widget == "buttons":
                common |= {"required": True, "label_visibility": "collapsed"}  # in a row of controls
                return where.segmented_control(field.label, field.options, default=default, **common)
            return where.selectbox(field.label, field.options, field.options.index(default), **common)
        case Number():
            return where.number_input(field.label, field.low, field.high, default, **common)
        case Flag():
            return where.toggle(field.label, default, help=field.help, **common)
    raise TypeError(f"expected one of the kinds in tfm_ui/state/fields.py, got {field!r}")


def _changed(key: str, field: Field, prefix: str) -> None:
    """Apply a change of a control: Streamlit calls this when the reader has made one."""
    undo.remember()
    if isinstance(field, Text) and len(text := st.session_state[key]) > field.max_chars:
        st.session_state[key] = text[: field.max_chars]
        notify(f"{field.label}: of {len(text)} characters the first {field.max_chars} are taken.")
    if prefix:
        _run_again(prefix)
    elif key in alone_in(st.session_state[KNOWN][""]):
        undo.shown({key: st.session_state[key]})  # its control is not drawn anew
        _run_again(st.session_state[PAGE][-1])
    else:
        st.session_state[DRAWN] = ""


def _run_again(prefix: str) -> None:
    """Run only the lens's fragment and the foot, which says what Undo takes back, after a lens's control has changed.

    The fragment's key is the prefix without "_". If there is no fragment with that key, the whole page runs. So it does
    if this change has ended a run of all of it, or comes with another page: the fragments are those of the page before.
    """
    if page_here() != st.session_state.get(DRAWN):
        st.rerun()
    with suppress(StreamlitAPIException):
        st.rerun([prefix.removesuffix("_"), FOOT])


def current(state: type[S], prefix: str = "", limits: Limits | None = None) -> S:
    """The state, read from the widgets, for held fields from the address; a field in neither has its default."""
    held, address = held_by(state), st.query_params.to_dict()  # in one call: each looks for the session first
    values, of_held = {}, {}
    for name, (field, default) in controls_of(state, limits).items():
        key = prefix + name
        if name in held:
            values[name] = of_held[key] = field.read(address[key], default)[0] if key in address else default
        else:
            values[name] = _drawn(key, field, default)
    st.session_state.setdefault(KEPT, {}).update(of_held)
    undo.shown(of_held)
    return state(**{name: value for name, value in values.items() if value is not None})


def _drawn(key: str, field: Field, default: Any) -> Any:
    """The value of a widget; None if there is none.

    It is the nearest possible one here, where it is used: whoever speaks to the server without a browser sends what
    no widget would, and no callback need have been called.
    """
    value = st.session_state.get(key)
    return value if value is None else field.read(value if isinstance(value, str) else as_text(value), default)[0]


def take_along() -> None:
    """Keep the model's fields on the way to another page: links between pages carry no held fields."""
    if model := st.session_state.get(KNOWN, {}).get(""):  # not if the only run so far ended before its controls
        _come_back(model, "")


def _come_back(state: type[State], prefix: str) -> None:
    """Write the held fields' last values into the address, unless it sets them."""
    for name, (_, default) in controls_of(state).items():
        key, kept = prefix + name, st.session_state.get(KEPT, {})
        if name in held_by(state) and key not in st.query_params and kept.get(key, default) != default:
            st.query_params[key] = as_text(kept[key])


def set_parameters(changes: Mapping[str, Any]) -> None:
    """Set parameters to valid values, as one act that can be undone. Only to be called in a callback."""
    known: dict[str, type[State]] = st.session_state.get(KNOWN, {})
    at_first = {key: value for prefix, state in known.items() for key, value in defaults(state, prefix).items()}
    undo.begin_with({key: st.session_state.get(key, at_first[key]) for key in changes if key in at_first})
    undo.remember()
    _request(changes)


def set_without_undo(prefix: str, **values: Any) -> None:
    """Set fields of this page to results of the server: the reader did nothing, so there is nothing to undo.

    It may be called anywhere in a run; the next run draws the new values.
    """
    changes = {prefix + name: value for name, value in values.items()}
    _request(changes)
    undo.leave_out(changes)


def _request(changes: Mapping[str, Any]) -> None:
    known: dict[str, type[State]] = st.session_state.get(KNOWN, {})
    undo.shown(changes)
    if "" in known and not changes.keys().isdisjoint(defaults(known[""], "")):
        st.session_state[DRAWN] = ""
    st.session_state[REQUESTED] = st.session_state.get(REQUESTED, {}) | changes  # last, so that it is all or nothing


def apply_requested() -> None:
    """Set the values that a callback has requested. Every run of the page, or of a part with controls, begins with it.

    The callback does not set them itself: if a callback ends with a rerun, Streamlit does not send the browser the
    values that the callback has set.
    """
    if not (requested := st.session_state.get(REQUESTED)):
        return
    kept = st.session_state.setdefault(KEPT, {})
    known: dict[str, type[State]] = st.session_state.get(KNOWN, {})
    at_first = {key: value for prefix, state in known.items() for key, value in defaults(state, prefix).items()}
    held = {prefix + name for prefix, state in known.items() for name in held_by(state)}
    # Streamlit writes into the address what it holds of a control, but not of one that was never drawn.
    in_address = {key for key in requested if key in held or key not in st.session_state}
    for key, value in requested.items():
        if key not in held:
            st.session_state[key] = value
            continue
        kept[key] = value  # what was there before must not come back (`_come_back`)
        if value == at_first[key] and key in st.query_params:
            del st.query_params[key]
    changed = {key: as_text(requested[key]) for key in in_address if requested[key] != at_first.get(key)}
    if changed:
        st.query_params.update(changed)  # in one call: each call changes the address
    st.session_state.pop(REQUESTED, None)  # last, because another act may end the run at any of these


def change(prefix: str, /, **values: Any) -> None:
    """Set fields to the nearest possible values, for a button or a picture. Only to be called in a callback.

    Args:
        prefix: the prefix of the lens's parameters; "" if `values` has whole parameter names, or fields of the model.
        values: field -> value.
    """
    changes = {prefix + name: value for name, value in values.items()}
    page, known = st.session_state[PAGE], st.session_state[KNOWN]
    now = {prefix: current(known[prefix], prefix) for prefix in page}  # an unreadable value changes nothing
    fields = {
        prefix + name: (field, getattr(now[prefix], name))
        for prefix in page
        for name, (field, _) in controls_of(known[prefix]).items()
    }
    read = {key: fields[key][0].read(as_text(value), fields[key][1]) for key, value in changes.items() if key in fields}
    set_parameters({key: value for key, (value, _) in read.items()})
    reasons = [f"{fields[key][0].label}: {reason}." for key, (_, reason) in read.items() if reason]
    for reason in reasons:
        notify(reason)
    if reasons or any(key in defaults(known[""], "") for key in read):
        st.rerun()  # the whole page: notices stand outside the lens's fragment, and another model changes everything
    _run_again(page[-1])


def heard() -> int:
    """The number of the last act in a picture, or with a slider, that this page has heard of."""
    number: int = st.session_state.get(HEARD, 0)
    return number


def carry_out(request: Mapping[str, Any]) -> None:
    """Set the parameters that a picture or a slider asks for. Only to be called in a callback."""
    st.session_state[HEARD] = max(request["number"], heard())
    change("", **request["changes"])


def open_with(prefix: str = "", **values: Any) -> dict[str, str]:
    """The query parameters for a switch to a page on which the fields have these values.

    Parameters of no control, such as `present`, are kept. Streamlit keeps the model's parameters automatically.
    """
    parameters = {prefix + name: as_text(value) for name, value in values.items()}
    if parameters:
        undo.remember()
    for key in parameters:  # otherwise the values of the last visit to the page would override these
        st.session_state.pop(key, None)
    known: dict[str, type[State]] = st.session_state[KNOWN]
    ours = {key for prefix, state in known.items() for key in defaults(state, prefix)}
    return {name: st.query_params[name] for name in st.query_params if name not in ours} | parameters


def reset_all() -> None:
    """Reset the model and all lenses to their defaults, and run the whole page. Only to be called in a callback."""
    dismiss()
    known: dict[str, type[State]] = st.session_state[KNOWN]
    set_parameters({key: value for prefix, state in known.items() for key, value in defaults(state, prefix).items()})
    st.rerun()


def defaults(state: type[State], prefix: str) -> dict[str, Any]:
    """Parameter -> default value."""
    return {prefix + name: default for name, (_, default) in controls_of(state).items()}


def undo_last() -> None:
    """Undo the reader's last act, and run the whole page. Only to be called in a callback."""
    _request(undo.take_last())
    st.rerun()
