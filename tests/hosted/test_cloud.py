"""The entry point for Streamlit Community Cloud: the whole app, from another file in another folder."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from benchmarks.live.serve import running_app
from benchmarks.streamlit_private.dom import LENSES
from tests.browser.links import same
from tests.browser.test_visits import LINK
from tests.hosted.replicas import answer
from tfm_ui.lenses import NAMES


@pytest.fixture(scope="module")
def cloud() -> Iterator[str]:
    with running_app(script="hosting/cloud/streamlit_app.py") as url:
        yield url


def test_a_link_is_answered_at_first_is_the_same_elsewhere_and_leads_to_other_lenses(visit, cloud):
    """Its answer is the server's first, and that of a server which runs app.py."""
    first = visit(LINK, at=cloud)
    expect(first.page.get_by_text("Page not found")).to_have_count(0)
    assert first.heading().startswith("Layer 1, head 5")
    shown = first.weights()
    same(shown, first.page.url)
    assert visit(LINK).weights() == shown
    links = first.page.locator(LENSES)
    expect(links).to_have_count(len(NAMES))
    for name in (links.last.inner_text(), "Heads"):
        first.go(name)
        first.wait()
    assert first.weights() == shown
    assert answer(f"{cloud}/ready")[1] == b'{"ready":true}'


def test_the_defaults_are_those_of_a_small_host(cloud):
    settings = json.loads(answer(f"{cloud}/status", accepts="identity")[1])["settings"]
    assert (settings["ATTENTION_LAB_PRESET"], settings["ATTENTION_LAB_WORKERS"]) == ("hosted", "1")
