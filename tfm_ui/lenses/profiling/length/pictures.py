"""The pictures of the view "length" of the Profiling lens, as functions of the link."""

import math
from collections.abc import Mapping, Sequence

from tfm_core.profiling import Blocks
from tfm_ui.lenses.profiling.asked import NOTHING
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, TRAINING
from tfm_ui.lenses.profiling.length.memory import ALLOCATED, SYSTEM, peaks
from tfm_ui.lenses.profiling.length.numbers import Sweep, sweep
from tfm_ui.lenses.profiling.length.parts import Shares, shares
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look

LENGTH = "length, tokens"
COLOUR = {FORWARD: "head 6", TRAINING: "head 3"}
PART = {
    "projections": "head 1", "products": "head 2", "softmax": "head 3", "feed-forward": "head 6", "norms": "head 4",
    "recurrence": "head 2", "convolution": "head 1", "output": "head 8", "embedding": "head 5", "logits": "head 7",
    "rest": "muted",
}  # fmt: skip


def time(model: ModelState, state: ProfilingState) -> Content:
    """Medians and quartiles, fitted power laws, and the FLOPs at the rate that fits best; FLOPs alone before."""
    seen = sweep(model, state)
    if seen is None:
        return lines.content([], about=NOTHING)
    drawn: list[Line] = []
    for way in seen.blocks:
        drawn += _measured(seen, way)
    unit = "time of a call, ms"
    if not any(seen.timed(way) for way in seen.blocks):
        unit = "FLOPs of a forward pass, in millions"
        drawn = [Line("closed form", seen.lengths, [f / 1e6 for f in seen.flops], "muted", "dashed")]
    elif scaled := seen.scaled():
        drawn.append(Line(f"FLOPs, n^{seen.theory:.2f}", seen.lengths, scaled, "muted", "thin"))
    crossings = sorted(Shares(seen.of).crossings.items(), key=lambda crossing: crossing[1])
    names = [", ".join(f"{name} {look.count(round(n))}" for name, n in crossings), ""]  # apart they would overlap
    marks = {name: n for name, (_, n) in zip(names, crossings, strict=False)}
    return lines.content([Chart(LENGTH, unit, drawn, "log2", "log10", marks=marks)], about=seen.sentence)


def _measured(seen: Sweep, way: str) -> list[Line]:
    """Its medians, the span of its quartiles at each length, and its fitted law."""
    if not seen.timed(way):
        return []
    load = ", under load" * any(blocks.under_load for blocks in seen.blocks[way])
    found = [Line(f"{way}{load}", seen.lengths, seen.milliseconds(way), COLOUR[way], "dots")]
    x, y = _spans(seen.lengths, seen.blocks[way])
    found.append(Line("", x, y, COLOUR[way], "thin"))
    if way in seen.fits:
        exponent = seen.fits[way].exponent.middle
        found.append(Line(f"fitted n^{exponent:.2f}", seen.lengths, seen.fitted(way), COLOUR[way], "dashed"))
    return found


def _spans(lengths: Sequence[int], blocks: Sequence[Blocks]) -> tuple[list[float], list[float]]:
    """Upright strokes: from the lower to the upper quartile at each length, then a gap."""
    x: list[float] = []
    y: list[float] = []
    for length, found in zip(lengths, blocks, strict=True):
        low, high = found.quartiles
        x += [length, length, math.nan]
        y += [low * 1e3, high * 1e3, math.nan]
    return x, y


def memory(model: ModelState, state: ProfilingState) -> Content:
    """Predicted and measured peaks, and the attention weights apart."""
    seen = peaks(model, state)
    if seen is None:
        return lines.content([], about=NOTHING)
    drawn: list[Line] = []
    for way in seen.ways:
        measured = seen.measured(way)
        if ALLOCATED in measured:
            drawn.append(Line(way, seen.lengths, _mebi(measured[ALLOCATED]), COLOUR[way], "dots"))
        name = "predicted" if ALLOCATED in measured else f"{way}, predicted"
        drawn.append(Line(name, seen.lengths, _mebi(seen.predicted(way)), COLOUR[way], "dashed"))
        if SYSTEM in measured:
            drawn.append(Line("system", seen.lengths, _mebi(measured[SYSTEM]), COLOUR[way], "thin"))
    if seen.weights:
        drawn.append(Line("attention weights", seen.lengths, _mebi(seen.weights), "muted", "thin"))
    return lines.content([Chart(LENGTH, "MiB at the peak", drawn, "log2", "log10")], about=seen.sentence)


def _mebi(counts: Sequence[float]) -> list[float]:
    return [count / 2**20 for count in counts]


def parts(model: ModelState, state: ProfilingState) -> Content:
    """FLOPs and, if it was measured, time by part."""
    seen = shares(model, state)
    if seen is None:
        return lines.content([], about=NOTHING)
    marks = {name: {f"{name} {look.count(round(n))}": n} for name, n in seen.crossings.items()}
    flops = {name: [count / 1e6 for count in counts] for name, counts in seen.flops.items()}
    charts = [_by_part(flops, seen.lengths, "FLOPs by part, in millions", marks.get("predicted", {}))]
    if seen.milliseconds:
        unit = f"time by part, ms{', under load' * any(one.parts_under_load for one in seen.of.rows)}"
        charts.append(_by_part(seen.milliseconds, seen.lengths, unit, marks.get("measured", {})))
    return lines.content(charts, about=seen.sentence)


def _by_part(
    values: Mapping[str, Sequence[float]], lengths: Sequence[int], unit: str, marks: Mapping[str, float]
) -> Chart:
    drawn = [
        Line(name, lengths, found, PART.get(name, f"head {i % 8 + 1}"))
        for i, (name, found) in enumerate(values.items())
    ]
    return Chart(LENGTH, unit, drawn, "log2", "log10", marks=marks)
