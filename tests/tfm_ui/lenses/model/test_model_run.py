"""A shape that is run once, and two vocabularies: shapes, weights and counts are those of torch.nn's own modules."""

import pytest
import torch
from torch import nn

from tests.tfm_ui.lenses.model.any_link import left_by
from tfm_core import Transformer
from tfm_ui.lenses.model import LENS
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.diagram.passed import Passed, run_of
from tfm_ui.lenses.model.shapes import OUTPUTS, OWN, SHAPES, WITH_BIAS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.pictures.panel import Note, panels_in
from tfm_ui.state.model_state import ModelState

EXERCISE_2 = ModelLensState(shape="one layer", run=True, batch=4, batch_tokens=20)
EXERCISE_3 = ModelLensState(shape="six layers", run=True, batch=8, batch_tokens=25)


def test_the_layer_of_the_exercise_gives_these_shapes() -> None:
    """128, 8 heads, 512, on 4 x 20: beside torch's layer, and its attention with one map for all heads."""
    panel, x = Passed(ModelState(), EXERCISE_2), torch.randn(4, 20, 128)
    layer = nn.TransformerEncoderLayer(128, 8, 512, batch_first=True).eval()
    assert panel.output == tuple(layer(x).shape) == (4, 20, 128)
    _, averaged = layer.self_attn(x, x, x, need_weights=True, average_attn_weights=True)
    _, of_heads = layer.self_attn(x, x, x, average_attn_weights=False)
    run = panel.run
    assert run.by_default == tuple(averaged.shape) == (4, 20, 20)
    assert run.weights == run.of_heads == tuple(of_heads.shape) == (4, 8, 20, 20)
    assert Diagram(ModelState(), EXERCISE_2).without_ends == sum(each.numel() for each in layer.parameters()) == 198_272
    assert len(panel.laws()) == 3
    assert all(panel.laws().values())
    assert "(4, 8, 20, 20)" in panel.sentence()
    left = left_by(panel)
    torch.testing.assert_close(left["by_default"], left["weights"].mean(1))
    assert tuple(left["shapes"]["layers.0.feed_forward.residual_after"]) == (4, 20, 128)


def test_the_encoder_of_the_exercise_runs_on_eight_texts() -> None:
    """6 layers and 1,000 words on 8 x 25: beside torch's encoder, which ends with the same shape."""
    panel = Passed(ModelState(), EXERCISE_3)
    stack = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(128, 8, 512, batch_first=True), 6, enable_nested_tensor=False
    )
    embedding = nn.Embedding(1000, 128)
    assert panel.output == tuple(stack.eval()(embedding(torch.randint(1000, (8, 25)))).shape)
    assert panel.parameters == sum(each.numel() for each in nn.ModuleList([stack, embedding]).parameters()) == 1_317_632
    assert [shape for site, shape in panel.stages.items() if site.endswith("weights")] == [(8, 8, 25, 25)] * 6
    assert panel.run.seconds > 0


@pytest.mark.parametrize("name", ["one layer", "six layers", "classifier"])
def test_what_is_run_once_is_said_so(name: str) -> None:
    """A sentence says that no weight is made where no batch is run, and there alone."""
    for run in (True, False):
        state = ModelLensState(shape=name, run=run)
        panels = panels_in(LENS.blocks(ModelState(), state))
        assert any(isinstance(panel, Passed) for panel in panels) == run
        assert any("no weight is made" in panel.sentence().lower() for panel in panels) != run
        assert all(panel.laws() is not None and all(panel.laws().values()) for panel in panels)


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("positional", ["sinusoidal", "rope"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_numbers_of_ones_own_are_run(architecture: str, positional: str, norm: str) -> None:
    """The end has a row for each token; beside a scheme inside the attention torch's module has no place."""
    sizes = {"own_d_model": 16, "own_heads": 2, "own_layers": 2, "own_d_ff": 8, "own_words": 30, "own_tokens": 5}
    state = ModelLensState(shape=OWN, run=True, batch=3, batch_tokens=7, **sizes)
    model = ModelState(architecture=architecture, positional=positional, norm=norm, causal=True)
    [panel] = run_of(model, state)
    assert isinstance(panel, Passed)
    assert panel.run.shapes["logits"] == (3, 7, 30)
    assert bool(panel.run.by_default) == (positional == "sinusoidal")
    assert all(panel.laws().values())
    assert panel.sentence()


def test_what_is_too_large_is_not_run() -> None:
    """Nor is what this library has no model for."""
    for state in (
        ModelLensState(shape="paper’s base", run=True),
        ModelLensState(shape="two vocabularies", run=True),
        ModelLensState(shape=OWN, run=True),
        ModelLensState(shape=OWN, run=True, batch=16, batch_tokens=64, own_d_model=1, own_heads=1, own_layers=1,
                       own_d_ff=1, own_words=500_000),
    ):  # fmt: skip
        [note] = run_of(ModelState(), state)
        assert isinstance(note, Note)


@pytest.mark.parametrize(("source", "target"), [(10_000, 8_000), (37_000, 37_000), (1, 500_000)])
def test_two_vocabularies_and_a_bias_are_counted_as_torch_does(source: int, target: int) -> None:
    """An embedding for each text, and a linear output with its bias."""
    with torch.device("meta"):
        theirs = nn.ModuleList(
            [
                nn.Transformer(512, 8, 6, 6, 2048, batch_first=True),
                nn.Embedding(source, 512),
                nn.Embedding(target, 512),
                nn.Linear(512, target),
            ]
        )
        norms = nn.ModuleList([theirs[0].encoder.norm, theirs[0].decoder.norm])
    theirs_count, of_norms = (sum(each.numel() for each in made.parameters()) for made in (theirs, norms))
    model = ModelState(architecture="encoder-decoder", norm="post", activation="relu")
    sizes = {"own_d_model": 512, "own_heads": 8, "own_layers": 6, "own_d_ff": 2048, "own_words": source}
    numbers = ModelLensState(shape=OWN, own_target=target, own_output=WITH_BIAS, **sizes)
    counted = Diagram(model, numbers)
    assert counted.parameters == theirs_count - of_norms
    assert counted.without_ends == 44_138_496
    assert counted.shape_out(counted.items[-1].block, "decoder")[1].endswith(f"{target:,}")
    if (source, target) == (10_000, 8_000):
        assert counted.parameters == SHAPES["two vocabularies"].parameters
    matrix = Diagram(model, ModelLensState(shape=OWN, own_target=target, own_output=OUTPUTS[1], **sizes))
    assert counted.parameters - matrix.parameters == target
    tied = Diagram(model, ModelLensState(shape=OWN, own_target=target, **sizes))
    assert matrix.parameters - tied.parameters == target * 512


def test_a_target_of_its_own_needs_two_stacks() -> None:
    """One stack has one table; its output may have a matrix of its own."""
    sizes = {"own_d_model": 16, "own_heads": 2, "own_layers": 1, "own_d_ff": 8, "own_words": 30}
    single = Diagram(ModelState(), ModelLensState(shape=OWN, own_target=50, **sizes))
    plain = Diagram(ModelState(), ModelLensState(shape=OWN, **sizes))
    assert single.parameters == plain.parameters == sum(each.numel() for each in Transformer(plain.config).parameters())
    untied = Diagram(ModelState(), ModelLensState(shape=OWN, own_output=OUTPUTS[1], **sizes))
    assert untied.parameters == plain.parameters + 30 * 16
