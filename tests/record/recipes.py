"""What a panel's recipe yields: the variables that the script leaves behind, each as statistics.py describes it."""

import ast
import re
from contextlib import chdir, redirect_stdout
from dataclasses import fields, is_dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tests.record.differences import alike
from tests.record.statistics import of_known

ROOT = Path(__file__).parents[2]
# Recipes that are not run: those that measure or train for minutes, and those that train for seconds.
RUNS_A_CLOCK = re.compile(r"\b(profile|compare)\(|in (grid|finetune)\(")
TRAINS = re.compile(r"\bin train\(")

Record = dict[str, Any]


@cache
def yields(recipe: str) -> Record:
    """What a recipe leaves behind: each name with what is recorded of its value, and the last of these names."""
    if RUNS_A_CLOCK.search(recipe):
        return {"measures": True}
    if TRAINS.search(recipe):
        return {"trains": True}
    with torch.random.fork_rng(devices=[]):
        first = _left(recipe, seed=0)
        drawn = not torch.equal(torch.get_rng_state(), torch.manual_seed(0).get_state())
        left = alike(first, _left(recipe, seed=1)) if drawn else first  # inputs drawn without a seed have but a shape
    assert left, f"a recipe leaves nothing that is recorded:\n{recipe}"
    return {"last": list(left)[-1], "left": left}


def _left(recipe: str, *, seed: int) -> Record:
    torch.manual_seed(seed)
    scope: dict[str, Any] = {"__name__": "__main__"}
    with redirect_stdout(StringIO()), chdir(ROOT):
        exec(compile(recipe, "recipe", "exec"), scope)
    imported = _imported(recipe)
    values = {
        name: value
        for name, value in scope.items()
        if not (name.startswith("_") or name in imported or isinstance(value, ModuleType | str) or callable(value))
    }
    last = list(values)[-1]
    if is_dataclass(values[last]):  # several results under one name
        values[last] = _named(values[last])
    for name, value in list(values.items()):
        if isinstance(value, dict):  # results by name, whose entries may be dataclasses
            values[name] = {key: _named(entry) if is_dataclass(entry) else entry for key, entry in value.items()}
    left = of_known(values)
    return {name: value for name, value in left.items() if value not in (None, {}, [])}


def _named(result: Any) -> dict[str, Any]:
    """The fields of a result: what it has computed of them and keeps depends on what was asked before."""
    return {field.name: getattr(result, field.name) for field in fields(result)}


def _imported(recipe: str) -> set[str]:
    """The names that a script imports: what is behind them is not its own."""
    lines = [line for line in ast.parse(recipe).body if isinstance(line, ast.Import | ast.ImportFrom)]
    return {name.asname or name.name for line in lines for name in line.names}
