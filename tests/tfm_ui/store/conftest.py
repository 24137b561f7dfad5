"""The stores that all tests of this folder are about."""

import pytest
from redis import Redis

from tests.tfm_ui.store.redis_server import redis_server
from tfm_ui.store.local import LocalStore
from tfm_ui.store.redis_store import RedisStore


@pytest.fixture(scope="session")
def redis_address():
    with redis_server() as address:
        yield address


@pytest.fixture
def empty_redis(redis_address):
    with Redis.from_url(redis_address) as client:
        client.flushall()
    return redis_address


@pytest.fixture(params=["local", "redis"])
def store(request, tmp_path):
    opened = LocalStore(tmp_path) if request.param == "local" else RedisStore(request.getfixturevalue("empty_redis"))
    yield opened
    opened.close()
