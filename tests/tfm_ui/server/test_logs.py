"""The log as JSON: one object a line, with the request's id, and nothing that a visitor has typed."""

import json
import logging
import sys
from collections.abc import Iterator
from io import StringIO

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tfm_ui.server import logs, requests_log
from tfm_ui.server.logs import exception_in_words, of_visitor, set_up
from tfm_ui.server.part import part
from tfm_ui.server.requests_log import RequestsLog
from tfm_ui.settings import Settings
from tfm_ui.streamlit_private import loggers
from tfm_ui.visitors import metrics
from tfm_ui.visitors.metrics import told_of

SECRET = "what the visitor has typed"


@pytest.fixture
def lines(monkeypatch) -> Iterator[StringIO]:
    """The stream to which the log is written as JSON; afterwards all loggers are as before."""
    known = [logging.getLogger(name) for name in (None, logs.OURS, *logging.root.manager.loggerDict)]
    before = [(logger, logger.handlers[:], logger.propagate, logger.level) for logger in known]
    usual = loggers.streamlits.setup_formatter
    monkeypatch.setattr(loggers.streamlits, "setup_formatter", usual)  # at the end, too
    monkeypatch.setattr(logs, "SETTINGS", Settings(logs="json"))
    stream = StringIO()
    set_up(stream)
    yield stream
    logging.captureWarnings(False)
    for logger, handlers, propagate, level in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def read(lines: StringIO) -> list[dict]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


async def answer(request):
    logging.getLogger("tfm_ui.test").warning("answering")
    return PlainTextResponse(request.path_params["what"], int(request.query_params.get("status", 200)))


@pytest.fixture
def client() -> TestClient:
    routes = [Route(path, answer) for path in ("/say/{what}", "/pictures/{names}/{what}")]
    return TestClient(Starlette(routes=routes, middleware=[part(RequestsLog, "http")]))


def test_a_request_has_a_line_with_its_route_and_no_text(lines, client):
    made = client.get(f"/say/{SECRET}", params={"text": SECRET, "status": 418})
    message, request = read(lines)
    assert message["message"] == "answering"
    assert message["request"] == request["request"] == made.headers["X-Request-ID"]
    assert request["time"].endswith("+00:00")
    assert request["level"] == "INFO"
    assert (request["method"], request["route"], request["status"]) == ("GET", "/say/{what}", 418)
    assert 0 < request["ms"] < 60_000
    assert "typed" not in lines.getvalue()


def test_a_path_that_leads_nowhere_is_not_logged(lines, client):
    assert client.get(f"/{SECRET}").status_code == 404
    [request] = read(lines)
    assert request["route"] == ""
    assert "typed" not in lines.getvalue()


@pytest.mark.parametrize(
    ("given", "taken"), [("abc-1.2_X", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("", False)]
)
def test_a_short_plain_id_is_taken_over_and_any_other_replaced(client, given, taken):
    first, second = (client.get("/say/it", headers={"X-Request-ID": given}).headers["X-Request-ID"] for _ in range(2))
    assert (first == given) == taken
    assert (first == second) == taken


def test_in_text_requests_are_not_logged(client, caplog):
    with caplog.at_level(logging.INFO):
        client.get("/say/it")
    assert [record.name for record in caplog.records if record.name.startswith("tfm_ui")] == ["tfm_ui.test"]


def test_what_streamlit_and_uvicorn_log_is_json_too_but_no_addresses(lines):
    for name in ("uvicorn.error", "uvicorn.access", "streamlit.made_before"):
        loggers.streamlits.get_logger(name)
    set_up(lines)  # as at the start of the server
    loggers.streamlits.get_logger("streamlit.made_after")
    names = ["uvicorn.error", "streamlit.made_before", "streamlit.made_after", "somebody.else"]
    for name in names:
        logging.getLogger(name).warning("from %s,\nin two lines", name)
    logging.getLogger("uvicorn.access").warning("GET /?text=%s", SECRET)
    assert [line["logger"] for line in read(lines)] == names
    assert [line["message"] for line in read(lines)] == [f"from {name},\nin two lines" for name in names]


def fail() -> None:
    raise ValueError(SECRET)


def test_an_exception_is_its_type_and_places_without_its_message(lines):
    try:
        fail()
    except ValueError:
        logging.getLogger("tfm_ui.test").exception("It has failed.")
        words = exception_in_words(sys.exc_info())
    [line] = read(lines)
    assert line["exception"] == words
    assert words.startswith(f"ValueError at fail in {__file__}:")
    assert ", called by test_an_exception_is" in words
    assert SECRET not in lines.getvalue()


def test_a_visitors_text_stands_in_a_log_of_text_alone(monkeypatch):
    assert of_visitor(SECRET * 100) == repr((SECRET * 100)[:500])
    monkeypatch.setattr(logs, "SETTINGS", Settings(logs="json"))
    assert of_visitor(SECRET) == f"(not logged, {len(SECRET)} characters)"


def test_times_of_pictures_are_noted_and_those_of_refused_ones_are_not(client, monkeypatch):
    def timed() -> int:
        return int(told_of(metrics.PICTURES)["count"])

    def answered(status: int) -> float:
        labels = {"route": "/lab/pictures/{names}", "status": str(status)}
        return metrics.REGISTRY.get_sample_value("attention_lab_answers_total", labels) or 0

    monkeypatch.setattr(requests_log, "template", lambda scope: "/lab/pictures/{names}")
    before = timed(), answered(200), answered(503)
    client.get("/say/it")
    client.get("/say/it", params={"status": 503})
    assert timed() == before[0] + 1
    assert (answered(200), answered(503)) == (before[1] + 1, before[2] + 1)
