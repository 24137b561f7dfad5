"""Whose word counts on where a visitor comes from: that of a proxy which FORWARDED_ALLOW_IPS names, and no other."""

import http.client

import pytest
from websockets.sync.client import connect

from benchmarks.live.serve import running_server
from tests.tfm_ui.cookies import cookie

HERE, ELSEWHERE = "127.0.0.1", "192.0.2.1"
FIRST, SECOND = "198.51.100.1", "198.51.100.2"  # two visitors behind the proxy, which asks from HERE


@pytest.mark.parametrize(("allowed", "second_may_come"), [(HERE, True), (ELSEWHERE, False)])
def test_a_proxy_is_believed_if_the_setting_names_its_address(allowed, second_may_come):
    settings = {"FORWARDED_ALLOW_IPS": allowed, "ATTENTION_LAB_TABS_PER_ADDRESS": "1"}
    with running_server(settings=settings) as (address, _):
        place = address.removeprefix("http://")
        first = {"X-Forwarded-For": FIRST, "Cookie": cookie("a")}
        with connect(f"ws://{place}/_stcore/stream", additional_headers=first):
            connection = http.client.HTTPConnection(place, timeout=60)
            second = {"X-Forwarded-For": SECOND, "Cookie": cookie("b"), "Sec-Fetch-Dest": "document"}
            connection.request("GET", "/heads", headers=second)
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
    assert answer.status == (200 if second_may_come else 503)
    assert ("Your network address has 1 open tab" in text.replace("\n", " ")) is not second_may_come
