"""Questions of all lenses: each is a state that a link can hold, and no two are the same."""

import pytest

from tfm_core import TransformerConfig
from tfm_ui.lenses import lenses
from tfm_ui.lenses.heads.questions import QUESTIONS as HEADS
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.page.questions import active, neighbour
from tfm_ui.state.fields import controls_of
from tfm_ui.state.links import link_parameters, read_link
from tfm_ui.state.model_state import ModelState

QUESTIONS = [(lens, question) for lens in lenses() for question in lens.questions]


@pytest.mark.parametrize(
    ("lens", "question"), QUESTIONS, ids=[f"{lens.name}: {question.name}" for lens, question in QUESTIONS]
)
def test_a_question_is_a_state_that_a_link_can_hold(lens, question):
    model = ModelState(**question.model)
    for state, prefix, limits in (
        (model, "", None),
        (lens.state(**question.page), lens.prefix, lens.state.limits(model)),
    ):
        query = {name: [value] for name, value in link_parameters(state, prefix).items()}
        assert read_link(type(state), prefix, query, limits) == []
    assert isinstance(model.config, TransformerConfig)
    assert "?" in question.ask


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_no_two_presets_are_the_same(lens):
    assert lens.questions
    for question in lens.questions:
        assert active(lens.questions, ModelState(**question.model), lens.state(**question.page)) is question
    assert len({question.name for question in lens.questions}) == len(lens.questions)


def test_no_question_is_active_as_soon_as_one_value_differs():
    for name, (_, default) in controls_of(ModelState).items():
        other = not default if isinstance(default, bool) else type(default)(f"1{default}")
        assert active(HEADS[:1], ModelState(**{name: other}), HeadsState()) is None
    assert active(HEADS, ModelState(), HeadsState(head=2)) is None


def test_presets_are_walked_round_and_round():
    first, last = HEADS[0], HEADS[-1]
    assert neighbour(HEADS, None, 1) is first
    assert neighbour(HEADS, None, -1) is last
    assert neighbour(HEADS, last, 1) is first
    assert neighbour(HEADS, first, -1) is last
    assert neighbour(HEADS, first, 1) is HEADS[1]
