"""The benchmark of writing compares what does the same work."""

import pytest
import torch

from benchmarks import generation
from benchmarks.generation import CONFIG, SCHEMES, BareDecoder, check_agreement, contenders
from tfm_core import Transformer, to_gpt2


@pytest.mark.parametrize("positional", SCHEMES)
def test_all_write_the_same_text_again_and_again(positional, monkeypatch):
    calls = contenders(positional)  # which compares their logits, over all tokens that the benchmark writes
    monkeypatch.setattr(generation, "NEW", 25)
    sampled = calls.pop("ours, sampled")
    texts = [call() for call in calls.values() for _ in range(2)]
    assert all(text == texts[0] for text in texts)
    assert len(texts[0]) == len(sampled()) == 25


def test_a_contender_that_does_something_else_is_noticed():
    model = Transformer(CONFIG).eval()
    bare, gpt2 = BareDecoder(model).eval(), to_gpt2(model)
    with torch.no_grad():
        bare.positions.weight[50] *= 2
    with pytest.raises(AssertionError):
        check_agreement(model, bare, gpt2)
