"""The pictures of the view "length": time, memory and parts against the length of the sequence."""

import math
from collections.abc import Mapping, Sequence

from tfm_core.profiling import Blocks
from tfm_ui.lenses.profiling.comparison import FORWARD, TRAINING, Comparison
from tfm_ui.lenses.profiling.length.memory import ALLOCATED, SYSTEM, MemoryByLength
from tfm_ui.lenses.profiling.length.parts import PartsByLength
from tfm_ui.lenses.profiling.length.times import TimeByLength
from tfm_ui.lenses.profiling.plan import NO_CONFIGURATION
from tfm_ui.lenses.profiling.shown import picture
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

LENGTH = "length, tokens"
COLOUR = {FORWARD: "head 6", TRAINING: "head 3"}
PART = {
    "projections": "head 1", "products": "head 2", "softmax": "head 3", "feed-forward": "head 6", "norms": "head 4",
    "recurrence": "head 2", "convolution": "head 1", "output": "head 8", "embedding": "head 5", "logits": "head 7",
    "rest": "muted",
}  # fmt: skip


def time(comparison: Comparison) -> Content:
    """Medians and quartiles, fitted power laws, and the FLOPs at the rate that fits best; FLOPs alone before."""
    times = TimeByLength(comparison)
    drawn: list[Line] = []
    for way in times.blocks:
        drawn += _measured(times, way)
    unit = "time of a call, ms"
    if not any(times.timed(way) for way in times.blocks):
        unit = "FLOPs of a forward pass, in millions"
        drawn = [Line("closed form", times.lengths, [f / 1e6 for f in times.flops], "muted", "dashed")]
    elif scaled := times.scaled():
        drawn.append(Line(f"FLOPs, n^{times.theory:.2f}", times.lengths, scaled, "muted", "thin"))
    crossings = sorted(PartsByLength(comparison).crossings.items(), key=lambda crossing: crossing[1])
    names = [", ".join(f"{name} {formats.count(round(n))}" for name, n in crossings), ""]  # apart they would overlap
    marks = {name: n for name, (_, n) in zip(names, crossings, strict=False)}
    return lines.content([Chart(LENGTH, unit, drawn, "log2", "log10", marks=marks)], about=times.sentence())


def _measured(times: TimeByLength, way: str) -> list[Line]:
    """Its medians, the span of its quartiles at each length, and its fitted law."""
    if not times.timed(way):
        return []
    load = ", under load" * any(blocks.under_load for blocks in times.blocks[way])
    drawn = [Line(f"{way}{load}", times.lengths, times.milliseconds(way), COLOUR[way], "dots")]
    x, y = _spans(times.lengths, times.blocks[way])
    drawn.append(Line("", x, y, COLOUR[way], "thin"))
    if way in times.fits:
        exponent = times.fits[way].exponent.middle
        drawn.append(Line(f"fitted n^{exponent:.2f}", times.lengths, times.fitted(way), COLOUR[way], "dashed"))
    return drawn


def _spans(lengths: Sequence[int], blocks: Sequence[Blocks]) -> tuple[list[float], list[float]]:
    """Upright strokes: from the lower to the upper quartile at each length, then a gap."""
    x: list[float] = []
    y: list[float] = []
    for length, of_length in zip(lengths, blocks, strict=True):
        low, high = of_length.quartiles
        x += [length, length, math.nan]
        y += [low * 1e3, high * 1e3, math.nan]
    return x, y


def memory(comparison: Comparison) -> Content:
    """Predicted and measured peaks, and the attention weights apart."""
    peaks = MemoryByLength(comparison)
    drawn: list[Line] = []
    for way in peaks.ways:
        measured = peaks.measured(way)
        if ALLOCATED in measured:
            drawn.append(Line(way, peaks.lengths, _mebi(measured[ALLOCATED]), COLOUR[way], "dots"))
        name = "predicted" if ALLOCATED in measured else f"{way}, predicted"
        drawn.append(Line(name, peaks.lengths, _mebi(peaks.predicted(way)), COLOUR[way], "dashed"))
        if SYSTEM in measured:
            drawn.append(Line("system", peaks.lengths, _mebi(measured[SYSTEM]), COLOUR[way], "thin"))
    if peaks.weights:
        drawn.append(Line("attention weights", peaks.lengths, _mebi(peaks.weights), "muted", "thin"))
    return lines.content([Chart(LENGTH, "MiB at the peak", drawn, "log2", "log10")], about=peaks.sentence())


def _mebi(counts: Sequence[float]) -> list[float]:
    return [count / 2**20 for count in counts]


def parts(comparison: Comparison) -> Content:
    """FLOPs and, if it was measured, time by part."""
    shares = PartsByLength(comparison)
    marks = {name: {f"{name} {formats.count(round(n))}": n} for name, n in shares.crossings.items()}
    flops = {name: [count / 1e6 for count in counts] for name, counts in shares.flops.items()}
    charts = [_by_part(flops, shares.lengths, "FLOPs by part, in millions", marks.get("predicted", {}))]
    if shares.milliseconds:
        unit = f"time by part, ms{', under load' * any(row.parts_under_load for row in comparison.rows)}"
        charts.append(_by_part(shares.milliseconds, shares.lengths, unit, marks.get("measured", {})))
    return lines.content(charts, about=shares.sentence())


def _by_part(
    values: Mapping[str, Sequence[float]], lengths: Sequence[int], unit: str, marks: Mapping[str, float]
) -> Chart:
    drawn = [
        Line(name, lengths, costs, PART.get(name, f"head {i % 8 + 1}"))
        for i, (name, costs) in enumerate(values.items())
    ]
    return Chart(LENGTH, unit, drawn, "log2", "log10", marks=marks)


EMPTY = lines.content([], about=NO_CONFIGURATION)
PICTURES = {
    "profiling_length_time": picture("length", CHART, time, empty=EMPTY),
    "profiling_length_memory": picture("length", CHART, memory, empty=EMPTY),
    "profiling_length_parts": picture("length", CHART, parts, empty=EMPTY),
}
