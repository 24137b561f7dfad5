"""The views scale and dictionary of the Attention lens, without a browser."""

import numpy as np
import pytest

from tests.pages.test_acts import pick
from tests.pages.test_app import picture, start, text_on, widget
from tests.tfm_ui.pictures.charts import lines, marks
from tfm_core import scale_experiment
from tfm_ui.lenses.attention.dictionary import Dictionary
from tfm_ui.lenses.attention.questions import QUESTIONS
from tfm_ui.lenses.attention.state import ENTRIES, AttentionState
from tfm_ui.state.model_state import ModelState

PAGE = "attention"


def lens(view: str, **query: str):
    return start(PAGE, attention_view=view, **query)


def measured(app) -> dict[tuple[int, str], np.ndarray]:
    """(which chart, line's name) -> its y."""
    header, _ = picture(app, "scale")
    return {(chart, name): y for chart in range(3) for name, (_, y) in lines(header, chart + 1).items()}


@pytest.mark.parametrize(("key", "value"), [("draws", 100), ("draw_keys", 5), ("draw_seed", 3)])
def test_each_control_of_the_experiment_acts_and_the_link_holds_it(key, value):
    app = lens("scale", attention_draws="30")
    before = measured(app)
    widget(app, f"attention_{key}").set_value(value).run()
    assert not app.exception
    asked = {"draws": 30, "draw_keys": 16, "draw_seed": 0} | {key: value}
    result = scale_experiment([256], draws=asked["draws"], keys=asked["draw_keys"], seed=asked["draw_seed"])
    assert measured(app)[0, "unscaled"][-1] == pytest.approx(result.variance.item())
    assert measured(app)[1, "unscaled"][-1] == pytest.approx(result.entropy["unscaled"].item())
    assert not np.array_equal(measured(app)[0, "unscaled"], before[0, "unscaled"])
    np.testing.assert_array_equal(measured(app)[0, "your heads"], before[0, "your heads"])


def test_the_layer_of_the_model_is_a_choice():
    app = lens("scale", attention_draws="10")
    before = measured(app)
    widget(app, "attention_layer").set_value(2).run()
    assert not np.array_equal(measured(app)[0, "your heads"], before[0, "your heads"])
    np.testing.assert_array_equal(measured(app)[0, "unscaled"], before[0, "unscaled"])


def test_a_dictionary_comes_back_from_its_link():
    query = {"entries": "1,0,5 0,1,-7.5", "ask": "0.5,-1", "temperature": "0.25"}
    app = lens("dictionary", **{f"attention_{name}": value for name, value in query.items()})
    state = AttentionState(entries=query["entries"], ask=query["ask"], temperature=0.25)
    result = Dictionary(ModelState(), state)
    header, cells = picture(app, "dictionary")
    assert header["values"] == [5, -7.5]
    np.testing.assert_allclose(np.frombuffer(cells, np.float32).reshape(2, 4)[:, 2], result.weights, rtol=1e-6)
    assert result.sentence() in text_on(app)
    assert not app.warning


@pytest.mark.parametrize(
    ("name", "raw", "value", "reason"),
    [
        ("entries", "1,0,5", ENTRIES, "2 to 6 vectors, separated by spaces, of 3 numbers"),
        ("entries", "9,0,5 0,1,7", "2,0,5 0,1,7", "from -2 to 2"),
        ("entries", "1,0,nan 0,1,7", ENTRIES, "were expected"),
        ("ask", "🦊", "0.8,0.5", "1 vector of 2 numbers"),
        ("temperature", "0", "0.05", "from 0.05 to 10"),
    ],
)
def test_a_bad_dictionary_in_a_link_is_corrected_and_that_is_said(name, raw, value, reason):
    app = lens("dictionary", **{f"attention_{name}": raw})
    header, _ = picture(app, "dictionary")
    state = AttentionState(**{name: float(value) if name == "temperature" else value})
    expected = Dictionary(ModelState(), state)
    assert header["about"] == expected.sentence()
    assert reason in app.warning[0].value.replace("\\", "")


@pytest.mark.parametrize(("name", "marked"), [("Why √dₖ", 8), ("Your own heads", 256), ("Longer keys win", 0)])
def test_their_questions_can_be_asked_from_any_view_and_taken_back(name, marked):
    app = lens("dictionary", seed="99", attention_ask="1,1")
    (question,) = [question for question in QUESTIONS if question.name == name]
    pick(app, name)
    assert question.ask in text_on(app)
    view = question.controls["view"]
    drawing = picture(app, view)[0]
    if view == "dictionary":
        assert drawing["asked"] == [0.8, 0.3]
    else:
        assert list(marks(drawing).values()) == [marked]
    while app.session_state["seed"] != 99:  # the way to the question was several steps
        assert not widget(app, "_undo").disabled
        widget(app, "_undo").click().run()
    assert (app.session_state["seed"], picture(app, "dictionary")[0]["asked"]) == (99, [1, 1])
