"""The view "diagram": counts of the real modules and of torch.nn's, rows as configured, one token's way, answers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.tfm_ui.lenses.model.any_link import models, states
from tfm_core import ARCHITECTURES, Transformer
from tfm_ui.lenses.model import LENS
from tfm_ui.lenses.model.diagram.block import CountedBlock
from tfm_ui.lenses.model.diagram.counted import ABOUT_OWN
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.diagram.path import Path
from tfm_ui.lenses.model.diagram.questions import QUESTIONS
from tfm_ui.lenses.model.naming import name_of
from tfm_ui.lenses.model.shapes import OWN, SHAPES
from tfm_ui.lenses.model.state import BLOCKS, ModelLensState
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

any_model = models()
any_state = states("diagram", block=st.sampled_from(BLOCKS), all_layers=st.booleans())


def shape(name: str) -> Diagram:
    """A shape that is only counted."""
    return Diagram(ModelState(), ModelLensState(shape=name))


@given(any_model, any_state)
def test_the_sum_is_the_badges_number(model: ModelState, state: ModelLensState) -> None:
    """It holds of any model."""
    assert Diagram(model, state).parameters == sum(each.numel() for each in Transformer(model.config).parameters())


@pytest.mark.parametrize("name", SHAPES)
def test_counts_of_known_shapes(name: str) -> None:
    """Each shape has as many parameters as the same shape in somebody else's code; that is not called published."""
    shown = shape(name)
    assert list(shown.laws().values()) == [True]
    assert f"have as many: {SHAPES[name].parameters:,}." in shown.sentence()
    assert "ublished" not in shown.sentence() + " ".join(shown.laws())
    assert ("print" in shown.sentence()) == (name in ("paper’s base", "GPT-2 small"))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("block", ["self_attention", "embedding", "feed_forward_sum"])
def test_a_counted_block_is_told_by_its_own_numbers(name: str, block: str) -> None:
    """Its parameters, and those of all blocks of its kind."""
    told = CountedBlock(ModelState(), ModelLensState(shape=name, block=block))
    assert f"This block has {formats.plural(told.block.parameters, 'parameter')}" in told.sentence()
    assert set(told.table()["parameters"]) >= {told.block.parameters}
    if block == "self_attention" and len(told.table()) > 1:
        assert f"have {formats.count(told.table()['parameters'].sum())} together" in told.sentence()


def test_what_is_only_counted_is_drawn_as_the_sidebar_would_have_it() -> None:
    """A causal encoder is masked, a table that all layers share is told, and a head has as many outputs as classes."""
    three_layers = ModelLensState(shape=OWN, own_layers=3)
    texts, of_t5 = (
        [row.text for row in Diagram(model, three_layers).rows_of("encoder")]
        for model in (ModelState(causal=True), ModelState(positional="t5"))
    )
    assert "Masked self-attention" in texts
    assert "× 3 layers, all alike" in texts
    assert "× 3 layers, one table shared" in of_t5
    sizes = ("d_model", "heads", "layers", "d_ff", "words", "tokens")
    small = Diagram(ModelState(), ModelLensState(shape=OWN, **{f"own_{name}": 1 for name in sizes}))
    assert "they would take 0." in small.sentence()
    panels = panels_in(LENS.blocks(ModelState(), ModelLensState(shape="classifier", block="head")))
    assert [panel.shape for panel in panels][1:] == ["out: 3"]


def test_a_folded_layer_is_told_by_its_sums() -> None:
    """What flows out, parameters, multiply-adds, numbers written; and the token's length after it."""
    model, state = ModelState(num_layers=3), ModelLensState(all_layers=True)
    panel = Diagram(model, state)
    [second, _] = [row for row in panel.rows_of("encoder") if row.kind == "layer"]
    inside = [item for item in panel.items if item.block.layer == 1]
    assert second.cells[0] == panel.shape_out(inside[-1].block, "encoder")
    assert second.cells[1][0] == formats.count(sum(item.block.parameters for item in inside))
    assert second.cells[2][0] == formats.count(sum(item.time for item in inside))
    assert second.name in Path(model, state).cells()


def test_a_layer_of_each_stack_is_told_by_its_own_number() -> None:
    """Not by the sum of both."""
    model = ModelState(architecture="encoder-decoder")
    answer = next(each for each in QUESTIONS if each.name == "Six layers").answer(model, ModelLensState())
    stacks = Transformer(model.config)
    for stack in ("encoder", "decoder"):
        count = sum(each.numel() for each in stacks.get_submodule(f"{stack}.layers.0").parameters())
        assert f"Layer 1 of the {stack} has {formats.count(count)} parameters" in answer


def test_torchs_own_modules_have_these_counts() -> None:
    """The base model as nn.Transformer without its two final norms, the layer as nn.TransformerEncoderLayer."""
    layer = nn.TransformerEncoderLayer
    with torch.device("meta"):
        theirs = {
            "paper’s base": [nn.Transformer(512, 8, 6, 6, 2048, batch_first=True)],
            "one layer": [layer(128, 8, 512)],
            "small GPT": [nn.Embedding(50_000, 256), *(layer(256, 8, 1024) for _ in range(4)), nn.LayerNorm(256)],
            "six layers": [nn.Embedding(1000, 128), *(layer(128, 8, 512) for _ in range(6))],
            "classifier": [nn.Embedding(500, 64), *(layer(64, 4, 256) for _ in range(3)), nn.Linear(64, 3)],
        }
    counts = {name: sum(each.numel() for each in nn.ModuleList(made).parameters()) for name, made in theirs.items()}
    counts["paper’s base"] -= 2 * 2 * 512
    assert counts == {name: SHAPES[name].parameters for name in theirs}
    for name in ("paper’s base", "one layer"):
        assert shape(name).without_ends == counts[name]


