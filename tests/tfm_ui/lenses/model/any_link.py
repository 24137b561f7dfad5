"""Any link of the Model lens: strategies for its model and its state, and what holds of all that a link shows."""

from typing import Any

from hypothesis import strategies as st

from tfm_core import ACTIVATIONS, ARCHITECTURES, ATTENTION, NORMS, POSITIONAL
from tfm_ui.lenses.model import LENS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.pictures.panel import Panel, panels_in
from tfm_ui.state.model_state import ModelState


def models(**more: Any) -> st.SearchStrategy[ModelState]:
    """Models of every kind; `more` are further fields, or others in place of these."""
    fields = {
        "text": st.sampled_from(["", "a", "the cat sat on the mat because it was tired and old"]),
        "target": st.sampled_from(["", "le chat"]),
        "seq_len": st.sampled_from([0, 5, 16]),
        "architecture": st.sampled_from(ARCHITECTURES),
        "positional": st.sampled_from(tuple(POSITIONAL)),
        "norm": st.sampled_from(NORMS),
        "activation": st.sampled_from(tuple(ACTIVATIONS)),
        "causal": st.booleans(),
        "num_layers": st.integers(1, 3),
        "seed": st.integers(0, 2),
    }
    return st.builds(ModelState, **fields | more)


def states(view: str, **more: Any) -> st.SearchStrategy[ModelLensState]:
    """States of the lens in a view; `more` are the fields of this view."""
    fields = {
        "view": st.just(view),
        "attention": st.sampled_from(tuple(ATTENTION)),
        "stack": st.sampled_from(["encoder", "decoder"]),
        "layer": st.integers(1, 8),
        "token": st.integers(1, 8),
    }
    return st.builds(ModelLensState, **fields | more)


def panels_that_hold(model: ModelState, state: ModelLensState) -> list[Panel]:
    """The panels of a link, once their laws hold, all is said, each picture is drawn and each question answered."""
    panels = panels_in(LENS.blocks(model, state))
    for panel in panels:
        assert all(panel.laws().values()), panel.laws()
        assert panel.sentence()
        assert "nan" not in panel.sentence().lower()
        assert len(panel.table())
    for picture in LENS.view_of(state).pictures.values():
        assert picture.content(model, state)
    for question in LENS.questions:
        if question.controls["view"] == state.view:
            assert question.answer(model, state)
            assert "nan" not in question.answer(model, state).lower()
    return panels


def left_by(panel: Panel) -> dict[str, Any]:
    """What a panel's recipe leaves behind."""
    scope: dict[str, Any] = {}
    exec(panel.recipe(), scope)
    return scope
