"""The cards of Home: a live picture for each lens, all but that of Training of the sidebar's model."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray

from tfm_core import STORE
from tfm_core.training.config import of_task
from tfm_core.training.examples import EVALUATED, FINAL
from tfm_ui.lenses.heads.panels import GRID, MAP, Head, Heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live import passes, places, tables, windows
from tfm_ui.live.memory import little
from tfm_ui.page import controls, frame
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures import bars, lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, around_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

PARTS = {  # part of the model -> signs of it in the names of its modules
    "embedding": ("embedding", "token_types"),
    "positions": ("positional",),
    "attention": ("attention",),
    "feed-forward": ("feed_forward",),
}
REST = "norms and the rest"
LEARNED = of_task("reverse")  # the run that the Training lens opens on; it comes with the app


def home_heads(model: ModelState, state: LensState) -> Content:
    """The grid of all heads, none of them locked."""
    header, maps = Heads.content(model, HeadsState())
    return {**header, "picked": None}, maps


def home_attention(model: ModelState, state: LensState) -> Content:
    """The first head, exact."""
    return Head.content(model, HeadsState())


def home_positions(model: ModelState, state: LensState) -> Content:
    """What the model's positional scheme adds or turns, at each position."""
    name, column, values = positions(model)
    part = windows.part_of(windows.WHOLE, *values.shape)
    scale = around_zero(float(np.abs(values).max()))
    return maps.content(
        [Map(name=name, values=windows.pooled(tables.matrix(values), part), scale=scale, unit="value")],
        rows=Axis(part.row_names(), "position", "position", counted=True),
        columns=Axis(part.column_names(), column, column, counted=True),
        about=name,
        square=False,
        part=part,
        counted_from=0,
    )


def positions(model: ModelState) -> tuple[str, str, NDArray[np.float32]]:
    """What the model's own scheme does: the vectors that it adds, a vector that it turns, or the bias of head 1.

    Returns:
        what is shown; what a column is; the values, float32 (position, column).
    """
    scheme = passes.scheme(model, places.kind_of(model, "encoder"))
    assert scheme is not None  # only cross-attention has none
    length, name = model.length, model.positional
    with torch.no_grad():
        if (added := scheme.encode(length)) is not None:
            return f"{name}: added to each token", "dimension", added.numpy()
        ones = torch.ones(1, 1, length, model.config.head_dim)
        if (turned := scheme.rotate(ones)) is not None:
            return f"{name}: a vector of ones, turned", "dimension", turned[0, 0].numpy()
        if (bias := scheme.bias(length, length)) is not None:
            return f"{name}: added to the scores of head 1", "key", bias[0].numpy()
    return f"{name}: nothing is added", "dimension", np.zeros((length, model.d_model), np.float32)


def home_masks(model: ModelState, state: LensState) -> Content:
    """Who may see whom in the model's first attention."""
    heads = Heads(model, HeadsState())
    visible = heads.attention.visible
    kept = f"{formats.count(int(visible.sum()))} of {formats.count(visible.size)} pairs kept"
    part = windows.part_of(windows.WHOLE, *visible.shape)
    values = np.where(visible, np.float32(1), MASKED)
    exact = part.exact
    return maps.content(
        [Map(name="Mask", values=windows.pooled(tables.matrix(values), part), scale=SHARES, unit=kept, ticks=True)],
        rows=Axis(heads.queries if exact else part.row_names(), "query (row): looks", "query", "query"),
        columns=Axis(heads.keys if exact else part.column_names(), "key (column): is looked at", "key", "key"),
        about=kept,
        part=None if exact else part,
    )


def home_profiling(model: ModelState, state: LensState) -> Content:
    """Where the parameters are."""
    counts = parameters_by_part(model)
    total = sum(counts.values())
    values, about = [formats.count(count) for count in counts.values()], f"{formats.count(total)} parameters."
    shares = [count / total for count in counts.values()]
    return bars.content(list(counts), shares, values=values, about=about, rows="part")


def parameters_by_part(model: ModelState) -> dict[str, int]:
    """Part of the model -> how many parameters it has; parts without a parameter are left out."""
    counts = dict.fromkeys([*PARTS, REST], 0)
    for name, parameter in passes.transformer(model.config).named_parameters():
        counts[_part_of(name)] += parameter.numel()
    return {part: count for part, count in counts.items() if count}


def _part_of(name: str) -> str:
    *modules, _ = name.split(".")
    if any("norm" in module for module in modules):
        return REST
    known = ((part, sign) for part, signs in PARTS.items() for sign in signs)
    return next((part for part, sign in known if any(sign in module for module in modules)), REST)


def home_training(model: ModelState, state: LensState) -> Content:
    """How the answers became right of a model that comes with the app, whatever the sidebar's model is."""
    run = STORE.find(LEARNED)
    assert run is not None  # shipped
    first, last = run.points[0], run.points[-1]
    accuracies = [point.accuracy for point in run.points]
    shares = Line("right answers", [point.step for point in run.points], accuracies, "ink")
    about = (
        f"Trained on “{LEARNED.task}”, not the model in the sidebar: before training "
        f"{formats.percent(first.accuracy)} of the answers to {formats.count(EVALUATED)} held-out examples are right, "
        f"after {formats.count(last.step)} steps {formats.percent(last.accuracy)} of those to {formats.count(FINAL)}."
    )
    chart = Chart("step of training", f"right answers, trained on “{LEARNED.task}”", [shares], reach=(0, 1))
    return lines.content([chart], about=about)


CARDS = {  # lens -> what one understands there, and its picture
    "heads": (
        "Where does each head look? A click opens it.",
        Picture(GRID, home_heads, needs=passes.needs, works_on_weights_alone=True),
    ),
    "attention": ("How does one head get its numbers?", Picture(MAP, home_attention, needs=passes.needs)),
    "positions": ("How does it know where a word stands?", Picture(MAPS, home_positions, needs=passes.needs)),
    "masks": ("Which words may see which?", Picture(MAPS, home_masks, needs=passes.needs)),
    "profiling": ("How many parameters does each part have?", Picture(CHART, home_profiling, needs=passes.needs)),
    "training": (
        f"A small model was trained on “{LEARNED.task}”: when did its answers become right?",
        Picture(CHART, home_training, uses_model=False, needs=little),
    ),
}
PICTURES = {f"home_{lens}": picture for lens, (_, picture) in CARDS.items()}


def card(lens: str) -> Callable[[ModelState, LensState], Callable[[], None]]:
    """The block of a lens's card: what leads to the lens, and a picture."""
    return lambda model, state: partial(_draw, lens, model, state)


def _draw(lens: str, model: ModelState, state: LensState) -> None:
    with st.container(border=True, key=f"card_{lens}"):
        icon = ":material/arrow_forward:"
        st.page_link(frame.page_of(lens), label=lens.capitalize(), icon=icon, icon_position="right")
        st.html(f'<p class="note">{CARDS[lens][0]}</p>')
        if reason := CARDS[lens][1].why_not_drawn(model):
            st.html(f'<p class="note">{reason}</p>')
            return
        clicked = Drawing(f"home_{lens}", ((model, ""), (state, "home_"))).draw(f"home_{lens}")
        if clicked and lens == "heads":
            layer, head = clicked
            query = controls.open_with("heads_", layer=layer + 1, head=head + 1)
            st.switch_page(frame.page_of("heads"), query_params=query)
