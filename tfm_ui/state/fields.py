"""Fields: the values that a control may have, and how a value in a link is read. Pure: no Streamlit here.

A state is a frozen dataclass with a `control(...)` for each field:

    @dataclass(frozen=True, kw_only=True)
    class HeadsState:
        layer: int = control(Whole("Layer", low=1, high=8), default=1)

The state defines the link (tfm_ui/state/links.py): a parameter's name is the lens's prefix and the field's name.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol


class Field(Protocol):
    """A kind of control."""

    @property
    def label(self) -> str:
        """The text beside the control on the page."""
        ...

    def read(self, raw: str, default: Any) -> tuple[Any, str]:
        """The nearest possible value to a link's text, and the reason if it is not what the text says ("" if it is)."""
        ...


class State(Protocol):
    """Any frozen dataclass whose fields are controls."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


NAMED = 16  # options that a notice names
LARGEST = 999_999_999  # larger numbers are read as this one; no control has such a high limit


def whole_number(word: str) -> int | None:
    """The whole number that a word of ASCII digits stands for, at most LARGEST; None for any other word.

    All fields read whole numbers with this function: Python's `int` also accepts digits of other scripts, and raises
    an error for more than 4,300 digits.
    """
    if not (word.isascii() and word.isdigit()):
        return None
    digits = word.lstrip("0")[: len(str(LARGEST)) + 1]
    return min(int(digits or "0"), LARGEST)


def number_in(raw: str) -> float:
    """The number that a text stands for; NaN if it is not a number."""
    try:
        return float(raw)
    except ValueError:
        return math.nan


@dataclass(frozen=True)
class Text:
    """Free text of limited length."""

    label: str
    max_chars: int
    height: int = 68

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The text, cut to the greatest length."""
        too_long = len(raw) > self.max_chars
        return raw[: self.max_chars], f"only the first {self.max_chars} characters are taken" if too_long else ""


@dataclass(frozen=True)
class Whole:
    """A whole number in a range: a slider, or with `box` a number box with + and -.

    `lowered_by` is for a server that allows less than usual: the words that name its setting, else "".
    """

    label: str
    low: int
    high: int
    box: bool = False
    help: str | None = None
    lowered_by: str = ""

    def read(self, raw: str, default: Any) -> tuple[int, str]:
        """The nearest whole number in the range."""
        number = number_in(raw)
        if math.isnan(number):
            return default, f"a whole number from {self.low} to {self.high} was expected"
        value = round(min(max(number, self.low), self.high))
        if number > self.high and self.lowered_by:
            return value, f"it can be at most {self.high}{self.lowered_by}"
        return value, "" if value == number else f"it goes from {self.low} to {self.high} in whole numbers"


@dataclass(frozen=True)
class Number:
    """A number in a range, rounded to a number of significant digits."""

    label: str
    low: float
    high: float
    digits: int = 3

    def read(self, raw: str, default: Any) -> tuple[float, str]:
        """The nearest number in the range."""
        number = number_in(raw)
        if math.isnan(number):
            return default, f"a number from {self.low:g} to {self.high:g} was expected"
        value = float(f"{min(max(number, self.low), self.high):.{self.digits}g}")
        return value, "" if self.low <= number <= self.high else f"it goes from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Length(Whole):
    """A whole number in a range too wide for a plain slider. The slider has stops, denser for small numbers.

    Where it `may_be_open`, 0 is possible, too: no number is chosen, and it is as large as it needs to be.
    """

    stops: tuple[int, ...] = ()
    may_be_open: bool = False

    def read(self, raw: str, default: Any) -> tuple[int, str]:
        """0, or the nearest whole number in the range."""
        if self.may_be_open and number_in(raw) == 0:
            return 0, ""
        value, reason = super().read(raw, default)
        return value, f"{reason}, or 0 for as many as there are" if value == 0 else reason

    def options(self, *values: int) -> tuple[int, ...]:
        """The slider's stops and these values, because a link may ask for a number between two stops."""
        within = (value for value in values if self.low <= value <= self.high)
        return tuple(sorted({self.low, self.high, *self.stops, *within}))


