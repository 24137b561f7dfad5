"""Each link shows what its file says; see tests/record/__main__.py for how to write files anew."""

from collections import Counter

import pytest

from tests.record.addresses import FOLDER, Link, recorded_links
from tests.record.content import content_of, in_no_panel
from tests.record.content import read as asked_of
from tests.record.files import changed, orphans, read, written
from tests.record.links import LINKS
from tfm_ui.lenses import lenses

EVERY = recorded_links()
MOST_LINES = 20  # of a link's differences
every_link = pytest.mark.parametrize("link", EVERY, ids=lambda link: str(link.file.relative_to(FOLDER)))


@every_link
def test_a_link_shows_what_its_file_says(link: Link):
    if lines := changed(link, content_of(link)):
        more = f"\n... and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
        pytest.fail(f"{link.address}\n" + "\n".join(lines[:MOST_LINES]) + more, pytrace=False)


def test_each_link_has_a_file_and_each_file_a_link():
    assert [str(link.file) for link in EVERY if not link.file.exists()] == []
    assert orphans() == []


def test_files_are_as_they_are_written_and_say_their_link():
    for link in EVERY:
        text = link.file.read_bytes().decode()
        assert written(read(link)) == text, f"{link.file} was edited by hand"
        assert read(link)["link"] == link.address


def test_files_have_names_of_their_own_on_any_system():
    names = Counter(str(link.file).lower() for link in EVERY)
    assert [name for name, count in names.items() if count > 1] == []
    assert max(len(link.file.name) for link in EVERY) <= 80


def test_no_link_is_there_twice():
    assert len(set(LINKS)) == len(LINKS) >= 215


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_every_view_and_every_question_is_recorded(lens):
    links = [link for link in EVERY if link.lens == lens.name]
    states = [asked_of(link).lens(lens.state, lens.prefix) for link in links if not link.question]
    assert {getattr(state, "view", next(iter(lens.views))) for state in states} == set(lens.views)
    of_questions = [link for link in links if link.question]
    assert [link.question for link in of_questions] == [question.name for question in lens.questions]
    assert [read(link)["question"]["name"] for link in of_questions] == [link.question for link in of_questions]


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_every_picture_is_recorded_and_those_in_no_panel_are_in_none(lens):
    contents = [read(link) for link in EVERY if link.lens == lens.name]
    shown = {name for content in contents for name in content.get("pictures", {})}
    in_panels = {panel.get("picture") for content in contents for panel in content.get("panels", {}).values()}
    assert shown == set(lens.pictures)
    assert in_no_panel(lens.name) == shown - in_panels
