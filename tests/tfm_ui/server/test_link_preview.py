"""The document of a link says what the link shows, to who runs no script."""

import re
from html.parser import HTMLParser
from io import BytesIO
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tfm_ui.lenses import NAMES, lenses
from tfm_ui.lenses.previews import preview_of, tags
from tfm_ui.page.frame import LEARN
from tfm_ui.server.link_preview import LinkPreview
from tfm_ui.server.part import part
from tfm_ui.server.picture_requests import preview

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

    pages = [Route(f"{below}/{name}", page) for below in ("", "/lab") for name in ("", *NAMES, LEARN)]
    pages.append(Route("/nothing", page))
    others = [Route("/_stcore/health", lambda _: PlainTextResponse("<title>Streamlit</title>"))]
    says = part(LinkPreview, "http", pages=[*NAMES, LEARN], tags=tags)
    previews = [Route(f"{below}/previews/{{lens}}.png", preview) for below in ("", "/lab")]
    return TestClient(Starlette(routes=pages + others + previews, middleware=[says]))


@pytest.mark.parametrize("below", ["", "/lab"])
def test_a_link_names_its_view_its_lens_and_its_text(below):
    answer = client().get(f"{below}/masks?text=my+own+words&masks_view=padding&seed=3")
    head = Head(answer.text)
    assert head.title == head.named["og:title"] == "Padding · Masks · Attention Lab"
    assert head.named["description"] == head.named["og:description"]
    assert "Random weights · seed 3 · 2 × 4." in head.named["description"]
    heads = Head(client().get(f"{below}/heads?text=my+own+words&seed=3").text)
    assert "Random weights · seed 3 · 2 × 4: “my own words”." in heads.named["description"]
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


@pytest.mark.parametrize("below", ["", "/lab"])
def test_the_page_learn_says_what_it_is_and_shows_no_model(below):
    learn = Head(client().get(f"{below}/learn?seed=3&text=mine").text)
    assert learn.title == learn.named["og:title"] == "Learn · Attention Lab"
    assert learn.named["description"].startswith("Lessons that lead through a running transformer")
    assert "weights" not in learn.named["description"]
    assert not {name for name in learn.named if name.startswith(("og:image", "twitter:"))}


def test_a_link_says_what_is_read_where_that_is_not_the_text_of_the_sidebar():
    for link in ("/profiling", "/positions", "/model?model_view=distance", "/masks"):
        about = Head(client().get(link).text).named["description"]
        assert "the cat sat" not in about, link
        assert re.search("No text|[Ss]entence|vectors", about), about


def test_no_document_is_called_streamlit_and_no_sign_controls_others():
    assert Head(client().get("/nothing").text).title == "Home · Attention Lab"
    about = Head(client().get("/heads?text=%E2%80%AE%F0%9F%98%80a%00%7F").text).named["description"]
    assert about.isprintable()
    assert "😀a" in about


@pytest.mark.parametrize("below", ["", "/lab"])
@pytest.mark.parametrize("page", ["", *NAMES])
def test_a_link_has_a_picture_that_can_be_fetched_from_anywhere(below, page):
    named = Head(client().get(f"{below}/{page}?seed=3&text=a+“word”+%26+more").text).named
    assert named["og:image"].startswith(f"http://testserver{below}/previews/")
    assert named["twitter:card"] == "summary_large_image"
    with Image.open(BytesIO(client().get(named["og:image"]).content)) as image:
        assert image.size == (int(named["og:image:width"]), int(named["og:image:height"]))
    asked = parse_qs(urlsplit(named["og:image"]).query)
    assert (asked["seed"], asked["text"]) == (["3"], ["a “word” & more"])


def test_the_address_of_the_picture_is_the_visitors():
    def image(**headers):
        return Head(client().get("/heads", headers=headers).text).named.get("og:image", "")

    assert image(host="lab.test").startswith("http://lab.test/previews/heads.png")
    assert image(**{"x-forwarded-proto": "https"}).startswith("http://testserver/"), "nobody's word but a proxy's"
    proxied = client()
    proxied.base_url = "https://lab.test"  # as the server has it from a proxy that it trusts
    assert Head(proxied.get("/heads").text).named["og:image"].startswith("https://lab.test/previews/heads.png")
    assert image(host='a"><script>') == ""


@given(
    st.sampled_from([*NAMES, LEARN]),
    st.dictionaries(st.sampled_from(["text", "weights", "seed", "x"]), st.text(max_size=40)),
)
def test_whatever_a_link_holds_stays_text(name, parameters):
    query = urlencode(parameters, errors="replace")
    said = preview_of(name, query)
    head = Head(tags(name, query, "http://lab.test").decode())
    assert head.title == said.title
    assert head.named["description"] == said.about
    pictures = {key for key in head.named if key.startswith("og:image")} | {"twitter:card"}
    assert set(head.named) - pictures == {"description", "og:site_name", "og:type", "og:title", "og:description"}
    assert "og:image" not in Head(tags(name, query, "").decode()).named
