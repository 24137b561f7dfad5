"""What stands at the panels of all lenses: sentences, tables, laws that hold, and recipes that run."""

import ast
import csv
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from textwrap import dedent
from typing import Any

import pandas as pd
import pytest
import torch

from tests.laws.of_views import pictures_of
from tests.laws.recipe_numbers import numbers_of, same
from tests.record.recipes import RUNS_A_CLOCK, TRAINS
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_core import MASKS
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_core.training import config
from tfm_ui.lenses import lenses
from tfm_ui.lenses.generate.state import AGAINST
from tfm_ui.lenses.model.state import SUB_LAYERS
from tfm_ui.lenses.positions.state import CLAIMS, MEASURES
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.live import script as scripts
from tfm_ui.live.places import PLACES
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
# Texts that look like parts of a recipe, which is made of texts.
LIKE_CODE: Values = {
    "text": 'model = Transformer( "target.batch" source.batch',
    "target": 'read source.batch recording("*.weights") with torch.no_grad() {layer}',
    "architecture": "encoder-decoder",
    "norm": "post",
    "seq_len": 9,
}
QUOTED: Values = {
    "text": "import torch\n\ntorch.set_num_threads(1)\nweights = 'none' \\ {what}",
    "positional": "t5",
    "num_layers": 3,
    "seq_len": 12,
}
BESIDE: Values = {"layer": 2, "head": 3}
PAINTED: Values = {**BESIDE, "paint": "2x9.TAAAACQ"}
SMALL: Values = {"length": 20, "max_len": 12, "width": 6, "heads": 3}
CHANGES = [
    (LIKE_CODE, "cross", "replace 1 source.batch; zero 1 3; replace target 2 target.batch; silence cross 1.1"),
    (LIKE_CODE, "decoder", "replace 2 Transformer(; drop 1; weight 1.2 3>2 0.5; drop target 2; silence decoder 1.3"),
    (LIKE_CODE, "cross", "drop 1; replace target 4 munter; swap target 1 3; weight cross 2.1 1>4 0.7; zero 1 3"),
    (QUOTED, "encoder", "weight 1.2 3>2 0.5; weight 1.2 4>2 0.25 raw; zero 2.1 1; silence 1.2; zero 1.3 4"),
    (QUOTED, "encoder", "swap 2 6; drop 4; swap 2 7; weight 2.1 6>2 0.5; replace 5 dog"),
    (QUOTED, "encoder", "silence 1.1; weight 1.1 6>2 0.9; weight 1.1 3>5 0.25 raw"),
]
TURNED: Values = {"positional": "rope", "num_heads": 8, "seed": 5}
IN_A_LAYER: Values = {"layer": 2, "head": 2, "unit": 9, "block_dim": 7, "tile": 2, "tile_step": 3, "dropout": 0.3}
TWO: Values = {"architecture": "encoder-decoder", "positional": "t5", "target": "ja", "activation": "swiglu"}
OTHERS += [
    *(("heads", LIKE_CODE, {"kind": kind, **BESIDE}) for kind in PLACES[True]),
    ("heads", TURNED, BESIDE),
    *(
        ("attention", model, {"view": view, "kind": kind, **BESIDE})
        for view in ("steps", "contribution")
        for model, kind in (*((LIKE_CODE, kind) for kind in PLACES[True]), (QUOTED, "encoder"), (TURNED, "encoder"))
    ),
    *(
        ("attention", model, {"view": "arcs", "kind": kind, "lines": lines, "heads": "3", "layer": 2})
        for lines in ("heads", "mean", "max", "rollout")
        for model, kind in ((LIKE_CODE, "decoder"), (LIKE_CODE, "cross"), (QUOTED, "encoder"))
    ),
    *(
        ("attention", model, {"view": "change", "kind": kind, "changes": changes, **BESIDE})
        for model, kind, changes in CHANGES
    ),
    ("attention", {}, {"view": "dictionary", "temperature": 0.3}),
    *(
        ("masks", model, {"view": view, "place": "cross", "mask": "prefix 2 or window 2 and padding", **BESIDE})
        for view in ("see", "leaks", "padding")
        for model in (LIKE_CODE, TWO)
    ),
    (
        "masks",
        {"causal": False, "positional": "rope"},
        {"view": "padding", "pad_side": "left", "paint": "2x9.TAAAACQ", "texts": "a b\n🦊"},
    ),
    ("masks", {"architecture": "decoder", "positional": "alibi"}, {"view": "padding", "pad_side": "left", "row": 2}),
    ("masks", {"tokenizer": "byte", "seq_len": 12}, {"view": "leaks", "mask": "documents 3 4", "item": 2, "tries": 8}),
    *(
        ("masks", LIKE_CODE, {"view": "see", "mask": f"{mask} or window 2", "place": "decoder", **PAINTED})
        for mask in MASKS
    ),
    *(
        ("masks", LIKE_CODE, {"view": view, "place": "decoder", "mask": "window 2 and padding", **PAINTED})
        for view in ("padding", "conventions")
    ),
    *(  # masks too large to be written out cell by cell
        ("masks", {"seq_len": 30, **model}, {"view": "conventions", "mask": mask, "place": place, "texts": "a b c\nd"})
        for model, mask, place in (
            ({"causal": False}, "window 3 or global 1 and padding", "encoder"),
            ({"architecture": "encoder-decoder"}, "cross and prefix 2", "cross"),
            ({"architecture": "encoder-decoder"}, "window 2 and padding", "decoder"),
        )
    ),
    *(
        ("masks", model, {"view": "conventions", "convention": name, "mask": mask, "texts": texts, "place": place})
        for name in CONVENTIONS
        for model, mask, texts, place in [
            (
                {"architecture": "decoder", "norm": "post"},
                "documents 5 7 or strided 4",
                "@alice\n'a' \"b\"\\n",
                "decoder",
            ),
            (LIKE_CODE, "cross and window 2", "the dog barked at me\na b c", "cross"),
        ]
        if (name, place) != ("HF, causal model", "cross")
    ),
    *(
        ("model", model, {"view": view, "stack": "decoder", "sub_layer": part, **IN_A_LAYER})
        for view in BY_LENS["model"].views
        if view != "distance"
        for part in (SUB_LAYERS if view == "block" else SUB_LAYERS[:1])
        for model in ({**TWO, "norm": "post"}, {"architecture": "decoder", "positional": "rope", "activation": "relu"})
    ),
    ("model", TWO, {"view": "output", "token": 9, "temperature": 0.1, "tied": False, "top": 20}),
    *(
        ("model", model, {"view": "distance", **QUICK["distance"]})
        for model in ({**TWO, "tokenizer": "byte"}, {"causal": False})
    ),
    *(
        ("positions", {"seed": 11}, {"view": view, "claim": claim, "a": a, "b": b, "shift": 3, "head": 2, **SMALL})
        for view, claim in (("see", CLAIMS[0]), ("beyond", CLAIMS[0]), *(("why", claim) for claim in CLAIMS))
        for a, b in (("rope", "learned"), ("sinusoidal", "t5"), ("learned", "alibi"))
    ),
    *(
        ("positions", {}, {"view": "why", "measure": MEASURES[1], "a": a, "b": b, **SMALL, "width": 7})
        for a, b in (("rope", "learned"), ("none", "sinusoidal"), ("t5", "nothing"))
    ),
    *(
        ("positions", model, {"view": view, "a": "learned", "shuffle": 5, "layer": 2})
        for view in ("model", "fault")
        for model in (LIKE_CODE, QUOTED, {"architecture": "decoder", "norm": "post", "text": "hi", "seq_len": 2})
    ),
    *(
        ("generate", model, {"view": view, "steps": 12, "layer": 2, **more})
        for view, more in (
            ("write", {"forced": "3.300 5.17"}),
            ("write", {"shows": "attention", "head": 3}),
            ("kept", {"full": "stop"}),
            ("kept", {"full": "window", "steps": 30}),
            *(("surprise", {"against": against, "other": "the sea", "memory": 2}) for against in AGAINST),
        )
        for model in (
            {"weights": "lab-gpt", "text": "The captain’s “sea”, and"},
            {"architecture": "decoder", "tokenizer": "byte", "text": "to be", "positional": "rope", "num_layers": 3},
        )
    ),
    ("generate", {"weights": "lab-gpt"}, {"view": "write", "method": "beam", "steps": 6}),
]

