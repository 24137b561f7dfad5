"""The condition of a task in words, for the sheet of answers: “Done when: the temperature is below 0.3.”"""

import ast
from collections.abc import Iterator

from tfm_ui.lessons.expressions import Expression, written
from tfm_ui.lessons.names import about
from tfm_ui.page.lens import Lens
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState

SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "is",
    ast.NotEq: "is not",
    ast.Lt: "is below",
    ast.LtE: "is at most",
    ast.Gt: "is above",
    ast.GtE: "is at least",
}
LONGEST = 70  # characters of what a name is: a longer explanation is no part of a sentence


def in_words(reached: Expression, lens: Lens) -> str:
    """The condition as a part of a sentence; "" for one that compares more than names with values.

    Args:
        reached: the condition.
        lens: whose page it is about.
    """
    called = dict(_called(lens))
    match reached.tree:
        case ast.BoolOp(op=ast.And(), values=values):
            parts = [_compared(value, called) for value in values]
        case single:
            parts = [_compared(single, called)]
    return "; ".join(parts) if all(parts) else ""


def _called(lens: Lens) -> Iterator[tuple[str, str]]:
    """Each name with what it is called: a control by its label, all else by the first words of what it is."""
    for name, explained in about(lens):
        first = explained.partition("\n")[0]
        for end in (". ", "; ", ": ", ", "):
            first = first.partition(end)[0]
        yield name, first[:1].lower() + first[1:].rstrip(".")
    for prefix, state in (("", ModelState), (lens.prefix, lens.state)):
        for name, (control, _) in controls_of(state).items():
            yield prefix + name, f"“{control.label}”"


def _compared(part: ast.expr, called: dict[str, str]) -> str:
    match part:
        case ast.Compare(left=ast.Name(id=name), ops=[sign], comparators=[ast.Constant(value=value)]):
            what, compared = called.get(name, ""), SIGNS[type(sign)]
            if not what or len(what) > LONGEST or "?" in what:  # a question is no name
                return ""
            if isinstance(value, str):  # what links call something, such as “q11”, says nothing to a reader
                return f"{what} {compared} “{value}”" if value.strip("·-").isalpha() else ""
            number = written(value) if isinstance(value, int | float) else ""
            if what.startswith("how many "):
                return f"{what}: {compared.removeprefix('is').strip()} {number}".replace("  ", " ")
            return f"{what} {compared} {number}"
    return ""
