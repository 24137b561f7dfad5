"""`tfm_core` beside what people use today: whole encoders, and attention with its weights written down.

Every encoder gets the same embeddings and, where its make allows, the same parameters; before a clock starts, those
must agree, which proves that they do the same work. A pass that records hands its weights out and drops them.
"""

import math
import os
from collections.abc import Callable
from importlib import import_module

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.measure import Figure, Figures, Ratio, interleaved, ratio, show, verdict
from tfm_core import (
    Transformer,
    TransformerConfig,
    TransformerLayer,
    recording,
    scaled_dot_product_attention,
)
from tfm_core.encoder_twin import as_torch_encoder

SIZES = [(64, 4, 2, 50, 16), (128, 8, 4, 50, 16), (256, 8, 6, 50, 16), (128, 8, 4, 100, 16), (128, 8, 4, 200, 16)]
THREADS = (1, 2)
ROUNDS = 15
SECONDS_A_TURN = 0.02
LIBRARIES = ("nn.MultiheadAttention", "x-transformers")  # these return weights as well


def _with_weights(size: tuple[int, ...], threads: int) -> Figure:
    beside = "the time of torch's nn.TransformerEncoder on its fast path, which records none"
    return Figure(f"Encoder {_named(size)}, all weights recorded, {_on(threads)}", beside)


def _without(size: tuple[int, ...], threads: int) -> Figure:
    return Figure(f"Encoder {_named(size)}, nothing recorded, {_on(threads)}", "the better of torch's two paths")


def _beside(library: str, threads: int) -> Figure:
    what = f"All weights recorded, {_on(threads)}: the largest of the {len(SIZES)} sizes"
    return Figure(what, f"the time of {library} returning weights")


def _attention(threads: int) -> Figure:
    return Figure(f"Attention of 1,024 tokens, weights recorded, {_on(threads)}", "torch's fused kernel")


def _named(size: tuple[int, ...]) -> str:
    return "({}, {}, {}), {} tokens".format(*size)


def _on(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


FIGURES = [  # an encoder is (d_model, heads, layers)
    figure
    for threads in THREADS
    for figure in (
        *(_with_weights(size, threads) for size in SIZES),
        *(_without(size, threads) for size in SIZES),
        *(_beside(library, threads) for library in LIBRARIES),
        _attention(threads),
    )
]

Encode = Callable[[Tensor], Tensor]
WithWeights = Callable[[Tensor], tuple[Tensor, list[Tensor]]]


def our_encoder(d_model: int, heads: int, layers: int) -> tuple[Encode, list[TransformerLayer], nn.LayerNorm]:
    """The layers of our encoder and its final norm, without the embedding that the others have not got either."""
    config = TransformerConfig(
        vocab_size=2, d_model=d_model, num_heads=heads, num_layers=layers, activation="relu", positional="none"
    )
    stack = Transformer(config).eval().stack
    blocks = [block for block in stack.layers if isinstance(block, TransformerLayer)]
    norm = stack.final_norm
    assert len(blocks) == layers
    assert norm is not None

    def encode(x: Tensor) -> Tensor:
        for block in blocks:
            x = block(x, positional=stack.positional)
        x = norm(x)
        return x

    return encode, blocks, norm


def recorded(encode: Encode, sites: str | None) -> Encode:
    """The same pass inside a recording."""

    def run(x: Tensor) -> Tensor:
        with recording(sites):
            return encode(x)

    return run


def without_fast_path(theirs: Encode) -> Encode:
    """nn.TransformerEncoder by its Python code, which calls F.scaled_dot_product_attention."""

    def run(x: Tensor) -> Tensor:
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            return theirs(x)
        finally:
            torch.backends.mha.set_fastpath_enabled(True)

    return run


def with_torch_weights(theirs: nn.TransformerEncoder) -> WithWeights:
    """The same encoder, asking each nn.MultiheadAttention for the weights of every head."""

    def run(x: Tensor) -> tuple[Tensor, list[Tensor]]:
        kept = []
        for block in theirs.layers:
            assert isinstance(block, nn.TransformerEncoderLayer)
            y = block.norm1(x)
            y, weights = block.self_attn(y, y, y, need_weights=True, average_attn_weights=False)
            kept.append(weights)
            x = x + y
            x = x + block.linear2(F.relu(block.linear1(block.norm2(x))))
        assert theirs.norm is not None
        return theirs.norm(x), kept

    return run


def with_x_weights(d_model: int, heads: int, layers: int) -> WithWeights:
    """x-transformers' pre-norm encoder of the same sizes; its attention has no biases, so it does slightly less."""
    encoder = import_module("x_transformers").Encoder(  # not above: importing it warns, and it has no types
        dim=d_model,
        depth=layers,
        heads=heads,
        attn_dim_head=d_model // heads,
        ff_mult=4,
        ff_custom_activation=nn.ReLU(),
    )
    encoder.eval()

    def run(x: Tensor) -> tuple[Tensor, list[Tensor]]:
        y, inside = encoder(x, return_hiddens=True)
        return y, [attention.post_softmax_attn for attention in inside.attn_intermediates]

    return run


def encoders(d_model: int, heads: int, layers: int) -> dict[str, Encode | WithWeights]:
    """All contenders of one size, ours first."""
    encode, blocks, norm = our_encoder(d_model, heads, layers)
    theirs = as_torch_encoder(blocks, norm)
    return {
        "ours": encode,
        "ours, weights": recorded(encode, "*.weights"),
        "ours, every site": recorded(encode, None),
        "fast path": theirs,
        "slow path": without_fast_path(theirs),
        "nn.MultiheadAttention": with_torch_weights(theirs),
        "x-transformers": with_x_weights(d_model, heads, layers),
    }


def check_agreement(contenders: dict[str, Encode | WithWeights], x: Tensor) -> None:
    """The proof that all do the same work: outputs and weights agree. x-transformers can only be checked for shapes."""
    expected = contenders["ours"](x)
    with recording("*.weights") as trace:
        contenders["ours"](x)
    for name, run in contenders.items():
        got = run(x)
        output, weights = got if isinstance(got, tuple) else (got, None)
        assert output.shape == x.shape, name
        if name != "x-transformers":
            torch.testing.assert_close(output, expected, atol=1e-4, rtol=1e-4, msg=name)
        if weights is not None:
            assert [w.shape for w in weights] == [w.shape for w in trace.values()], name
            sums = torch.stack([w.sum(-1) for w in weights])
            torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-4, rtol=0, msg=name)
        if name == "nn.MultiheadAttention":
            torch.testing.assert_close(weights, list(trace.values()), atol=1e-5, rtol=1e-4, msg=name)


