"""`tfm_core` beside what people use today: whole encoders, and attention with its weights written down.

All encoders get the same embeddings and, where possible, the same parameters. Before the measurement, their outputs
are compared, to make sure that they do the same work. A pass that records returns the weights, which are then dropped.
"""

import math
import os
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.contenders import check_agreement, encoders
from benchmarks.measure import Figure, Figures, Ratio, interleaved, ratio, show, verdict
from tfm_core import scaled_dot_product_attention

SIZES = [(64, 4, 2, 50, 16), (256, 8, 6, 50, 16), (128, 8, 4, 200, 16)]
THREADS = (1, 2)
ROUNDS = 11
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


def best_of(*times: list[float]) -> list[float]:
    """The times with the smallest median."""
    return min(times, key=lambda seconds: sorted(seconds)[len(seconds) // 2])


def measure_encoders(size: tuple[int, int, int, int, int]) -> tuple[list[object], dict[str, float]]:
    """One row of the table, our time over theirs; and name -> median, for the figures."""
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
        against("weights", "ours, weights", fast, 1.05),
        *(against(library, "ours, weights", seconds[library], 1) for library in LIBRARIES),
        ratio(seconds["ours, every site"], fast),
    ]
    return row, medians


def measure_attention(batch: int = 4, heads: int = 8, seq: int = 1024, head_dim: int = 32) -> list[Ratio]:
    """Attention alone, with weights: our time, and that of a naive implementation, over torch's fused kernel's."""
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
            rows = [[f"{ours}  {verdict(ours, 1.5)}", naive]]
            show(f"Attention of 1,024 tokens, {threads} thread(s), over the fused kernel", ["weights", "naive"], rows)
    torch.set_num_threads(before)
    return told
