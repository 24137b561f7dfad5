"""What the tests in this folder visit: two replicas behind nginx, with a store that they share; and windows."""

from collections.abc import Iterator

import pytest

from benchmarks.live.replicas import Replicas, behind_nginx
from tests.browser.conftest import visit, windows
from tests.tfm_ui.store.redis_server import redis_server

__all__ = ["visit", "windows"]  # fixtures


@pytest.fixture(scope="module")
def hosted(tmp_path_factory) -> Iterator[tuple[str, Replicas]]:
    with pytest.MonkeyPatch.context() as patch, redis_server() as store:
        patch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", "the same for both replicas")
        patch.setenv("ATTENTION_LAB_STORE", store)
        replicas = Replicas(tmp_path_factory.mktemp("nginx"))
        with behind_nginx(replicas) as address:
            yield address, replicas


@pytest.fixture(scope="module")
def replicas(hosted) -> Replicas:
    return hosted[1]


@pytest.fixture(scope="module")
def lab(hosted) -> str:
    return hosted[0]
