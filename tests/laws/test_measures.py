"""What lessons measure on pages: of any model and text it is a number or a text, and each says what it is.

A page without a text, or without its weights, says so in place of all that could be measured, and so asks for nothing.
"""

import inspect
import math

import pytest

from tests.tfm_ui.given_weights import given, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.lenses import lenses
from tfm_ui.lessons.expressions import read
from tfm_ui.lessons.names import OnScreen
from tfm_ui.live.not_here import why_not_run
from tfm_ui.state import array_files
from tfm_ui.state.model_state import ModelState

MODELS = {
    "random": {},
    "empty": {"text": ""},
    "one token": {"text": "cat", "seq_len": 2, "num_layers": 1, "num_heads": 1},
    "padded": {"text": "the cat", "seq_len": 7, "causal": False},
    "two stacks": {"architecture": "encoder-decoder", "norm": "post"},
    "biased": {"positional": "alibi", "activation": "swiglu", "num_heads": 8},
    "trained": {"weights": "reverse"},
    "two trained stacks": {"weights": "reverse-decoder"},
    "language": {"weights": "lab-gpt", "text": "The ship was bound"},
}
MEASURES = [(lens, name) for lens in lenses() for name in lens.measures]


def views(lens):
    return [{"view": name} for name in lens.views] if len(lens.views) > 1 else [{}]


def value(lens, name, model, fields):
    """What it is on a page that shows this model; None where that page can show nothing."""
    state = lens.state(**fields)
    if why_not_run(model) or lens.view_of(state).why_not_shown(model, state):
        return None
    return read(f"{lens.name}_{name}").value(OnScreen(lens, model, state))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(("lens", "name"), MEASURES, ids=lambda each: getattr(each, "name", each))
def test_a_measure_holds_of_any_model(lens, name, kind):
    for fields in views(lens):
        measured = value(lens, name, ModelState(**MODELS[kind]), fields)
        assert measured is None or isinstance(measured, str) or math.isfinite(measured), fields


@pytest.mark.parametrize(("lens", "name"), MEASURES, ids=lambda each: getattr(each, "name", each))
def test_a_measure_holds_of_weights_out_of_a_file(lens, name):
    array_files.forget()
    with empty_store(array_files):
        model = given(softmaxed(2, 1, 2, 5, 5, causal=True), item=0)
        for fields in views(lens):
            try:
                measured = value(lens, name, model, fields)
            except ValueError:  # a lesson then says that it cannot be computed of what is on screen
                continue
            assert measured is None or isinstance(measured, str) or math.isfinite(measured), fields


@pytest.mark.parametrize("lens", [lens for lens in lenses() if lens.measures], ids=lambda lens: lens.name)
def test_each_measure_says_what_it_is_and_they_stand_in_order(lens):
    assert list(lens.measures) == sorted(lens.measures)
    for name, measure in lens.measures.items():
        assert (inspect.getdoc(measure) or "").endswith("."), name
