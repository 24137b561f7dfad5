"""Right beside wrong: every mistake of the catalogue is drawn, said and derived; cases keep its name to themselves."""

import numpy as np
import pytest
import torch

from tfm_core.study.diagnosis import ASKED
from tfm_core.study.exercise import MASKS, POSITIONALS
from tfm_core.study.mistakes import MISTAKES, mistakes_of
from tfm_core.study.steps import Steps
from tfm_ui.lenses.clinic import LENS
from tfm_ui.lenses.clinic.beside import Both, Course, Derived, about_setting, code_beside, exchanged_by
from tfm_ui.lenses.clinic.state import CASES, ClinicState, setting_of
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_drawn_where_it_shows_first(name):
    state = ClinicState(view="beside", mistake=name)
    both, course, derived = Both(MODEL, state), Course(MODEL, state), Derived(MODEL, state)
    assert name in mistakes_of(state.setting)
    assert all(both.laws().values())
    assert both.sentence().endswith(".")
    header, numbers = both.picture()
    right, wrong = np.asarray(numbers, np.float32).reshape(len(header["maps"]), -1)[:2]
    assert right.shape == wrong.shape
    assert course.table().index[0] == both.first
    assert course.table()["largest difference"].iloc[0] != 0 or course.table()["NaN"].iloc[0] > 0
    assert derived.table()["differs"].iloc[-1] == "yes"
    assert MISTAKES[name].cure in derived.sentence()
    assert MISTAKES[name].symptom in course.sentence()
    assert code_beside(MODEL, state)
    assert bool(about_setting(state)) == (state.setting != state.exercise)


@pytest.mark.crossed(
    width=(8, 12),
    heads=(1, 4, 8),
    length=((2, 0), (2, 1), (6, 5), (7, 2)),
    positional=POSITIONALS,
    hides=MASKS,
    norm=("pre", "post"),
    activation=("gelu", "relu"),
)
def test_each_mistake_shows_in_whatever_exercise_is_set(width, heads, length, positional, hides, norm, activation):
    size = {"d_model": width, "num_heads": heads, "tokens": length[0], "cached": length[1]}
    kind = {"positional": positional, "hides": hides, "norm": norm, "activation": activation}
    for name in MISTAKES:
        both = Both(MODEL, ClinicState(view="beside", mistake=name, **size, **kind))
        assert both.first in ASKED, name
        assert "nan" not in both.sentence(), name
        assert all(both.laws().values()), name


def test_where_no_token_follows_there_is_no_loss():
    state = ClinicState(view="beside", mistake="no softmax", tokens=4, cached=3)
    assert state.setting == state.exercise
    assert "There is no loss" in Both(MODEL, state).sentence()
    assert list(Course(MODEL, state).table()["NaN"])[-1] == 0, "the loss of no token is NaN in both"


def test_rows_without_a_key_are_nan_as_a_plain_softmax_makes_them():
    state = ClinicState(view="beside", mistake="diagonal hidden")
    both = Both(MODEL, state)
    assert both.pairs["weights"].nans
    scores = Steps(state.setting).value("masked scores", MISTAKES["diagonal hidden"].wrong)
    expected = torch.softmax(scores, -1)
    got = Steps(state.setting).value("weights", exchanged_by(state.setting, "diagonal hidden"))
    torch.testing.assert_close(got, expected, equal_nan=True)
    assert "logits are NaN" in both.sentence()


@pytest.mark.parametrize("case", CASES)
def test_a_case_says_everything_but_the_name(case):
    state = ClinicState(view="beside", case=case)
    shown = [Both(MODEL, state), Course(MODEL, state), Derived(MODEL, state)]
    mistake = MISTAKES[CASES[case]]
    for panel in shown:
        words = " ".join([panel.title, panel.sentence(), panel.how_to_read])
        for secret in (CASES[case], mistake.wrong_is, mistake.cure):
            assert secret not in words
    assert code_beside(MODEL, state) is None


def test_each_case_is_asked_with_its_mistake_among_three():
    asked = {question.controls["case"]: question for question in LENS.questions if "case" in question.controls}
    assert set(asked) == set(CASES)
    for case, question in asked.items():
        assert question.predict
        assert len(set(question.predict.options)) == 3
        assert question.predict.measured(MODEL, ClinicState(view="beside", case=case)) in question.predict.options


def test_a_mistake_that_cannot_be_made_is_shown_where_it_can():
    exercise = setting_of(ClinicState(hides="none").exercise, "padding on the query axis")
    assert exercise.has_padding
    state = ClinicState(view="beside", mistake="ALiBi’s sign")
    assert "positions ALiBi" in about_setting(state)
    assert about_setting(ClinicState(view="beside", mistake="no scale")) == ""
