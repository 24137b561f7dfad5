"""Masks of pretrained models: texts of one length without a token for padding, and a model without logits."""

from dataclasses import replace

import pytest
import torch

from tfm_core import Tokens, Transformer, TransformerConfig, encode
from tfm_core.pretrained.offered import OFFERED
from tfm_core.study.filled import filled
from tfm_core.study.leak_test import in_float64
from tfm_ui.lenses.masks.conventions.table import Conventions
from tfm_ui.lenses.masks.leaks.measured import measure_needs
from tfm_ui.lenses.masks.leaks.moved import Leaks
from tfm_ui.lenses.masks.padding.beside import Padding
from tfm_ui.lenses.masks.padding.empty_rows import EmptyRow, NanSpreads
from tfm_ui.lenses.masks.questions import said_under_mask
from tfm_ui.lenses.masks.see import See
from tfm_ui.lenses.masks.state import Filled, MasksState, about_batch, setting
from tfm_ui.state.model_state import ModelState

SMOLLM2 = ModelState(weights="smollm2", text="The capital of France is Paris, and that of Italy")
MINILM = ModelState(weights="minilm", text="The cat sat on the mat because it was tired.")
smollm2 = pytest.mark.skipif(not OFFERED["smollm2"].is_there, reason="SmolLM2 is not installed")
minilm = pytest.mark.skipif(not OFFERED["minilm"].is_there, reason="MiniLM is not installed")


def left_by(script: str) -> dict:
    scope: dict = {}
    exec(script, scope)
    return scope


def test_a_text_is_filled_up_and_a_longer_one_stays():
    tokens = encode("a b c")
    assert filled(tokens, 5, 9) == Tokens(tokens.pieces, (*tokens.ids, 9, 9), 0)
    assert filled(tokens, 2) == tokens


@pytest.mark.crossed(
    norm=["pre", "post"],
    positional=["sinusoidal", "learned", "rope", "t5"],
    embedding_norm=[False, True],
    num_token_types=[0, 2],
    num_kv_heads=[0, 2],
    normalization=["layer", "rms"],
    tie_embeddings=[False, True],
)
def test_a_layer_at_a_time_gives_what_a_model_in_float64_gives(
    norm, positional, embedding_norm, num_token_types, num_kv_heads, normalization, tie_embeddings
):
    config = TransformerConfig(
        vocab_size=50,
        architecture="decoder",
        norm=norm,
        positional=positional,
        embedding_norm=embedding_norm,
        num_token_types=num_token_types,
        num_kv_heads=num_kv_heads,
        normalization=normalization,
        tie_embeddings=tie_embeddings,
    )
    model = Transformer(config).eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    ids, widened = torch.randint(1, 50, (2, 7)), in_float64(model)
    with torch.no_grad():
        once, again = widened.stack(ids), widened.stack(ids)
        expected = Transformer(model.config).eval().double().stack(ids)
    assert once.dtype == torch.float64
    assert torch.equal(once, expected)
    assert torch.equal(again, expected)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert {parameter.dtype for parameter in widened.parameters()} == {torch.float32}


def test_a_pass_that_breaks_off_leaves_the_weights_as_they_were():
    widened = in_float64(Transformer(TransformerConfig(vocab_size=50)).eval())
    with pytest.raises(ValueError, match="mask"), torch.no_grad():
        widened.stack(torch.ones(1, 4, dtype=torch.int64), torch.ones(1, 1, 3, 3, dtype=torch.bool))
    assert {parameter.dtype for parameter in widened.parameters()} == {torch.float32}


@smollm2
def test_sentences_of_a_model_without_padding_have_one_length_and_it_is_said():
    state = MasksState()
    under = setting(SMOLLM2, state)
    assert isinstance(under.model, Filled)
    assert len(under.model.source_tokens.ids) == len(SMOLLM2.source_tokens.ids) > len(under.model.source_tokens.pieces)
    assert set(under.model.source_tokens.ids[len(under.model.source_tokens.pieces) :]) == {0}
    assert "no token for padding: PAD is its token “<|endoftext|>”" in about_batch(SMOLLM2, state)
    alone = replace(state, texts="")
    assert not about_batch(SMOLLM2, alone).startswith("SmolLM2")
    assert setting(SMOLLM2, alone).model.source_tokens.ids == SMOLLM2.source_tokens.ids


@smollm2
@pytest.mark.parametrize("side", ["left", "right"])
def test_hidden_padding_changes_no_output_where_positions_are_distances(side):
    panel = Padding(SMOLLM2, MasksState(pad_side=side))
    assert all(law for name, law in panel.laws().items() if name.startswith("padding hidden"))
    moved = next(law for name, law in panel.laws().items() if name.startswith("padding not hidden"))
    assert moved == (side == "right")  # under a causal mask it lies ahead of every token


@smollm2
def test_the_scripts_of_a_model_without_padding_leave_what_is_on_screen():
    state = MasksState(layer=2, head=3)
    weights = left_by(See(SMOLLM2, state).recipe())["weights"]
    torch.testing.assert_close(weights, torch.from_numpy(See(SMOLLM2, state).obeyed.weights), atol=1e-6, rtol=0)
    for panel in (Padding(SMOLLM2, state), Conventions(SMOLLM2, state)):
        left_by(panel.recipe())
    assert all(
        law for panel in (EmptyRow(SMOLLM2, state), Conventions(SMOLLM2, state)) for law in panel.laws().values()
    )


@smollm2
def test_a_leak_test_of_mapped_weights_takes_no_copy_of_them():
    assert measure_needs(SMOLLM2, MasksState()) < 300_000_000 < 8 * 134_515_008
    assert not Leaks(SMOLLM2, MasksState()).leaking.any()


@minilm
def test_a_model_without_logits_says_so_and_loses_states():
    assert said_under_mask(MINILM, MasksState()) == MINILM.no_logits
    panel = NanSpreads(MINILM, MasksState())
    assert "of the last hidden states: it gives no logits" in panel.sentence()
    torch.testing.assert_close(
        left_by(panel.recipe())["logits"]["ours"], panel.runs["ours"].logits, atol=1e-5, rtol=1e-4
    )
