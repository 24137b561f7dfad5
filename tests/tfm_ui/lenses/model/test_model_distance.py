"""The view "distance": beside autograd's own Jacobian, torch's own start, and closed forms of what can be reached."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.examples import shared_by
from tests.tfm_ui.lenses.model.any_link import panels_that_hold
from tfm_core import ACTIVATIONS, ARCHITECTURES, ATTENTION, NORMS, POSITIONAL, Transformer
from tfm_core.model.initialization import draw
from tfm_core.profiling.closed_forms_others import Convolution, Recurrent
from tfm_ui.jobs import networks
from tfm_ui.jobs.networks import NAMES, RECURRENT
from tfm_ui.lenses.model.distance import reach
from tfm_ui.lenses.model.distance.paths import DistancePaths, reach_of_convolutions
from tfm_ui.lenses.model.distance.questions import QUESTIONS
from tfm_ui.lenses.model.distance.reach import Distance
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.state.model_state import ModelState

CLOSED_FORMS = {
    "convolution": lambda kernel: Convolution(kernel=kernel, efficiency=1),
    "LSTM": lambda _: Recurrent(gates=4, efficiency=1),
    "GRU": lambda _: Recurrent(gates=3, efficiency=1),
    "RNN": lambda _: Recurrent(gates=1, efficiency=1),
}
SMALL = ModelLensState(view="distance", reach_length=8, reach_seeds=3)
MODELS = [
    ModelState(),
    ModelState(norm="post", text="", causal=False, activation="relu", num_layers=3),
    ModelState(architecture="decoder", text="hi", positional="rope", activation="swiglu", num_layers=1),
    ModelState(architecture="encoder-decoder", positional="t5", tokenizer="byte", seq_len=30),
    ModelState(positional="alibi", num_heads=16),
    ModelState(architecture="encoder-decoder", norm="post", positional="learned"),
]
every = pytest.mark.parametrize("model", MODELS)


# against what we have not written


@every
@pytest.mark.parametrize("name", NAMES)
def test_the_lengths_are_those_of_autograds_jacobian_times_the_probe(model, name):
    config, causal = model.config, model.masks_the_future
    lengths, _ = networks.gradients(config, 6, 3, "ours", causal=causal, draws=1)
    network = networks.reading(networks.network_of(name, config, 3, causal=causal), causal=causal)
    x = draw(config.seed, "x", (1, 6, config.d_model), std=1.0).double()
    jacobian = torch.autograd.functional.jacobian(lambda x: network(x)[0, -1], x)[:, 0]  # (output, token, input)
    probe = draw(config.seed, "probe", (1, config.d_model), std=1.0).double()[0]
    by_hand = torch.einsum("o,oti->ti", probe, jacobian).norm(dim=-1).flip(0)
    torch.testing.assert_close(lengths[name][0], by_hand)


@pytest.mark.parametrize("start", ["ours", "torch"])
@pytest.mark.parametrize("name", NAMES)
def test_draws_that_are_run_at_once_give_what_each_gives_alone(name, start):
    config, how = ModelState(positional="learned").config, (7, 3, start)
    at_once, count = networks.gradients_of(name, config, *how, causal=True, draws=3)
    for number, lengths in enumerate(at_once):
        alone = networks.gradients_of(name, replace(config, seed=config.seed + number), *how, causal=True)
        torch.testing.assert_close(lengths[None], alone[0], rtol=1e-9, atol=0.0)
        assert count == alone[1]


@pytest.mark.parametrize("d_model", [32, 128])
def test_all_draws_are_made_in_whatever_parts(d_model):
    config, how = ModelState(d_model=d_model, num_layers=3).config, (6, 3, "ours")
    parts = networks.in_parts(config, 6, 5, causal=False)
    assert [draws for _, draws in parts] == {32: [5], 128: [3, 2]}[d_model]
    made = [networks.gradients(first, *how, causal=False, draws=draws)[0] for first, draws in parts]
    for number in range(5):
        alone, _ = networks.gradients(replace(config, seed=config.seed + number), *how, causal=False, draws=1)
        for name in NAMES:
            torch.testing.assert_close(torch.cat([of_part[name] for of_part in made])[number], alone[name][0])


@pytest.mark.parametrize(
    ("build", "bound"),
    [
        *((lambda kind=kind: kind(12, 40, 2), 40**-0.5) for kind in (nn.RNN, nn.LSTM, nn.GRU)),
        (lambda: nn.Linear(50, 40), 50**-0.5 + 1e-6),
        (lambda: nn.Conv1d(10, 40, 5), 50**-0.5 + 1e-6),
    ],
)
def test_torchs_start_has_torchs_own_bound_and_spread(build, bound):
    theirs, ours = build(), build()
    networks.start_as_torch(ours, 0)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert max(mine.abs().max(), other.abs().max()) <= bound
        assert mine.std().item() == pytest.approx(other.std().item(), rel=0.25)


@every
def test_the_transformer_is_the_sidebars_with_its_weights(model):
    ours = networks.transformer_of(model.config).state_dict()
    theirs = dict(Transformer(model.config).named_parameters())
    for name, parameter in ours.items():
        if name in theirs:
            assert torch.equal(parameter, theirs[name]), name
    assert len(set(ours) & set(theirs)) > 10


# laws


@every
@shared_by(len(MODELS))
@given(
    attention=st.sampled_from(tuple(ATTENTION)),
    length=st.sampled_from([8, 16]),
    kernel=st.sampled_from([3, 5, 9, 17]),
    start=st.sampled_from(["ours", "torch"]),
)
def test_every_law_holds_and_every_sentence_can_be_written(model, attention, length, kernel, start):
    how = {"attention": attention, "reach_length": length, "reach_kernel": kernel, "reach_start": start}
    state = replace(SMALL, reach_seeds=1, **how)
    assert len(panels_that_hold(model, state)) == 2


@given(
    d_model=st.sampled_from([32, 64]),
    num_heads=st.sampled_from([1, 4]),
    num_layers=st.integers(1, 4),
    d_ff=st.integers(0, 200),
    norm=st.sampled_from(NORMS),
    activation=st.sampled_from(tuple(ACTIVATIONS)),
    architecture=st.sampled_from(ARCHITECTURES),
    positional=st.sampled_from(tuple(POSITIONAL)),
    kernel=st.sampled_from([3, 17]),
)
def test_the_counts_of_parameters_are_as_near_as_a_width_allows(kernel, **fields):
    model = ModelState(**fields)
    wanted = count(networks.transformer_of(model.config))
    size = networks.size_of(model.config, causal=True)
    for name, closed_form in CLOSED_FORMS.items():
        with torch.device("meta"):
            number = count(networks.network_of(name, model.config, kernel, causal=True))
        by_width = closed_form(kernel)
        width = by_width.width(size)
        assert number == sum(by_width.of_width(size, width).values())
        for other in (width - 1, width + 1):
            assert abs(number - wanted) <= abs(sum(by_width.of_width(size, other).values()) - wanted), (name, other)


@every
def test_the_counts_of_parameters_of_a_usual_model_are_about_equal(model):
    assert Distance(model, SMALL).apart() < 0.05


def count(network: nn.Module) -> int:
    """Its parameters."""
    return sum(parameter.numel() for parameter in network.parameters())


@given(tokens=st.integers(2, 40), layers=st.integers(1, 4), kernel=st.sampled_from([3, 5, 9]))
def test_a_convolution_reaches_what_its_kernels_add_up_to(tokens, layers, kernel):
    plain = reach_of_convolutions(tokens, layers, kernel, dilated=False)
    dilated = reach_of_convolutions(tokens, layers, kernel, dilated=True)
    assert plain == min(tokens - 1, layers * (kernel - 1) // 2)
    assert dilated == min(tokens - 1, kernel**layers - 1)


@pytest.mark.parametrize("tokens", [8, 48, 128])
@pytest.mark.parametrize("kernel", [3, 17])
def test_paths_are_those_of_table_1(tokens, kernel):
    panel = DistancePaths(ModelState(), replace(SMALL, reach_length=tokens, reach_kernel=kernel))
    path, _, calls, _ = panel.measured
    assert path["transformer"] == 1
    assert path["convolution"] == math.ceil((tokens - 1) / (kernel // 2))
    assert path["dilated convolution"] == math.ceil(math.log(tokens, kernel) - 1e-9)
    assert all(path[name] == calls[name] == tokens for name in RECURRENT)
    assert calls["transformer"] == calls["convolution"] == 1


# what is said


def test_the_sentence_has_the_factors_of_the_medians():
    panel = Distance(ModelState(), ModelLensState(view="distance"))
    medians = {name: np.median(values.numpy(), axis=0) for name, values in panel.lengths.items()}
    assert panel.lengths["RNN"].shape == (10, 48)
    assert panel.fall("LSTM") == pytest.approx(medians["LSTM"][1] / medians["LSTM"][47])
    assert panel.flattest() == ["transformer"]
    assert "nothing arrives from further than 2 tokens" in panel.sentence()
    assert "No weight was trained" in panel.sentence()


def test_each_draw_has_other_weights_and_fewer_draws_are_the_first_of_more():
    few, more = (Distance(MODELS[0], replace(SMALL, reach_seeds=seeds)).lengths for seeds in (3, 5))
    for name in NAMES:
        assert torch.equal(few[name], more[name][:3])
        assert len(more[name][:, 1].unique()) == 5


def test_what_the_questions_take_for_granted():
    first, wide, start = QUESTIONS
    model = ModelState()
    assert first.predict.measured(model, ModelLensState(**first.controls)) == "transformer"
    assert wide.predict.measured(model, ModelLensState(**wide.controls)) == 16
    assert start.predict.measured(model, ModelLensState(**start.controls)) == "more"


def test_large_models_get_fewer_draws():
    large = ModelState(d_model=256, num_layers=8, d_ff=1024)
    most = ModelLensState(reach_seeds=20)
    assert (Distance(ModelState(), most).quick_draws, Distance(large, most).quick_draws) == (20, 3)
    assert "reach_seeds" not in ModelLensState.limits(large)  # what is asked for stays in the link
    assert Distance(large, ModelLensState(view="distance")).seeds == 3


@pytest.mark.parametrize(("tokens", "made"), [(48, "2 are"), (128, "1 is")])
def test_the_largest_networks_are_drawn_as_often_as_there_is_time_for_and_that_is_said(tokens, made, monkeypatch):
    lengths = {name: torch.ones(1, tokens) for name in NAMES}
    monkeypatch.setattr(reach, "drawn", lambda *_, **__: (lengths, {}))  # of networks so large, one at a time
    largest = ModelState(architecture="encoder-decoder", d_model=256, num_layers=8, d_ff=1024)
    sentence = f"Of 3 draws {made} made, as networks of this size take seconds."
    state = ModelLensState(view="distance", reach_length=tokens, reach_seeds=3)
    panel = Distance(largest, state)
    assert sentence in panel.sentence()
    assert panel.quick_draws == int(made[0])
    assert "draws" not in Distance(ModelState(), state).sentence()


def test_deep_dilated_convolutions_need_no_more_memory_than_the_text():
    """17^8 tokens apart, which would be 210 GB of padding."""
    assert reach_of_convolutions(48, 8, 17, dilated=True) == 47
    assert reach_of_convolutions(48, 2, 5, dilated=True) == 24
