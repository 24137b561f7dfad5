"""What tests of writing share: a prompt, settings, and how a course is written."""

import pytest
from hypothesis import strategies as st

from tests.tfm_core.toys import VOCAB, shared
from tfm_core import POSITIONAL, Sampling, generate

every_scheme = pytest.mark.parametrize("positional", POSITIONAL)
PROMPT = [5, 9, 2]
CLOSE = 1e-5

prompts = st.lists(st.integers(1, VOCAB - 1), min_size=1, max_size=12)
samplings = st.builds(
    Sampling, temperature=st.floats(0.3, 3), top_k=st.integers(0, 25), seed=st.integers(0, 9), greedy=st.booleans()
)
contexts = st.none() | st.integers(1, 12)


def decoder(**changes):
    return shared(architecture="decoder", **changes)


def tokens_of(steps):
    return [step.token for step in steps]


def written(model, sampling=None, **settings):
    steps = generate(model, PROMPT, sampling or Sampling(seed=1), **settings)
    for _ in steps:
        pass
    return steps.course()
