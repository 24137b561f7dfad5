"""What lessons measure on the page of Heads, beside a pass of the library and what the tokens themselves say."""

from dataclasses import replace

import pytest
import torch

from tfm_core import Transformer, causal_mask, recording
from tfm_ui.lenses.heads import measures
from tfm_ui.lenses.heads.measures import MEASURES, rows_of_first_token
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live import passes
from tfm_ui.state import pretrained
from tfm_ui.state.model_state import ModelState

TEXT = "the dog saw the man and the man saw the dog"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("positional", ["none", "sinusoidal", "rope"])
@pytest.mark.parametrize("head", [1, 3])
def test_rows_of_one_word_are_counted_as_a_pass_has_them(positional, causal, head):
    model = ModelState(text=TEXT, positional=positional, causal=causal)
    ids = model.source_tokens.ids
    with torch.no_grad(), recording("layers.1.self_attention.weights") as trace:
        Transformer(model.config).eval()(torch.tensor([ids]), mask=causal_mask(len(ids)) if causal else None)
    (weights,) = trace.values()
    rows: list[torch.Tensor] = []
    for at, token in enumerate(ids):
        row = weights[0, head - 1, at]
        if token == ids[0] and not any(torch.allclose(row, other, atol=1e-5) for other in rows):
            rows.append(row)
    assert rows_of_first_token(model, HeadsState(layer=2, head=head)) == len(rows)
    assert len(rows) == (1 if positional == "none" and not causal else 4)
    all_rows: list[torch.Tensor] = []
    for row in weights[0, head - 1]:
        if not any(torch.allclose(row, other, atol=1e-5) for other in all_rows):
            all_rows.append(row)
    assert MEASURES["different_rows"](model, HeadsState(layer=2, head=head)) == len(all_rows)
    assert len(all_rows) == (len({*ids}) if positional == "none" and not causal else len(ids))


def test_a_text_of_one_token_has_one_row():
    assert rows_of_first_token(ModelState(text="cat", seq_len=2), HeadsState()) == 1


def passed(model: ModelState, head: int) -> torch.Tensor:
    """The weights of a head of layer 2, (query, key)."""
    ids = model.source_tokens.ids
    with torch.no_grad(), recording("layers.1.self_attention.weights") as trace:
        Transformer(model.config).eval()(torch.tensor([ids]), mask=causal_mask(len(ids)) if model.causal else None)
    (weights,) = trace.values()
    return weights[0, head - 1]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head", [1, 3])
def test_where_a_head_looks_is_summed_as_its_rows_have_it(causal, head):
    model, state = ModelState(text=TEXT, causal=causal), HeadsState(layer=2, head=head)
    words, weights = TEXT.split(), passed(model, head)
    count = len(words)
    before = sum(float(weights[at, at - 1]) for at in range(1, count)) / (count - 1)
    assert measures.previous(model, state) == pytest.approx(before, abs=1e-5)
    free = range(1 if causal else 0, count)
    assert measures.first(model, state) == pytest.approx(
        sum(float(weights[at, 0]) for at in free) / len(free), abs=1e-5
    )
    shares = [
        sum(float(weights[at, earlier + 1]) for earlier in range(at) if words[earlier] == words[at])
        for at in range(count)
        if words[at] in words[:at]
    ]
    assert measures.after_earlier(model, state) == pytest.approx(sum(shares) / len(shares), abs=1e-5)
    assert measures.allowed(model, state) == (count * (count + 1) / 2 if causal else count * count)
    assert measures.last_favourite(model, state).rstrip("₁₂₃₄") == words[int(weights[-1].argmax())]


def test_nothing_comes_before_a_single_token():
    model = ModelState(text="cat")
    values = [measure(model, HeadsState()) for measure in (measures.previous, measures.first, measures.after_earlier)]
    assert values == [0, 0, 0]


@pytest.mark.parametrize("heads", [1, 4, 16])
def test_heads_share_the_parameters_of_one(heads):
    model = ModelState(num_heads=heads)
    alone = Transformer(ModelState(num_heads=1).config)
    assert measures.one_head_parameters(model, HeadsState()) == sum(p.numel() for p in alone.parameters())


LAB = ModelState(weights="lab-gpt", text="Transformers have revolutionized natural language processing.")
STATE = HeadsState()


def test_pieces_within_words_are_counted_by_spaces():
    within = MEASURES["pieces_within_words"]
    words = len(LAB.text.rstrip(".").split())
    assert within(LAB, STATE) == len(LAB.source_tokens.pieces) - 1 - words  # but for the full stop, which is no word
    assert within(replace(LAB, weights="random"), STATE) == 0
    assert within(ModelState(tokenizer="character", text="abc de."), STATE) == 3


@pytest.mark.skipif(not pretrained.is_here("minilm"), reason="all-MiniLM-L6-v2 is not installed")
def test_wordpieces_are_counted_by_their_sign():
    model = replace(LAB, weights="minilm", text="tokenizing antidisestablishmentarianism, and revolutionized ships")
    signs = sum(piece.startswith("##") for piece in model.source_tokens.pieces)
    assert MEASURES["pieces_within_words"](model, STATE) == signs >= 4
    assert MEASURES["last_token"](replace(model, seq_len=5), STATE) == "[SEP]"


@pytest.mark.parametrize("positional", ["sinusoidal", "t5"])
def test_padding_is_counted_and_moves_no_weight(positional):
    model = ModelState(causal=False, positional=positional, text="one two three", seq_len=7)
    assert MEASURES["padding"](model, STATE) == 4
    assert MEASURES["changed_by_padding"](model, STATE) == "no"
    assert MEASURES["padding"](replace(model, seq_len=0), STATE) == 0
    assert MEASURES["moved_by_padding"](replace(model, seq_len=0), STATE) == 0


def test_what_padding_moves_is_the_largest_difference_of_two_passes():
    model = ModelState(causal=False, text="one two three", seq_len=5)
    both = []
    for each in (model, replace(model, seq_len=0)):
        with torch.no_grad(), recording("*.weights") as trace:
            passes.forward(each)
        both.append({site: weights[0, :, :3, :3] for site, weights in trace.items()})
    largest = max(float((both[0][site] - both[1][site]).abs().max()) for site in both[0])
    assert MEASURES["moved_by_padding"](model, STATE) == pytest.approx(largest, abs=1e-6)


def test_the_largest_weight_of_the_last_row():
    with torch.no_grad(), recording("layers.3.self_attention.weights") as trace:
        passes.forward(LAB)
    expected = float(trace["layers.3.self_attention.weights"][0, 2, -1].max())
    assert MEASURES["row_largest"](LAB, HeadsState(layer=4, head=3)) == pytest.approx(expected, abs=1e-6)


def test_the_last_token_is_named():
    assert MEASURES["last_token"](ModelState(text="a dog"), STATE) == "dog"
