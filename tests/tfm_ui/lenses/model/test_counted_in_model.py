"""What lessons measure in the Model lens, beside modules of torch and a model with embeddings multiplied by hand."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tfm_core import Transformer, causal_mask
from tfm_ui.lenses.model.measures import MEASURES
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
TWO = ModelState(architecture="encoder-decoder", norm="post", activation="relu")
GPT = ModelState(architecture="decoder", d_model=256, num_heads=8, num_layers=4)
OUTPUT = ModelLensState(view="output")


def measured(name: str, model: ModelState = MODEL, state: ModelLensState = ModelLensState()) -> float | str:  # noqa: B008
    return MEASURES[name](model, state)


def size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def typed(layers: int, d_ff: int, words: int, *, width: int, heads: int) -> ModelLensState:
    sizes = {"d_model": width, "heads": heads, "layers": layers, "d_ff": d_ff, "words": words, "tokens": 25}
    return ModelLensState(shape="your numbers", **{f"own_{name}": number for name, number in sizes.items()})


def test_the_course_s_encoder_has_as_many_parameters_as_torch_s():
    encoder, layer = typed(6, 512, 1000, width=128, heads=8), nn.TransformerEncoderLayer(128, 8, 512)
    for state in (encoder, ModelLensState(shape="six layers")):
        post = ModelState(norm="post", activation="relu", causal=False)
        assert measured("encoder_layer_parameters", post, state) == size(layer) == 198_272
        assert (
            measured("machine_parameters", post, state) == 6 * size(layer) + size(nn.Embedding(1000, 128)) == 1_317_632
        )
        assert measured("decoder_layer_parameters", post, state) == 0
        assert (measured("machine_vocabulary", post, state), measured("machine_width", post, state)) == (1000, 128)


def test_the_paper_s_base_has_as_many_parameters_as_torch_s_layers():
    layers = nn.TransformerEncoderLayer(512, 8, 2048), nn.TransformerDecoderLayer(512, 8, 2048)
    for state in (typed(6, 2048, 37_000, width=512, heads=8), ModelLensState(shape="paper’s base")):
        parts = [measured(f"{name}_layer_parameters", TWO, state) for name in ("encoder", "decoder")]
        assert parts == [size(layer) for layer in layers]
        assert measured("layer_parameters", TWO, state) == 6 * sum(parts) == 44_138_496
        shared = measured("machine_parameters", TWO, state)
        assert shared == 44_138_496 + 37_000 * 512
        ends = [nn.Embedding(37_000, 512), nn.Embedding(37_000, 512), nn.Linear(512, 37_000)]
        assert shared + 2 * 37_000 * 512 + 37_000 == 44_138_496 + sum(map(size, ends))


def test_the_small_gpt_has_15_96_million_and_gpt_2_a_third_in_its_embedding():
    model = ModelState(architecture="decoder")
    assert measured("machine_parameters", model, typed(4, 1024, 50_000, width=256, heads=8)) == 15_959_552
    assert measured("share_of_ends", model, ModelLensState(shape="GPT-2 small")) == pytest.approx(
        100 * 50_257 * 768 / 124_439_808
    )


def test_a_classifier_has_a_head_of_195():
    assert measured("block_parameters", MODEL, ModelLensState(shape="classifier", block="head")) == size(
        nn.Linear(64, 3)
    )


@pytest.mark.parametrize("model", [MODEL, TWO, GPT], ids=["encoder", "both", "GPT"])
def test_parts_are_those_of_the_live_modules(model):
    real = Transformer(model.config)
    named = [(name, parameter.numel()) for name, parameter in real.named_parameters()]
    in_attention = sum(count for name, count in named if "_attention." in name)
    in_network = sum(count for name, count in named if ".feed_forward." in name)
    in_ends = sum(count for name, count in named if name.endswith("embedding.weight"))
    parts = {"attention": in_attention, "feed-forward": in_network, "embedding and output": in_ends}
    assert measured("attention_parameters", model) == in_attention
    assert measured("feed_forward_parameters", model) == in_network
    assert measured("largest_part", model) == max(parts, key=parts.__getitem__)
    assert measured("machine_parameters", model) == size(real)


@pytest.mark.parametrize(
    ("model", "looks"),
    [
        (MODEL, "decoder-only"),
        (ModelState(causal=False), "encoder"),
        (ModelState(architecture="decoder"), "decoder-only"),
        (TWO, "encoder-decoder"),
    ],
)
def test_what_a_machine_is_called(model, looks):
    assert measured("looks", model) == looks


def loss_by_hand(model: ModelState, *, wide: bool) -> float:
    """The loss on the text's next tokens, of a new model, whose tied embeddings are multiplied by √d_model."""
    made = Transformer(model.config).eval()
    ids = model.source_tokens.batch
    with torch.no_grad():
        if wide:
            made.stack.embedding.weight.mul_(model.d_model**0.5)
            assert made.stack.embedding.weight.std() == pytest.approx(1, rel=0.01)
        mask = causal_mask(ids.shape[1]) if model.masks_the_future else None
        return float(F.cross_entropy(made(ids, mask=mask)[0, :-1], ids[0, 1:]))


@pytest.mark.parametrize("model", [MODEL, GPT, ModelState(norm="post", positional="rope")], ids=["d", "GPT", "post"])
def test_the_first_loss_beside_a_model_called_by_hand(model):
    assert measured("untrained_loss", model, OUTPUT) == pytest.approx(loss_by_hand(model, wide=False), abs=1e-4)
    assert measured("untrained_loss_if_wide", model, OUTPUT) == pytest.approx(loss_by_hand(model, wide=True), rel=1e-4)


def test_tied_embeddings_of_standard_deviation_1_begin_near_d_model_and_untied_ones_near_guessing():
    guessing = math.log(GPT.config.vocab_size)
    assert measured("untrained_loss_if_wide", GPT, OUTPUT) == pytest.approx(256, rel=0.05)
    assert measured("untrained_loss", GPT, OUTPUT) == pytest.approx(guessing, abs=1)
    untied = ModelLensState(view="output", tied=False)
    assert measured("untrained_loss_if_wide", GPT, untied) == pytest.approx(guessing, abs=1)


def test_weights_that_were_not_drawn_and_a_single_token_have_no_first_loss():
    for model in (ModelState(weights="reverse"), ModelState(text="a")):
        assert (measured("untrained_loss", model), measured("untrained_loss_if_wide", model)) == (0, 0)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    "model", [ModelState(text="a b c", seq_len=6), TWO, ModelState(weights="reverse-decoder"), ModelState(text="")]
)
def test_each_has_a_value_of_any_model(name, model):
    assert isinstance(measured(name, model), (int, float, str))
