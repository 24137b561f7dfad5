"""Signals and gradients through depth and by distance, beside the residual stream and torch's own gradients."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from tfm_core import (
    ARCHITECTURES,
    NORMS,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    causal_mask,
    gradient_by_distance,
    logit_lens,
    recording,
)
from tfm_core.model.encoder_twin import as_torch_encoder
from tfm_core.model.initialization import draw
from tfm_core.model.layer import TransformerLayer
from tfm_core.study.depth import WIRINGS, mean_cosine, parameter_gradients, signals_by_depth


def model(norm: str, layers: int = 3, positional: str = "none") -> Transformer:
    sizes = {"vocab_size": 9, "d_model": 8, "num_heads": 2, "num_layers": layers, "seed": 2}
    config = TransformerConfig(**sizes, architecture="decoder", positional=positional, norm=norm)
    return Transformer(config).double().eval()


def layers_of(transformer: Transformer) -> list[TransformerLayer]:
    return [layer for layer in transformer.stack.layers if isinstance(layer, TransformerLayer)]


@pytest.mark.parametrize("positional", ["none", "rope"])  # which acts inside the attention
@pytest.mark.parametrize("norm", NORMS)
def test_two_wirings_are_the_models_own(norm: str, positional: str) -> None:
    transformer = model(norm, positional=positional)
    with torch.no_grad(), recording("*.residual_*") as trace:
        transformer(torch.tensor([[1, 2, 3, 2]]))
    sites = ["layers.0.self_attention.residual_before"]
    sites += [f"layers.{number}.feed_forward.residual_after" for number in range(3)]
    settings = {"mask": causal_mask(4), "positional": transformer.stack.positional}
    measured = signals_by_depth(layers_of(transformer), trace[sites[0]], **settings)[f"{norm}-norm"]
    torch.testing.assert_close(measured.forward, torch.stack([trace[site].norm(dim=-1) for site in sites]))


@pytest.mark.parametrize("wiring", WIRINGS)
def test_the_gradient_is_the_change_at_the_end(wiring: str) -> None:
    """The reference is torch's gradient of each wiring, written out; the last one is that of the product itself."""
    written_out = {
        "pre-norm": lambda sub_layer, norm, x: x + sub_layer(norm(x)),
        "post-norm": lambda sub_layer, norm, x: norm(x + sub_layer(x)),
        "no residuals": lambda sub_layer, norm, x: sub_layer(norm(x)),
        "no norm": lambda sub_layer, norm, x: x + sub_layer(x),
    }
    layers, x = layers_of(model("pre", 2)), draw(0, "x", (1, 3, 8), std=1.0).double()
    probe = draw(0, "probe", (1, 3, 8), std=1.0).double()

    end = begin = x.clone().requires_grad_()
    for layer in layers:
        end = written_out[wiring](layer.self_attention, layer.self_attention_norm, end)
        end = written_out[wiring](layer.feed_forward, layer.feed_forward_norm, end)
    (expected,) = torch.autograd.grad((end * probe).sum(), begin)
    measured = signals_by_depth(layers, x)[wiring]
    alone = signals_by_depth(layers, x, [wiring])[wiring]
    torch.testing.assert_close(alone.backward, measured.backward, rtol=1e-12, atol=0)
    torch.testing.assert_close(measured.backward[0], expected.norm(dim=-1), rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(measured.backward[-1], probe.norm(dim=-1))
    assert all(parameter.grad is None for layer in layers for parameter in layer.parameters())


@pytest.mark.parametrize("norm", NORMS)
def test_the_gradient_of_parameters_is_that_of_torchs_own_encoder(norm: str) -> None:
    """The reference is nn.TransformerEncoder, with its own final norm after pre-norm, and loss.backward()."""
    layers = layers_of(model(norm, 5))
    x = draw(4, "x", (2, 6, 8), std=1.0).double()
    twin = as_torch_encoder(layers, nn.LayerNorm(8).double() if norm == "pre" else None)
    (twin(x) * draw(0, "probe", (2, 6, 8), std=1.0).double()).sum().backward()
    expected = torch.stack([layer.linear2.weight.grad.norm() for layer in twin.layers])
    measured = parameter_gradients(layers, x, [f"{norm}-norm"])[f"{norm}-norm"]
    torch.testing.assert_close(measured, expected, rtol=1e-9, atol=0)
    assert all(parameter.grad is None for layer in layers for parameter in layer.parameters())


def test_near_the_output_the_gradient_of_parameters_shrinks_with_depth_in_pre_norm_alone() -> None:
    """Xiong et al. 2020, theorem 1: like 1 / √layers in pre-norm, and in post-norm not at all; means of eight seeds."""

    norms = ("pre-norm", "post-norm")

    def last(layers: int) -> dict[str, float]:
        sizes = []
        for seed in range(8):
            config = TransformerConfig(vocab_size=9, d_model=32, num_heads=4, num_layers=layers, seed=seed)
            x = draw(seed, "x", (1, 8, 32), std=1.0).double()
            sizes.append(parameter_gradients(layers_of(Transformer(config).double().eval()), x, norms))
        return {norm: sum(float(size[norm][-1]) for size in sizes) / 8 for norm in norms}

    shallow, deep = last(3), last(48)
    assert 3 < shallow["pre-norm"] / deep["pre-norm"] < 5  # √(48 / 3) = 4
    assert 0.8 < shallow["post-norm"] / deep["post-norm"] < 1.25


def test_similarity_is_the_mean_cosine_of_pairs_written_out() -> None:
    x = draw(3, "x", (2, 5, 8), std=1.0).double()
    cosines = torch.cosine_similarity(x[:, :, None], x[:, None], dim=-1)[:, ~torch.eye(5, dtype=torch.bool)]
    torch.testing.assert_close(mean_cosine(x), cosines.mean(-1))
    assert mean_cosine(x[:, :1]).isnan().all()
    measured = signals_by_depth(layers_of(model("pre")), x)["pre-norm"]
    torch.testing.assert_close(measured.similarity[0], mean_cosine(x))
    assert measured.similarity.shape == (4, 2)


# the logit lens, beside models that really end after each layer

TOKENS = torch.tensor([[3, 1, 4, 1, 5]])


def config(architecture: str, norm: str) -> TransformerConfig:
    return TransformerConfig(
        vocab_size=11, architecture=architecture, d_model=8, num_heads=2, num_layers=3, norm=norm, seed=5
    )


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_last_layer_reads_out_what_the_model_says(architecture: str, norm: str) -> None:
    model = Transformer(config(architecture, norm)).eval()
    inputs = [TOKENS, TOKENS[:, :4]] if architecture == "encoder-decoder" else [TOKENS]
    mask = causal_mask(inputs[-1].shape[1])
    lens = logit_lens(model, *inputs, mask=mask)
    with torch.no_grad():  # with gradients, another kernel computes the same attention, other than in the last digit
        logits = model(*inputs, mask=mask)
    assert list(lens) == ["embedding", "layer 1", "layer 2", "layer 3"]
    torch.testing.assert_close(lens["layer 3"], logits, rtol=0, atol=0)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_each_layer_reads_out_what_a_shorter_model_says(architecture: str, norm: str) -> None:
    """Weights are drawn by name, so the model of one layer has the first layer of the model of three."""
    whole = config(architecture, norm)
    lens = logit_lens(Transformer(whole).eval(), TOKENS)
    for layers in (1, 2):
        shorter = Transformer(replace(whole, num_layers=layers)).eval()
        with torch.no_grad():
            logits = shorter(TOKENS)
        torch.testing.assert_close(lens[f"layer {layers}"], logits, rtol=0, atol=0)
    assert not torch.equal(lens["layer 1"], lens["layer 2"])


# gradients by distance


X = draw(0, "x", (1, 8, 4), std=1.0)


def test_a_linear_recurrence_has_a_power_for_each_step() -> None:
    """h_t = h_(t-1) A + x_t: the gradient at distance k is A^k times the probe."""
    matrix, x, probe = (0.4 * draw(0, "A", (4, 4), std=1.0)).double(), X.double(), draw(0, "probe", (1, 4), std=1.0)

    def network(x: Tensor) -> Tensor:
        states = [torch.zeros_like(x[:, 0])]
        for step in range(x.shape[1]):
            states.append(states[-1] @ matrix + x[:, step])
        return torch.stack(states[1:], dim=1)

    by_hand = [(torch.linalg.matrix_power(matrix, k) @ probe.double()[0]).norm() for k in range(8)]
    torch.testing.assert_close(gradient_by_distance(network, x)[0], torch.stack(by_hand))


def test_torchs_rnn_is_its_chain_of_derivatives() -> None:
    """h_t = tanh(W x_t + U h_(t-1)): a product of diag(1 - h^2) and U for each step, written out."""
    rnn = nn.RNN(4, 3, batch_first=True, dtype=torch.float64)
    for name, parameter in rnn.named_parameters():
        parameter.data.copy_(draw(1, name, tuple(parameter.shape), std=0.7))
    states = rnn(X.double())[0][0].detach()
    gradient, by_hand = draw(0, "probe", (1, 3), std=1.0).double()[0], []
    for state in states.flip(0):
        inside = gradient * (1 - state**2)
        by_hand.append((inside @ rnn.weight_ih_l0).norm())
        gradient = inside @ rnn.weight_hh_l0
    measured = gradient_by_distance(lambda x: rnn(x)[0], X.double())[0]
    torch.testing.assert_close(measured, torch.stack(by_hand).detach())


def test_a_convolution_reaches_no_further_than_its_kernels() -> None:
    """Two layers of width 3 see the present and four inputs before it; what is further back has no gradient at all."""
    layers = [nn.Conv1d(4, 4, 3), nn.Conv1d(4, 4, 3)]

    def network(x: Tensor) -> Tensor:
        for layer in layers:
            x = layer(nn.functional.pad(x.mT, (2, 0))).mT
        return x

    measured = gradient_by_distance(network, X)[0]
    assert bool((measured[:5] > 0).all())
    assert not measured[5:].any()


def test_attention_reaches_every_distance_that_its_mask_allows() -> None:
    """One step suffices; the last query sees all keys under a causal mask, and itself alone under the identity."""
    attention = MultiHeadAttention(4, 2)
    assert bool((gradient_by_distance(lambda x: attention(x, mask=causal_mask(8)), X) > 0).all())
    alone = gradient_by_distance(lambda x: attention(x, mask=torch.eye(8, dtype=torch.bool)), X)[0]
    assert alone[0] > 0
    assert not alone[1:].any()
