"""The pictures of the view "kept", as functions of the link."""

from tfm_ui.lenses.generate.courses import why_not_write
from tfm_ui.lenses.generate.forced import MOST_STEPS
from tfm_ui.lenses.generate.kept import canvas
from tfm_ui.lenses.generate.kept.canvas import KEPT
from tfm_ui.lenses.generate.kept.costs import Costs, costs
from tfm_ui.lenses.generate.kept.measured import facts
from tfm_ui.lenses.generate.kept.numbers import kept
from tfm_ui.lenses.generate.kept.same import same
from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.pictures import knobs, lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState

WITH, WITHOUT = "with the cache", "without it"
MIB, TOKENS = 2**20, "tokens of the text"


def stored(model: ModelState, state: GenerateState) -> Content:
    """Keys and values, row by row."""
    if reason := why_not_write(model):
        return canvas.nothing(reason)
    return canvas.content(kept(model, state))


def differences(model: ModelState, state: GenerateState) -> Content:
    """The largest difference of a logit at each step, and what rounding stays below."""
    if reason := why_not_write(model):
        return lines.content([], about=reason)
    shown = same(model, state)
    x = [step.number + 1 for step in shown.whole]
    drawn = [
        Line("largest difference of a logit", x, [step.difference for step in shown.whole], "result"),
        Line("rounding stays below", x, [shown.bound] * len(x), "muted", "dashed"),
    ]
    return lines.content(
        [Chart("step", "largest difference of a logit", drawn if x else [], y_scale="log10")],
        about=shown.sentence(),
        gap="equal to the last digit",
    )


def prices(model: ModelState, state: GenerateState) -> Content:
    """Operations, speed and bytes over the length of the text."""
    if reason := why_not_write(model):
        return lines.content([], about=reason)
    shown = costs(model, state)
    x = shown.lengths
    flops = [
        Line(WITH, x, [shown.flops(length, cached=True) / 1e6 for length in x], "result"),
        Line(WITHOUT, x, [shown.flops(length, cached=False) / 1e6 for length in x], "key"),
    ]
    held = [
        Line("cache, by formula", x, [shown.stored(length) / MIB for length in x], "result"),
        Line("pass without it, estimated", x, [shown.peak(length) / MIB for length in x], "key", "dashed"),
    ]
    header, numbers = lines.content(
        [
            Chart(TOKENS, "MFLOP for one more token", flops, x_scale="log2", y_scale="log10"),
            *_speed(shown),
            Chart(TOKENS, "MiB in memory", [*held, *_bytes(shown)], x_scale="log2", y_scale="log10"),
        ],
        about=shown.sentence(),
        gap="not measured",
    )
    return {**header, "foot": facts(shown.report) if shown.report else ""}, numbers


def _speed(shown: Costs) -> list[Chart]:
    if not shown.rows:
        return []
    x = [row.length for row in shown.rows]
    both = [
        Line(WITH, x, [1 / row.cached.median for row in shown.rows], "result"),
        Line(WITHOUT, x, [1 / row.whole.median for row in shown.rows], "key"),
    ]
    return [Chart(TOKENS, "tokens a second, measured", both, x_scale="log2", y_scale="log10")]


def _bytes(shown: Costs) -> list[Line]:
    x = [row.length for row in shown.rows]
    cache = [row.stored / MIB for row in shown.rows]
    whole = [float("nan") if row.whole_peak is None else row.whole_peak / MIB for row in shown.rows]
    measured = [Line("cache, measured", x, cache, "result", "dots"), Line("pass, measured", x, whole, "key", "dots")]
    return measured if x else []


def knob(model: ModelState, state: GenerateState) -> Content:
    """How many tokens are written: its slider moves the picture while it is dragged."""
    stops = [*range(1, 20), *range(20, MOST_STEPS + 1, 10)]
    return knobs.content([Knob("Tokens", f"{PREFIX}steps", state.steps, 1, MOST_STEPS, stops=stops)])


PICTURES = {
    "generate_kept": Picture(KEPT, stored),
    "generate_kept_same": Picture(CHART, differences),
    "generate_kept_costs": Picture(CHART, prices, ignores=frozenset({"seed"})),
    "generate_kept_knobs": Picture(KNOBS, knob),
}
