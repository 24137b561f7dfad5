"""The pictures of the view "diagram", as functions of the link."""

from dataclasses import replace
from typing import Any

import numpy as np

from tfm_ui.lenses.model.diagram.canvas import DIAGRAM
from tfm_ui.lenses.model.diagram.flow import flow
from tfm_ui.lenses.model.diagram.numbers import Machine, machine
from tfm_ui.lenses.model.diagram.path import path
from tfm_ui.lenses.model.diagram.rows import COLUMNS, as_header
from tfm_ui.lenses.model.diagram.shapes import THIS
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.tables import SIDE, matrix
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def diagram(model: ModelState, state: ModelLensState) -> Content:
    """The machine, block by block."""
    return drawn(machine(model, state))


def drawn(machine: Machine) -> Content:
    """What diagram.js draws. For a live model, a last column follows one token through the stack that is looked at."""
    norm = f"{machine.shown.config.norm}-norm"
    stacks: list[dict[str, Any]] = [
        {
            "title": f"{machine.called(stack).capitalize()}, {norm}",
            "rows": [as_header(row) for row in machine.rows_of(stack)],
        }
        for stack in machine.counts
    ]
    columns = list(COLUMNS)
    if machine.shown.live:
        way = path(machine)
        columns.append(f"“{way.names[way.token]}”")
        cells = way.cells()
        for row in (row for stack in stacks for row in stack["rows"]):
            row["cells"] += [("", "")] * (len(COLUMNS) - len(row["cells"])) + [cells.get(row["name"], ("", ""))]
    return {"stacks": stacks, "columns": columns, "about": machine.sentence()}, np.zeros(0, np.float32)


def _live(model: ModelState, state: ModelLensState) -> Machine:
    """The sidebar's model: a shape that is only counted has no tensors, and its page no such picture."""
    return machine(model, replace(state, shape=THIS))


def ends(model: ModelState, state: ModelLensState) -> Content:
    """What flows in and out of the picked block; of the logits what flows in, as they are in the view "output"."""
    drawn = _live(model, state)
    shown = flow(drawn)
    width = drawn.shown.config.d_model
    tables = {end: values for end, values in shown.ends.items() if values.shape[-1] == width}
    part = part_of(state.flow_part, len(shown.names), width, SIDE)
    whole = part.exact and (part.rows, part.columns) == (part.height, part.width)
    top = max(float(values.nan_to_num().abs().max()) for values in tables.values())
    return maps.content(
        [
            Map(name=end, values=pooled(matrix(values), part), scale=around_zero(top), unit="one scale")
            for end, values in tables.items()
        ],
        rows=Axis(part.row_names(shown.names), "token", "token"),
        columns=Axis(
            part.column_names([str(i + 1) for i in range(width)]), "dimension of d_model", "dimension", counted=whole
        ),
        about=shown.sentence(),
        square=False,
        part=None if whole else part,
        zooms=PREFIX + "flow_part",
        counted_from=1,
    )


def way(model: ModelState, state: ModelLensState) -> Content:
    """The length of one token's vector after each block; its turns are in the diagram, as a second chart is slow."""
    shown = path(_live(model, state))
    places = list(range(len(shown.places)))
    firsts = {name.split()[-1]: at for at, name in reversed(list(enumerate(shown.places))) if name[-1].isdigit()}
    says = [
        f"{formats.number(length)}, after “{name}”"
        for length, name in zip(shown.lengths.tolist(), shown.places, strict=True)
    ]
    line = Line("length", places, shown.lengths.tolist(), "query", says=says)
    marks = {f"layer {layer}": at for layer, at in sorted(firsts.items(), key=lambda item: item[1])}
    chart = Chart("block, from the embedding (0) on", "length ‖x‖", [line], reach=(0,), marks=marks)
    return lines.content([chart], about=shown.sentence())


PICTURES = {
    "model_diagram": Picture(DIAGRAM, diagram),
    "model_flow": Picture(MAPS, ends),
    "model_path": Picture(CHART, way),
}
