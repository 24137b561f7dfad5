"""Links: writes states as links, and reads links as states, correcting values that no control can have. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import quote_plus, urlencode

import regex

from tfm_ui.state.fields import Choice, Field, Limits, State, Text, controls_of

Query = Mapping[str, Sequence[str]]  # parameter of a link -> all its values, as text
S = TypeVar("S", bound=State)

LINK_CHARS = 2000  # the longest link that all chat programs and mail readers accept
# The part of a link for all texts together. It is fixed, so that moving a slider does not change how much of a text the
# link carries. Only in the Attention lens, whose links may hold lists and changes, texts can get less than this.
TEXT_CHARS = 1430


@dataclass(frozen=True)
class Correction:
    """A value of a link that had to be changed: what the link asked for, the new value, and the reason.

    Without a reason nothing was wrong: links wrote the value in another way once.
    """

    name: str
    asked: str
    value: Any
    reason: str

    def __str__(self) -> str:
        asked = self.asked if len(self.asked) <= 40 else self.asked[:39] + "…"
        value = as_text(self.value) or "empty"
        took = "" if len(value) > 40 else f"; it is {value} now"
        return f"The link asked for {self.name} = {asked}: {self.reason}{took}."


def read_link(state: type[State], prefix: str, query: Query, limits: Limits | None = None) -> list[Correction]:
    """The corrections that a link needs before it stands for a state.

    Args:
        state: a dataclass of controls.
        prefix: the prefix of its parameters in the link, such as "heads_"; "" for the model's.
        query: the link's parameters.
        limits: as in `controls_of`.
    """
    fields = controls_of(state, limits)
    corrections = [*_of_earlier(state, prefix, query, fields), *_of_older_options(prefix, query, fields)]
    for name, (field, default) in fields.items():
        if given := query.get(prefix + name):
            value, reason = field.read(given[-1], default)
            if len(given) > 1:
                reason = reason or "of several values the last one counts"
            elif given[-1] in getattr(field, "older", ()):
                corrections.append(Correction(prefix + name, given[-1], value, ""))
            elif as_text(value) != given[-1]:  # such as 12.0 or FALSE, which Streamlit would read differently
                reason = reason or "there is a plainer way to write it"
            if reason:
                corrections.append(Correction(prefix + name, " and ".join(given), value, reason))
    return corrections


def _of_earlier(
    state: type[State], prefix: str, query: Query, fields: Mapping[str, tuple[Field, Any]]
) -> list[Correction]:
    """What parameters of earlier links mean (`LensState.EARLIER`): they leave it, without a word where all is right."""
    corrections = []
    earlier: Mapping[str, Sequence[str]] = getattr(state, "EARLIER", {})
    for once, names in earlier.items():
        if given := query.get(prefix + once):
            corrections.append(Correction(prefix + once, given[-1], "", ""))
            meant = {name: fields[name][0].read(given[-1], fields[name][1]) for name in names}
            corrections += [
                Correction(prefix + name, given[-1], value, reason)
                for name, (value, reason) in meant.items()
                if (reason or value != fields[name][1]) and not query.get(prefix + name)
            ]
    return corrections


def _of_older_options(prefix: str, query: Query, fields: Mapping[str, tuple[Field, Any]]) -> Iterator[Correction]:
    """The fields that belong to options of earlier links (`Choice.older`), unless the link has them, too."""
    for name, (field, _) in fields.items():
        given = query.get(prefix + name)
        if given and isinstance(field, Choice) and given[-1] in field.older:
            _, others = field.older[given[-1]]
            for other, value in others.items():
                if value != fields[other][1] and not query.get(prefix + other):
                    yield Correction(prefix + other, given[-1], value, "")


def state_of(state: type[S], prefix: str, query: Query, limits: Limits | None = None) -> S:
    """The state that a link stands for, after its corrections."""
    corrections = {c.name: c.value for c in read_link(state, prefix, query, limits)}
    values = {
        name: corrections[prefix + name]
        if prefix + name in corrections
        else field.read(query[prefix + name][-1], default)[0]
        for name, (field, default) in controls_of(state, limits).items()
        if query.get(prefix + name) or prefix + name in corrections
    }
    return state(**values)


def as_text(value: Any) -> str:
    """A value as it is written in a link."""
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def link_parameters(state: State, prefix: str, always: Collection[str] = ()) -> dict[str, str]:
    """The parameters that bring this state back: those whose values differ from their defaults.

    Fields that another field fixes, `state.fixed`, are left out.

    Args:
        state: what the link brings back.
        prefix: of its parameters.
        always: parameters that are there even with their defaults.
    """
    values = {name: (getattr(state, name), default) for name, (_, default) in controls_of(type(state)).items()}
    fixed: Collection[str] = getattr(state, "fixed", ())
    return {
        prefix + name: as_text(value)
        for name, (value, default) in values.items()
        if (value != default or prefix + name in always) and name not in fixed
    }


def share_link(
    base: str,
    *states: tuple[State, str],
    always: Collection[str] = (),
    beside: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The link that brings back these states, each with its prefix, at the address `base`.

    It is never longer than LINK_CHARS: texts that do not fit are cut, and `cuts` tells where. The other fields have
    limits that make sure that they fit. `always` is as in `link_parameters`; `beside` are parameters of no state.
    """
    parameters = _parameters(f"{base}?{_encoded(beside)}" if beside else base, states, always) | dict(beside)
    return f"{base}?{_encoded(parameters)}" if parameters else base


