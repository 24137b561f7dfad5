"""The classifier: its published count, and that padding and order of the batch change nothing."""

import pytest
import torch

from tfm_core import SequenceClassifier, TransformerConfig, block_parameters

CONFIG = TransformerConfig(vocab_size=500, d_model=64, num_heads=4, num_layers=3, d_ff=256, norm="post")


def test_its_count_is_the_published() -> None:
    real = sum(each.numel() for each in SequenceClassifier(CONFIG, 3).parameters())
    assert real == sum(block_parameters(CONFIG, classes=3).values()) == 182_147


def test_padding_moves_no_logit() -> None:
    model = SequenceClassifier(CONFIG, 3).eval()
    alone, padded = torch.tensor([[5, 6, 7]]), torch.tensor([[5, 6, 7, 0, 0]])
    with torch.no_grad():
        torch.testing.assert_close(model(alone), model(padded))
        assert model(alone).shape == (1, 3)


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_pooling_is_that_of_a_loop(pooling: str) -> None:
    model = SequenceClassifier(CONFIG, 3, pooling).eval()
    tokens = torch.tensor([[5, 6, 7, 8], [9, 8, 0, 0]])
    with torch.no_grad():
        states, logits = model.stack(tokens), model(tokens)
        for row, ids in enumerate(tokens.tolist()):
            read = [states[row, place] for place, number in enumerate(ids) if number][
                : 1 if pooling == "first" else None
            ]
            torch.testing.assert_close(logits[row], model.head(sum(read) / len(read)))


def test_an_unknown_pooling_is_refused() -> None:
    with pytest.raises(ValueError, match="pooling: expected one of mean, first; got 'last'"):
        SequenceClassifier(CONFIG, 3, "last")


@pytest.mark.parametrize(("architecture", "classes"), [("encoder-decoder", 3), ("encoder", 0)])
def test_what_cannot_be_is_refused(architecture: str, classes: int) -> None:
    with pytest.raises(ValueError, match=f"got '{architecture}' and {classes}"):
        SequenceClassifier(TransformerConfig(vocab_size=5, architecture=architecture), classes)
