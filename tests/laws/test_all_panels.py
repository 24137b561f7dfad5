"""What stands at the panels of all lenses: sentences, tables, laws that hold, and recipes that run."""

import ast
import csv
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from textwrap import dedent
from typing import Any

import pandas as pd
import pytest
import torch

from tests.laws.of_views import pictures_of
from tests.record.recipes import RUNS_A_CLOCK
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_core.training import config
from tfm_ui.lenses import lenses
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.live import script as scripts
from tfm_ui.pictures.panel import Panel, panels_in
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.csv_file import csv_of

Values = dict[str, Any]
BY_LENS = {lens.name: lens for lens in lenses()}
MODELS: list[Values] = [
    {},
    {"text": "one two", "seq_len": 4, "causal": False, "num_layers": 1, "positional": "t5"},
    {"text": "The ship, “the” ship 🦊", "weights": "lab-gpt"},
]
QUICK: dict[str, Values] = {
    "distance": {"reach_length": 8, "reach_seeds": 1}
}  # what a view shows of other models than the first
VIEWS = [
    (lens.name, model, {"view": view, **(QUICK.get(view, {}) if model else {})} if len(lens.views) > 1 else {})
    for lens in lenses()
    for view in lens.views
    for model in MODELS
]
OTHERS: list[tuple[str, Values, Values]] = [
    ("attention", {"architecture": "encoder-decoder"}, {"view": "arcs", "kind": "cross"}),
    ("attention", {}, {"view": "change", "changes": "weight 1.1 6>2 0"}),
    # whose recipes write torch.ones(...) in their header
    *(("masks", {"causal": False}, {"view": view, "item": 1, "mask": ""}) for view in BY_LENS["masks"].views),
    ("masks", {}, {"view": "see", "item": 1, "paint": "2x9.TAAAACQ"}),
    ("positions", {"architecture": "decoder"}, {"view": "model", "a": "alibi", "b": "t5"}),
    ("positions", {}, {"view": "beyond", "length": 96, "max_len": 64}),
    *((lens, {"weights": "lab-gpt", "text": ""}, {}) for lens in ("home", "heads", "attention", "masks", "model")),
    ("attention", {"weights": "lab-gpt", "text": "@gettysburg"}, {"view": "change", "changes": "replace 3 whale"}),
    ("model", {"weights": "lab-gpt", "text": "@alice", "seq_len": 9}, {"view": "output", "token": 9}),
    ("masks", {"weights": "lab-gpt"}, {"view": "conventions", "mask": "documents 4 3", "texts": "no whale\n🦊 " * 9}),
]

STEPS = 2  # of a recipe that trains; with --all as many as it says
ON_PURPOSE = ("wrong: ", "−∞ and softmax: ")  # what a panel shows as a fault: its laws are there to be broken


@pytest.fixture
def recipes(monkeypatch) -> list[Callable[..., Any]]:
    """The recipes that were made into scripts since the test began."""
    made: list[Callable[..., Any]] = []
    body = scripts._body
    monkeypatch.setattr(scripts, "_body", lambda recipe: made.append(recipe) or body(recipe))
    return made


@pytest.mark.parametrize(("lens", "model", "page"), [*VIEWS, *OTHERS])
def test_each_panel_has_a_sentence_a_table_laws_that_hold_and_a_recipe_that_runs(
    monkeypatch, request, recipes, lens, model, page
):
    monkeypatch.setattr(measurements, "find", lambda plan, *_: plan and plausible(plan))
    blocks = BY_LENS[lens].blocks(ModelState(**model), BY_LENS[lens].state(**page))
    if not request.config.getoption("all_combinations"):
        read_name = config.read_name
        monkeypatch.setattr(config, "read_name", lambda name: replace(read_name(name), steps=STEPS))
    of_view = pictures_of(BY_LENS[lens].state, page.get("view", ""))
    problems = [problem for panel in panels_in(blocks) for problem in faults(panel, recipes, of_view)]
    assert not problems, "\n".join(problems)


def faults(panel: Panel, recipes: list[Callable[..., Any]], pictures: list[str]) -> list[str]:
    """What is wrong with a panel of a view that has these pictures."""
    problems = [] if panel.sentence().strip() else ["no sentence"]
    if panel.picture_name and panel.picture_name not in pictures:
        problems.append(f"its picture {panel.picture_name} is computed in another view's folder")
    broken = [law for law, holds in panel.laws().items() if not holds]
    problems += [f"“{law}” does not hold" for law in broken if not law.startswith(ON_PURPOSE)]
    problems += unnamed(panel.table())
    recipes.clear()
    recipe = panel.recipe()
    if recipe and not RUNS_A_CLOCK.search(recipe):
        try:
            names = left_by(recipe)
        except NameError as problem:
            problems.append(f"its recipe: {problem}")
        else:
            problems += [f"its recipe leaves no {name}" for made in recipes for name in returned(made) - names]
    return [f"{panel.key}: {problem}" for problem in problems]


def unnamed(table: pd.DataFrame) -> list[str]:
    """What the file of a table does not name: its columns, or, of a matrix, what its columns are."""
    header = next(csv.reader([csv_of(table).splitlines()[0]]))
    problems = [] if all(header) else [f"a column of its file has no name: {header[:4]}"]
    names, (*_, last) = [str(name) for name in table.columns], table.index.names
    labels = {str(label) for label in table.index.get_level_values(-1)}
    is_matrix = len(names) > 1 and (all(name.isdigit() for name in names) or set(names) <= labels)
    return problems + ([f"what its columns are: {last}"] if is_matrix and "\\" not in str(last) else [])


@cache
def left_by(recipe: str) -> frozenset[str]:
    """The names that a recipe leaves behind; the same text is run once, as views that use no model have one."""
    scope: dict[str, Any] = {}
    with torch.random.fork_rng(devices=[]):
        exec(compile(recipe, "recipe", "exec"), scope)
    return frozenset(scope)


def returned(recipe: Callable[..., Any]) -> set[str]:
    """The names in a recipe's last line, which the script leaves out."""
    last = ast.parse(dedent(inspect.getsource(recipe))).body[0].body[-1]
    return {node.id for node in ast.walk(last) if isinstance(node, ast.Name)}
