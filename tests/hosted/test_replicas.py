"""Two replicas behind nginx: the same numbers from both, uploads, few bytes, and tabs that outlive their replica."""

import gzip
import io
import re
import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.live.replicas import COOKIE, NAMES, Replicas, answer
from tests.browser.conftest import PATIENCE, Visitor
from tests.browser.test_clinic import MASK, expect_values
from tests.browser.test_training import OUTPUT, mirror, train

LINK = "/heads?seed=3&text=" + quote("a text that no log may hold")
TRAINING = "/training?training_seed=23&training_steps=50"
FIRST_VISIT = 2.5e6  # bytes
# Time, method, path without a query, status, size, duration, and which replicas were asked.
LOGGED = re.compile(r"[\d:T+-]+ [A-Z]+ /[^ ?]* \d+ \d+ bytes [\d.]+ s (-|127\.0\.0\.1:\d+(, 127\.0\.0\.1:\d+)?)")


def replica_of(visitor: Visitor) -> str:
    """The replica that this browser belongs to, by its cookie."""
    [name] = [cookie["value"] for cookie in visitor.page.context.cookies() if cookie["name"] == COOKIE]
    return name


def move(visitor: Visitor) -> None:
    """Load the page anew, at the other replica: if that has been away, nginx passes it by for a second."""
    [other] = set(NAMES) - {replica_of(visitor)}

    def is_moved() -> bool:
        visitor.page.context.add_cookies([{"name": COOKIE, "value": other, "url": visitor.address}])
        visitor.page.reload()
        visitor.wait()
        return replica_of(visitor) == other

    wait_until(is_moved, visitor.page, f"the browser has moved to replica {other}")


def upload(visitor: Visitor) -> None:
    """Upload a mask to the Clinic, and see that it is drawn."""
    page, file = visitor.page, io.BytesIO()
    np.save(file, MASK)
    inputs = page.locator(".st-key-clinic_box input[type=file]")
    inputs.set_input_files({"name": "mask.npy", "mimeType": "application/x-npy", "buffer": file.getvalue()})
    expect(page.locator(".verdict")).to_contain_text("True")
    expect_values(visitor, "clinic_mask", np.stack([MASK, MASK]))


def the_log_holds_neither_texts_nor_addresses_of_visitors(lab: str, replicas: Replicas) -> None:
    """Whatever was asked before."""
    answer(lab + LINK)
    log = replicas.log()
    assert any(" GET /heads 200 " in line for line in log)
    assert [line for line in log if not LOGGED.fullmatch(line)] == []
    assert not (replicas.folder / "error.log").read_text(encoding="utf-8")


def test_versioned_files_are_kept_for_long_and_pages_are_not(lab):
    headers, page = answer(lab, accepts="identity")
    assert headers["Cache-Control"] == "no-cache"
    script = re.search(rb"static/js/index\.[\w-]+\.js", page)
    assert script
    address = f"{lab}/{script[0].decode()}"
    headers, packed = answer(address)
    assert headers["Content-Encoding"] == "gzip"
    assert "max-age=31536000" in headers["Cache-Control"]
    assert "Set-Cookie" not in headers  # else the cache would give the cookie of one visitor to all
    headers, plain = answer(address, accepts="identity")
    assert headers["Content-Encoding"] is None
    assert gzip.decompress(packed) == plain
    headers, _ = answer(f"{lab}/static/js/nothing.js")  # Streamlit answers by its page
    assert headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/", "//_stcore/metrics", "/_stcore/metric%73"])
def test_nginx_itself_tells_nobody_streamlits_own_metrics(lab, path):
    with pytest.raises(urllib.error.HTTPError) as refused:
        answer(f"{lab}{path}")
    assert refused.value.code == 404
    assert b"nginx" in refused.value.read()


def newcomers_are_sent_to(name: str, lab: str) -> bool:
    """Whether the next two newcomers include one for this replica: replicas take turns."""
    return any(f"{COOKIE}={name};" in (answer(lab)[0]["Set-Cookie"] or "") for _ in NAMES)


