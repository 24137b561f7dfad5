"""Fixtures of the tests of writing."""

import pytest

from tfm_core import Transformer
from tfm_core.generation.lean import LeanDecoder


@pytest.fixture
def read(monkeypatch):
    """How many tokens each pass of a model reads, as they come."""
    passes, forward, lean = [], Transformer.forward, LeanDecoder.__call__

    def counted(self, source, *args, **keywords):
        passes.append(source.shape[1])
        return forward(self, source, *args, **keywords)

    def counted_lean(self, token, cache):
        passes.append(1)
        return lean(self, token, cache)

    monkeypatch.setattr(Transformer, "forward", counted)
    monkeypatch.setattr(LeanDecoder, "__call__", counted_lean)
    return passes
