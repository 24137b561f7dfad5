"""The app below a path of a server that has others, `--server.baseUrlPath=lab`."""

import re
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from playwright.sync_api import Response, expect

from benchmarks.live.serve import EXPECTED_404, running_app


@pytest.fixture(scope="module")
def below() -> Iterator[str]:
    with running_app(options=["--server.baseUrlPath=lab"]) as url:
        yield url


def test_pages_pictures_and_links_work_below_a_path(visit, below):
    visitor = visit("/lab/heads?seed=3", at=below)
    page, failed = visitor.page, []

    def note(response: Response) -> None:
        if response.status >= 400 and not response.url.endswith(EXPECTED_404):
            failed.append(f"{response.status} {response.url}")

    page.on("response", note)
    page.on("requestfailed", lambda request: failed.append(request.url))
    assert visitor.weights()
    visitor.go("Masks")
    page.locator(".st-key-panel_masks_see canvas").first.wait_for()
    expect(page).to_have_url(re.compile(f"^{re.escape(below)}/lab/masks.*seed=3"))
    visitor.go("Heads")
    shown = visitor.weights()
    link = visitor.link()
    assert link.startswith(f"{below}/lab/heads?")
    visitor.wait()
    visitor.open(link.removeprefix(below))  # all files of a page are asked for below the path, too
    assert visitor.weights() == shown
    visitor.go("Home")
    page.locator(".st-key-card_heads a").click()
    assert visitor.weights() == shown
    assert failed == []


@pytest.mark.parametrize("path", ["/lab/_stcore/metrics", "/lab/_stcore/metrics/", "/_stcore/metrics"])
def test_streamlits_own_metrics_are_told_to_nobody(below, path):
    assert urllib.request.urlopen(f"{below}/lab/_stcore/health").read() == b"ok"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{below}{path}")
    assert refused.value.code == 404
    assert b"session" not in refused.value.read()
