"""The Model lens without a browser."""

import pytest

from tests.pages.test_app import start, text_on, widget
from tfm_core.pretrained.offered import OFFERED
from tfm_ui.lenses.model import LENS
from tfm_ui.lenses.model.state import OUTSIDE_LAYERS, VIEWS


def test_a_block_has_no_tab_and_leads_back_to_the_machine_with_all_that_was_chosen():
    app = start("model", model_view="block", model_layer="2", model_question="old-and-new", seed="3")
    tabs = {button.key: button.proto.type for button in app.button if str(button.key).startswith("_view_")}
    under_others = {view for view in VIEWS if LENS.views[view].tab or LENS.views[view].within}
    assert "block" in under_others
    assert list(tabs) == [f"_view_{view}" for view in VIEWS if view not in under_others]
    assert [key for key, kind in tabs.items() if kind == "primary"] == ["_view_diagram"]
    for key in ("_back", "_view_diagram"):
        widget(app, key).click().run()
        assert dict(app.query_params) == {"model_layer": "2", "model_question": "old-and-new", "seed": "3"}
        app = start("model", model_view="block", model_layer="2", model_question="old-and-new", seed="3")


OF_MINILM = ("token types", "embedding norm", "pooler")
OF_OTHERS = {*OF_MINILM, "transform"}  # no control of the app makes them


@pytest.mark.parametrize("block", OUTSIDE_LAYERS)
def test_an_end_of_the_machine_is_shown_or_said_to_be_missing(block):
    """Learned positions have a block of their own, ALiBi's have none; post-norm ends without a norm.

    Some blocks only models have that others have trained.
    """
    for model in ({"positional": "learned"}, {"positional": "alibi", "norm": "post"}):
        app = start("model", model_view="block", model_sub_layer=block, **model)
        text, notes = text_on(app), " ".join(note.value for note in app.info)
        is_missing = block in OF_OTHERS or ("alibi" in model.values() and block in ("positions", "final norm"))
        assert (f"This stack has no block of its own for “{block}”" in notes) == is_missing
        assert ("One block:" in text) == is_missing
        assert ("recorded from the live pass" in text) != is_missing


@pytest.mark.skipif(not OFFERED["minilm"].is_there, reason="needs `python3 run.py --models`, as `run.py test` does")
@pytest.mark.parametrize("block", OF_MINILM)
def test_a_block_that_others_have_trained_is_shown(block):
    app = start("model", model_view="block", model_sub_layer=block, weights="minilm")
    assert not any("no block of its own" in note.value for note in app.info)
    assert "One block:" not in text_on(app)
    assert "recorded from the live pass" in text_on(app)
