"""The whole model: shapes, masks, dropout, and what it says to bad input."""

import copy

import pytest
import torch

from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, run, scramble, tiny
from tfm_core import ARCHITECTURES, ATTENTION, SequenceClassifier, causal_mask, recording

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


@every_architecture
@pytest.mark.parametrize(
    "changes",
    [
        *[{"attention": name} for name in ATTENTION],
        {"tie_embeddings": True},
        {"num_layers": 1, "num_heads": 1, "d_model": 2, "d_ff": 1},
    ],
    ids=str,
)
def test_any_choice_gives_finite_logits_for_every_token(architecture, changes):
    logits = run(build(architecture=architecture, **changes), random_ids(3, 5))
    assert logits.shape == (3, 5, VOCAB)
    assert logits.dtype == torch.float32
    assert logits.isfinite().all()
    assert logits.std() > 0


@every_architecture
def test_int32_ids_do_too(architecture):
    model, tokens = build(architecture=architecture), random_ids(2, 4)
    assert torch.equal(run(model, tokens), run(model, tokens.int()))


@every_architecture
def test_a_copy_and_a_model_loaded_from_a_state_dict_give_the_same_logits(architecture):
    model, tokens = scramble(build(architecture=architecture, positional="t5")), random_ids(2, 4)
    loaded = build(architecture=architecture, positional="t5", seed=99)
    loaded.load_state_dict(model.state_dict())
    expected = run(model, tokens)
    assert torch.equal(run(loaded, tokens), expected)
    with recording("*.weights") as trace:
        assert largest_error(run(copy.deepcopy(model), tokens), expected) < 1e-5
    assert any(site.endswith("layers.1.self_attention.weights") for site in trace)


def test_an_encoder_under_a_causal_mask_is_a_decoder():
    tokens = random_ids(2, 6)
    tokens[1, 4:] = 0
    expected = build(architecture="decoder")(tokens)
    assert largest_error(build()(tokens, mask=causal_mask(6)), expected) < 1e-5


@every_architecture
def test_a_mask_is_combined_with_causality_and_padding_by_and(architecture):
    tokens = random_ids(2, 5)
    tokens[1, 3:] = 0
    mask = torch.rand(2, 4, 5, 5) < 0.7
    with recording("*.weights") as trace:
        run(build(architecture=architecture), tokens, mask=mask)
    expected = mask & (tokens != 0)[:, None, None]
    if architecture != "encoder":
        expected &= causal_mask(5)
    top = "decoder." if architecture == "encoder-decoder" else ""
    for layer in range(2):
        weights = trace[f"{top}layers.{layer}.self_attention.weights"]
        assert torch.equal(weights > 0, expected)
    if top:
        for layer in range(2):
            encoder = trace[f"encoder.layers.{layer}.self_attention.weights"]
            assert torch.equal(encoder > 0, (tokens != 0)[:, None, None].expand(2, 4, 5, 5))


def test_a_cross_mask_acts_on_cross_attention_alone():
    source, target = random_ids(2, 6), random_ids(2, 3)
    source[0, 5:] = 0
    cross_mask = torch.rand(3, 6) < 0.6
    with recording("*.weights") as trace:
        build(architecture="encoder-decoder")(source, target, cross_mask=cross_mask)
    for layer in range(2):
        allowed = (cross_mask & (source != 0)[:, None, None]).expand(2, 4, 3, 6)
        assert torch.equal(trace[f"decoder.layers.{layer}.cross_attention.weights"] > 0, allowed)
        assert torch.equal(trace[f"decoder.layers.{layer}.self_attention.weights"][0, 0] > 0, causal_mask(3))
        assert (trace[f"encoder.layers.{layer}.self_attention.weights"][1] > 0).all()


def test_another_padding_id_is_hidden_too():
    tokens = torch.tensor([[5, 6, 9, 7, 9]])
    with recording("layers.0.self_attention.weights") as trace:
        build(pad_id=9)(tokens)
    assert torch.equal(trace["layers.0.self_attention.weights"][0, 0, 0] > 0, tokens[0] != 9)


@every_architecture
def test_dropout_acts_while_training_alone(architecture):
    model, tokens = build(architecture=architecture, dropout=0.2), random_ids(2, 6)
    for without in (build(architecture=architecture), build(architecture=architecture).train()):
        assert torch.equal(run(model, tokens), run(without, tokens))
    model.train()
    assert largest_error(run(model, tokens), run(model, tokens)) > 1e-3
    torch.manual_seed(5)
    first = run(model, tokens)
    torch.manual_seed(5)
    assert torch.equal(run(model, tokens), first)


# the feed-forward network and the layer around it


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_a_classifier_reads_what_a_loop_over_tokens_without_padding_reads(pooling):
    model = SequenceClassifier(tiny(), 3, pooling).eval()
    tokens = torch.tensor([[5, 6, 7, 8], [9, 8, 0, 0]])
    with torch.no_grad():
        states, logits = model.stack(tokens), model(tokens)
        for row, ids in enumerate(tokens.tolist()):
            read = [states[row, place] for place, number in enumerate(ids) if number]
            read = read[:1] if pooling == "first" else read
            torch.testing.assert_close(logits[row], model.head(sum(read) / len(read)))
