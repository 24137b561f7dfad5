"""Which file of the project needs which, read from the import statements of their source."""

import ast
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True)
class Parsed:
    """What is asked about a Python file, without its tree, which would take hundreds of megabytes for all files.

    Attributes:
        imports: its import statements, wherever in it they stand.
        outermost: those that stand in no function or class.
        names: line and name of all that it gives a name to.
        docstrings: line and docstring of its module, its classes and its functions, where they have one.
    """

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    outermost: tuple[ast.Import | ast.ImportFrom, ...]
    names: tuple[tuple[int, str], ...]
    docstrings: tuple[tuple[int, str], ...]


@cache
def parsed(path: Path) -> Parsed:
    """A file, parsed once for all who ask about it."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(module))
    imports = tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    outermost = tuple(node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom))
    return Parsed(imports, outermost, tuple(named(nodes)), tuple(documented(nodes)))


def named(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """What code gives a name to: variables, parameters, attributes, functions, classes. Line -> the name."""
    for node in nodes:
        match node:
            case ast.Load() | ast.Constant() | ast.Call() | ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                pass  # most nodes: nothing further down has to look at them
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield node.lineno, name
            case ast.alias(asname=str(name)):
                yield node.lineno, name


def documented(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """The docstrings of modules, classes and functions. Line -> the docstring."""
    for node in nodes:
        has_one = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if has_one and (told := ast.get_docstring(node)):
            yield node.body[0].lineno, told


@dataclass(frozen=True)
class Source:
    """The Python files of a tree.

    Attributes:
        root: the folder that they are imported from.
        parts: files and folders in it.
    """

    root: Path
    parts: tuple[str, ...]

    @cached_property
    def files(self) -> dict[str, Path]:
        """Module -> its file."""
        paths = [path for part in self.parts for path in _python_files(self.root / part)]
        return {_module(path.relative_to(self.root)): path for path in paths}

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Module -> the modules that define what it imports, wherever in it the statement stands."""
        return {module: self._needed(module) - {module} for module in self.files}

    def _needed(self, module: str) -> set[str]:
        needed = set()
        for statement in parsed(self.files[module]).imports:
            if isinstance(statement, ast.Import):
                needed |= {alias.name for alias in statement.names if alias.name in self.files}
            elif isinstance(statement, ast.ImportFrom) and statement.module:
                origins = [self._origin(statement.module, alias.name) for alias in statement.names]
                needed |= {origin for origin in origins if origin}
        return needed

    def _origin(self, module: str, name: str) -> str:
        """The module that defines a name, where a package's `__init__.py` hands it on; "" if it is none of these."""
        if f"{module}.{name}" in self.files:
            return f"{module}.{name}"
        if module not in self.files:
            return ""
        handed_on = self._handed_on.get(module, {}).get(name)
        return (self._origin(*handed_on) if handed_on else "") or module

    @cached_property
    def _handed_on(self) -> dict[str, dict[str, tuple[str, str]]]:
        """Package -> name -> the module that it has it from, and its name there."""
        return {
            package: {
                alias.asname or alias.name: (statement.module, alias.name)
                for statement in parsed(path).outermost
                if isinstance(statement, ast.ImportFrom) and statement.module
                for alias in statement.names
            }
            for package, path in self.files.items()
            if path.name == "__init__.py"
        }


def _python_files(path: Path) -> Iterable[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def longest_chain(needs: Mapping[Node, Iterable[Node]]) -> list[Node]:
    """The longest row in which each needs the next.

    Raises:
        ValueError: naming a circle, if there is one.
    """
    chains: dict[Node, list[Node]] = {}
    try:
        for node in TopologicalSorter(needs).static_order():  # each after all that it needs
            below = [chains[other] for other in sorted(needs.get(node, ()), key=str)]
            chains[node] = [node, *max(below, key=len, default=[])]
    except CycleError as error:
        raise ValueError(f"a circle: {' -> '.join(map(str, reversed(error.args[1])))}") from error
    return max((chains[node] for node in needs), key=len, default=[])


def grouped(needs: Mapping[str, Iterable[str]], group: Mapping[str, str]) -> dict[str, set[str]]:
    """Group -> the other groups that its members need."""
    groups: dict[str, set[str]] = {name: set() for name in group.values()}
    for node, others in needs.items():
        groups[group[node]] |= {group[other] for other in others} - {group[node]}
    return groups
