"""Links to Generate: the same for everybody; what is wrong with one is said; any text, and models that cannot write."""

from itertools import product
from urllib.parse import urlencode

from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import ERROR
from tests.browser.generate import MODEL, SHORT, picture, shown, texts
from tfm_ui.lenses.generate.panel import LAB, PROMPT
from tfm_ui.lenses.generate.state import VIEWS, GenerateState
from tfm_ui.lenses.generate.write.text import Write
from tfm_ui.state.model_state import ModelState


def test_the_same_link_shows_the_same_text_to_everybody(visit):
    link = f"{SHORT}&generate_seed=77&generate_temperature=1.3&generate_top_k=0&generate_top_p=0.9"
    first, second = visit(link), visit(link)
    assert texts(first) == texts(second)
    assert first.page.url == second.page.url


NONSENSE = [
    {"generate_forced": "abc 1.99999999 500.3", "generate_steps": "100000"},
    {"generate_step": "-1", "generate_method": "<b>", "generate_view": "nothing", "generate_full": "\x00"},
]
MORE_NONSENSE = [{"generate_temperature": "-3"}, {"generate_top_k": "abc"}]  # with --all
TEXTS = [
    "%F0%9F%90%B3+%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7+%E6%B5%B7",
    "half+%F0%9F%90+%ED%A0%BD+characters",
    "to+the+sea+" * 910,
    "%3Cimg+src%3Dx+onerror%3Dalert(1)%3E%3Cscript%3Ealert(2)%3C/script%3E%3Cb%3E",
    "a%00b%09c%0A%0A%0Dd",
]
CANNOT = {
    "weights=random": "A text is written by a decoder",
    "weights=random&architecture=decoder&tokenizer=word": "several words share an id",
    "weights=random&architecture=encoder-decoder": "This model is an encoder-decoder",
}


def nonsense_is_corrected_and_said(visitor, parameters: dict[str, str]) -> None:
    visitor.open(f"/generate?{urlencode(LAB | parameters)}")
    assert texts(visitor)[0].startswith(PROMPT)
    expect(visitor.page.locator(".st-key-notices")).to_contain_text("The link asked for")
    assert visitor.page.locator(ERROR).count() == 0


def any_text_is_continued_and_stands_as_it_is(visitor, query: str) -> None:
    visitor.back_to(f"/generate?weights=lab-gpt&generate_steps=10&text={query}")
    (text,) = texts(visitor)
    assert picture(visitor).locator(".token").count() == 10
    assert picture(visitor).locator("img, script, .text b").count() == 0
    if "img" in query:
        assert text.startswith("<img src=x onerror=alert(1)><script>alert(2)</script><b>")
    assert visitor.page.locator(ERROR).count() == 0


def without_a_text_lab_gpt_begins_at_the_start_token(visitor) -> None:
    visitor.back_to("/generate?weights=lab-gpt&text=&generate_steps=10")
    of_link = Write(ModelState(weights="lab-gpt", text=""), GenerateState(steps=10))
    start = MODEL.tokens_by.pieces[of_link.course.prompt[0]]
    assert len(of_link.course.prompt) == 1
    assert texts(visitor) == [shown(start + of_link.text)]


def a_model_that_cannot_write_says_so(visitor, query: str, view: str) -> None:
    visitor.back_to(f"/generate?{query}&generate_view={view}&text=the+sea")
    expect(visitor.page.get_by_text(CANNOT[query]).first).to_be_visible()
    assert visitor.page.locator(ERROR).count() == 0


def test_whatever_a_link_asks_for_is_continued_or_corrected_or_refused_in_words(visit, request):
    """Each reason in one view: each in each with --all."""
    every = request.config.getoption("all_combinations")
    visitor = visit(SHORT)
    for query in TEXTS:
        any_text_is_continued_and_stands_as_it_is(visitor, query)
    without_a_text_lab_gpt_begins_at_the_start_token(visitor)
    for parameters in NONSENSE + MORE_NONSENSE * every:
        nonsense_is_corrected_and_said(visitor, parameters)
    for query, view in product(CANNOT, VIEWS) if every else zip(CANNOT, VIEWS, strict=True):
        a_model_that_cannot_write_says_so(visitor, query, view)
