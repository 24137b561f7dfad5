"""The reader of spans beside two products with each token's output, computed by hand."""

import pytest
import torch

from tfm_core import Transformer, TransformerConfig
from tfm_core.model.classifier import SpanReader

CONFIG = TransformerConfig(vocab_size=20, d_model=8, num_heads=2, num_layers=2, seed=3)
TOKENS = torch.tensor([[5, 6, 7, 8], [9, 10, 0, 0]])


def test_each_logit_is_a_product_of_a_tokens_output_with_the_vector_of_an_end():
    model = SpanReader(CONFIG).eval()
    with torch.no_grad():
        logits, states = model(TOKENS), model.stack(TOKENS)
        for end in range(2):
            for row, place in ((0, 0), (0, 3), (1, 1)):
                expected = states[row, place] @ model.head.weight[end] + model.head.bias[end]
                torch.testing.assert_close(logits[row, end, place], expected)
    assert logits.shape == (2, 2, 4)


def test_no_answer_begins_or_ends_in_padding():
    with torch.no_grad():
        shares = SpanReader(CONFIG).eval()(TOKENS).softmax(-1)
    assert (shares[1, :, 2:] == 0).all()
    torch.testing.assert_close(shares.sum(-1), torch.ones(2, 2))


def test_its_stack_is_that_of_a_transformer_without_a_head():
    """Other lenses can so show what has been trained."""
    reader = SpanReader(CONFIG).eval()
    bare = Transformer(TransformerConfig(vocab_size=20, d_model=8, num_heads=2, num_layers=2, seed=9, head="none"))
    bare.load_state_dict({name: value for name, value in reader.state_dict().items() if name.startswith("stack.")})
    with torch.no_grad():
        torch.testing.assert_close(bare.eval()(TOKENS), reader.stack(TOKENS))


@pytest.mark.parametrize("architecture", ["decoder", "encoder-decoder"])
def test_another_architecture_is_refused(architecture):
    with pytest.raises(ValueError, match=f"expected an encoder, which sees the whole text, got {architecture}"):
        SpanReader(TransformerConfig(vocab_size=20, d_model=8, num_heads=2, architecture=architecture))
