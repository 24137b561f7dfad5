"""Lab BERT beside what we did not write: transformers' BERT with the same weights, the tokenizers library."""

import tokenizers
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Transformer, recording
from tfm_core.language.lab_bert import (
    LAB_BERT,
    NEXT_SENTENCE,
    TOKENIZER,
    _weights,
    lab_bert_tokenizer,
    next_sentence_logits,
)
from tfm_core.language.wordpiece import SPECIAL
from tfm_core.pretrained.bert import BERT, places_of
from tfm_core.pretrained.offered import pretrained_prompt, pretrained_tokenizer, readable

TEXTS = ("The captain looked at the [MASK].", "She was very glad to see him; but he, alas! did not stay.")


def theirs() -> transformers.BertForPreTraining:
    """transformers' model with Lab BERT's weights."""
    config = transformers.BertConfig(
        vocab_size=LAB_BERT.vocab_size,
        hidden_size=LAB_BERT.d_model,
        num_hidden_layers=LAB_BERT.num_layers,
        num_attention_heads=LAB_BERT.num_heads,
        intermediate_size=LAB_BERT.feed_forward_dim,
        max_position_embeddings=LAB_BERT.max_len,
        attn_implementation="eager",
    )
    model = transformers.BertForPreTraining(config).eval()
    named = dict(model.named_parameters())
    with torch.no_grad():
        for ours, place in places_of(BERT)(LAB_BERT, {*named, "bert.embeddings.word_embeddings.weight"}, "").items():
            named[place.theirs].copy_(_weights()[ours])
        model.cls.seq_relationship.weight.copy_(_weights()[f"{NEXT_SENTENCE}.weight"])
        model.cls.seq_relationship.bias.copy_(_weights()[f"{NEXT_SENTENCE}.bias"])
    return model


def test_both_heads_give_what_transformers_gives() -> None:
    model, ours = theirs(), Transformer(LAB_BERT).eval()
    cuts = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    encoded = cuts.encode(*TEXTS)
    ids, types = torch.tensor([encoded.ids]), torch.tensor([encoded.type_ids])
    assert set(encoded.type_ids) == {0, 1}
    with torch.no_grad(), recording("pooled") as trace:
        logits = ours(ids, token_types=types)
        expected = model(input_ids=ids, token_type_ids=types)
    torch.testing.assert_close(logits, expected.prediction_logits, atol=2e-4, rtol=1e-4)
    said = next_sentence_logits(trace["pooled"])
    torch.testing.assert_close(said, expected.seq_relationship_logits, atol=2e-4, rtol=1e-4)


@given(st.text(max_size=60))
def test_any_text_is_cut_as_the_library_cuts_it(text: str) -> None:
    cuts = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    ours = lab_bert_tokenizer()
    pieces = ours.split(text)
    assert list(map(ours.id_of, pieces)) == cuts.encode(text).ids
    assert pieces == pretrained_tokenizer("lab-bert").split(text)
    assert pretrained_prompt("lab-bert", text).pieces == tuple(pieces)


def test_special_tokens_stand_around_a_text_and_a_typed_mask_is_the_token() -> None:
    assert lab_bert_tokenizer().pieces[:5] == SPECIAL
    assert lab_bert_tokenizer().split(TEXTS[0])[-3:] == ["[MASK]", ".", "[SEP]"]
    assert readable("lab-bert").around == ([2], [3])
    assert lab_bert_tokenizer().join(["[CLS]", "the", "whale", "##s", "[SEP]"]) == "the whales"


def test_a_long_text_is_read_from_its_beginning() -> None:
    tokens = pretrained_prompt("lab-bert", "whale " * 300, 20)
    assert tokens.pieces == ("[CLS]", *["whale"] * 18, "[SEP]")
