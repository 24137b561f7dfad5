"""The entry point for Streamlit Community Cloud: the whole app, from another file in another folder."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from benchmarks.live.serve import running_app
from tests.browser.links import same
from tests.hosted.replicas import answer
from tfm_ui.lenses import NAMES


@pytest.fixture(scope="module")
def cloud() -> Iterator[str]:
    with running_app(script="hosting/cloud/streamlit_app.py") as url:
        yield url


def test_a_link_is_answered_at_first_and_leads_to_all_lenses(visit, cloud):
    first = visit("/heads?seed=3", at=cloud)
    shown = first.weights()
    same(shown, first.page.url)
    links = first.page.locator("[data-testid=stTopNavLinkContainer] a")
    expect(links).to_have_count(len(NAMES))
    for name in links.all_inner_texts():
        first.go(name)
        first.wait()
    first.go("Heads")
    assert first.weights() == shown
    assert answer(f"{cloud}/ready")[1] == b'{"ready":true}'


def test_the_defaults_are_those_of_a_small_host(cloud):
    settings = json.loads(answer(f"{cloud}/status", accepts="identity")[1])["settings"]
    assert (settings["ATTENTION_LAB_PRESET"], settings["ATTENTION_LAB_WORKERS"]) == ("hosted", "1")
