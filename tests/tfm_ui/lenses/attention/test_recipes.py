"""The scripts of the Source panel give the numbers shown, also for texts that look like parts of such a script."""

import numpy as np
import pytest

from tfm_ui.lenses.attention.arcs import Arcs
from tfm_ui.lenses.attention.change import ChangeWeights
from tfm_ui.lenses.attention.changes import order
from tfm_ui.lenses.attention.contribution import Contribution
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.live import places
from tfm_ui.state.model_state import ModelState

TEXTS = [
    "read source.batch with torch.no_grad() now",
    'model = Transformer( "target.batch" source.batch',
    'recording("*.weights") with torch.no_grad() and {what} or {layer}',
    "import torch\n\ntorch.set_num_threads(1)\nweights = 'none' \\",
]
MODELS = [
    *(ModelState(text=text, seq_len=9) for text in TEXTS),
    ModelState(seq_len=12, num_layers=3, positional="t5"),
    ModelState(num_heads=8, seed=5, positional="rope"),
    ModelState(architecture="encoder-decoder", target="u v w x"),
    ModelState(text=TEXTS[0], target=TEXTS[1], seq_len=9, architecture="encoder-decoder"),
    ModelState(text=TEXTS[2], target=TEXTS[0], seq_len=9, architecture="encoder-decoder"),
]
KINDS = [(model, kind) for model in MODELS for kind in places.PLACES[model.is_encoder_decoder]]
PLACES = range(3)  # which of a model's kinds of attention; an encoder has one alone


def run(script: str) -> dict:
    """What the script leaves behind."""
    scope: dict = {}
    exec(script, scope)
    return scope


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_script_of_a_head_gives_the_numbers_shown(model, kind):
    panel = Steps(model, AttentionState(kind=kind, layer=2, head=3))
    np.testing.assert_array_equal(run(panel.recipe())["weights"], panel.steps.weights)


def test_there_is_no_script_of_weights_that_no_model_has():
    for switched in (AttentionState(scaled=False), AttentionState(masked=False), AttentionState(temperature=2.0)):
        assert Steps(MODELS[0], switched).recipe() == ""


def kind_at(model: ModelState, place: int) -> str:
    kinds = list(places.PLACES[model.is_encoder_decoder])
    return kinds[place % len(kinds)]


@pytest.mark.crossed(model=MODELS, place=PLACES, lines=["heads", "mean", "max", "rollout"])
def test_the_script_of_the_arcs_gives_the_numbers_shown(model, place, lines):
    panel = Arcs(model, AttentionState(kind=kind_at(model, place), layer=2, lines=lines, heads="3"))
    np.testing.assert_allclose(run(panel.recipe())["weights"], panel.table(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_script_of_the_contributions_gives_the_numbers_shown(model, kind):
    panel = Contribution(model, AttentionState(kind=kind, layer=2, head=3))
    left = run(panel.recipe())
    np.testing.assert_allclose(left["weights"], panel.weights, atol=1e-6)
    np.testing.assert_allclose(left["norms"], panel.norms, atol=1e-6)


@pytest.mark.crossed(
    model=MODELS,
    place=PLACES,
    changes=[
        "drop 2; silence 1.1",
        "replace 1 source.batch; zero 1 3; replace target 2 target.batch; silence cross 1.1",
        "replace 2 Transformer(; drop 1; weight 1.2 3>2 0.5; drop target 2; silence decoder 1.3",
        "weight 1.2 3>2 0.5; weight 1.2 4>2 0.25 raw; zero 2.1 1; silence decoder 1.3",
        "",
        "silence 1.2; zero 1.3 4; zero 1 5; weight 1.1 6>2 0.9; weight 1.1 3>8 0.25 raw",
        "swap 2 6; drop 4; swap 2 9; weight 2.1 6>2 0.5; replace 5 dog",
        "drop 1; replace target 4 munter; swap target 1 3; drop target 2; weight cross 2.1 1>4 0.7; "
        "silence decoder 1.1; zero 1 3",
    ],
)
def test_the_script_of_the_changed_model_gives_the_numbers_shown(model, place, changes):
    state = AttentionState(kind=kind_at(model, place), layer=2, head=3, changes=changes)
    panel = ChangeWeights(model, state)
    weights = run(panel.recipe())["weights"]
    rows, columns = (order(panel.changes[1], text, len(panel.names.tokens[text])) for text in panel.texts)
    expected = panel.weights[1][np.ix_(rows, columns)]
    np.testing.assert_allclose(weights[: len(rows), : len(columns)], expected, atol=1e-6)