def wait_until(holds: Callable[[], bool], page: Page, what: str) -> None:
    give_up = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < give_up, f"expected within a minute: {what}"
        page.wait_for_timeout(50)


@contextmanager
def newcomer(browser: Browser, lab: str, path: str) -> Iterator[Visitor]:
    """A browser that was never here, opened at this path, and how little it was sent; it may have no problem after."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    try:
        page = context.new_page()
        network, sizes = context.new_cdp_session(page), []
        network.send("Network.enable")
        network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        visitor = Visitor(page, lab).open(path)
        assert 1e6 < sum(sizes) <= FIRST_VISIT  # Streamlit's scripts alone are more than the lower limit
        network.detach()
        yield visitor
        assert visitor.problems == []
        assert visitor.foreign == []
    finally:
        context.close()


def both_answer_a_link_with_the_same_numbers(first: Visitor, second: Visitor, replicas: Replicas) -> None:
    assert first.weights() == second.weights()
    assert np.array(first.weights()).any()
    pictures = [line for line in replicas.log() if " POST /pictures/" in line]
    answered = {str(port): [line for line in pictures if line.endswith(f":{port}")] for port in replicas.ports.values()}
    assert all(answered.values()), "each replica has computed pictures"


def what_is_trained_at_one_is_there_at_the_other(first: Visitor, second: Visitor) -> None:
    for visitor in (first, second):
        visitor.back_to(TRAINING)
    untrained = mirror(second)
    train(first)
    expect(first.page.locator(OUTPUT)).to_contain_text("step 50 of 50", timeout=PATIENCE)
    second.page.reload()
    second.wait()
    expect(second.page.locator(".badge")).to_contain_text("Trained on reverse")
    assert second.page.locator(OUTPUT).inner_text() == first.page.locator(OUTPUT).inner_text()
    assert mirror(second) == mirror(first) != untrained


def tabs_outlive_their_replica_and_uploads_follow_them(visitor: Visitor, other: Visitor, replicas: Replicas) -> None:
    """The other visitor is at the other replica."""
    page, first, second = visitor.page, replica_of(visitor), replica_of(other)
    for each in (visitor, other):
        each.back_to(LINK)
    beside = Visitor(page.context.new_page(), visitor.address).open("/clinic")  # another tab of the same browser
    shown = visitor.weights()
    for tab in (visitor, beside):
        tab.page.evaluate("() => { window.notReloaded = true }")

    replicas.kill(first)
    wait_until(lambda: replica_of(visitor) == second, page, f"the browser has moved to replica {second}")
    visitor.wait()
    assert visitor.weights() == shown
    assert not newcomers_are_sent_to(first, visitor.address)
    for each in (visitor, other):
        each.choose_seed(4)
        each.wait()
    assert visitor.weights() == other.weights() != shown

    replicas.start(first)
    wait_until(lambda: newcomers_are_sent_to(first, visitor.address), page, f"replica {first} is used again")
    beside.wait()
    upload(beside)  # works only where the tab is, which has stayed at the other replica
    assert replica_of(visitor) == second
    for tab in (visitor, beside):
        assert tab.page.evaluate("() => window.notReloaded")
        assert [problem for problem in tab.problems if "WebSocket" not in problem] == []
    move(beside)
    expect_values(beside, "clinic_mask", np.stack([MASK, MASK]))  # the upload is there, too
    beside.page.close()
    visitor.problems.clear()


def test_what_one_replica_has_the_other_has_too_and_tabs_outlive_theirs(browser, lab, replicas):
    with newcomer(browser, lab, LINK) as first, newcomer(browser, lab, "/") as second:
        assert sorted(map(replica_of, (first, second))) == list(NAMES)
        second.open(LINK)
        both_answer_a_link_with_the_same_numbers(first, second, replicas)
        what_is_trained_at_one_is_there_at_the_other(first, second)
        tabs_outlive_their_replica_and_uploads_follow_them(first, second, replicas)
        the_log_holds_neither_texts_nor_addresses_of_visitors(lab, replicas)
