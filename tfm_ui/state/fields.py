"""What a control may hold, and how it reads a value that came in a link. Pure: no Streamlit here.

A page's state is a frozen dataclass with a `control(...)` per field:

    @dataclass(frozen=True, kw_only=True)
    class HeadsState:
        layer: int = control(Whole("Layer", low=1, high=8), default=1)

It is the contract of the page's link (tfm_ui/state/links.py): a parameter is the page's prefix and the field's name.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol


class Field(Protocol):
    """One kind of control."""

    @property
    def label(self) -> str:
        """What stands beside it on the page."""
        ...

    def read(self, raw: str, default: Any) -> tuple[Any, str]:
        """The value that a link's text stands for, and why it is another than what was asked for ("" if not)."""
        ...


class State(Protocol):
    """Any frozen dataclass whose fields are controls."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


LARGEST = 999_999_999  # what any longer row of digits counts as: no control goes as far


def whole_number(word: str) -> int | None:
    """The whole number that a link writes in plain digits, at most LARGEST; None for any other word.

    All fields read whole numbers here: Python's own `int` takes digits of other scripts too, and raises for more than
    4,300 of them.
    """
    if not (word.isascii() and word.isdigit()):
        return None
    digits = word.lstrip("0")[: len(str(LARGEST)) + 1]
    return min(int(digits or "0"), LARGEST)


def _number(raw: str) -> float:
    """What a link's text stands for; NaN if that is no number."""
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
        """The text, cut at the limit."""
        too_long = len(raw) > self.max_chars
        return raw[: self.max_chars], f"only the first {self.max_chars} characters are taken" if too_long else ""


@dataclass(frozen=True)
class Whole:
    """A whole number in a range: a slider, or a box with + and - where exact numbers matter."""

    label: str
    low: int
    high: int
    box: bool = False
    help: str | None = None

    def read(self, raw: str, default: Any) -> tuple[int, str]:
        """The nearest number of the range."""
        number = _number(raw)
        if math.isnan(number):
            return default, f"a whole number from {self.low} to {self.high} was expected"
        value = round(min(max(number, self.low), self.high))
        return value, "" if value == number else f"it goes from {self.low} to {self.high} in whole numbers"


@dataclass(frozen=True)
class Number:
    """A number in a range, with so many significant digits as a link shall carry."""

    label: str
    low: float
    high: float
    digits: int = 3

    def read(self, raw: str, default: Any) -> tuple[float, str]:
        """The nearest number of the range."""
        number = _number(raw)
        if math.isnan(number):
            return default, f"a number from {self.low:g} to {self.high:g} was expected"
        value = float(f"{min(max(number, self.low), self.high):.{self.digits}g}")
        return value, "" if self.low <= number <= self.high else f"it goes from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Length(Whole):
    """A whole number in a range too wide for a plain slider: its stops lie closer together where numbers are small."""

    stops: tuple[int, ...] = ()

    def options(self, *values: int) -> tuple[int, ...]:
        """The slider's stops, and among them these values, so that a link may ask for a number between two stops."""
        within = (value for value in values if self.low <= value <= self.high)
        return tuple(sorted({self.low, self.high, *self.stops, *within}))


@dataclass(frozen=True)
class Choice:
    """One of a few values: a list, a slider over them, or buttons side by side.

    What is shown is the value itself: Streamlit writes into the link what it shows.
    """

    label: str
    options: tuple[Any, ...]
    widget: str = "list"  # or "slider", "buttons"
    help: str | None = None

    def read(self, raw: str, default: Any) -> tuple[Any, str]:
        """The option of that name; of numbers, the nearest."""
        by_name = {str(option): option for option in self.options}
        if raw in by_name:
            return by_name[raw], ""
        number, reason = _number(raw), f"it can be {', '.join(by_name)}"
        if math.isnan(number) or not all(isinstance(option, int | float) for option in self.options):
            return default, reason
        number = min(max(number, min(self.options)), max(self.options))  # of infinity no option is the nearest
        return min(self.options, key=lambda option: abs(option - number)), reason


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    label: str
    help: str | None = None

    def read(self, raw: str, default: Any) -> tuple[bool, str]:
        """True or false, in any case."""
        words = {"true": True, "false": False}
        return words.get(raw.lower(), default), "" if raw.lower() in words else "it can be true or false"


def control(field: Field, *, default: Any, held: bool = False, local: bool = False) -> Any:
    """A dataclass field that is a control.

    Args:
        field: what it may hold.
        default: what it holds at first.
        held: no widget of Streamlit's shows it: a picture or a button sets it, and the address alone holds it.
        local: the browser alone works with it: the server's pictures do not depend on it.
    """
    return dataclasses.field(default=default, metadata={"control": field, "held": held, "local": local})


def held_by(state: type["State"]) -> set[str]:
    """The fields that no widget shows."""
    return {field.name for field in dataclasses.fields(state) if field.metadata["held"]}


def local_to(state: type["State"]) -> set[str]:
    """The fields that the browser alone works with."""
    return {field.name for field in dataclasses.fields(state) if field.metadata["local"]}


Limits = Mapping[str, Mapping[str, Any]]


def controls_of(state: type[State], limits: Limits | None = None) -> dict[str, tuple[Field, Any]]:
    """field name -> (its control, its default).

    Args:
        state: a dataclass of controls.
        limits: field name -> attributes of its control that are narrower now, such as {"high": 4}.
    """
    controls = {field.name: (field.metadata["control"], field.default) for field in dataclasses.fields(state)}
    for name, narrower in (limits or {}).items():
        controls[name] = (dataclasses.replace(controls[name][0], **narrower), controls[name][1])
    return controls
