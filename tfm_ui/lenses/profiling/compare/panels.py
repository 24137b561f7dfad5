"""The view "compare": configurations as rows, their costs beside each other."""

from functools import partial

from streamlit.delta_generator import DeltaGenerator

from tfm_core.profiling import TARGETS, Size, costs, files, profile, statistics
from tfm_ui.lenses.profiling import row_controls
from tfm_ui.lenses.profiling.compare.parameters import ParametersAndCost
from tfm_ui.lenses.profiling.compare.ratios import Ratios
from tfm_ui.lenses.profiling.compare.table import CostTable
from tfm_ui.lenses.profiling.compare.table_columns import columns
from tfm_ui.lenses.profiling.compare.times import Times
from tfm_ui.lenses.profiling.comparison import Comparison, line_of
from tfm_ui.lenses.profiling.plan import kind_of, rows_of, setup_of, why_no_row
from tfm_ui.lenses.profiling.shown import comparison_of
from tfm_ui.lenses.profiling.sizes import sizes_of
from tfm_ui.lenses.profiling.state import PREFIX, SIZES, ProfilingState
from tfm_ui.page import controls, controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Note, OpenTable, Panel
from tfm_ui.state.lists import names
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.markdown import escape_markdown

JSON = "application/json"
WRITE = "Write a configuration behind “Configurations”: d_model, heads, layers, length."


def blocks(model: ModelState, state: ProfilingState) -> list[Block]:
    """The table; every run if it was measured, the ratios, and parameters beside time."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return [Note(why_no_row(model, state, WRITE), icon=":material/edit:")]
    every_run = [_times(comparison)] if comparison.report else []
    return [
        _table(comparison),
        Note(comparison.kind, "plain"),
        *every_run,
        _ratios(comparison),
        _parameters(comparison),
    ]


def _table(comparison: Comparison) -> Panel:
    report, result = comparison.report, CostTable(comparison)
    return Panel(
        key="profiling_table",
        title="What each configuration costs",
        how_to_read="Click a column’s head to sort. Times: medians over rounds; memory beyond weights and input.",
        shape=comparison.setting,
        result=result,
        open_table=OpenTable(columns(result.table(), comparison)),
        files={"JSON": ("every block, and where", partial(files.as_json, report), JSON)} if report else {},
        sources=[costs.parameters, costs.flops, costs.peak_memory, files.table, profile],
    )


def _times(comparison: Comparison) -> Panel:
    return Panel(
        key="profiling_times",
        title="Every run",
        how_to_read="A dot per round; box: the middle half of them, bar: the median, triangle: the minimum. "
        "Rounds are interleaved, so that drift hits all rows alike.",
        picture="profiling_times",
        result=Times(comparison),
        sources=[profile],
    )


def _ratios(comparison: Comparison) -> Panel:
    return Panel(
        key="profiling_ratios",
        title="Paired ratios",
        how_to_read="A dot per round: a row’s time over the chosen row’s in the same round. Bar: the median; box: "
        "its interval; where that straddles 1, no difference can be told.",
        picture="profiling_ratios" if comparison.report else "",
        result=Ratios(comparison),
        sources=[statistics.ratio, statistics.median_interval, statistics.verdict],
    )


def _parameters(comparison: Comparison) -> Panel:
    result = ParametersAndCost(comparison)
    return Panel(
        key="profiling_parameters",
        title=f"Parameters and {'time' if comparison.report else 'operations'}",
        how_to_read=result.how_to_read,
        picture="profiling_parameters",
        result=result,
        sources=[costs.parameters, costs.flops],
    )


def draw_controls(model: ModelState) -> ProfilingState:
    """The configurations and what they are measured with, behind a button; the row of the ratios; and the button."""
    line = controls_line.row("line_profiling")
    menu = controls_line.more(line, "Configurations").container()
    state = _configurations(model, menu)
    _targets(model, menu.container(horizontal=True, gap="small", key="profiling_targets"), state)
    row_controls.draw(model, line, "baseline")
    return row_controls.with_button(model, row_controls.how_it_is_measured(model, line))


def _configurations(model: ModelState, where: DeltaGenerator) -> ProfilingState:
    state = row_controls.draw(model, where, "sizes", "batch")
    for problem in rows_of(model, state)[1]:
        where.caption(escape_markdown(problem))
    of_sidebar = line_of(
        Size(
            d_model=model.d_model,
            num_heads=model.num_heads,
            num_layers=model.num_layers,
            seq_len=model.length,
            d_ff=model.d_ff,
        )
    )
    where.button(
        "Add the sidebar’s model",
        icon=":material/add:",
        on_click=controls.change,
        args=(PREFIX,),
        kwargs={"sizes": f"{state.sizes.rstrip()}\n{of_sidebar}".lstrip()},
        help=f"Adds a line: {of_sidebar}.",
        type="tertiary",
        key="_profiling_add",
    )
    return state


def _targets(model: ModelState, where: DeltaGenerator, state: ProfilingState) -> None:
    """A button for each that can run here, pressed or not; the last one stays. What cannot be of this kind says why."""
    chosen, setup = names(state.targets), setup_of(state)
    sizes, _ = sizes_of(SIZES, state.batch, kind_of(model, state))
    for number, (name, target) in enumerate(TARGETS.items()):
        if name not in chosen and target.refuses(setup):
            continue
        lacks = target.lacks(sizes[0]) if sizes else ""
        rest = [other for other in chosen if other != name]
        wanted = rest if name in chosen and rest else list(dict.fromkeys([*chosen, name]))
        where.button(
            name,
            icon=":material/check:" if name in chosen else None,
            type="primary" if name in chosen else "secondary",
            help=lacks or target.about,
            disabled=bool(lacks) and name not in chosen,
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"targets": ",".join(wanted)},
            key=f"_target_{number}",
        )


VIEW = View(title="Configurations", blocks=blocks, controls=draw_controls)
