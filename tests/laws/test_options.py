"""No option of a control vanishes without a word: where a model cannot have one, its control says which, and why."""

import pytest

from tfm_core import ARCHITECTURES, POSITIONAL
from tfm_ui.lenses import lenses
from tfm_ui.state.fields import Choice, controls_of
from tfm_ui.state.model_state import ModelState

MODELS = [
    ModelState(architecture=architecture, positional=positional)
    for architecture in ARCHITECTURES
    for positional in POSITIONAL
]


@pytest.mark.parametrize("name", [lens.name for lens in lenses()])
def test_what_a_model_cannot_have_is_named_beside_the_control(name):
    lens = next(each for each in lenses() if each.name == name)
    for model in MODELS:
        narrowed, whole = controls_of(lens.state, lens.limits(model)), controls_of(lens.state)
        for field, (control, _) in narrowed.items():
            if isinstance(control, Choice) and field not in lens.state.without_meaning(model):
                left_out = set(map(str, whole[field][0].options)) - set(map(str, control.options))
                assert all(option in (control.help or "") for option in left_out), (field, left_out, control.help)
                assert not left_out or model.positional in (control.help or "")
