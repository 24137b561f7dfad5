"""The route of the index: compressed where a browser reads that, and kept under the address of its version alone."""

import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tfm_ui.search.index import Entry, made
from tfm_ui.search.route import index_route

INDEX = made([Entry("word", "softmax", "softmax", "", "Makes weights of scores.", "soft max")])
ADDRESS = f"/search/{INDEX.version}.json"


def asked(address: str, base: str = "", **headers: str):
    return TestClient(Starlette(routes=[index_route(lambda: INDEX, base)])).get(address, headers=headers)


@pytest.mark.parametrize(("accepts", "is_packed"), [("gzip", True), ("br", False)])
def test_the_index_is_kept_for_ever_under_its_version(accepts, is_packed):
    answer = asked(ADDRESS, **{"Accept-Encoding": accepts})
    assert answer.status_code == 200
    assert answer.json() == [["word", "softmax", "softmax", "", "Makes weights of scores.", "soft max"]]
    assert "immutable" in answer.headers["cache-control"]
    assert ("content-encoding" in answer.headers) is is_packed
    assert answer.headers["vary"] == "Accept-Encoding"


def test_under_an_older_version_the_index_of_now_is_not_kept():
    answer = asked("/search/0123.json")
    assert json.loads(answer.content) == json.loads(INDEX.data)
    assert answer.headers["cache-control"] == "no-store"


def test_below_a_path_of_a_server_it_is_below():
    assert asked(f"/lab{ADDRESS}", base="/lab/").status_code == 200
    assert asked(ADDRESS, base="/lab/").status_code == 404
