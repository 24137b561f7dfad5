"""The classifier: its published count, and that padding and order of the batch change nothing."""

import pytest
import torch

from tfm_core import SequenceClassifier, TransformerConfig, block_parameters

CONFIG = TransformerConfig(vocab_size=500, d_model=64, num_heads=4, num_layers=3, d_ff=256, norm="post")


def test_its_count_is_the_published() -> None:
    """500 words, 3 layers of 64/4/256, 3 classes; as counted by block, and on the real module."""
    real = sum(each.numel() for each in SequenceClassifier(CONFIG, 3).parameters())
    assert real == sum(block_parameters(CONFIG, classes=3).values()) == 182_147


def test_padding_moves_no_logit() -> None:
    """A sentence has the same logits alone and padded, up to rounding."""
    model = SequenceClassifier(CONFIG, 3).eval()
    alone, padded = torch.tensor([[5, 6, 7]]), torch.tensor([[5, 6, 7, 0, 0]])
    with torch.no_grad():
        torch.testing.assert_close(model(alone), model(padded))
        assert model(alone).shape == (1, 3)


@pytest.mark.parametrize(("architecture", "classes"), [("encoder-decoder", 3), ("encoder", 0)])
def test_what_cannot_be_is_refused(architecture: str, classes: int) -> None:
    """With a sentence that names both."""
    with pytest.raises(ValueError, match=f"got '{architecture}' and {classes}"):
        SequenceClassifier(TransformerConfig(vocab_size=5, architecture=architecture), classes)
