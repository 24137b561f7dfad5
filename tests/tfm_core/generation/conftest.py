"""Fixtures of the tests of writing."""

import pytest

from tests.tfm_core.generation.writing import decoder


@pytest.fixture
def read(monkeypatch):
    """How many tokens each pass of a model reads, as they come."""
    passes, forward = [], type(decoder()).forward

    def counted(self, source, *args, **keywords):
        passes.append(source.shape[1])
        return forward(self, source, *args, **keywords)

    monkeypatch.setattr(type(decoder()), "forward", counted)
    return passes
