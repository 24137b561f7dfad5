"""The document of a link says what the link shows, to who runs no script."""

from contextlib import asynccontextmanager
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tfm_ui.lenses import NAMES, lenses
from tfm_ui.lenses.previews import preview_of
from tfm_ui.server.link_preview import LinkPreview

PAGE = "<!DOCTYPE html><html><head><title>Streamlit</title></head><body></body></html>"


class Head(HTMLParser):
    """The title and the named contents of a document."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.named: dict[str, str] = {}
        self.title = ""
        self._in_title = False
        self.feed(document)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self._in_title = tag == "title"
        if tag == "meta" and (name := values.get("property") or values.get("name")):
            self.named[name] = values["content"]

    def handle_data(self, data):
        if self._in_title:
            self.title += data
        self._in_title = False


def client() -> TestClient:
    def page(request):
        return HTMLResponse(PAGE, headers={"ETag": "of the file", "X-Kept": "yes"})

    pages = [Route(f"{below}/{name}", page) for below in ("", "/lab") for name in ("", *NAMES)]
    others = [Route("/_stcore/health", lambda _: PlainTextResponse("<title>Streamlit</title>"))]
    says = Middleware(LinkPreview, NAMES, lambda name, query: preview_of(name, query).tags())
    return TestClient(Starlette(routes=pages + others, middleware=[says], lifespan=lifespan))


STARTED: list[bool] = []


@asynccontextmanager
async def lifespan(_):
    STARTED.append(True)
    yield


def test_the_server_starts_and_ends_through_it():
    STARTED.clear()
    with client():
        assert STARTED


@pytest.mark.parametrize("below", ["", "/lab"])
def test_a_link_names_its_view_its_lens_and_its_text(below):
    answer = client().get(f"{below}/masks?text=my+own+words&masks_view=padding&seed=3")
    head = Head(answer.text)
    assert head.title == head.named["og:title"] == "Padding · Masks · Attention Lab"
    assert head.named["description"] == head.named["og:description"]
    assert "Random weights · seed 3 · 2 × 4: “my own words”." in head.named["description"]
    assert "etag" not in answer.headers
    assert answer.headers["x-kept"] == "yes"


def test_a_question_is_asked_where_its_text_is_true_of_the_link():
    ask = next(q.ask for each in lenses() if each.name == "heads" for q in each.questions if q.link == "looking-ahead")
    assert (
        Head(client().get("/heads?heads_question=looking-ahead&causal=false").text).named["description"].startswith(ask)
    )
    assert ask not in Head(client().get("/heads?heads_question=looking-ahead").text).named["description"]


def test_the_root_is_home_and_nothing_but_pages_is_changed():
    home = Head(client().get("/?present=true").text)
    assert home.title == "Home · Attention Lab"
    assert "Lab GPT" in home.named["description"]
    assert client().get("/_stcore/health").text == "<title>Streamlit</title>"
    assert client().head("/heads").status_code == 200


@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(["text", "weights", "seed", "x"]), st.text(max_size=40)))
def test_whatever_a_link_holds_stays_text(name, parameters):
    said = preview_of(name, urlencode(parameters, errors="replace"))
    head = Head(said.tags().decode())
    assert head.title == said.title
    assert head.named["description"] == said.about
    assert set(head.named) == {"description", "og:site_name", "og:type", "og:title", "og:description"}