@given(any_model, any_state)
def test_a_norm_is_in_its_branch_or_on_the_stream(model: ModelState, state: ModelLensState) -> None:
    """Pre-norm: norm, sub-layer, sum; post-norm: sub-layer, sum, norm. The residual begins below both."""
    panel = Diagram(model, state)
    for stack in panel.counts:
        rows = panel.rows_of(stack)
        kinds = [row.kind for row in rows]
        assert sum(row.picked for row in rows) == (stack == panel.stack)
        for at, row in enumerate(rows):
            if row.kind == "sum":
                pre = model.norm == "pre"
                assert kinds[at - 1] in ("self_attention", "cross_attention", "feed_forward")
                assert kinds[at - 2 if pre else at + 1] == "norm"
                assert row.begins == (at - 2 if pre else at - 1)
        assert ("position" in kinds) == (model.positional in ("sinusoidal", "learned"))
        marks = [row.mark for row in rows if row.mark]
        assert len(marks) == (model.positional in ("rope", "alibi", "t5"))
        assert kinds.count("layer") == (model.num_layers - 1 if state.all_layers else 0)


def test_numbers_that_cannot_be_give_way_with_a_sentence() -> None:
    """Heads that do not divide, and a scheme that needs an even width."""
    shown = Diagram(ModelState(), ModelLensState(shape=OWN, own_d_model=100, own_heads=33)).chosen
    assert shown.config.num_heads == 25
    assert shown.note == f"{ABOUT_OWN} 33 heads do not divide d_model 100: 25 are counted."
    odd = Diagram(ModelState(positional="rope"), ModelLensState(shape=OWN, own_d_model=5, own_heads=1))
    assert odd.config.positional == "none"
    assert "Counted without positions" in odd.chosen.note
    assert odd.parameters > 0


def test_the_readers_numbers_say_where_they_stand_and_whose_they_are_at_first() -> None:
    """LLaMA 7B's parameters from its paper's table 2, part by part."""
    d, layers, d_ff, words = 4096, 32, 11_008, 32_000
    llama = 2 * words * d + layers * (4 * d * d + 3 * d * d_ff + 2 * d) + d
    first = Diagram(ModelState(), ModelLensState(shape=OWN))
    assert f"{llama:,} parameters: its feed-forward network is gated" in first.sentence()
    assert "Your numbers stand in “More”" in first.sentence()
    assert first.parameters < llama
    other = Diagram(ModelState(), ModelLensState(shape=OWN, own_layers=31))
    assert "LLaMA" not in other.sentence()
    assert "Your numbers stand in “More”" in other.sentence()


def test_one_tokens_way_is_that_of_the_module() -> None:
    """Length and angle from the vectors that the live model's own layers make."""
    model, state = ModelState(positional="none"), ModelLensState(token=3)
    panel = Path(model, state)
    transformer = Transformer(model.config).eval()
    tokens = model.source_tokens.batch
    with torch.no_grad():
        first = transformer.stack.embedding(tokens)[0, 2] * 32**0.5
        last = transformer.stack(tokens, torch.ones(10, 10).tril().bool())[0, 2]
    assert panel.lengths[0] == pytest.approx(float(first.norm()), rel=1e-6)
    assert panel.lengths[-1] == pytest.approx(float(last.norm()), rel=1e-5)
    assert f"“{panel.names[2]}”" in panel.sentence()
    with torch.no_grad():
        logits = transformer(tokens, mask=torch.ones(10, 10).tril().bool())[0, 2]
    assert panel.logits is not None
    torch.testing.assert_close(panel.logits, logits)
    assert panel.likeliest == name_of(model, int(logits.argmax()))
    assert Path(ModelState(architecture="encoder-decoder"), state).logits is None  # of the encoder


@pytest.mark.parametrize("question", QUESTIONS, ids=[question.name for question in QUESTIONS])
def test_answers_are_true_of_two_models(question: object) -> None:
    """Each number in an answer is one of the table's or follows from it; here, that they differ with the model."""
    state = ModelLensState(**question.controls)
    answers = {question.answer(ModelState(**(dict(question.model) | more)), state) for more in ({}, {"d_model": 64})}
    assert all(answers)
    assert len(answers) == (2 if state.shape == "this model" else 1)


def test_the_share_of_attention_in_the_papers_model() -> None:
    """What the question takes for granted: 18 attentions of 4 d² + 4 d in 44,138,496."""
    [question] = [each for each in QUESTIONS if each.predict]
    share = question.predict.measured(ModelState(), ModelLensState(**question.controls))
    assert share == pytest.approx(100 * 18 * (4 * 512**2 + 4 * 512) / 44_138_496)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_model_has_one_name_on_the_page(architecture: str, causal: bool) -> None:
    """A model with a causal mask is decoder-only, whatever it was set up as."""
    model = ModelState(architecture=architecture, causal=causal)
    panel = Diagram(model, ModelLensState())
    titles = [stack["title"].partition(",")[0] for stack in panel.picture()[0]["stacks"]]
    expected = {"encoder-decoder": ["Encoder", "Decoder"]}.get(architecture, [model.architecture_name.capitalize()])
    assert titles == expected
    assert panel.shape.startswith(f"{model.architecture_name},")
    masked = "Masked self-attention" in [row.text for stack in panel.counts for row in panel.rows_of(stack)]
    assert masked == (model.architecture_name != "encoder")
