"""A picture whose fields of the model are ignored is the same whatever they are: so it need not be asked for again."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_passes import LOOKS, RUNS, STARTS
from tfm_ui.lenses import lenses
from tfm_ui.live.passes import why_not_run
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.canvas import encode
from tfm_ui.pictures.registry import PICTURES
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(text="a b c d", seq_len=6)
OTHERS = {
    "text": "x y",
    "target": "c d e",
    "tokenizer": "character",
    "seq_len": 9,
    "d_model": 48,
    "num_heads": 2,
    "num_layers": 3,
    "d_ff": 20,
    "positional": "rope",
    "norm": "post",
    "activation": "silu",
    "architecture": "decoder",
    "causal": False,
    "weights": "copy",
    "seed": 77,
}
IGNORING = {name: picture for name, picture in PICTURES.items() if picture.ignored}


def states_of(picture):
    """States of its lens: of each question, and of each field that is moved."""
    start = STARTS.get(picture.state, picture.state())
    moved = {**LOOKS.get(picture.state, {}), **RUNS.get(picture.state, {})}
    asked = [lens.state(**q.controls) for lens in lenses() if lens.state is picture.state for q in lens.questions]
    return [start, *asked, *(replace(start, **{name: value}) for name, value in moved.items())]


def drawn(picture, model, state):
    header, numbers = picture.content(model, state)
    return encode(header, np.asarray(numbers))


def test_every_field_of_the_model_has_another_value_here():
    assert sorted(OTHERS) == sorted(field.name for field in fields(ModelState))
    assert all(getattr(MODEL, name) != value for name, value in OTHERS.items())


@pytest.mark.parametrize("name", IGNORING)
def test_an_ignored_field_changes_nothing_in_any_state_of_the_lens(request, name):
    picture = IGNORING[name]
    names = sorted(picture.ignored)
    states = states_of(picture)
    in_turn = states * -(-len(names) // len(states))  # each field is changed alone in some state
    for i, state in enumerate(in_turn):
        before = drawn(picture, MODEL, state)
        alone = names if request.config.getoption("all_combinations") else names[i : i + 1]
        for ignored in (names, *([each] for each in alone)):
            changed = replace(MODEL, **{field: OTHERS[field] for field in ignored})
            assert drawn(picture, changed, state) == before, (ignored, state)


@pytest.mark.parametrize("name", [name for name, picture in IGNORING.items() if picture.uses_model])
@given(data=st.data())
def test_nor_does_it_in_other_models_or_decide_whether_a_model_runs(name, data):
    picture = IGNORING[name]
    others = {field: value for field, value in OTHERS.items() if field not in ("text", "target", "weights")}
    chosen = data.draw(st.sets(st.sampled_from(sorted(others))))
    model = replace(MODEL, **{field: others[field] for field in chosen})
    state = data.draw(st.sampled_from(states_of(picture)))
    ignored = data.draw(st.sampled_from(sorted(picture.ignored)))
    changed = replace(model, **{ignored: OTHERS[ignored]})
    assert drawn(picture, changed, state) == drawn(picture, model, state)
    for text in ("", "a b c d " * 400):
        assert why_not_run(replace(changed, text=text)) == why_not_run(replace(model, text=text))


def test_the_browser_is_told_of_them():
    assert "seed" in PICTURES["masks_growth"].ignored
    assert PICTURES["heads"].ignored == frozenset()
    assert PICTURES["training_learn"].ignored == {field.name for field in fields(ModelState)}
    assert Drawing("heads", ((MODEL, ""),)).ignored == []
