"""The pictures of the view "output", as functions of the link."""

from typing import Any

import numpy as np

from tfm_ui.lenses.model.machine import config_of
from tfm_ui.lenses.model.output.lens import AtToken, layer_by_layer
from tfm_ui.lenses.model.output.norm import final_norm
from tfm_ui.lenses.model.output.numbers import Likeliest, likeliest
from tfm_ui.lenses.model.output.tied import tied_and_untied
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live import passes
from tfm_ui.pictures import chart, knobs, lines, maps, pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.figures import INK, SMALL, axis_title, colour_of, plain
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.pictures.rows import End, Name, in_rows
from tfm_ui.state.fields import Number, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats

BAR, PAIR = 34, 40  # the height of a row with one bar and with two, in pixels
SHIFT = 0.2  # from the middle of a pair to the middle of a bar, in rows


def likeliest_tokens(model: ModelState, state: ModelLensState) -> Content:
    """A bar per token at the chosen temperature; at any other than 1, a bar at temperature 1 below it."""
    shown = likeliest(model, state)
    alone = shown.temperature == 1
    rows, shift = np.arange(len(shown.ids)), 0.0 if alone else SHIFT
    divided = "" if alone else f" / {shown.temperature:g}"
    says = [
        f"{formats.number(logit)}{divided} → {formats.percent(share, 3)}"
        for logit, share in zip(shown.logits.tolist(), shown.shares.tolist(), strict=True)
    ]
    below = [formats.percent(share, 3) for share in shown.plain.tolist()]
    shares = shown.shares.numpy()
    bars = [_bars(f"temperature {shown.temperature:g}", "result", shares, rows - shift, shown, says, alone)]
    ends = [End(text, row - shift, share, size=SMALL) for text, row, share in zip(says, rows, shares, strict=True)]
    if not alone:
        plain_shares = shown.plain.numpy()
        bars.append(_bars("temperature 1", "muted", plain_shares, rows + shift, shown, below, alone))
        ends += [
            End(text, row + shift, share, size=SMALL)
            for text, row, share in zip(below, rows, plain_shares, strict=True)
        ]
    return chart.content(
        in_rows(
            bars,
            names=[Name(plain(name), row) for row, name in enumerate(shown.names)],
            ends=ends,
            last=len(rows) - 1,
            pixels=BAR if alone else PAIR,
            rows="next token",
            axis=_axis(shown),
            shapes=[_even(shown)],
        ),
        about=shown.sentence(),
    )


def _bars(
    name: str, role: str, shares: Any, heights: Any, shown: Likeliest, says: list[str], alone: bool
) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": name,
        "orientation": "h",
        "y": heights,
        "x": np.asarray(shares, np.float64),
        "width": 0.6 if alone else 2 * SHIFT - 0.04,
        "marker": {"color": colour_of(role)},
        "customdata": [f"{plain(token)}, {name}: {text}" for token, text in zip(shown.names, says, strict=True)],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _axis(shown: Likeliest) -> dict[str, Any]:
    full = max(float(shown.shares.max()), float(shown.plain.max()), shown.even)
    title = f"probability; dotted: an even share of {formats.percent(shown.even)}"
    ticks = ".0%" if full > 0.1 else ".1%" if full > 0.01 else ".2%"
    return {"title": axis_title(title), "range": [0, full], "tickformat": ticks}


def _even(shown: Likeliest) -> dict[str, Any]:
    """The dotted line of an even share."""
    upright = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": shown.even, "x1": shown.even}
    return upright | {"line": {"color": INK, "width": 2, "dash": "dot"}}


def lens_map(model: ModelState, state: ModelLensState) -> Content:
    """The probability, after each layer, of the token that is likeliest at last."""
    shown = layer_by_layer(model, state)
    values = 100 * shown.read.final_shares
    places = [max(number, 1) for number in range(len(values))]
    return maps.content(
        [
            Map(
                name="probability of the finally likeliest token",
                values=values,
                scale=from_zero(float(values.max())),
                unit="% for the finally likeliest",
            )
        ],
        rows=Axis(shown.read.places, "read out after", "after"),
        columns=Axis(shown.out.names, "position", "position"),
        asks=(f"{PREFIX}layer", f"{PREFIX}token"),
        places=(places, list(range(1, len(shown.out.names) + 1))),
        square=False,
        about=shown.sentence(),
    )


def lens_at_token(model: ModelState, state: ModelLensState) -> Content:
    """The likeliest token after each layer, by name, beside the finally likeliest."""
    shown = AtToken(layer_by_layer(model, state))
    named = [f"{place}: {name}" for place, name in zip(shown.whole.read.places, shown.names, strict=True)]
    return pairs.content(
        named,
        ("likeliest after this layer", f"finally likeliest, {shown.names[-1]}"),
        shown.shares,
        roles=("result", "muted"),
        rows="read out after",
        about=shown.sentence(),
    )


def norm_lengths(model: ModelState, state: ModelLensState) -> Content:
    """The length of each position's vector before and after the final norm."""
    shown = final_norm(model, state)
    positions = list(range(1, len(shown.out.names) + 1))
    before, after = (length.tolist() for length in shown.lengths)
    drawn = [Line("after the last layer", positions, before, "query")]
    if shown.norm is not None:
        drawn.append(Line("after the final norm", positions, after, "result"))
    chosen = {f"“{shown.out.names[shown.token]}”": float(shown.token + 1)}
    return lines.content([Chart("position", "length ‖x‖", drawn, reach=[0], marks=chosen)], about=shown.sentence())


def itself(model: ModelState, state: ModelLensState) -> Content:
    """The probability of the token that stands at each position, tied and untied."""
    shown = tied_and_untied(model, state)
    positions = list(range(1, len(shown.out.names) + 1))
    tied, untied = (side.shares.tolist() for side in shown.sides.values())
    even = [1 / shown.out.vocab] * len(positions)
    drawn = [
        Line("tied", positions, tied, "result"),
        Line("untied", positions, untied, "key"),
        Line("even share", positions, even, "muted", "dashed"),
    ]
    chosen = {f"“{shown.out.names[shown.token]}”": float(shown.token + 1)}
    return lines.content(
        [Chart("position", "probability of the token itself", drawn, y_scale="log10", marks=chosen)],
        about=shown.sentence(),
        gap="under the smallest number",
    )


def knob(model: ModelState, state: ModelLensState) -> Content:
    """The temperature's slider, which moves the pictures while it is dragged."""
    field, _ = controls_of(ModelLensState)["temperature"]
    assert isinstance(field, Number)
    slider = Knob(field.label, f"{PREFIX}temperature", state.temperature, field.low, field.high, digits=field.digits)
    return knobs.content([slider])


def lens_needs(model: ModelState, state: ModelLensState) -> int:
    """The logits after the embedding and each layer, their shares, and the ranks, which are counted a few at a time."""
    tables = 2 * (model.num_layers + 1) + 5
    config = config_of(model, state)
    return passes.needs(model) + NUMBER * tables * model.longest * config.vocab_size


PICTURES = {
    "model_output": Picture(CHART, likeliest_tokens),
    "model_output_lens": Picture(MAPS, lens_map, needs=lens_needs),
    "model_output_at": Picture(CHART, lens_at_token, needs=lens_needs),
    "model_output_norm": Picture(CHART, norm_lengths),
    "model_output_tied": Picture(CHART, itself),
    "model_output_knobs": Picture(KNOBS, knob),
}
