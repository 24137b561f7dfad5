"""The scripts of the Source panel, with texts that look like parts of such a script."""

import numpy as np
import pytest

from tfm_ui.lenses.attention.arcs import numbers as arcs
from tfm_ui.lenses.attention.arcs.recipe import recipe_of as arcs_recipe
from tfm_ui.lenses.attention.arcs.weights import maps
from tfm_ui.lenses.attention.change import numbers as change
from tfm_ui.lenses.attention.change.feasible import order
from tfm_ui.lenses.attention.change.recipe import recipe_of as change_recipe
from tfm_ui.lenses.attention.contribution import numbers as contribution
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps.one_head import one_head
from tfm_ui.lenses.heads import numbers as heads
from tfm_ui.live import passes
from tfm_ui.live.recipe import recipe
from tfm_ui.live.texts import texts_of
from tfm_ui.state.model_state import ModelState

TEXTS = [
    "read source.batch with torch.no_grad() now",
    'model = Transformer( "target.batch" source.batch',
    'recording("*.weights") with torch.no_grad() and {what} or {layer}',
    "import torch\n\ntorch.set_num_threads(1)\nweights = 'none' \\",
]
MODELS = [
    *(ModelState(text=text, seq_len=9) for text in TEXTS),
    ModelState(text=TEXTS[0], target=TEXTS[1], seq_len=9, architecture="encoder-decoder"),
    ModelState(text=TEXTS[2], target=TEXTS[0], seq_len=9, architecture="encoder-decoder"),
]
KINDS = [(model, kind) for model in MODELS for kind in passes.PLACES[model.is_encoder_decoder]]


def run(script: str) -> dict:
    """What the script leaves behind."""
    scope: dict = {}
    exec(script, scope)
    return scope


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_script_of_a_head_gives_the_numbers_shown(model, kind):
    seen, one = heads.view(model, passes.run(model), kind), one_head(model, AttentionState(kind=kind, layer=2, head=3))
    weights = run(recipe(model, seen.place.format(layer=1, what="weights"), 2))["weights"]
    np.testing.assert_array_equal(weights, seen.head(1, 2).weights)
    np.testing.assert_array_equal(weights, one.weights)


@pytest.mark.parametrize("lines", ["heads", "mean", "max", "rollout"])
@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_script_of_the_arcs_gives_the_numbers_shown(model, kind, lines):
    seen = arcs.view(model, AttentionState(kind=kind, layer=2, lines=lines))
    shown = list(maps(seen.attention, seen.layer, seen.lines))[2 if seen.lines == "heads" else 0]
    np.testing.assert_allclose(run(arcs_recipe(seen, model, 2))["weights"], shown, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_script_of_the_contributions_gives_the_numbers_shown(model, kind):
    state = AttentionState(kind=kind, layer=2, head=3)
    seen, scope = contribution.view(model, state), run(contribution.recipe_of(model, state))
    np.testing.assert_allclose(scope["weights"], seen.weights, atol=1e-6)
    np.testing.assert_allclose(scope["norms"], seen.norms, atol=1e-6)


@pytest.mark.parametrize(
    "changes",
    [
        "drop 2; silence 1.1",
        "replace 1 source.batch; zero 1 3; replace target 2 target.batch; silence cross 1.1",
        "replace 2 Transformer(; drop 1; weight 1.2 3>2 0.5; drop target 2; silence decoder 1.3",
    ],
)
@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_script_of_the_changed_model_gives_the_numbers_shown(model, kind, changes):
    seen = change.view(model, AttentionState(kind=kind, layer=2, head=3, changes=changes))
    weights = run(change_recipe(seen))["weights"]
    texts = texts_of(seen.kind)
    rows, columns = (order(seen.naming.possible(changes), text, len(seen.naming.names[text])) for text in texts)
    shown = seen.compared.weights[1][np.ix_(rows, columns)]
    np.testing.assert_allclose(weights[: len(rows), : len(columns)], shown, atol=1e-6)
