"""The pictures of the view "compare": a row for each network, and one layer beside two."""

import math
from statistics import median
from typing import Literal

from tfm_core.training.comparison import Entry
from tfm_ui.lenses.training.compare.layers import Layers
from tfm_ui.lenses.training.compare.measures import MEASURES, NEVER
from tfm_ui.lenses.training.compare.numbers import Ranked
from tfm_ui.lenses.training.outcomes import comparison_of, is_recurrent
from tfm_ui.lenses.training.picture import picture
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.pictures import strips
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.strips import Group, Strip
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NOTHING = strips.content([], {}, axis="", unit="", about="Nothing of it is computed yet.")
KINDS = {False: "transformer", True: "recurrent network"}
GROUPS = {"transformer": Group("head 1"), "recurrent network": Group("head 2", hollow=True)}
LAYERS = (Group("head 3", hollow=True), Group("head 1"))


def compare(model: ModelState, state: TrainingState) -> Content:
    """Every seed of every network, the best on top."""
    comparison = comparison_of(state.task)
    return ranked(Ranked(comparison, MEASURES[state.measure])) if comparison else NOTHING


def ranked(result: Ranked) -> Content:
    """A strip for each network."""
    measure = result.measure
    drawn = [_strip(result, entry) for entry in result.entries]
    is_share = measure.is_share
    dots = [dot for strip in drawn for dot in strip.dots if dot > 0]
    spread: Literal["linear", "log10"] = "log10" if not is_share and dots and max(dots) > 5 * min(dots) else "linear"
    guessing = ("same answer always", result.comparison.guessing[0]) if measure.field == "accuracy" else None
    return strips.content(
        drawn,
        {name: group for name, group in GROUPS.items() if any(strip.group == name for strip in drawn)},
        axis=measure.axis,
        unit="",
        about=result.sentence(),
        scale=spread,
        line=guessing,
        each=("seed", 0),
    )


def _strip(result: Ranked, entry: Entry) -> Strip:
    measure = result.measure
    values = {
        outcome.seed: value
        for outcome, value in zip(entry.outcomes, measure.values(entry), strict=True)
        if math.isfinite(value)
    }
    middle = measure.of(entry)
    is_whole = math.isfinite(middle)
    # The legend tells transformers from the others: in a lecture hall there is room for short names alone.
    short = result.name(entry).removeprefix("transformer · ")
    name = f"{short} ({formats.count(entry.parameters)})"
    (end,) = measure.write(middle)
    each = ", ".join(measure.said(*measure.values(entry)))
    return Strip(
        name=name,
        detail="",
        group=KINDS[is_recurrent(entry)],
        dots=list(values.values()),
        rounds=list(values),
        low=min(values.values()) if is_whole else math.nan,
        middle=middle if is_whole else math.nan,
        high=max(values.values()) if is_whole else math.nan,
        end=f"{end}{_mark(result, entry)}" if is_whole else NEVER,
        said=f"{name}\nd_model {entry.config.d_model}, learning rate {entry.config.learning_rate:g}\n{each}",
    )


def _mark(result: Ranked, entry: Entry) -> str:
    """Who is ahead is the best; where several may be, they are level."""
    if entry not in result.level:
        return ""
    return ", best" if len(result.level) == 1 else ", level"


def layers(model: ModelState, state: TrainingState) -> Content:
    """One layer beside two."""
    comparison = comparison_of(state.task)
    result = Layers(comparison) if comparison else None
    return layered(result) if result and result.entries else NOTHING


def layered(result: Layers) -> Content:
    """Two strips for each thing that was measured."""
    groups = {result.layers(entry): group for entry, group in zip(result.entries, LAYERS, strict=True)}
    drawn = [
        _layer_strip(result, entry, number, name)
        for number, name in enumerate(result.measured)
        for entry in result.entries
    ]
    return strips.content(
        drawn,
        groups,
        axis="share right; weight of the best head",
        unit="",
        about=result.sentence(),
        each=("seed", 0),
    )


def _layer_strip(result: Layers, entry: Entry, number: int, name: str) -> Strip:
    values = result.values(entry, number)
    middle = median(values)
    end = formats.weight(middle) if number else formats.percent(middle)
    return Strip(
        name=name,
        detail="",
        group=result.layers(entry),
        dots=values,
        rounds=[outcome.seed for outcome in entry.outcomes],
        low=min(values),
        middle=middle,
        high=max(values),
        end=end,
        said=f"{name}, {result.layers(entry)}: {', '.join(formats.weights(*values))}",
    )


PICTURES = {"training_compare": picture(CHART, compare), "training_layers": picture(CHART, layers)}
