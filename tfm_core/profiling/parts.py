"""Where one pass spends its time, by torch.profiler: each operator counts for the part of the model that called it.

The parts are those of the closed forms: "embedding", "projections" (query, key, value, output), "products" (scores, and
weights @ value), "softmax", "feed-forward", "norms", "recurrence", "convolution", "output", "logits", and "rest"
(residual additions, positions that are added to the embeddings, what Python does between operators outside of a
module). torch's fused attention is one operator, softmax included: all of it counts as "products", and so do positions
and masks that act inside of the attention.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps

from torch import nn
from torch.autograd.profiler_util import FunctionEvent
from torch.profiler import ProfilerActivity, profile, record_function

from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.feed_forward import FeedForward
from tfm_core.profiling.contention import MOST_STALLED, Gate
from tfm_core.profiling.report import FEWEST, PartTime, usable_rounds

# Clean passes, after one that the profiler uses to set itself up; the first of them may find their memory gone.
PASSES = 7
LEAST_SECONDS = 0.02  # of all passes together: a processor that has just woken up is slow for some milliseconds
MOST_PASSES, MOST_SECONDS = 40, 1.0  # long or contended ones are tried up to these, but FEWEST times
RANGE = "tfm."

MODULES: tuple[tuple[tuple[type[nn.Module], ...], str], ...] = (
    ((MultiHeadAttention, nn.MultiheadAttention), "products"),
    ((nn.TransformerEncoderLayer,), "layer"),
    ((FeedForward,), "feed-forward"),
    ((nn.LayerNorm, nn.RMSNorm), "norms"),
    ((nn.RNNBase,), "recurrence"),
    ((nn.Conv1d,), "convolution"),
    ((nn.Embedding,), "embedding"),
)
LOGITS = "unembedding"  # a Linear of this name
LINEAR = {"products": "projections", "feed-forward": "feed-forward", "layer": "feed-forward"}
"""To which part a Linear belongs, by the part around it; elsewhere "output". The rest of a "layer" is "rest"."""

ANYWHERE = {
    "_softmax": "softmax",
    "_safe_softmax": "softmax",
    "softmax": "softmax",
    "layer_norm": "norms",
    "native_layer_norm": "norms",
    "scaled_dot_product_attention": "products",
    "_native_multi_head_attention": "products",
    "_transformer_encoder_layer_fwd": "layer",
    "lstm": "recurrence",
    "gru": "recurrence",
    "conv1d": "convolution",
}
"""Operators whose name alone says to which part they belong."""

WITHIN = {
    "products": dict.fromkeys(("linear", "addmm", "mm", "_transform_bias_rescale_qkv"), "projections"),
    "layer": dict.fromkeys(("linear", "addmm", "_addmm_activation", "relu", "gelu", "silu"), "feed-forward"),
}
"""Operators that are known by where they run: nn.MultiheadAttention and the fast path call no modules of their own."""

KERNELS = {
    "flash_attention": "flash",
    "efficient_attention": "memory-efficient",
    "cudnn_attention": "cuDNN",
    "_fused_attention_overrideable": "overrideable",
    "_attention_math": "math",
    "_native_multi_head_attention": "fast path",
}
"""What an operator's name has in it -> the kernel, as torch.nn.attention.SDPBackend calls it."""


@dataclass(frozen=True)
class ProfiledPass:
    """Where a pass spends its time.

    Attributes:
        parts: the longest first. They sum up to a pass as it ran under the profiler, which makes it slower: the pass
            of median length.
        under_load: whether that is of contended passes too, as too few were clean.
        kernel: which fused kernel did the attention; "" where no fused operator ran.
    """

    parts: tuple[PartTime, ...]
    under_load: bool
    kernel: str


