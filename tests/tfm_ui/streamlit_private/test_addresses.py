"""Streamlit's own server answers where the app and its visitors expect it; asked of a page that is not the app's."""

from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect

from benchmarks.live.serve import FLOOR, running_app
from benchmarks.streamlit_private.protocol import SUCCEEDED, asking, begins_a_run, end_of_a_run
from tfm_ui.streamlit_private.addresses import HEALTH, INSIDE, METRICS, STREAM, UPLOADS
from tfm_ui.visitors.visitor import COOKIE, visitor


@pytest.fixture(scope="module")
def floor() -> Iterator[str]:
    with running_app(script=FLOOR) as url:
        yield urlsplit(url).netloc


def asked(place: str, path: str, method: str = "GET", **headers: str) -> HTTPResponse:
    connection = HTTPConnection(place, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_metrics_are_where_they_are_hidden(floor):
    told = "Streamlit has its metrics elsewhere: the app no longer hides them"
    assert asked(floor, METRICS).status == 200, told


def test_uploads_go_where_they_are_counted(floor):
    status = asked(floor, f"{UPLOADS}nobody/file", "PUT").status
    assert status in (400, 403), f"got {status}: uploads go elsewhere, and UploadLimit counts none"


def test_all_addresses_are_known_by_one_part():
    assert all(f"/{INSIDE}/" in address for address in (METRICS, UPLOADS, HEALTH, STREAM))


def test_the_cookie_names_a_browser_whose_token_is_masked_anew(floor):
    first = asked(floor, HEALTH).headers["Set-Cookie"].partition(";")[0]
    name, _, value = first.partition("=")
    assert name == COOKIE, "visitors would be told apart by their addresses alone"
    second = asked(floor, HEALTH, Cookie=first).headers.get("Set-Cookie", first).partition(";")[0].partition("=")[2]
    names = {visitor({COOKIE: each}, "203.0.113.7") for each in (value, second)}
    assert len(names) == 1, "each answer would make another visitor"
    assert names != {visitor({}, "203.0.113.7")}, f"no token is read in {value!r}: all browsers would be one visitor"


def test_a_websocket_runs_the_page_that_is_asked_for(floor):
    with connect(f"ws://{floor}{STREAM}", max_size=None) as tab:
        tab.send(asking(""))
        sent = [tab.recv(timeout=60)]
        while (how := end_of_a_run(sent[-1])) is None:
            sent.append(tab.recv(timeout=60))
    assert any(map(begins_a_run, sent)), "the server does not know which session a websocket belongs to"
    assert how == SUCCEEDED, f"the run has ended with {how}"
