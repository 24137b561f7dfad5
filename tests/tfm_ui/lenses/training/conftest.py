"""Runs and comparisons that come with the app, whatever was trained or compared on this machine."""

from collections.abc import Iterator

import pytest

from tests.record.content import nothing_kept


@pytest.fixture(autouse=True)
def only_shipped() -> Iterator[None]:
    with nothing_kept():
        yield