def measure(module: nn.Module, call: Callable[[], object], device: str, gate: Gate) -> ProfiledPass:
    """Where a call of the module spends its time.

    Args:
        module: what is looked into.
        call: runs it; it has run before.
        device: "cuda" counts the time of the GPU's kernels, which run beside the processor.
        gate: says which passes were contended.
    """
    gpu = device == "cuda"
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if gpu else [])]
    clean: list[bool] = []
    with _ranges(module), profile(activities=activities) as profiled:
        _in_range(call, "rest")()
        begin = time.perf_counter()
        while len(clean) < MOST_PASSES:
            clean.append(gate.around(_in_range(call, "rest"))[1] <= MOST_STALLED)
            took = time.perf_counter() - begin
            if (sum(clean) >= PASSES and took >= LEAST_SECONDS) or (len(clean) >= FEWEST and took > MOST_SECONDS):
                break
    on_processor = (event for event in profiled.events() or () if event.device_type.name == "CPU")
    passes = [event for event in on_processor if event.cpu_parent is None and event.name == RANGE + "rest"]
    every = {number: _times(event, gpu) for number, event in enumerate(passes[1:])}
    chosen, under_load = usable_rounds({number: times for number, times in every.items() if clean[number]}, every)
    middle = sorted(chosen.values(), key=lambda times: sum(times.values()))[len(chosen) // 2 :][:1]
    times_by_part = [PartTime(part, seconds) for times in middle for part, seconds in times.items() if seconds > 0]
    parts = tuple(sorted(times_by_part, key=lambda part: -part.seconds))
    return ProfiledPass(parts, under_load, _kernel(passes[0]) if passes else "")


def _times(profiled_pass: FunctionEvent, gpu: bool) -> dict[str, float]:
    """Part -> seconds of this pass."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for event, part in _attributed(profiled_pass, "rest"):
        seconds["rest" if part == "layer" else part] += _microseconds(event, gpu) / 1e6
    return seconds


def _kernel(event: FunctionEvent) -> str:
    names = [called.name for called, _ in _attributed(event, "rest")]
    return next((kernel for word, kernel in KERNELS.items() if any(word in name for name in names)), "")


def _microseconds(event: FunctionEvent, gpu: bool) -> float:
    """An event's own, without what it called. On the GPU the operators' kernels; a range has none of its own."""
    if gpu:
        return 0.0 if event.name.startswith(RANGE) else float(event.self_device_time_total)
    return float(event.self_cpu_time_total)


def _attributed(event: FunctionEvent, part: str) -> Iterator[tuple[FunctionEvent, str]]:
    """An event and all that it called, each with its part."""
    if event.name.startswith(RANGE):
        part = event.name.removeprefix(RANGE)
    else:
        name = event.name.removeprefix("aten::").rstrip("_")
        part = WITHIN.get(part, {}).get(name) or ANYWHERE.get(name, part)
    yield event, part
    for child in event.cpu_children:
        yield from _attributed(child, part)


@contextmanager
def _ranges(module: nn.Module) -> Iterator[None]:
    """Let each module open a range of its part. Not by hooks: with a hook, torch leaves its fast path."""
    parts = {inner: part for inner, part in _parts(module, "rest") if part != "rest"}
    for inner, part in parts.items():
        inner.forward = _in_range(inner.forward, part)  # the instance's; the class's stands below
    try:
        yield
    finally:
        for inner in parts:
            del inner.forward


def _parts(module: nn.Module, part: str) -> Iterator[tuple[nn.Module, str]]:
    """The module and all within it, each with its part."""
    if isinstance(module, nn.Linear):
        part = LINEAR.get(part, "output")
    else:
        part = next((name for types, name in MODULES if isinstance(module, types)), part)
    yield module, part
    for name, child in module.named_children():
        if name == LOGITS:
            yield child, "logits"
        else:
            yield from _parts(child, part)


def _in_range(forward: Callable[..., object], part: str) -> Callable[..., object]:
    @wraps(forward)
    def ranged(*args: object, **kwargs: object) -> object:
        with record_function(RANGE + part):
            return forward(*args, **kwargs)

    return ranged
