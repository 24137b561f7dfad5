"""What a size refuses, and its kind in words."""

from tfm_core.profiling import Size

NUMBERS = {"d_model": 16, "num_heads": 4, "num_layers": 2, "seq_len": 9, "batch": 2, "d_ff": 20}


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
