"""What a page is after Streamlit's messages: its controls, its pictures, and its address. Pure: nothing is sent."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from benchmarks.live.visitor_widgets import Control, control_of
from benchmarks.streamlit_private.protocol import (
    PART_SUCCEEDED,
    SUCCEEDED,
    ClientState,
    Element,
    ForwardMsg,
    events_of,
)

WHOLE = SUCCEEDED, PART_SUCCEEDED


@dataclass(frozen=True)
class Shown:
    """A picture that a page shows, or what a page says, which is asked for in the same way.

    Attributes:
        name: by which the server knows it.
        query: the link's query that it shows.
        slow: whether it is asked for only when the page has been run.
        says: whether it is what the page says, and no picture.
    """

    name: str
    query: str
    slow: bool = False
    says: bool = False

    def at(self, values: Mapping[str, str]) -> "Shown":
        """The same of a link with other values: the link's parameter -> its value."""
        return replace(self, query=with_values(self.query, values))


@dataclass
class _Placed:
    element: Element
    fragment: str
    run: int


@dataclass
class Page:
    """A page of the app.

    Attributes:
        query: of the address.
        script: the hash of the page's script; "" before the first run.
    """

    query: str
    script: str = ""
    _placed: dict[tuple[int, ...], _Placed] = field(default_factory=dict)
    _chosen: dict[str, Control] = field(default_factory=dict)  # a widget's id -> its control with the visitor's value
    _kept: dict[str, tuple[ForwardMsg, int]] = field(default_factory=dict)  # a message's hash -> it, the run it came in
    _run: int = 0
    _age: int = 2  # runs for which a browser keeps a message that it may be told of by its hash alone

    def read(self, message: ForwardMsg) -> None:
        """Take a message of the server."""
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            known = ForwardMsg()
            known.CopyFrom(self._kept[message.ref_hash][0])
            known.metadata.CopyFrom(message.metadata)  # the place on the page
            message, kind = known, known.WhichOneof("type")
            self._kept[message.hash] = message, self._run
        if message.metadata.cacheable:
            self._kept[message.hash] = message, self._run
        if kind == "new_session":
            self._run += 1
            self._age = message.new_session.config.max_cached_message_age or self._age
            self.script = self.script or message.new_session.page_script_hash
        elif kind == "navigation":  # the router has chosen the page
            self.script = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._place(tuple(message.metadata.delta_path), message)
        elif kind == "script_finished" and message.script_finished in WHOLE:
            self._tidy(message.script_finished == PART_SUCCEEDED)

    def _place(self, path: tuple[int, ...], message: ForwardMsg) -> None:
        element = message.delta.new_element
        self._placed[path] = _Placed(element, message.delta.fragment_id, self._run)
        control = control_of(element)
        if control and (control.is_forced or control.state.id not in self._chosen):
            self._chosen[control.state.id] = control

    def _tidy(self, only_a_part: bool) -> None:
        """Remove what the run that has just ended has not drawn again; one of a part leaves the other parts alone."""
        drawn = {placed.fragment for placed in self._placed.values() if placed.run == self._run}
        for path, placed in list(self._placed.items()):
            if placed.run < self._run and (not only_a_part or placed.fragment in drawn):
                del self._placed[path]
        there = {control.state.id for control in map(control_of, self._elements()) if control}
        self._chosen = {name: control for name, control in self._chosen.items() if name in there}
        self._kept = {key: (kept, run) for key, (kept, run) in self._kept.items() if run > self._run - self._age}

    def _elements(self) -> Iterator[Element]:
        return (placed.element for placed in self._placed.values())

    @property
    def controls(self) -> Mapping[str, Control]:
        """The link's parameter -> the control that sets it, in the order of the page."""
        return {control.parameter: control for control in self._chosen.values() if control.parameter}

    @property
    def pictures(self) -> list[Shown]:
        """The pictures of the page, and what it says, once each."""
        return list(dict.fromkeys(shown for element in self._elements() for shown in _shown(element)))

    @property
    def problems(self) -> list[str]:
        """Errors and warnings that stand on the page in place of what was asked for."""
        errors = [element.exception.message for element in self._elements() if element.HasField("exception")]
        busy = [e.alert.body for e in self._elements() if e.HasField("alert") and "asks again" in e.alert.body]
        return errors + busy

    def choose(self, values: Mapping[str, str]) -> None:
        """Move controls: the link's parameter -> the value, as the link writes it.

        A control that the page has not drawn, as the server was too busy, is moved in the link alone.
        """
        for parameter, control in self.controls.items():
            if parameter in values:
                self._chosen[control.state.id] = replace(control, state=control.at(values[parameter]))
        self.query = with_values(self.query, values)

    def rerun(self, moved: Collection[str] = ()) -> ClientState:
        """The request to run the page with its present values; only a part of it, if all that was moved stands there.

        Args:
            moved: the parameters of the controls that were moved; none for the whole page.
        """
        request = ClientState(query_string=self.query, page_script_hash=self.script)
        request.widget_states.widgets.extend(control.state for control in self._chosen.values())
        request.cached_message_hashes.extend(self._kept)
        controls = ((control_of(placed.element), placed.fragment) for placed in self._placed.values())
        parts = {fragment for control, fragment in controls if control and control.parameter in moved}
        request.fragment_id = parts.pop() if len(parts) == 1 else ""
        return request

    def pressed(self, key: str) -> ClientState:
        """The request to run the page, or the part of it, in which the button with this key was pressed."""
        placed, request = self._keyed("button", key), self.rerun()
        request.widget_states.widgets.add(id=placed.element.button.id, trigger_value=True)
        request.fragment_id = placed.fragment
        return request

    def told(self, key: str, event: str, value: Any) -> ClientState:
        """The request to run the page to which the component with this key has told an event."""
        name, request = self._keyed("bidi_component", key).element.bidi_component.id, self.rerun()
        told = json.dumps([{"event": event, "value": value}])
        request.widget_states.widgets.add(id=events_of(name), json_trigger_value=told)
        return request

    def data_of(self, key: str) -> Mapping[str, Any]:
        """What the page has given the component with this key."""
        component = self._keyed("bidi_component", key).element.bidi_component
        data: Mapping[str, Any] = json.loads(component.json or component.mixed.json)
        return data

    def _keyed(self, kind: str, key: str) -> _Placed:
        """The element of this kind with this key: its name in messages ends with it."""
        for placed in self._placed.values():
            if placed.element.WhichOneof("type") == kind and getattr(placed.element, kind).id.endswith(f"-{key}"):
                return placed
        raise ValueError(f"expected a {kind} with the key {key} on the page")


def with_values(query: str, values: Mapping[str, str]) -> str:
    """A query in which these parameters have other values; always in the order of their names."""
    return urlencode(sorted((dict(parse_qsl(query, keep_blank_values=True)) | dict(values)).items()))


def _shown(element: Element) -> Iterator[Shown]:
    if not element.HasField("bidi_component"):
        return
    component = element.bidi_component
    text = component.json or component.mixed.json
    data = json.loads(text) if text else None
    if not isinstance(data, dict) or "query" not in data:
        return
    query = with_values(data["query"], {})
    if "name" in data:
        yield Shown(data["name"], query, bool(data["slow"]))
    for name in data.get("names", [])[:1]:  # the second is the answer of the question, which nobody has opened
        yield Shown(name, query, says=True)
        if slow := data.get("slow"):
            yield Shown(slow, query, slow=True, says=True)
