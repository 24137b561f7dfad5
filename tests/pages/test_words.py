"""What travels with pictures is what the page says: the same words in the same places, whatever the link."""

import re
from html import unescape
from urllib.parse import parse_qsl

import pytest

from tests.explanations import without_explanations
from tests.pages.test_app import component_data, start, widget
from tfm_ui.lenses import lenses
from tfm_ui.page import spoken
from tfm_ui.page.words import LATER
from tfm_ui.pictures.registry import content_of, read
from tfm_ui.server import page_words
from tfm_ui.server.packed import packed
from tfm_ui.server.page_runs import is_name
from tfm_ui.visitors.compute_limiter import Busy

PLACE = re.compile(r'<(\w+)(?:[^>]*) data-words="(\w+)"[^>]*>(.*?)</\1>')
LABELS = {"facts_label"}  # in Streamlit's own elements
QUESTIONS = {
    (lens.name, name): next(q for q in lens.questions if len(lens.views) == 1 or q.view(lens.state) == name)
    for lens in lenses()
    for name in lens.views
}


def written(app) -> dict[str, str]:
    """Place -> the text that the page writes there."""
    html = without_explanations(" ".join(element.proto.body for element in app.get("html")))
    return {place: unescape(re.sub("<[^>]*>", "", inner)) for _, place, inner in PLACE.findall(html)}


def travelling(app) -> dict[str, str]:
    """Place -> the text that answers bring there: to pictures at each tick, and to slow ones at rest."""
    (data,) = [data for data in component_data(app) if "names" in data]
    lens, places = app.session_state["_lens"] or "home", {}
    for name in filter(None, (f"{lens}.words", data["slow"])):
        header, numbers = content_of(name, data["query"])
        assert not numbers.size
        places |= header["places"]
    later = {place for place, spoken in places.items() if spoken == LATER}
    assert later == ({"answer"} if data["slow"] else set())  # which a browser asks for where it is open
    return {place: plain(spoken) for place, spoken in places.items() if place not in later}


def plain(spoken) -> str:
    def text(pieces) -> str:
        return "".join(map(of_piece, pieces))

    def of_piece(piece) -> str:
        if isinstance(piece, dict):  # an act in the words for a mouse and for fingers
            return piece["mouse"]
        return piece if isinstance(piece, str) else piece[0]

    if "laws" in spoken:
        return "".join(f"{'✓' if holds else '✕'} {text(pieces)}" for holds, pieces in spoken["laws"])
    if "facts" in spoken:
        return "".join(map("".join, spoken["facts"]))
    if "tokens" in spoken:
        return " ".join(item if isinstance(item, str) else item[0] + "".join(item[2:]) for item in spoken["tokens"])
    return text(spoken["text"])


def without_time(places: dict[str, str]) -> dict[str, str]:
    return {place: re.sub(r"Computed in.*?(?=Weights on screen|$)", "", text) for place, text in places.items()}


def refused(app) -> list[str]:
    """The names of widgets with which a browser's message would be refused."""
    names = [name for element in [*app.main, *app.sidebar] if (name := getattr(element.proto, "id", ""))]
    assert names
    return [name for name in names if not is_name(name)]


def opened(lens: str, question, **model):
    page = {f"{lens}_{name}": str(value) for name, value in question.controls.items()}
    return start(lens, **{name: str(value) for name, value in question.model.items()}, **page, **model)


@pytest.mark.parametrize(("lens", "view"), QUESTIONS)
def test_what_travels_is_what_the_page_writes_and_no_widget_has_a_name_that_is_refused(lens, view):
    app = opened(lens, QUESTIONS[lens, view])
    assert refused(app) == []
    page, with_pictures = without_time(written(app)), without_time(travelling(app))
    assert page.keys() >= {place for place in with_pictures if with_pictures[place]} - LABELS
    assert page == {place: with_pictures[place] for place in page}  # all of them: nothing of the page before stays


class Packing:
    """A pool that computes here, in place of workers, and notes what it was asked."""

    is_started = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, question) -> bytes:
        self.asked += question.names
        return packed(question.turn, question.names, read(question.names, question.query))


@pytest.mark.parametrize(("lens", "view"), QUESTIONS)
def test_a_page_whose_words_a_worker_has_computed_is_the_same(lens, view, monkeypatch):
    alone = without_time(written(opened(lens, QUESTIONS[lens, view])))
    pool = Packing()
    monkeypatch.setattr(page_words, "POOL", pool)
    monkeypatch.setattr(spoken, "_ask", page_words.ask)
    app = opened(lens, QUESTIONS[lens, view])
    assert not app.exception
    (data,) = [data for data in component_data(app) if "names" in data]
    assert set(pool.asked) == {f"{lens}.words", data["slow"]} - {""}
    assert without_time(written(app)) == alone


def test_a_page_computes_its_words_where_no_worker_can_tell(monkeypatch):
    def busy(question) -> bytes:
        raise Busy("The server is busy.")

    alone, pool = without_time(written(start("heads"))), Packing()
    monkeypatch.setattr(pool, "ask", busy)
    monkeypatch.setattr(page_words, "POOL", pool)
    monkeypatch.setattr(spoken, "_ask", page_words.ask)
    assert without_time(written(start("heads"))) == alone


def test_the_label_of_the_facts_travels_too():
    app = start("heads", seed="12")
    assert travelling(app)["facts_label"] in {popover.proto.popover.label for popover in app.get("popover")}


def test_an_answer_that_is_open_travels_with_the_pictures():
    app = start("heads", seed="12")
    (data,) = [data for data in component_data(app) if "names" in data]
    assert data["names"] == ["heads.words", "heads.answer"]
    header, _ = content_of("heads.answer", data["query"])
    assert plain(header["places"]["answer"]).endswith(".")


def test_nothing_is_said_where_the_model_cannot_be_run():
    for name in ("heads.words", "heads.answer"):
        assert content_of(name, "text=")[0]["places"] == {}


def test_pages_whose_pictures_wait_for_the_page_ask_for_no_words():
    app = start("heads", text=" ".join(f"w{i}" for i in range(300)), seq_len="300")
    (data,) = [data for data in component_data(app) if "names" in data]
    assert data["names"] == []


def test_the_main_sentence_is_there_for_screen_readers():
    app = start("heads")
    (data,) = [data for data in component_data(app) if "names" in data]
    before = data["said"]
    widget(app, "seed").set_value(9).run()
    (data,) = [data for data in component_data(app) if "names" in data]
    assert dict(parse_qsl(data["query"]))["seed"] == "9"
    assert data["said"] != before
    assert data["said"] in written(app).values()
