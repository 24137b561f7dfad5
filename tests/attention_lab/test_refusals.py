"""What cannot be shown or chosen is refused in a sentence, a ValueError, and changes nothing."""

import numpy as np
import pytest
import torch
import traitlets

import attention_lab
from tests.attention_lab.test_given import WORDS, weights
from tfm_core import Transformer, TransformerConfig, encode

MODEL = Transformer(TransformerConfig(vocab_size=4096, d_model=16, num_heads=2)).eval()
PICTURES = {
    "heads": lambda: attention_lab.heads(weights(2, 4, 6, 6), WORDS),
    "arcs": lambda: attention_lab.arcs(weights(2, 4, 6, 6), WORDS),
    "masks": lambda: attention_lab.masks(torch.ones(4, 4).tril()),
    "added": lambda: attention_lab.positions("sinusoidal", length=8, d_model=16),
    "bias": lambda: attention_lab.positions("alibi", length=8),
    "steps": lambda: attention_lab.steps(MODEL, "a b c"),
}
CHOICES = [
    ("heads", "head", (0, 4), "expected a layer of 0 to 1 and a head of 0 to 3"),
    ("heads", "head", (0,), "requires 2 elements"),
    ("heads", "head", "x", "tuple"),
    ("heads", "scale", "x", "largest"),
    ("heads", "mode", "x", "auto"),
    ("arcs", "layer", "1", "int"),
    ("arcs", "lines", "x", "rollout"),
    ("arcs", "shown", "9", "shown: expected numbers of heads, 1 to 4, got '9'"),
    ("arcs", "shown", "-1", "shown: expected numbers of heads"),
    ("arcs", "selection", "q99", "selection: expected queries q1 to q6 or keys k1 to k6, got 'q99'"),
    ("arcs", "selection", "q1 k1", "selection: expected queries"),
    ("arcs", "mass", 1000, "mass: expected 5 to 100 percent, got 1000"),
    ("arcs", "hide", "x", "padding and first"),
    ("masks", "part", "x", "part: expected four whole numbers, top,left,rows,columns; got 'x'"),
    ("masks", "part", "1,2", "part: expected four whole numbers"),
    ("masks", "meaning", "x", "attend"),
    ("added", "dims", "0 1 2 3 4 5 6 7 8", "dims: expected at most 8 dimensions of 0 to 15"),
    ("added", "part", "x", "part: expected four whole numbers"),
    ("bias", "part", "", "part: expected four whole numbers"),
    ("steps", "step", "x", "weights"),
    ("steps", "layer", 7, "layer: expected a number of 0 to"),
]


@pytest.mark.parametrize(("which", "name", "value", "message"), CHOICES)
def test_a_choice_that_cannot_be_made_is_taken_back(which, name, value, message):
    picture = PICTURES[which]()
    before, drawn = getattr(picture, name), picture.first
    with pytest.raises(ValueError, match=message):
        setattr(picture, name, value)
    with pytest.raises((ValueError, traitlets.TraitError), match=message):  # from a browser
        picture.set_state({name: value})
    assert getattr(picture, name) == before
    assert picture.first == drawn
    picture.mode = "dark"  # it goes on


def test_a_head_may_be_booleans_which_are_numbers():
    picture = PICTURES["heads"]()
    picture.head = (True, False)
    assert picture.weights.shape == (6, 6)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: attention_lab.heads(weights(1, 1, 2, 2), scale="x"), "scale"),
        (lambda: attention_lab.positions("rope", dims="1"), "expected options of key, mode, notes, position"),
        (lambda: attention_lab.positions("rope", foo=1), "got foo"),
        (lambda: attention_lab.steps(MODEL, "a b", foo=7), "got foo"),
        (lambda: attention_lab.positions("alibi", length=1), "length: expected two positions at least"),
        (
            lambda: attention_lab.positions("rope", d_model=2),
            "d_model: expected two dimensions a head at least, 8",
        ),
        (
            lambda: attention_lab.positions("learned", max_len=-3),
            "max_len: expected a whole number of at least 1",
        ),
        (lambda: attention_lab.positions("rope", base=0), "base: expected a number of at least 1, got 0"),
        (lambda: attention_lab.positions("rope", base="x"), "base: expected a number of at least 1, got 'x'"),
        (lambda: attention_lab.masks(torch.eye(3).to_sparse()), "expected a dense tensor with its numbers"),
        (lambda: attention_lab.masks(torch.eye(3, device="meta")), "expected a dense tensor with its numbers"),
        (lambda: attention_lab.masks([[1], [1, 2]]), "rows of different lengths"),
        (lambda: attention_lab.masks(torch.eye(3), ["a"]), "expected 3 tokens, got 1"),
        (lambda: attention_lab.masks(torch.ones(2, 3), list("abcd")), "expected 3 or 2 tokens, got 4"),
        (lambda: attention_lab.masks(torch.eye(4), "abcd"), "expected tokens as a list of texts, got one text"),
    ],
)
def test_what_cannot_be_shown_is_refused(made, message):
    with pytest.raises(ValueError, match=message):
        made()


def test_what_others_have_is_taken():
    assert attention_lab.masks(torch.eye(4), encode("a b c d")).reading.labels == ("a", "b", "c", "d")
    assert attention_lab.masks(torch.eye(3).to(torch.float8_e4m3fn)).visible.sum() == 3
    weights_shown = attention_lab.steps(MODEL, "a b", mask=np.array([[True, False], [True, True]])).matrix
    assert weights_shown[0].tolist() == [1, 0]
