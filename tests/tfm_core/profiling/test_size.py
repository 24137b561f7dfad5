"""What a size refuses, and its kind in words."""

import pytest

from tfm_core.profiling import Size

NUMBERS = {"d_model": 16, "num_heads": 4, "num_layers": 2, "seq_len": 9, "batch": 2, "d_ff": 20}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"norm": "batch"}, "norm: expected one of pre, post; got 'batch'"),
        ({"positional": "rope", "d_model": 12}, "expected an even d_model / num_heads"),
        ({"positional": "learned", "seq_len": 1025}, "learned positions: expected at most 1024 tokens, got 1025"),
        ({"vocab_size": 1}, "vocab_size: expected 0 or at least 2"),
        ({"vocab_size": -1}, "vocab_size: expected a whole number of at least 0"),
        ({"ends": "none"}, "ends: expected one of both, embedding, output; got 'none'"),
        ({"causal": 1}, "causal: expected True or False, got 1"),
        ({"architecture": "CNN"}, "architecture: expected one of encoder"),
    ],
)
def test_impossible_kinds_are_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        Size(**{**NUMBERS, **fields})


def test_a_kind_in_words():
    assert Size(**NUMBERS).in_words() == "encoder, pre-norm, gelu, no positions; without embedding and output"
    size = Size(**NUMBERS, causal=True, positional="rope", norm="post", activation="swiglu", vocab_size=1000)
    assert size.in_words() == (
        "encoder, causal, post-norm, swiglu, rope positions; with embedding and output, one matrix for 1,000 token ids"
    )
    assert Size(**NUMBERS, vocab_size=9, ends="embedding").in_words() == (
        "encoder, pre-norm, gelu, no positions; with embedding, without output, a matrix for 9 token ids"
    )
    assert (
        Size(**NUMBERS, vocab_size=9, ends="output")
        .in_words()
        .endswith("with output, without embedding, a matrix for 9 token ids")
    )
