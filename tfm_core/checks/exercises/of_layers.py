"""Exercises of layers: norms, activations, residual connections, an encoder's and a decoder's layer, their counts."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from tfm_core.checks.exercises.beside import Beside, Call, Slip, of_piece, randn
from tfm_core.checks.exercises.coding import Coding
from tfm_core.checks.exercises.fixed import Fixed
from tfm_core.study import pieces


def layer_norm(x: Tensor, gain: Tensor, shift: Tensor, eps: float = 1e-5) -> Tensor:
    """Each vector of x (…, d_model) with mean 0 and variance 1, then times gain plus shift, both (d_model)."""
    # blank: the mean of each vector, (…, 1)
    mean = x.mean(-1, keepdim=True)
    # blank: the variance of each vector, (…, 1): the mean of the squared distances from the mean
    variance = (x - mean).square().mean(-1, keepdim=True)
    # blank: the vector without its mean, divided by the root of variance plus eps
    normed = (x - mean) / (variance + eps).sqrt()
    return normed * gain + shift


def gelu(x: Tensor) -> Tensor:
    """x Φ(x), where Φ(x) is the share of a normal distribution below x."""
    # blank: Φ(x) = (1 + erf(x / √2)) / 2
    below = (1 + torch.erf(x / math.sqrt(2))) / 2
    return x * below


def swiglu(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """A feed-forward network with a gate: x (…, d_model), w_gate and w_up (d_ff, d_model), w_down (d_model, d_ff)."""
    # blank: the gate: SiLU of x times w_gate, (…, d_ff)
    gate = F.silu(x @ w_gate.mT)
    # blank: what passes the gate: x times w_up, times the gate, number by number
    hidden = gate * (x @ w_up.mT)
    return hidden @ w_down.mT


def add_sublayer(x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]) -> Tensor:
    """The residual connection of a pre-norm layer: what a sub-layer makes of the normed stream is added to it."""
    # blank: what the sub-layer gives; it reads the normed x
    change = sublayer(norm(x))
    # blank: the stream, and what has come of it
    return x + change


class Attention(nn.Module):
    """Attention with several heads: queries from x, keys and values from `source`. In the mask, True = may attend."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        """The attention's output, (batch, query, d_model)."""
        projected = self.w_q(x), self.w_k(source), self.w_v(source)
        query, key, value = (each.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for each in projected)
        gathered = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed: Tensor = self.w_o(gathered.transpose(1, 2).flatten(2))
        return mixed


class EncoderLayer(nn.Module):
    """A layer of an encoder, norms before the sub-layers: x (batch, seq, d_model) -> the same shape."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        # blank: what the attention reads: x, normed by the first norm
        read = self.norm_1(x)
        # blank: the stream plus what the attention makes of that; queries, keys and values come from the same vectors
        x = x + self.attention(read, read, mask)
        # blank: the stream plus what the feed-forward network makes of it, after the second norm
        x = x + self.feed_forward(self.norm_2(x))
        return x


class DecoderLayer(nn.Module):
    """A layer of a decoder that reads a memory, norms after the sub-layers: x (batch, seq, d_model) -> the same."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention = Attention(d_model, num_heads)
        self.cross_attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        # blank: boolean (seq, seq), True where a token may look: at itself and at what comes before it
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        # blank: the stream plus its causal self-attention, then the first norm
        x = self.norm_1(x + self.self_attention(x, x, causal))
        # blank: the stream plus the cross-attention, whose keys and values come from the memory, then the second norm
        x = self.norm_2(x + self.cross_attention(x, memory, memory_mask))
        # blank: the stream plus the feed-forward network, then the third norm
        x = self.norm_3(x + self.feed_forward(x))
        return x


def count_parameters(d_model: int, d_ff: int) -> int:
    """The parameters of an encoder's layer: an attention, a feed-forward network and two norms, all with biases."""
    # blank: four matrices of d_model × d_model, each with a bias
    attention = 4 * (d_model * d_model + d_model)
    # blank: a matrix up to d_ff and one back, each with its bias
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    # blank: a gain and a shift for each number of a vector, twice
    norms = 2 * 2 * d_model
    return attention + feed_forward + norms


def _gated(generator: Generator) -> list[Call]:
    return [(randn(generator, 2, 5, 4), *(randn(generator, *shape) for shape in ((6, 4), (6, 4), (4, 6))))]


def _streams(generator: Generator) -> list[Call]:
    weight = randn(generator, 6, 6)
    return [(randn(generator, 2, 5, 6) * 2 + 1, lambda x: (x @ weight).tanh(), lambda x: F.layer_norm(x, x.shape[-1:]))]


def _normed(generator: Generator) -> list[Call]:
    x, gain, shift = randn(generator, 2, 5, 6), randn(generator, 6), randn(generator, 6)
    return [(x * 2 + 1, gain, shift), (x * 0.1, gain, shift, 0.1)]


def _read(generator: Generator) -> list[Call]:
    x, memory = randn(generator, 2, 5, 12), randn(generator, 2, 5, 12)
    return [(x,), (x, torch.ones(5, 5, dtype=torch.bool).tril()), (memory,)]


def _with_memory(generator: Generator) -> list[Call]:
    x, memory = randn(generator, 2, 5, 12), randn(generator, 2, 4, 12)
    return [(x, memory), (x, memory, (torch.arange(4) < torch.tensor([4, 2])[:, None])[:, None, None])]


SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 20}