@dataclass(frozen=True)
class Choice:
    """One of a few values: a list, or buttons side by side.

    Options are shown as they are, without other labels, because Streamlit writes into the link what it shows.

    Attributes:
        lowered_by: of a server that allows less than usual, the words that name its setting; else "".
        older: an option that links had once -> the option that has taken its place, and the other fields of the state,
            with their values, that belong to it: {"sorted": ("all", {"order": "by size"})}. Such a link is understood
            without a word; where it has one of the other fields, too, its value counts.
    """

    label: str
    options: tuple[Any, ...]
    widget: str = "list"  # or "buttons"
    help: str | None = None
    lowered_by: str = ""
    older: Mapping[str, tuple[Any, Mapping[str, Any]]] = dataclasses.field(default_factory=dict)

    def read(self, raw: str, default: Any) -> tuple[Any, str]:
        """The option with that name, or that has taken its place; if all options are numbers, the nearest one."""
        by_name = {str(option): option for option in self.options}
        if raw in by_name:
            return by_name[raw], ""
        if raw in self.older:
            return self.older[raw][0], ""
        more = f", and {len(by_name) - NAMED} more" if len(by_name) > NAMED else ""
        number, reason = number_in(raw), f"it can be {', '.join([*by_name][:NAMED])}{more}"
        if math.isnan(number) or not all(isinstance(option, int | float) for option in self.options):
            return default, reason
        if number > max(self.options) and self.lowered_by:
            reason = f"it can be at most {max(self.options)}{self.lowered_by}"
        number = min(max(number, min(self.options)), max(self.options))  # no option is nearest to infinity
        return min(self.options, key=lambda option: abs(option - number)), reason


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    label: str
    help: str | None = None

    def read(self, raw: str, default: Any) -> tuple[bool, str]:
        """True or false, in upper or lower case."""
        words = {"true": True, "false": False}
        return words.get(raw.lower(), default), "" if raw.lower() in words else "it can be true or false"


@dataclass(frozen=True)
class Name:
    """The name of one of many things, such as a question; "" stands for none of them.

    Attributes:
        names: all that there are; without any, every name is taken as it is.
        older: what links of earlier days may call one of them -> its name. Such a link is understood without a word.
    """

    label: str
    names: tuple[str, ...] = ()
    older: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The name, whatever a link of earlier days calls it."""
        name = self.older.get(raw, raw)
        known = not self.names or name in ("", *self.names)
        return (name, "") if known else (default, f"there is no {self.label.lower()} of this name")


def control(field: Field, *, default: Any, held: bool = False, local: bool = False, alone: bool = False) -> Any:
    """A dataclass field that is a control.

    Args:
        field: the values that it may have.
        default: its default value.
        held: no Streamlit widget shows the field: a picture or a button sets it, and only the address stores it.
        local: only the browser uses the field: the server's pictures do not depend on it.
        alone: no other control depends on the field, so that a change of it runs only what the lens draws.
    """
    return dataclasses.field(default=default, metadata={"control": field, "held": held, "local": local, "alone": alone})


def held_by(state: type["State"]) -> set[str]:
    """The names of the fields that no widget shows."""
    return {field.name for field in dataclasses.fields(state) if field.metadata["held"]}


def local_to(state: type["State"]) -> set[str]:
    """The names of the fields that only the browser uses."""
    return {field.name for field in dataclasses.fields(state) if field.metadata["local"]}


def alone_in(state: type["State"]) -> set[str]:
    """The names of the fields on which no other control depends."""
    return {field.name for field in dataclasses.fields(state) if field.metadata["alone"]}


Limits = Mapping[str, Mapping[str, Any]]


def controls_of(state: type[State], limits: Limits | None = None) -> dict[str, tuple[Field, Any]]:
    """Field name -> (its control, its default, which is among the control's values).

    Args:
        state: a dataclass of controls.
        limits: field name -> attributes of its control that are narrower now, such as {"high": 4}.
    """
    controls = {field.name: (field.metadata["control"], field.default) for field in dataclasses.fields(state)}
    for name, narrower in (limits or {}).items():
        controls[name] = _narrowed(*controls[name], narrower)
    return controls


def _narrowed(field: Any, default: Any, narrower: Mapping[str, Any]) -> tuple[Field, Any]:
    """The control with fewer values, and the one of them that is nearest to its default, else the first."""
    narrowed = dataclasses.replace(field, **narrower)
    first = narrowed.options[0] if isinstance(narrowed, Choice) else default
    return narrowed, narrowed.read(str(default), first)[0]