def best_of(*times: list[float]) -> list[float]:
    """The times of whichever is fastest by its median."""
    return min(times, key=lambda seconds: sorted(seconds)[len(seconds) // 2])


def measure_encoders(size: tuple[int, int, int, int, int]) -> tuple[list[object], dict[str, float]]:
    """One row of the table, our cost over theirs; and by name the medians that are told."""
    d_model, heads, layers, seq, batch = size
    x = torch.randn(batch, seq, d_model)
    contenders = encoders(d_model, heads, layers)
    check_agreement(contenders, x)
    once = min(interleaved({"": lambda: contenders["fast path"](x)}, rounds=3)[""])
    repeats = max(1, math.ceil(SECONDS_A_TURN / once))
    calls = {name: (lambda run=run: run(x)) for name, run in contenders.items()}
    seconds = interleaved(calls, rounds=ROUNDS, repeats=repeats, settle=1)

    medians: dict[str, float] = {}

    def against(name: str, ours: str, theirs: list[float], bar: float) -> str:
        measured: Ratio = ratio(seconds[ours], theirs)
        medians[name] = measured.median
        return f"{measured}  {verdict(measured, bar)}"

    fast = seconds["fast path"]
    row: list[object] = [
        f"{d_model}, {heads}, {layers}, {seq}, {batch}",
        f"{1000 * sorted(fast)[len(fast) // 2]:.1f} ms",
        against("nothing", "ours", best_of(fast, seconds["slow path"]), 1.05),
        against("weights", "ours, weights", fast, 1.10 if seq <= 100 else 1.20),
        *(against(library, "ours, weights", seconds[library], 1) for library in LIBRARIES),
        ratio(seconds["ours, every site"], fast),
    ]
    return row, medians


def measure_attention(batch: int = 4, heads: int = 8, seq: int = 1024, head_dim: int = 32) -> list[Ratio]:
    """Attention alone: output and weights, ours and then plainly, over torch's fused kernel's output only."""
    query, key, value = (torch.randn(batch, seq, heads, head_dim).transpose(1, 2) for _ in range(3))

    def naive() -> tuple[Tensor, Tensor]:
        weights = (query @ key.mT / math.sqrt(head_dim)).softmax(-1)
        return weights @ value, weights

    contenders: dict[str, Callable[[], object]] = {
        "fused": lambda: F.scaled_dot_product_attention(query, key, value),
        "ours": lambda: scaled_dot_product_attention(query, key, value),
        "naive": naive,
    }
    ours, _ = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(ours, F.scaled_dot_product_attention(query, key, value), atol=1e-5, rtol=1e-4)
    seconds = interleaved(contenders, rounds=ROUNDS, settle=1)
    return [ratio(seconds[name], seconds["fused"]) for name in ("ours", "naive")]


def main() -> Figures:
    """Print the tables."""
    told: Figures = {}
    torch.manual_seed(0)
    before = torch.get_num_threads()
    print(f"\ntorch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()}) on {os.cpu_count()} CPUs, no_grad")
    print("median of the rounds' ratios (and quartiles); below 1, ours is the faster")
    with torch.no_grad():
        for threads in THREADS:
            torch.set_num_threads(threads)
            columns = ["d_model, heads, layers, seq, batch", "fast path", "no recording / best of torch"]
            columns += ["weights / fast path", *(f"weights / {name}" for name in LIBRARIES), "every site / fast path"]
            measured = [measure_encoders(size) for size in SIZES]
            for size, (_, medians) in zip(SIZES, measured, strict=True):
                told |= {_with_weights(size, threads): medians["weights"], _without(size, threads): medians["nothing"]}
            for library in LIBRARIES:
                told[_beside(library, threads)] = max(medians[library] for _, medians in measured)
            rows = [row for row, _ in measured]
            show(f"Encoder, pre-norm, relu, {threads} thread(s): our time over theirs", columns, rows)
            ours, naive = measure_attention()
            told[_attention(threads)] = ours.median
            rows = [[f"{ours}  {verdict(ours, 2.3)}", naive]]
            show(f"Attention of 1,024 tokens, {threads} thread(s), over the fused kernel", ["weights", "naive"], rows)
    torch.set_num_threads(before)
    return told
