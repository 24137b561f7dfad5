"""What people have of attention, read: transformers' tuples, arrays, recordings, batches, padding, cross-attention."""

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, T5Config, T5Model

from attention_lab.given import read
from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording
from tfm_core.study.attention_arrays import as_attention

WORDS = "the cat sat on the mat".split()


def weights(*shape: int, seed: int = 0) -> torch.Tensor:
    """Rows that sum to 1."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).softmax(-1)


@pytest.fixture(scope="module")
def bert():
    """Two sentences in a model of transformers, the second with two places of padding; and what it says."""
    config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=3, num_attention_heads=4, intermediate_size=32)
    torch.manual_seed(1)
    model = BertModel._from_config(config, attn_implementation="eager").eval()
    mask = torch.tensor([[1] * 6, [1] * 4 + [0] * 2])
    with torch.no_grad():
        return model(torch.arange(12).reshape(2, 6), attention_mask=mask, output_attentions=True), mask


def test_a_tuple_of_transformers_is_read_sentence_by_sentence(bert):
    outputs, mask = bert
    for batch in range(2):
        given = read(outputs.attentions, [WORDS, [*WORDS[:4], "[PAD]", "[PAD]"]], batch=batch, padding=mask)
        for layer in range(3):
            for head in range(4):
                there = outputs.attentions[layer][batch, head].numpy()
                assert np.array_equal(given.weights(layer, head), there)
        assert given.notes[0] == f"Sentence {batch + 1} of 2."
        assert given.heads.read == (6, 4)[batch]
    assert given.notes[-1] == "2 places of padding, at the end. No token looks at it."


def test_the_output_itself_is_taken_as_well(bert):
    outputs, _ = bert
    assert np.array_equal(read(outputs).weights(2, 1), outputs.attentions[2][0, 1].numpy())


def test_padding_that_a_model_looks_at_is_told():
    given = read(weights(1, 1, 2, 6, 6), padding=torch.tensor([1, 1, 1, 1, 0, 0]))
    most = max(given.attention.exact(0, head)[:4, 4:].sum(-1).max() for head in range(2))
    assert f"up to {most:.0%} of its weight: the model’s mask does not hide it." in given.notes[-1]


def test_padding_on_the_left_stays_in_sight_where_tokens_look_at_it():
    given = read(weights(1, 1, 2, 4, 4), padding=[0, 1, 1, 1])
    assert given.heads.read == 4
    assert "not at the end alone: its rows are shown like all others" in given.notes[-1]


def test_padding_on_the_left_is_left_out_where_no_token_looks_at_it():
    scores = torch.randn(1, 2, 6, 6, generator=torch.Generator().manual_seed(3))
    hidden = torch.ones(6, 6, dtype=torch.bool).tril()
    hidden[:, :2] = False
    hidden[:2, :2] = True  # rows of padding, which are not causal
    there = scores.masked_fill(~hidden, -torch.inf).softmax(-1)
    for asked in ({"padding": [0, 0, 1, 1, 1, 1]}, {}):
        given = read([there], ["[PAD]", "[PAD]", "the", "cat", "sat", "down"], **asked)
        assert given.heads.queries == ["the", "cat", "sat", "down"]
        assert np.array_equal(given.weights(0, 1), there[0, 1, 2:, 2:].numpy())
        assert given.notes[-2:] == (
            "Causal: no query looks ahead.",
            "2 places of padding, not at the end alone, left out. No token looks at it.",
        )
        assert given.attention.visible.sum() == 10


def test_a_sentence_is_causal_by_its_own_tokens():
    causal = torch.randn(4, 4, generator=torch.Generator().manual_seed(4))
    causal = causal.masked_fill(~torch.ones(4, 4).tril().bool(), -torch.inf).softmax(-1)
    padded = causal.clone()
    padded[3] = padded[1] = torch.tensor([0.5, 0.5, 0, 0])
    batch = torch.stack([causal, padded])[:, None]
    for at, read_ in ((0, None), (1, [1, 0, 0, 0])):
        given = read([batch], batch=at, padding=read_)
        assert "Causal: no query looks ahead." in given.notes
    assert given.attention.visible[1].tolist() == [True, True, False, False]  # padding may look anywhere
    alone = read(causal)
    assert read([batch]).heads.sentence() == alone.heads.sentence()


def test_trailing_tokens_that_are_written_as_padding_count_as_padding():
    assert read(weights(1, 2, 4, 4), ["a", "b", "<pad>", "<pad>"]).heads.read == 2
    assert read(weights(1, 2, 4, 4), ["a", "<pad>", "b", "c"]).heads.read == 4
    assert read(weights(1, 2, 2, 2), ["<pad>", "<pad>"]).heads.read == 2  # then nothing is a token, and all is shown


def test_a_recording_of_ours_is_read_by_the_kind_of_attention():
    tokens = encode(" ".join(WORDS))
    model = Transformer(TransformerConfig(vocab_size=4096, num_heads=4, architecture="encoder-decoder", seed=7)).eval()
    target = encode("le chat noir")
    with torch.no_grad(), recording("*.weights") as trace:
        model(tokens.batch, target.batch)
    with pytest.raises(ValueError, match="expected kind to be one of encoder, decoder, cross"):
        read(trace)
    with pytest.raises(ValueError, match="got 'self'"):
        read(trace, kind="self")
    cross = read(trace, target, keys=tokens, kind="cross")
    assert np.array_equal(cross.weights(1, 3), trace["decoder.layers.1.cross_attention.weights"][0, 3].numpy())
    assert (len(cross.heads.queries), len(cross.heads.keys)) == (3, 6)
    assert not cross.heads.same_text
    assert "Cross-attention: 3 queries look at 6 keys." in cross.notes
    assert cross.heads.keys[4] == "the₂"
    assert read(trace, target, kind="decoder").attention.visible.sum() == 6  # the lower triangle


def test_a_single_stack_needs_no_kind():
    tokens = encode(" ".join(WORDS), seq_len=8)
    model = Transformer(TransformerConfig(vocab_size=4096, num_heads=4, seed=7)).eval()
    with torch.no_grad(), recording("*.weights") as trace:
        model(tokens.batch, mask=causal_mask(8))
    given = read(trace, tokens)
    assert np.array_equal(given.weights(0, 2), trace["layers.0.self_attention.weights"][0, 2].numpy())
    assert given.heads.read == 6
    with pytest.raises(ValueError, match="expected a recording with weights"):
        read({"layers.0.output": torch.zeros(1)})


def test_cross_attention_of_transformers_is_taken_by_its_kind():
    config = T5Config(vocab_size=40, d_model=16, d_kv=4, num_heads=4, d_ff=32, num_layers=2, num_decoder_layers=3)
    torch.manual_seed(2)
    model = T5Model._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        outputs = model(torch.arange(7)[None], decoder_input_ids=torch.arange(3)[None], output_attentions=True)
    given = read(outputs, list("abc"), keys=list("defghij"), kind="cross")
    assert np.array_equal(given.weights(2, 3), outputs.cross_attentions[2][0, 3].numpy())
    assert np.array_equal(read(outputs, kind="encoder").weights(1, 0), outputs.encoder_attentions[1][0, 0].numpy())
    for kind in ("", "self"):
        with pytest.raises(ValueError, match=f"expected kind to be one of encoder, decoder, cross, got '{kind}'"):
            read(outputs, kind=kind)


def test_tokens_of_byte_pair_encodings_show_their_space():
    assert (
        read(weights(1, 1, 2, 2), ["the", "Ġcat"]).heads.keys == read(weights(1, 1, 2, 2), ["the", " cat"]).heads.keys
    )


def test_weights_that_do_not_sum_to_1_are_taken_and_told():
    given = read(torch.rand(2, 2, 5, 5))
    assert not given.attention.shares_out_1
    assert given.heads.sentence().endswith("Rows of these numbers do not sum to 1.")


def test_an_array_that_was_read_before_keeps_its_tokens():
    array = as_attention(weights(1, 2, 3, 3), list("abc"))
    assert read(array).heads.queries == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"batch": 2}, "expected the number of a sentence, 0 to 1, got batch=2"),
        ({"batch": "0"}, "expected the number of a sentence, 0 to 1, got batch='0'"),
        ({"padding": "x"}, "expected padding as numbers, 1 for a token and 0 for padding; got 'x'"),
        ({"padding": [0, 0, -1e9, 0, 0, 0]}, "expected padding of 1 for a token and 0 for padding, got -1000000000.0"),
        ({"padding": [0] * 6}, "expected a token at least, got padding alone for batch=0"),
        ({"tokens": [["a"] * 6]}, "expected tokens of each sentence of the batch, 2 lists; got 1"),
        ({"padding": torch.ones(2, 5)}, r"expected padding of 6 keys, \(batch, seq\) or \(seq,\), got \(2, 5\)"),
        ({"tokens": ["a", "b"]}, "expected 6 tokens, one for each key; got 2"),
    ],
)
def test_what_does_not_fit_is_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        read(weights(1, 2, 3, 6, 6), **asked)


def test_scores_a_missing_tuple_and_queries_alone_are_refused():
    with pytest.raises(ValueError, match="these are scores or logits"):
        read(torch.full((1, 1, 2, 2), -1.0))
    with pytest.raises(ValueError, match='attn_implementation="eager"'):
        read(())
    with pytest.raises(ValueError, match="cross-attention takes the keys' tokens as well"):
        read(weights(1, 2, 3, 4))
    with pytest.raises(ValueError, match="expected 3 tokens, one for each query; got 2"):
        read(weights(1, 2, 3, 4), ["a", "b"], keys=list("abcd"))
