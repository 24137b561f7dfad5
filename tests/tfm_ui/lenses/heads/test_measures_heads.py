"""What lessons measure in the Heads lens, beside a pass of the library."""

import pytest
import torch

from tfm_core import Transformer, causal_mask, recording
from tfm_ui.lenses.heads import measures
from tfm_ui.lenses.heads.measures import rows_of_first_token
from tfm_ui.lenses.heads.state import HeadsState
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
