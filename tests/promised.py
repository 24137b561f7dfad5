"""What `tfm_core` and `attention_lab` promise, as tests look at it: names with docstrings, and what these hold."""

import ast
import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import attention_lab
import tfm_core
from docs.api.constants import docstring_below

# The axes of the glossary in tfm_core/__init__.py, and those that a docstring names of its own where these do not fit.
AXES = set(re.findall(r"^    (\w+) {2,}", tfm_core.__doc__ or "", re.MULTILINE)) | {"query", "key"}
LOCAL_AXES = {"...", "classes", "distance", "layer", "layers", "layers + 1", "output", "pair", "pairs", "parameter"}
LOCAL_AXES |= {"new batch", "kept", "query source", "rank", "rows", "scored", "target", "token", "width"}
SHAPE = re.compile(r"\(([^()]*)\)")
SAME_SHAPE = re.compile(r"\b(any|same|its|this|their) shapes?\b|of the shape of")


@dataclass(frozen=True)
class Documented:
    """Something public, with what is said of it.

    Attributes:
        name: as readers write it, after `tfm_core.` or `attention_lab.`.
        thing: the class, function or constant; of a property its function.
        text: its docstring, "" without.
    """

    name: str
    thing: Any
    text: str


@cache
def promised(name: str, package: ModuleType = tfm_core) -> Documented:
    """A public name: of a constant, the string below it in its module is its docstring."""
    thing = getattr(package, name)
    plain = inspect.unwrap(thing)
    if inspect.isclass(plain) or inspect.isroutine(plain):
        return Documented(name, plain, (plain.__doc__ and inspect.getdoc(plain)) or "")
    return Documented(name, thing, docstring_below(name))


@cache
def promised_members(name: str, package: ModuleType = tfm_core) -> tuple[Documented, ...]:
    """The public methods and properties that a class of this name has of its own; none of what is no class."""
    owner = promised(name, package).thing
    return tuple(_members(owner)) if inspect.isclass(owner) else ()


def _members(owner: type) -> Iterator[Documented]:
    for name, member in vars(owner).items():
        function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            yield Documented(f"{owner.__name__}.{name}", function, inspect.getdoc(function) or "")


def fields_of(thing: Any) -> list[str]:
    """The fields of a dataclass or a NamedTuple, and what a reader chooses in a widget."""
    if dataclasses.is_dataclass(thing) and isinstance(thing, type):
        return [field.name for field in dataclasses.fields(thing)]
    if isinstance(thing, type) and issubclass(thing, attention_lab.Picture):
        return list(thing.choices)
    return list(getattr(thing, "_fields", ())) if isinstance(thing, type) else []


def told_attributes(text: str) -> dict[str, str]:
    """Attribute -> what the sections `Attributes:` of a docstring say of it."""
    told: dict[str, str] = {}
    for section in re.findall(r"^Attributes:\n((?:(?: {4}.*)?\n?)*)", text, re.MULTILINE):
        for names, what in re.findall(r"^ {4}(\w+(?:, \w+)*): ((?:.*\n?(?: {8}.*\n?)*))", section, re.MULTILINE):
            told |= dict.fromkeys(names.split(", "), what)
    return told


def names_a_shape(text: str) -> bool:
    """Whether a text names the axes of a tensor: (batch, seq), or says that the shape is another tensor's."""
    shapes = ({part.strip() for part in inside.split(",")} for inside in SHAPE.findall(text))
    return bool(SAME_SHAPE.search(text)) or any(shape & (AXES | LOCAL_AXES) for shape in shapes)


def handles_tensors(function: Callable[..., Any]) -> bool:
    """Whether a function takes or returns tensors or arrays, by its annotations."""
    annotations = " ".join(map(str, function.__annotations__.values()))
    return re.search(r"\b(Tensor|ndarray)\b", annotations) is not None


def raises_value_error(documented: Documented) -> bool:
    """Whether it raises a ValueError: in its body, or in what its body calls in its own module or class."""
    thing = documented.thing
    functions = [thing] if inspect.isfunction(thing) else list(_constructors(thing))
    return any(map(_raises_or_calls, functions))


def _constructors(thing: Any) -> Iterator[Callable[..., Any]]:
    """How a class is made, where that is written in the class itself."""
    if inspect.isclass(thing):
        yield from (vars(thing)[name] for name in ("__init__", "__post_init__") if name in vars(thing))


def _raises_or_calls(function: Callable[..., Any]) -> bool:
    function = inspect.unwrap(function)
    tree = _tree(function)
    if tree is None or _raises(tree):
        return tree is not None
    module = vars(importlib.import_module(function.__module__))
    owner = module.get(function.__qualname__.partition(".")[0])
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        match node.func:
            case ast.Name(id=name):
                called = module.get(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                called = getattr(owner, name, None)
            case _:
                continue
        called = inspect.unwrap(called) if inspect.isroutine(called) else None
        if inspect.isfunction(called) and called.__module__ == function.__module__:
            body = _tree(called)
            if body is not None and _raises(body):
                return True
    return False


def _tree(function: Callable[..., Any]) -> ast.AST | None:
    try:
        source = inspect.getsource(function)
        # Lines of a text in a method may begin further left than the method.
        return ast.parse(f"if True:\n{source}" if source[0] == " " else source)
    except OSError:  # written by dataclasses
        return None


def _raises(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id == "ValueError"
        for node in ast.walk(tree)
    )
