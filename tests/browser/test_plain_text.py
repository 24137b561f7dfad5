"""What a link says stays text wherever the app repeats it: no address becomes a link, no sign a style."""

from urllib.parse import quote, urlencode

from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import MARKDOWN
from tests.browser.plain_text import ADDRESSES, HURTS, made_of_it
from tfm_ui.text.markdown import JOINER

HOSTILE = {
    "norm": "http://evil.test/login",
    "activation": "www.evil.test/login",
    "positional": "login@evil.test",
    "tokenizer": "<a href='http://evil.test'>x</a>",
    "architecture": "[x](http://evil.test) **b** $x$",
    "weights": ":material/close: :red[x] :smile: --> <=",
}
# The fields of a lens that take any text; tests/pages/test_plain_text.py has the model's text on every view.
PAGES = {
    "/attention": {"attention_view": "change", "attention_changes": "replace 2 www.evil.test; drop 1; bogus@evil.test"},
    "/masks": {"masks_view": "conventions", "masks_texts": ADDRESSES, "masks_mask": "http://evil.test"},
    "/clinic": {"clinic_pasted": "http://evil.test/login", "clinic_result": ADDRESSES},
    "/profiling": {"profiling_sizes": ADDRESSES, "profiling_targets": "www.evil.test"},
}


def test_a_notice_repeats_what_the_link_asked_for_sign_by_sign_and_no_page_makes_a_link_of_it(visit):
    visitor = visit("/heads?" + urlencode(HOSTILE))
    page = visitor.page
    page.get_by_text("and 3 more").click()
    notices = page.locator(".st-key-notices")
    expect(notices).to_contain_text("weights = ")
    text = notices.inner_text().replace(JOINER, "")
    for name, value in HOSTILE.items():
        assert f"{name} = {value if len(value) <= 40 else value[:39] + '…'}" in text
    styled = f"a, img, strong, em, .katex, {MARKDOWN} [role=img]"
    assert notices.locator(styled).evaluate_all("all => all.map(e => e.outerHTML)") == []
    for path, fields in PAGES.items():
        visitor.back_to(f"{path}?{urlencode({'text': ADDRESSES, **HOSTILE, **fields})}")
        expect(notices).to_contain_text("weights = ")
        assert made_of_it(page) == [], path
        if path == "/masks":  # where the texts are shown, too
            page.locator(".st-key-_view_see button").click()
            visitor.wait()
            assert made_of_it(page) == [], path


def test_a_text_is_shown_and_never_run(visit):
    hostile = f"text={quote(HURTS + '<b>bold</b> ' + ADDRESSES)}&seq_len=256&tokenizer=character"
    visitor = visit(f"/heads?{hostile}")
    for path in (f"/heads?{hostile}", f"/?{hostile}"):
        visitor.back_to(path)
        visitor.page.locator(".cells canvas").wait_for()
        visitor.head(1, 2).hover()
        assert visitor.page.evaluate("window.hurt") is None
        assert made_of_it(visitor.page) == []
