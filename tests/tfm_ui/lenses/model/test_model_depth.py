"""The view "depth": four wirings, the residual stream, how alike tokens become, and dropout."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tests.tfm_ui.lenses.model.any_link import left_by
from tfm_core import ARCHITECTURES, NORMS, Transformer, causal_mask, recording
from tfm_core.study.depth import WIRINGS
from tfm_ui.lenses.model.depth import VIEW, questions
from tfm_ui.lenses.model.depth.live import DRAWS, StreamLengths, TrainingMode
from tfm_ui.lenses.model.depth.wirings import READ, READ_OF_LARGE, Alike, Wirings
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@pytest.mark.parametrize("norm", NORMS)
def test_the_wiring_of_the_model_is_the_model(norm):
    """One of the wirings at the sidebar's own depth is the sidebar's model, whose residual stream is recorded."""
    model = ModelState(text="the cat sat on the mat", norm=norm, num_layers=3, causal=True)
    measured = Wirings(model, ModelLensState(depth=3)).means["forward"][f"{norm}-norm"]
    ends = StreamLengths(model, ModelLensState()).ends
    after = [of["after"].norm(dim=-1).mean() for name, of in ends.items() if name.endswith("feed_forward")]
    assert measured[1:].tolist() == pytest.approx([float(length) for length in after], rel=1e-5)


def test_which_claim_is_about_which_gradient():
    """Pre-norm changes the gradient of vectors most, post-norm has the larger one of parameters: both are drawn."""
    model, state = ModelState(), ModelLensState()
    panel = Wirings(model, state)
    back = panel.factors("backward")
    assert back["pre-norm"] > 1 > back["post-norm"]
    pre, post = (formats.number(float(panel.of_parameters[norm][-1])) for norm in ("pre-norm", "post-norm"))
    assert float(pre) < float(post)
    assert f"it has a length of {pre} pre-norm and {post} post-norm" in panel.sentence()
    answer = questions.QUESTIONS[0].answer(model, state)
    assert "“The gradient of pre-norm is bounded” (Xiong et al. 2020) is about the parameters near the output" in answer
    drawn = panel.picture()[0]["figure"]
    headings = [axis["title"]["text"] for name, axis in drawn["layout"].items() if name.startswith("yaxis")]
    assert headings == ["length ‖x‖", "gradient of the vectors", "gradient of the parameters"]


def test_no_gradient_is_lost_in_48_layers_without_a_norm():
    """Float32 would lose it: vectors grow by a factor of about 1e12."""
    panel = Wirings(ModelState(), ModelLensState(depth=48))
    assert all(
        math.isfinite(factor) for measure in ("forward", "backward") for factor in panel.factors(measure).values()
    )
    assert panel.factors("forward")["no norm"] > 1e6
    assert set(panel.by_wiring) == set(WIRINGS)


def test_a_long_text_is_cut_and_padding_is_not_read():
    assert len(Wirings(ModelState(text="word " * 300), ModelLensState(depth=2)).ids) == READ
    assert len(Wirings(ModelState(text="a b c", seq_len=9), ModelLensState(depth=2)).ids) == 3


def test_of_the_largest_stacks_fewer_tokens_are_read_and_the_page_says_how_many():
    model = ModelState(text="word " * 300, d_model=256, d_ff=1024, activation="swiglu")
    state = ModelLensState(view="depth", depth=48)
    panel = Wirings(model, state)
    assert len(panel.ids) == READ_OF_LARGE < READ
    (note,) = [block.text for block in VIEW.shown(model, state) if isinstance(block, Note)]
    assert note == f"Only the first {READ_OF_LARGE} tokens are read here, so that 48 layers stay quick."


def test_draws_are_passes_of_the_real_model_in_training_mode():
    model, state = ModelState(causal=True), ModelLensState(layer=2, head=3, token=5, depth_dropout=0.3)
    panel = TrainingMode(model, state)
    again = Transformer(panel.config.__class__(**{**vars(panel.config), "dropout": 0.3})).train()
    with torch.random.fork_rng(devices=[]), torch.no_grad(), recording("layers.1.self_attention.weights") as trace:
        torch.manual_seed(4)
        again(model.source_tokens.batch, mask=causal_mask(10))
    assert torch.allclose(panel.trained[4], trace["layers.1.self_attention.weights"][0, 2, 4], atol=1e-6)
    assert len(panel.trained) == DRAWS
    assert not torch.equal(panel.trained[0], panel.trained[1])


def test_drawing_leaves_the_random_state_and_the_cached_model_alone():
    torch.manual_seed(1)
    state = torch.random.get_rng_state()
    model = ModelState(text="a b c d e f")
    TrainingMode(model, ModelLensState(depth_dropout=0.5))
    assert torch.equal(torch.random.get_rng_state(), state)
    without = TrainingMode(model, ModelLensState(depth_dropout=0))
    assert all(torch.allclose(draw, without.calm, atol=1e-6) for draw in without.trained)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_recipe_of_training_mode_yields_the_row_on_screen(architecture):
    model = ModelState(text="a b c d e", target="x y z", architecture=architecture, positional="rope")
    draws = TrainingMode(model, ModelLensState(stack="decoder", layer=2, head=2))
    torch.testing.assert_close(row_left_by(draws), draws.trained, atol=1e-6, rtol=0)


def row_left_by(draws):
    """The draws of the chosen row, as the recipe leaves them."""
    return left_by(draws)["trained"][f"{draws.site}.weights"][:, draws.head - 1, draws.token]


def test_what_questions_take_for_granted():
    """Gradients explode without a norm, tokens become alike, and dropout moves the strongest key in some draws."""
    panel = Wirings(ModelState(), ModelLensState())
    assert panel.most_changed() == "no norm"
    assert all(mean[-1] > mean[0] for mean in panel.means["similarity"].values())
    assert TrainingMode(ModelState(), ModelLensState(layer=2, depth_dropout=0.3)).changed > 0


def test_draws_of_dropout_are_the_same_while_others_compute_theirs():
    """All dropout draws from torch's one generator, and visitors are computed side by side."""

    state = ModelLensState(depth_dropout=0.3, token=5)
    shown = [
        TrainingMode(ModelState(seed=seed, text="the cat sat on the mat because it was tired"), state)
        for seed in range(900, 912)
    ]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda draws: draws.trained, shown))
    for draws, weights in zip(shown, together, strict=True):
        torch.testing.assert_close(row_left_by(draws), weights)


