"""What lessons measure on the pages of Model, beside torch's own layers."""

import numpy as np
import pytest
import torch
from torch import nn

from tfm_core import recording
from tfm_ui.lenses.model.measures import MEASURES
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.passes import transformer
from tfm_ui.state import pretrained
from tfm_ui.state.model_state import ModelState

MODELS = [
    ModelState(),
    ModelState(causal=False, text="one", seq_len=4),
    ModelState(architecture="decoder", text="cat", seq_len=4, norm="post"),
    ModelState(architecture="encoder-decoder"),
    ModelState(weights="lab-gpt"),
    ModelState(weights="induction"),
]


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
@pytest.mark.parametrize("block", ["self-attention", "cross-attention", "feed-forward", "pooler", "embedding"])
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_measure_holds_of_any_model(name, model, block):
    measured = MEASURES[name](model, ModelLensState(view="block", sub_layer=block, dropout=0.1, layer=2))
    assert isinstance(measured, str) or np.isfinite(measured)


def test_parameters_of_a_shape_are_those_of_torchs_layers():
    head = nn.Linear(64, 3)
    layer = nn.TransformerEncoderLayer(64, 4, 256)
    parts = [nn.Embedding(500, 64), *[layer] * 3, head]
    state = ModelLensState(shape="classifier", block="head")
    assert MEASURES["block_parameters"](ModelState(), state) == sum(p.numel() for p in head.parameters())
    in_all = sum(p.numel() for part in parts for p in part.parameters())
    assert MEASURES["machine_parameters"](ModelState(), state) == in_all


@pytest.mark.parametrize(("dropout", "same"), [(0, "yes"), (0.1, "no"), (0.5, "no")])
def test_two_passes_are_the_same_in_evaluation_mode_alone(dropout, same):
    state = ModelLensState(view="block", dropout=dropout, dropout_draw=9998)
    assert MEASURES["same_twice"](ModelState(), state) == same


def test_without_a_pooler_there_is_no_cosine():
    assert MEASURES["pooled_cosine"](ModelState(), ModelLensState()) == 0


@pytest.mark.skipif(not pretrained.is_here("minilm"), reason="all-MiniLM-L6-v2 is not installed")
def test_the_pooled_vector_is_what_a_dense_layer_and_tanh_make_of_the_first_hidden_state():
    model = ModelState(weights="minilm", text="Transformers have revolutionized natural language processing.")
    whole = transformer(model.config)
    with torch.no_grad(), recording("layers.5.feed_forward.residual_after") as trace:
        whole.states(model.source_tokens.batch)
    first = trace["layers.5.feed_forward.residual_after"][0, 0].numpy().astype(np.float64)
    weight, bias = (tensor.detach().numpy().astype(np.float64) for tensor in (whole.pooler.weight, whole.pooler.bias))
    pooled = np.tanh(weight @ first + bias)
    cosine = pooled @ first / np.linalg.norm(pooled) / np.linalg.norm(first)
    assert MEASURES["pooled_cosine"](model, ModelLensState()) == pytest.approx(cosine, abs=1e-4)
