"""What is said of a public constant: the string that stands below it in its module."""

import ast
import inspect
from importlib import import_module
from itertools import pairwise

from tfm_core.api import MODULES, PACKAGE


def docstring_below(name: str) -> str:
    """The docstring of a public constant; "" without."""
    body = ast.parse(inspect.getsource(import_module(f"{PACKAGE}.{MODULES[name]}"))).body
    for node, after in pairwise(body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            match after:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    return inspect.cleandoc(text)
    return ""
