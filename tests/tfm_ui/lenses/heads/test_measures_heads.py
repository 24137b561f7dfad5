"""What lessons measure in the Heads lens, beside a pass of the library."""

import pytest
import torch

from tfm_core import Transformer, causal_mask, recording
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
