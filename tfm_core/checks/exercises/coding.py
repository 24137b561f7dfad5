"""What an exercise of code is: a solution that is real code of this library, the blanks in it, and its check.

In the solution, a comment that begins with `# blank:` says that the statement below it is a blank, and what is to stand
there. So mypy, Ruff and the tests see the solution, and the text with blanks is made of it.
"""

import ast
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from textwrap import dedent
from typing import Any, Protocol

from tfm_core.api import MODULES
from tfm_core.checks.report import Report

MARK = "# blank: "
COMMENT = re.compile(r"^\s*#\s?")


class Stricter(Protocol):
    """A second check, of what the first leaves open: `fixed.Fixed`."""

    def check(self, report: Report, solution: Callable[..., Any], f: Any, *, hint: bool = False) -> Report:
        """The report on code that passed the first check."""


@dataclass(frozen=True)
class Blank:
    """A statement that is to be programmed.

    Attributes:
        at: the line of its comment, from 0.
        first, last: the lines of the statement, from 0.
        hint: what is to stand there.
        kept: what stays of the statement: the left side of an assignment, or `return`.
    """

    at: int
    first: int
    last: int
    hint: str
    kept: str


@dataclass(frozen=True, kw_only=True)
class Coding:
    """An exercise of code.

    Attributes:
        title: what is programmed, in a few words.
        task: what to write, in a sentence or two.
        solution: a function or a class.
        check: the check of what a learner writes: `check(f, hint=…)`; or the name of one in `tfm_core.checks`.
        given: functions or classes that the solution uses, and that a learner gets as they are.
        fixed: what the task fixes beyond what the check demands; None where both are the same.
    """

    title: str
    task: str
    solution: Callable[..., Any]
    check: Callable[..., Report] | str
    given: Sequence[Callable[..., Any]] = ()
    fixed: Stricter | None = None

    @property
    def called(self) -> str:
        """The name of what is programmed."""
        return str(self.solution.__name__)

    def checked(self, f: Any, *, hint: bool = False) -> Report:
        """The report on what a learner has written.

        Raises:
            ValueError: for what cannot be called.
        """
        if left := blank_left(f):
            return Report(False, self.called, what=f"The check of {self.called}", blank=left)
        # By name, as checks of layers load much that a list of exercises has no need of.
        check = getattr(import_module("tfm_core.checks"), self.check) if isinstance(self.check, str) else self.check
        report: Report = check(f, hint=hint)
        return self.fixed.check(report, self.solution, f, hint=hint) if report.ok and self.fixed else report

    @cached_property
    def _marked(self) -> str:
        """The solution as it stands in this library, with the comments that mark blanks."""
        return dedent(inspect.getsource(self.solution)).rstrip()

    @cached_property
    def blanks(self) -> Sequence[Blank]:
        """The blanks, from top to bottom."""
        return tuple(_blanks(self._marked))

    def code(self, left_out: Collection[int] | None = None) -> str:
        """The code of the exercise: its imports, what is given, and the solution with blanks.

        Args:
            left_out: the places of the blanks that are left out, from 0; None for all. The others are filled in.
        """
        blanks = self.blanks
        out = range(len(blanks)) if left_out is None else left_out
        lines = self._marked.splitlines()
        for place, blank in reversed([*enumerate(blanks)]):
            indent = re.match(r"\s*", lines[blank.first])
            assert indent is not None
            if place in out:
                lines[blank.at : blank.last + 1] = [f"{indent[0]}{blank.kept}...  # {blank.hint}"]
            else:
                lines[blank.at : blank.first] = [f"{indent[0]}# {blank.hint}"]
        given = [dedent(inspect.getsource(each)).rstrip() for each in self.given]
        imports = _imports([*given, self._marked], inspect.getmodule(self.solution))  # those of the blanks, too
        return "\n\n\n".join([imports, *given, "\n".join(lines)])

    @property
    def filled(self) -> str:
        """The code of the exercise with its solution."""
        return self.code(())


def _blanks(source: str) -> Iterator[Blank]:
    lines = source.splitlines()
    statements = {
        node.lineno - 1: node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return)
    }
    for at, line in enumerate(lines):
        if not line.strip().startswith(MARK):
            continue
        first = at + 1
        while lines[first].strip().startswith("#"):
            first += 1
        node = statements.get(first)
        if node is None or node.value is None:
            raise ValueError(f"expected an assignment or a return below the blank, got {lines[first].strip()}")
        told = [COMMENT.sub("", line) for line in lines[at:first]]
        beginning = lines[first][: node.value.col_offset] if node.value.lineno == first + 1 else lines[first]
        kept = beginning.strip().rstrip("(").rstrip()
        hint = " ".join(told).removeprefix(MARK.removeprefix("# "))
        yield Blank(at, first, (node.end_lineno or first + 1) - 1, hint, f"{kept} ")


def blank_left(f: Any) -> str:
    """The first blank that is still in code, with its line and its hint; "" of code that has none, or is not known."""
    methods = [each for each in vars(f).values() if inspect.isfunction(each)] if isinstance(f, type) else [f]
    for function in methods:
        try:
            lines, start = inspect.getsourcelines(function)
            tree = ast.parse(dedent("".join(lines)))
        except (OSError, TypeError, SyntaxError):  # it was not typed into a cell or a file
            continue
        for node in ast.walk(tree):
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return) else None
            if isinstance(value, ast.Constant) and value.value is ...:
                return f"line {start + value.lineno - 1}, {lines[value.lineno - 1].strip()}"
    return ""


def _imports(parts: Sequence[str], module: Any) -> str:
    """The imports of what the parts use, of those that stand in the module; what this library promises, by its name."""
    used = {node.id for part in parts for node in ast.walk(ast.parse(part)) if isinstance(node, ast.Name)}
    tree = ast.parse(inspect.getsource(module))
    plain, ours = [], set()
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [name for name in node.names if (name.asname or name.name) in used]
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tfm_core"):
            ours |= {name.name for name in names if name.name in MODULES}
        others = [name for name in names if name.name not in ours]
        if others:
            plain.append(ast.unparse(_import_of(node, others)))
    of_library = [f"from tfm_core import {', '.join(sorted(ours))}"] if ours else []
    return "\n".join([*plain, *of_library])


def _import_of(node: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> ast.stmt:
    if isinstance(node, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(node.module, names, node.level)
