"""Every question with a prediction can be asked in a room, and every link can be followed there."""

from urllib.parse import parse_qs

import pytest

from tests.laws.test_questions import PREDICTED
from tests.record.addresses import recorded_links
from tests.record.files import read
from tfm_ui.classroom.asked import asked_of
from tfm_ui.classroom.following import Place, _values
from tfm_ui.classroom.room import MOST_QUERY
from tfm_ui.classroom.tally import tally
from tfm_ui.lenses import NAMES, lens
from tfm_ui.lessons import shelf
from tfm_ui.lessons.going import which
from tfm_ui.lessons.lesson import TEXT
from tfm_ui.state.links import LINK_CHARS, link_parameters, share_link, state_of
from tfm_ui.state.model_state import ModelState

LESSONS = (*shelf.names(), *shelf.teaching())


def asked(lens, question):
    """A lens's question, as its owner's page asks it."""
    predict = question.predict
    name = f"{lens.name} {question.link}"
    return asked_of(name, predict.ask, predict.options, predict.unit, in_words=predict.in_words)


@pytest.mark.parametrize(("lens", "question"), PREDICTED, ids=lambda each: each.name)
def test_the_right_answer_can_be_given_and_stands_beside_the_others(lens, question):
    link = next(link for link in recorded_links() if (link.lens, link.question) == (lens.name, question.name))
    measured = read(link)["question"]["predict"]["measured"]
    this = asked(lens, question)
    assert this.read(measured) == measured
    wrong = this.options[-1] if this.options else measured + 3
    chart, words = tally(this, [measured, wrong, measured], measured)
    assert chart is not None
    if this.options:
        assert f"✓ {measured}" in str(chart[0]["figure"]["layout"])
        assert f"{measured}: " in words
    else:
        assert words.startswith("3 answers")


def test_no_two_questions_of_a_room_are_the_same():
    ids = [asked(lens, question).id for lens, question in PREDICTED]
    for name in LESSONS:
        lesson = shelf.shipped(name)
        places = [shelf.place(f"{name}.{step.name}") for step in lesson.steps if step.predict]
        for place in places:
            predict = place.step.predict
            in_words = predict.kind == TEXT
            ids.append(asked_of(which(place), predict.ask, predict.options, predict.unit, in_words=in_words).id)
    assert len(ids) > 250
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", NAMES)
def test_who_follows_a_link_shows_what_it_says(name):
    of = lens(name)
    links = [link for link in recorded_links() if link.lens == name]
    assert links
    for link in links:
        query = parse_qs(link.query, keep_blank_values=True)
        model = state_of(ModelState, "", query)
        state = state_of(of.state, of.prefix, query, of.limits(model))
        of_model, of_page = _values(Place(name, query), of)
        followed = ModelState(**of_model), of.state(**{key.removeprefix(of.prefix): of_page[key] for key in of_page})
        assert link_parameters(followed[0], "") == link_parameters(model, "")
        assert link_parameters(followed[1], of.prefix) == link_parameters(state, of.prefix)
        assert len(share_link("", (model, ""), (state, of.prefix))) <= LINK_CHARS < MOST_QUERY