def test_a_query_that_sees_one_key_has_nothing_to_drop():
    panel = TrainingMode(ModelState(causal=True), ModelLensState(token=1, depth_dropout=0.3))
    assert panel.visible == [0]
    assert "dropout changes nothing here" in panel.sentence()


def test_long_texts_are_read_as_far_as_is_said_and_whole_rows_are_compared():
    """The first 64 tokens are read, as if the text ended there: the largest weight is the row's."""
    model = ModelState(text="the cat sat on the mat because it was tired " * 9, causal=False)
    cut = ModelState(text=" ".join(model.text.split()[:64]), causal=False)
    long, short = (TrainingMode(each, ModelLensState(token=1, depth_dropout=0.3)) for each in (model, cut))
    assert long.calm.shape == (64,)
    torch.testing.assert_close(long.calm, short.calm)
    assert long.sentence() == short.sentence()


def test_vectors_of_zeros_have_no_angle():
    panel = Alike(ModelState(activation="relu", d_ff=1), ModelLensState(depth=3))
    assert "none (vectors of zeros) no residuals" in panel.sentence()
    assert math.isnan(panel.means["similarity"]["no residuals"][-1])


def test_a_matrix_that_reads_zeros_has_no_gradient_and_no_factor(monkeypatch):
    monkeypatch.setattr(Wirings, "of_parameters", {norm: torch.zeros(1) for norm in ("pre-norm", "post-norm")})
    panel = Wirings(ModelState(activation="relu", d_ff=1, text="a"), ModelLensState(depth=1))
    assert "a length of 0.000 pre-norm and 0.000 post-norm." in panel.sentence()