def _counted(d_model: int, d_ff: int) -> int:
    layer = nn.TransformerEncoderLayer(d_model, 1, d_ff)
    return sum(p.numel() for p in layer.parameters())


OF_LAYERS = {
    "layer-norm": Coding(
        title="LayerNorm, by hand",
        task="Write the norm of each vector without calling one: mean 0, variance 1, then gain and shift.",
        solution=layer_norm,
        check="check_layer_norm",
        fixed=Fixed(asks="The task asks for layer_norm(x, gain, shift, eps), of any eps.", calls=_normed),
    ),
    "gelu": Coding(
        title="GELU",
        task="Write the activation x Φ(x) without calling one; torch.erf is there.",
        solution=gelu,
        check=Beside(
            name="gelu",
            right=pieces.gelu,
            calls=lambda g: [(randn(g, 4, 25) * 2,)],
            mistakes={name: wrong for name, wrong in of_piece("activation").items() if name not in ("GELU for ReLU",)},
            slips=[
                Slip(
                    lambda x: x * (1 + torch.erf(x)) / 2,
                    "The argument of erf is not divided by √2.",
                    "Φ(x) = (1 + erf(x / √2)) / 2.",
                )
            ],
        ),
    ),
    "swiglu": Coding(
        title="SwiGLU: a gate",
        task="Write the feed-forward network of Llama: one product goes through SiLU and gates the other.",
        solution=swiglu,
        check=Beside(
            name="swiglu",
            right=lambda x, gate, up, down: F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down),
            calls=_gated,
            slips=[
                Slip(
                    lambda x, gate, up, down: F.linear(F.silu(F.linear(x, up)) * F.linear(x, gate), down),
                    "SiLU stands on the wrong side: w_up goes through it, and w_gate does not.",
                    "The gate is SiLU of x times w_gate.",
                ),
                Slip(
                    lambda x, gate, up, down: F.linear(F.silu(F.linear(x, gate)), down),
                    "Nothing passes the gate: w_up is not used.",
                    "Multiply the gate by x times w_up, number by number.",
                ),
                Slip(
                    lambda x, gate, up, down: F.linear(F.linear(x, gate).sigmoid() * F.linear(x, up), down),
                    "The gate is a sigmoid: that is a GLU.",
                    "SiLU is z · sigmoid(z): F.silu.",
                ),
            ],
        ),
    ),
    "residual": Coding(
        title="Old plus new",
        task="Write the residual connection of a pre-norm layer.",
        solution=add_sublayer,
        check=Beside(
            name="add_sublayer",
            right=lambda x, sublayer, norm: pieces.after(x, sublayer(pieces.before(x, norm)), norm),
            calls=_streams,
            mistakes={
                "residual missing": lambda x, sublayer, norm: sublayer(norm(x)),
                "post-norm for pre-norm": lambda x, sublayer, norm: norm(x + sublayer(x)),
                "residual around the normed input": lambda x, sublayer, norm: norm(x) + sublayer(norm(x)),
            },
            slips=[
                Slip(
                    lambda x, sublayer, norm: x + sublayer(x),
                    "The sub-layer reads the stream as it is: there is no norm.",
                    "Hand sublayer the normed x: sublayer(norm(x)).",
                ),
                Slip(
                    lambda x, sublayer, norm: x + norm(sublayer(x)),
                    "The norm stands after the sub-layer.",
                    "Norm what the sub-layer reads: sublayer(norm(x)).",
                ),
            ],
        ),
    ),
    "encoder-layer": Coding(
        title="A layer of an encoder",
        task="Write the pass of a pre-norm layer: attention and feed-forward network, each with norm and residual.",
        solution=EncoderLayer,
        check="check_encoder_layer",
        fixed=Fixed(
            asks="The task asks for a pre-norm layer: x + attention(norm_1(x)), then x + feed_forward(norm_2(x)). The "
            "mask is boolean, True = may attend.",
            calls=_read,
            sizes=SIZES,
        ),
        given=(Attention,),
    ),
    "decoder-layer": Coding(
        title="A layer of a decoder",
        task="Write the pass of a decoder’s layer as in 2017: causal self-attention, cross-attention, feed-forward "
        "network, a norm after each.",
        solution=DecoderLayer,
        check="check_decoder_layer",
        fixed=Fixed(
            asks="The task asks for a norm after each sub-layer, as in norm_1(x + self_attention(x)); the first norm "
            "belongs to the first sub-layer, and so on. The mask is boolean, True = may attend.",
            calls=_with_memory,
            sizes=SIZES,
        ),
        given=(Attention,),
    ),
    "count-parameters": Coding(
        title="Count a layer",
        task="Write how many parameters an encoder’s layer has. PyTorch’s layer is counted beside it.",
        solution=count_parameters,
        check=Beside(
            name="count_parameters",
            right=_counted,
            calls=lambda _: [(8, 32), (6, 10)],
            slips=[
                Slip(
                    lambda d, ff: _counted(d, ff) - 4 * d,
                    "The norms are not counted, or not with gain and shift.",
                    "Two norms have a gain and a shift for each number: 4 d_model.",
                ),
                Slip(
                    lambda d, ff: _counted(d, ff) - 5 * d - ff,
                    "The biases are not counted.",
                    "Four biases of d_model in the attention; d_ff and d_model in the feed-forward network.",
                ),
                Slip(
                    lambda d, ff: _counted(d, ff) - d * d - d,
                    "Three matrices of the attention are counted: W_O is missing.",
                    "W_Q, W_K, W_V and W_O are four.",
                ),
            ],
        ),
    ),
}
