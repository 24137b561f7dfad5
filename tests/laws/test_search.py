"""The index of the search is complete, and each of its entries leads somewhere: read from lenses, lessons and words."""

from collections import Counter

import pytest

from tfm_ui.lenses import lens, lenses
from tfm_ui.lessons import shelf
from tfm_ui.lessons.shown import shown
from tfm_ui.search.index import KINDS, PAGES, QUESTION, SETTING, STEP, VIEW, WORD, entries, made
from tfm_ui.search.places import places
from tfm_ui.state.fields import controls_of, held_by
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.glossary_words import GLOSSARY

SAYS_WHERE = {"question", "view"}  # fields that tabs and the row of the question set: no settings
LESSONS = {name: shelf.shipped(name) for name in (*shelf.names(), *shelf.teaching())}
ENTRIES = entries(lenses(), LESSONS)
MOST_BYTES = 250_000  # of the index; a visitor fetches a third of that, compressed


def names(kind: str) -> list[str]:
    return [entry.name for entry in ENTRIES if entry.kind == kind]


def test_every_view_question_step_word_and_setting_has_exactly_one_entry():
    settings = [*controls_of(ModelState)]
    for each in lenses():
        drawn = controls_of(each.state).keys() - held_by(each.state) - SAYS_WHERE
        settings += [each.prefix + name for name in drawn]
    assert sorted(names(VIEW)) == sorted([*PAGES, *(f"{each.name}.{view}" for each in lenses() for view in each.views)])
    assert sorted(names(QUESTION)) == sorted(f"{each.name}.{ask.link}" for each in lenses() for ask in each.questions)
    assert sorted(names(STEP)) == sorted(f"{n}.{step.name}" for n, lesson in LESSONS.items() for step in lesson.steps)
    assert sorted(names(WORD)) == sorted(GLOSSARY)
    assert set(settings) <= set(names(SETTING))
    assert [name for name, count in Counter(names(SETTING)).items() if count > 1] == []
    # Beyond those that a widget shows, only fields that a slider above a picture moves, as measured.
    assert set(names(SETTING)) == set(places())


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_says_what_it_is_and_where(kind):
    these = [entry for entry in ENTRIES if entry.kind == kind]
    assert these
    assert [entry.name for entry in these if not entry.title.strip()] == []
    assert [entry.name for entry in these if bool(entry.place) is (kind == WORD)] == []


def test_every_entry_leads_somewhere():
    for name in set(names(VIEW)) - PAGES.keys():
        of_lens, view = name.split(".")
        assert view in lens(of_lens).views
    for name in names(STEP):
        place = shelf.place(name)
        assert place.link == name
        assert shown(place.step, lens).lens
    for name, place in places().items():
        state, prefix, views = _owner(name)
        assert name.removeprefix(prefix) in controls_of(state)
        assert set(place.views) <= set(views), name
        assert place.views or not prefix, name
        for needed, value in place.needs.items():
            owner, of_owner, _ = _owner(needed)
            field, default = controls_of(owner)[needed.removeprefix(of_owner)]
            read, reason = field.read(value, default)
            assert (read != default, reason) == (True, ""), needed


def _owner(parameter: str):
    for each in lenses():
        if parameter.startswith(each.prefix):
            return each.state, each.prefix, each.views
    return ModelState, "", ()


def test_the_index_stays_small_and_is_the_same_each_time():
    index = made(ENTRIES)
    assert len(index.data) < MOST_BYTES
    assert index == made(entries(lenses(), LESSONS))
    assert made(ENTRIES[1:]).version != index.version
