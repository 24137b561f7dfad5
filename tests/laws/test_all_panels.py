"""What stands at the panels of all lenses: sentences, tables, laws that hold, and recipes that run."""

import ast
import inspect
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest
import torch

from tests.record.page import RUNS_A_CLOCK
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_ui.lenses import lenses
from tfm_ui.lenses.profiling import measurements
from tfm_ui.live import script as scripts
from tfm_ui.pictures.panel import Panel, panels_in
from tfm_ui.state.model_state import ModelState

Values = dict[str, Any]
BY_LENS = {lens.name: lens for lens in lenses()}
MODELS: list[Values] = [
    {},
    {"text": "one two", "seq_len": 4, "causal": False, "num_layers": 1, "positional": "t5"},
    {"text": "The ship, “the” ship 🦊", "weights": "lab-gpt"},
]
VIEWS = [
    (lens.name, model, {"view": view} if len(lens.views) > 1 else {})
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
    monkeypatch, recipes, lens, model, page
):
    monkeypatch.setattr(measurements, "find", lambda plan, *_: plan and plausible(plan))
    blocks = BY_LENS[lens].blocks(ModelState(**model), BY_LENS[lens].state(**page))
    problems = [problem for panel in panels_in(blocks) for problem in faults(panel, recipes)]
    assert not problems, "\n".join(problems)


def faults(panel: Panel, recipes: list[Callable[..., Any]]) -> list[str]:
    """What is wrong with a panel."""
    problems = [] if panel.result.sentence().strip() else ["no sentence"]
    broken = [law for law, holds in panel.result.laws().items() if not holds]
    problems += [f"“{law}” does not hold" for law in broken if not law.startswith(ON_PURPOSE)]
    panel.result.table()
    recipes.clear()
    recipe = panel.result.recipe()
    if recipe and not RUNS_A_CLOCK.search(recipe):
        scope: dict[str, Any] = {}
        try:
            with torch.random.fork_rng(devices=[]):
                exec(compile(recipe, panel.key, "exec"), scope)
        except NameError as problem:
            problems.append(f"its recipe: {problem}")
        else:
            problems += [f"its recipe leaves no {name}" for made in recipes for name in returned(made) - scope.keys()]
    return [f"{panel.key}: {problem}" for problem in problems]


def returned(recipe: Callable[..., Any]) -> set[str]:
    """The names in a recipe's last line, which the script leaves out."""
    last = ast.parse(dedent(inspect.getsource(recipe))).body[0].body[-1]
    return {node.id for node in ast.walk(last) if isinstance(node, ast.Name)}
