"""A visitor's address is believed from a proxy which FORWARDED_ALLOW_IPS names, and from nobody else."""

import http.client

from websockets.sync.client import connect

from benchmarks.streamlit_private.protocol import STREAM
from tests.tfm_ui.cookies import cookie

PROXY, STRANGER = "127.0.0.1", "127.0.0.2"  # both are this machine
SETTINGS = {"FORWARDED_ALLOW_IPS": PROXY, "ATTENTION_LAB_TABS_PER_ADDRESS": "1"}
FIRST, SECOND = "198.51.100.1", "198.51.100.2"  # two visitors, as both say


def second_visit(place: str, source: str) -> tuple[int, str]:
    """The answer to a second visitor by way of this address while a first one has a tab: its status and its text."""
    first = {"X-Forwarded-For": FIRST, "Cookie": cookie("a")}
    with connect(f"ws://{place}{STREAM}", additional_headers=first, source_address=(source, 0)):
        connection = http.client.HTTPConnection(place, timeout=60, source_address=(source, 0))
        second = {"X-Forwarded-For": SECOND, "Cookie": cookie("b"), "Sec-Fetch-Dest": "document"}
        connection.request("GET", "/heads", headers=second)
        answer = connection.getresponse()
        text = answer.read().decode().replace("\n", " ")
        connection.close()
    return answer.status, text


def a_proxy_is_believed_if_the_setting_names_its_address_and_nobody_else_is(place: str) -> None:
    """The server runs with SETTINGS."""
    full = "Your network address has 1 open tab"
    status, text = second_visit(place, PROXY)
    assert status == 200
    assert full not in text
    status, text = second_visit(place, STRANGER)
    assert status == 503
    assert full in text
