"""The whole model: shapes, masks, dropout, and what it says to bad input."""

import copy

import pytest
import torch

from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, run, scramble
from tfm_core import (
    ACTIVATIONS,
    ARCHITECTURES,
    ATTENTION,
    NORMS,
    POSITIONAL,
    FeedForward,
    TransformerLayer,
    causal_mask,
    recording,
)

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


@every_architecture
@pytest.mark.parametrize(
    "changes",
    [
        *[{"positional": name} for name in POSITIONAL],
        *[{"activation": name} for name in ACTIVATIONS],
        *[{"attention": name} for name in ATTENTION],
        *[{"norm": name} for name in NORMS],
        {"tie_embeddings": True},
        {"num_layers": 1, "num_heads": 1, "d_model": 2, "d_ff": 1},
        {"dropout": 0.3},
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
    assert torch.equal(run(model, tokens), run(build(architecture=architecture), tokens))
    model.train()
    assert largest_error(run(model, tokens), run(model, tokens)) > 1e-3
    torch.manual_seed(5)
    first = run(model, tokens)
    torch.manual_seed(5)
    assert torch.equal(run(model, tokens), first)


@every_architecture
def test_without_dropout_training_changes_nothing(architecture):
    model, tokens = build(architecture=architecture), random_ids(2, 6)
    assert torch.equal(run(model.train(), tokens), run(model.eval(), tokens))


IDS = random_ids(2, 4)
MIX = {"architecture": "encoder-decoder"}
BAD_CALLS = {
    "id too large": ({}, lambda m: m(IDS + VOCAB), ["source", "vocab_size=23", str(int(IDS.max()) + VOCAB)]),
    "id negative": ({}, lambda m: m(IDS * 0 - 1), ["source", "vocab_size=23", "-1"]),
    "a list": ({}, lambda m: m([[1, 2]]), ["source", "tensor", "list"]),
    "mask as a list": ({}, lambda m: m(IDS, mask=[[True]]), ["mask", "torch.bool", "list"]),
    "floats": ({}, lambda m: m(IDS.float()), ["source", "int64", "torch.float32"]),
    "booleans": ({}, lambda m: m(IDS > 3), ["source", "int64", "torch.bool"]),
    "no batch": ({}, lambda m: m(IDS[0]), ["source", "(batch, seq)", "(4,)"]),
    "too many axes": ({}, lambda m: m(IDS[None]), ["source", "(batch, seq)", "(1, 2, 4)"]),
    "empty sequence": ({}, lambda m: m(IDS[:, :0]), ["source", "(2, 0)"]),
    "empty batch": ({}, lambda m: m(IDS[:0]), ["source", "(0, 4)"]),
    "too long": ({"positional": "learned", "max_len": 3}, lambda m: m(IDS), ["max_len=3", "4"]),
    "target too long": (
        {"positional": "learned", "max_len": 3, **MIX},
        lambda m: m(IDS[:, :2], IDS),
        ["max_len=3", "4"],
    ),
    "no target": (MIX, lambda m: m(IDS), ["model(source, target)", "no target"]),
    "target for an encoder": ({}, lambda m: m(IDS, IDS), ["model(tokens)", "'encoder'", "target"]),
    "target for a decoder": ({"architecture": "decoder"}, lambda m: m(IDS, IDS), ["model(tokens)", "'decoder'"]),
    "cross mask for an encoder": ({}, lambda m: m(IDS, cross_mask=causal_mask(4)), ["model(tokens)", "cross_mask"]),
    "bad target id": (MIX, lambda m: m(IDS, IDS + VOCAB), ["target", "vocab_size=23"]),
    "target of floats": (MIX, lambda m: m(IDS, IDS.double()), ["target", "int64", "torch.float64"]),
    "empty target": (MIX, lambda m: m(IDS, IDS[:, :0]), ["target", "(2, 0)"]),
    "other batch": (MIX, lambda m: m(IDS, IDS[:1]), ["one batch size", "2 and 1"]),
    "mask of floats": ({}, lambda m: m(IDS, mask=torch.zeros(4, 4)), ["mask", "torch.bool", "torch.float32"]),
    "mask of integers": ({}, lambda m: m(IDS, mask=torch.ones(4, 4).long()), ["mask", "torch.bool", "torch.int64"]),
    "mask too small": ({}, lambda m: m(IDS, mask=causal_mask(3)), ["mask", "(2, 4, 4, 4)", "(3, 3)"]),
    "mask of other heads": (
        {},
        lambda m: m(IDS, mask=causal_mask(4).expand(2, 3, 4, 4)),
        ["(2, 4, 4, 4)", "(2, 3, 4, 4)"],
    ),
    "mask with five axes": (
        {},
        lambda m: m(IDS, mask=causal_mask(4)[None, None, None]),
        ["(2, 4, 4, 4)", "(1, 1, 1, 4, 4)"],
    ),
    "mask as large as the source": (
        MIX,
        lambda m: m(IDS, IDS[:, :3], mask=causal_mask(4)),
        ["mask", "(2, 4, 3, 3)", "(4, 4)"],
    ),
    "cross mask turned round": (
        MIX,
        lambda m: m(IDS, IDS[:, :3], cross_mask=torch.ones(4, 3).bool()),
        ["cross_mask", "(2, 4, 3, 4)", "(4, 3)"],
    ),
    "cross mask of floats": (
        MIX,
        lambda m: m(IDS, IDS, cross_mask=torch.ones(4, 4)),
        ["cross_mask", "torch.bool", "torch.float32"],
    ),
}


@pytest.mark.parametrize(("changes", "call", "parts"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_input_is_refused_in_words(changes, call, parts):
    model = build(**changes)
    with pytest.raises(ValueError, match=r"expected .*got") as error:
        call(model)
    assert all(part in str(error.value) for part in parts)


# the feed-forward network and the layer around it

X = torch.ones(1, 3, 8)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_only_gated_networks_have_a_gate(activation):
    names = {name.split(".")[0] for name, _ in FeedForward(8, 12, activation=activation).named_parameters()}
    gate = {"gate_projection"} if ACTIVATIONS[activation].gated else set()
    assert names == {"input_projection", "output_projection"} | gate


@pytest.mark.parametrize("norm", NORMS)
def test_dropout_acts_in_a_layer_while_training_alone(norm):
    x = torch.randn(2, 5, 8)
    layer = TransformerLayer(8, 2, 12, norm=norm, dropout=0.5)
    assert largest_error(layer.train()(x), layer(x)) > 1e-3
    same = TransformerLayer(8, 2, 12, norm=norm)
    same.load_state_dict(layer.state_dict())
    assert torch.equal(layer.eval()(x), layer(x))
    assert torch.equal(layer(x), same.train()(x))


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: FeedForward(8, 0), ["at least 1", "8 and 0"]),
        (lambda: FeedForward(8, 12, activation="tanh"), ["activation", "relu, gelu", "'tanh'"]),
        (lambda: TransformerLayer(8, 2, 12, norm="both"), ["norm", "pre, post", "'both'"]),
        (lambda: TransformerLayer(8, 2, 12, attention="half"), ["attention", "full", "'half'"]),
        (lambda: TransformerLayer(8, 2, 12)(X, memory=X), ["no cross-attention", "(1, 3, 8)"]),
        (lambda: TransformerLayer(8, 2, 12, cross_attention=True)(X), ["memory", "None"]),
    ],
    ids=["no hidden units", "activation", "norm", "attention", "memory too many", "no memory"],
)
def test_what_a_layer_cannot_do_is_refused_in_words(call, parts):
    with pytest.raises(ValueError, match=r"expected .*got") as error:
        call()
    assert all(part in str(error.value) for part in parts)