@dataclass(frozen=True)
class Cut:
    """A text that is too long for the link.

    Attributes:
        label: the label of its control.
        whole: the whole text.
        part: the beginning that the link carries.
    """

    label: str
    whole: str
    part: str


def cuts(base: str, *states: tuple[State, str]) -> dict[str, Cut]:
    """Parameter -> a text that is too long for the link."""
    parameters = _parameters(base, states)
    return {
        prefix + name: Cut(field.label, getattr(state, name), parameters[prefix + name])
        for state, prefix in states
        for name, field in _texts(state).items()
        if parameters.get(prefix + name, getattr(state, name)) != getattr(state, name)
    }


def _parameters(base: str, states: Sequence[tuple[State, str]], always: Collection[str] = ()) -> dict[str, str]:
    parameters = {
        key: value for state, prefix in states for key, value in link_parameters(state, prefix, always).items()
    }
    texts = [prefix + name for state, prefix in states for name in _texts(state) if prefix + name in parameters]
    room = min(TEXT_CHARS, LINK_CHARS - len(f"{base}?{_encoded(parameters | dict.fromkeys(texts, ''))}"))
    # Short texts first: the rest of their equal share is left for the longer ones.
    for left, key in zip(
        range(len(texts), 0, -1), sorted(texts, key=lambda t: len(quoted(parameters[t]))), strict=True
    ):
        parameters[key] = first_part(parameters[key], room // left)
        room -= len(quoted(parameters[key]))
    return parameters


def _texts(state: State) -> dict[str, Text]:
    return {name: field for name, (field, _) in controls_of(type(state)).items() if isinstance(field, Text)}


def first_part(text: str, room: int) -> str:
    """The start of a text that fits into `room` characters of a link, cut between two characters as people see them.

    Where not even the first of these fits, as it has many marks, it is cut within: better a part than nothing.
    """
    return _that_fit(regex.findall(r"\X", text), room) or _that_fit(text, room)


def _that_fit(signs: Sequence[str], room: int) -> str:
    ends = accumulate(len(quoted(sign)) for sign in signs)
    return "".join(sign for sign, end in zip(signs, ends, strict=True) if end <= room)


def quoted(text: str) -> str:
    """A text as it is written in a link."""
    return quote_plus(text, errors="replace")  # half a surrogate pair cannot be encoded


def _encoded(parameters: Mapping[str, str]) -> str:
    return urlencode(parameters, errors="replace")