STEPS = 2  # of a recipe that trains; with --all as many as it says
ON_PURPOSE = (
    "wrong: ",
    "−∞ and softmax: ",
    "padding not hidden: ",
)  # what a panel shows as a fault: its laws are there to be broken


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
            left = left_by(recipe)
        except NameError as problem:
            problems.append(f"its recipe: {problem}")
        else:
            problems += [f"its recipe leaves no {name}" for made in recipes for name in returned(made) - left.keys()]
            problems += [] if TRAINS.search(recipe) else other_numbers(panel, left)
    return [f"{panel.key}: {problem}" for problem in problems]


def other_numbers(panel: Panel, left: Values) -> list[str]:
    """The names of a recipe whose numbers are not those on screen."""
    numbers = numbers_of(panel)
    if numbers is None:
        return [f"enter in recipe_numbers.py what its recipe gives: {type(panel).__name__}"]
    return [f"its recipe gives another “{name}”" for name, shown in numbers.items() if not same(left[name], shown)]


def unnamed(table: pd.DataFrame) -> list[str]:
    """What the file of a table does not name: its columns, or, of a matrix, what its columns are."""
    header = next(csv.reader([csv_of(table).splitlines()[0]]))
    problems = [] if all(header) else [f"a column of its file has no name: {header[:4]}"]
    names, (*_, last) = [str(name) for name in table.columns], table.index.names
    labels = {str(label) for label in table.index.get_level_values(-1)}
    is_matrix = len(names) > 1 and (all(name.isdigit() for name in names) or set(names) <= labels)
    return problems + ([f"what its columns are: {last}"] if is_matrix and "\\" not in str(last) else [])


@lru_cache(8)
def left_by(recipe: str) -> Values:
    """What a recipe leaves behind; the same text is run once, as views that use no model have one."""
    scope: dict[str, Any] = {}
    with torch.random.fork_rng(devices=[]):
        exec(compile(recipe, "recipe", "exec"), scope)
    return scope


def returned(recipe: Callable[..., Any]) -> set[str]:
    """The names in a recipe's last line, which the script leaves out."""
    last = ast.parse(dedent(inspect.getsource(recipe))).body[0].body[-1]
    return {node.id for node in ast.walk(last) if isinstance(node, ast.Name)}
