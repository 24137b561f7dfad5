"""The Model lens without a browser."""

import pytest

from tests.pages.test_app import start, text_on
from tfm_ui.lenses.model.state import VIEWS

MODELS = [
    {"architecture": "encoder"},
    {"architecture": "encoder-decoder"},
    {"text": "", "seq_len": "2", "positional": "alibi"},
    {"text": "hello", "num_layers": "1", "positional": "t5"},
    {"text": "🦊 <b> שלום", "norm": "post", "model_attention": "linear"},
    {"architecture": "decoder", "activation": "swiglu", "model_layer": "99", "model_token": "-1"},
]


@pytest.mark.rotated(each=2, view=VIEWS, model=MODELS)
def test_every_view_runs_for_every_architecture_and_odd_links(view, model):
    assert "Model" in text_on(start("model", model_view=view, **model))
