"""The tensors of every view: the main panel has them, or it is told why not; files, table and page hold the same."""

from html import escape
from typing import Any

import pytest

from tests.taken import as_written
from tfm_ui.lenses import lenses
from tfm_ui.live.tensors.step import Step
from tfm_ui.page import tensors
from tfm_ui.pictures.panel import Panel, panels_in
from tfm_ui.state.model_state import ModelState

Values = dict[str, Any]
BY_LENS = {lens.name: lens for lens in lenses()}
VIEWS = [(lens.name, view) for lens in lenses() for view in lens.views]
COUNTS = "counts of parameters, operations or bytes by formula, or times: no tensor has them"
OF_MANY = "statistics of many networks that are drawn anew or trained: their tensors are nobody's step"
NO_TENSORS = {  # view -> why its main panel has no tensors
    **{("profiling", view): COUNTS for view in BY_LENS["profiling"].views},
    ("positions", "table"): "names, sources and counts of the schemes",
    ("model", "diagram"): COUNTS,
    ("model", "depth"): OF_MANY,
    ("model", "distance"): OF_MANY,
    ("training", "classify"): OF_MANY,
    ("training", "compare"): OF_MANY,
    ("clinic", "code"): "what checks say of listings",
}
MODELS: list[Values] = [
    {},
    {"architecture": "decoder", "weights": "lab-gpt", "text": "The ship, “the” ship 🦊"},
    {"architecture": "encoder-decoder", "positional": "t5", "norm": "post", "target": "ja so", "seq_len": 9},
    {"architecture": "decoder", "positional": "rope", "activation": "swiglu", "text": "one two"},
    {"positional": "alibi", "causal": False, "num_layers": 1, "num_heads": 1, "seq_len": 4},
]


def state_of(lens: str, view: str, **fields: Any) -> Any:
    of = BY_LENS[lens]
    return of.state(**({"view": view} if len(of.views) > 1 else {}), **fields)


def shown(lens: str, model: ModelState, state: Any) -> list[Panel]:
    """The panels of a view, the main one first; none where it is not shown for this model."""
    of = BY_LENS[lens]
    return [] if of.view_of(state).why_not_shown(model, state) else panels_in(of.blocks(model, state))


def look_at(step: Step) -> None:
    """Names, shapes and numbers are the same in the table, in both files, and by plain torch."""
    as_written(step)
    table = tensors.table(step)
    for each in step.tensors:
        assert f"<code>{escape(each.name)}</code>" in table
        assert escape(each.shape_in_words) in table
        assert each.about.strip() == each.about != ""
    assert [*tensors.files(step, "x.npz")] == ["NPZ", "safetensors", "PY"]
    assert step.title
    assert not [each.name for each in step.tensors if each.code and each not in step.computed]


@pytest.mark.parametrize(("lens", "view"), VIEWS)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_main_panel_has_tensors_or_a_reason_why_not(lens, view, model):
    panels = shown(lens, ModelState(**model), state_of(lens, view))
    for panel in panels:
        if step := panel.tensors:
            look_at(step)
    if panels:
        assert (panels[0].tensors is None) == ((lens, view) in NO_TENSORS), type(panels[0]).__name__
