"""The Model lens without a browser."""

import pytest

from tests.pages.test_app import start, text_on
from tfm_ui.lenses.model.state import VIEWS


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("architecture", ["encoder", "encoder-decoder"])
def test_every_view_runs(view, architecture):
    app = start("model", model_view=view, architecture=architecture)
    assert "Model" in text_on(app)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "model",
    [
        {"text": "", "seq_len": "2", "positional": "alibi"},
        {"text": "hello", "num_layers": "1", "positional": "t5"},
        {"text": "🦊 <b> שלום", "norm": "post", "model_attention": "linear"},
        {"architecture": "decoder", "activation": "swiglu", "model_layer": "99", "model_token": "-1"},
    ],
    ids=str,
)
def test_every_view_runs_for_odd_links(view, model):
    assert "Model" in text_on(start("model", model_view=view, **model))
