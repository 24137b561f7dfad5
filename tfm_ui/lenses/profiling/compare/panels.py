"""The view "compare": configurations as rows, their costs beside each other."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_core.profiling import TARGETS, Size, costs, files, profile, statistics
from tfm_ui.lenses.profiling import measure
from tfm_ui.lenses.profiling.asked import nothing
from tfm_ui.lenses.profiling.boxes import boxes, how, kind, states
from tfm_ui.lenses.profiling.compare import parameters as compare_parameters
from tfm_ui.lenses.profiling.compare import ratios as compare_ratios
from tfm_ui.lenses.profiling.compare import table as compare_table
from tfm_ui.lenses.profiling.compare import times as compare_times
from tfm_ui.lenses.profiling.compare.columns import columns
from tfm_ui.lenses.profiling.compare.numbers import Compared, compared, recipe
from tfm_ui.lenses.profiling.state import (
    PREFIX,
    SIZES,
    ProfilingState,
    kind_of,
    line_of,
    plan_of,
    rows_of,
    setup_of,
    sizes_of,
)
from tfm_ui.page import controls, controls_line, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.lists import names
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.plain import plain

JSON = "application/json"
WRITE = "Write a configuration on the left: d_model, heads, layers, length."


def draw(model: ModelState) -> None:
    """What is asked for on the left, the table on the right; below, the runs, the ratios, parameters beside time."""
    chips = st.container(horizontal=True, gap="small", vertical_alignment="center", key="profiling_targets")
    asked, shown = st.columns([3, 8])
    with asked:
        state = _configurations(model, chips)
        measure.bar(plan_of(model, state), state.run)
    # They are there also when they are empty: else what follows would be mounted anew.
    runs, below = st.container(key="profiling_runs"), st.container(key="profiling_below")
    seen = compared(model, state)
    if seen is None:
        shown.info(nothing(model, state, WRITE), icon=":material/edit:")
        return
    with shown:
        kind(seen.plan)
        _table(seen)
    if seen.report:
        left, right = runs.columns(2)
        with right:
            state = _ratios(model)
        with left:
            _times(model, state, seen)
    else:  # its control is part of the link, so it is there before there are ratios
        with runs:
            _ratios(model)
    with below:
        _parameters(model, state, seen)


def _configurations(model: ModelState, chips: DeltaGenerator) -> ProfilingState:
    how(model, chips, "batch")
    where = st.container(key="profiling_asked")
    state = boxes(model, where, "sizes")
    for problem in rows_of(model, state)[1]:
        where.caption(plain(problem))
    own = Size(
        d_model=model.d_model,
        num_heads=model.num_heads,
        num_layers=model.num_layers,
        seq_len=model.seq_len,
        d_ff=model.d_ff,
    )
    where.button(
        "Add the sidebar’s model",
        icon=":material/add:",
        on_click=controls.change,
        args=(PREFIX,),
        kwargs={"sizes": f"{state.sizes.rstrip()}\n{line_of(own)}".lstrip()},
        help=f"A line more: {line_of(own)}.",
        type="tertiary",
        key="_profiling_add",
    )
    _targets(model, chips, state)
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


def _table(seen: Compared) -> None:
    whole = {"JSON": ("every block, and where", partial(files.as_json, seen.report), JSON)} if seen.report else {}
    with panel("profiling_table") as show:
        show(
            title="What each configuration costs",
            how_to_read="Click a column’s head to sort. Times: medians over rounds; memory beyond weights and input.",
            shape=seen.setting,
            sentence=compare_table.sentence(seen),
            table=lambda: compare_table.table(seen),
            columns=columns(seen),
            files=whole,
            sources=[costs.parameters, costs.flops, costs.peak_memory, files.table, profile],
            recipe=recipe(seen.plan),
            mode=frame.mode(),
        )


def _times(model: ModelState, state: ProfilingState, seen: Compared) -> None:
    with panel("profiling_times") as show:
        show(
            title="Every run",
            how_to_read="A dot per round; box: the middle half of them, bar: the median, triangle: the minimum. "
            "Rounds are interleaved, so that drift hits all rows alike.",
            picture=Drawing("profiling_times", states(model, state)),
            sentence=compare_times.sentence(seen),
            table=lambda: compare_times.table(seen),
            sources=[profile],
            recipe=recipe(
                seen.plan, "seconds = [list(measured.forward.sample.values()) for measured in report.measured]"
            ),
            mode=frame.mode(),
        )


def _ratios(model: ModelState) -> ProfilingState:
    with panel("profiling_ratios") as show:
        state = boxes(model, controls_line.row("profiling_baseline"), "baseline")
        seen = compared(model, state)
        assert seen
        base = f"report.measured[{seen.baseline - 1}].forward"
        show(
            title="Paired ratios",
            how_to_read="A dot per round: a row’s time over the chosen row’s in the same round. Bar: the median; box: "
            "its interval; where that straddles 1, no difference can be told.",
            picture=Drawing("profiling_ratios", states(model, state)) if seen.report else None,
            sentence=compare_ratios.sentence(seen),
            table=lambda: compare_ratios.table(seen),
            sources=[statistics.ratio, statistics.median_interval, statistics.verdict],
            recipe=recipe(
                seen.plan,
                "",
                "from tfm_core.profiling.statistics import ratio",
                "",
                f"ratios = [ratio(measured.forward, {base}) for measured in report.measured]",
            ),
            mode=frame.mode(),
        )
    return state


def _parameters(model: ModelState, state: ProfilingState, seen: Compared) -> None:
    what = "operations" if seen.report is None else "time"
    with panel("profiling_parameters") as show:
        show(
            title=f"Parameters and {what}",
            how_to_read=compare_parameters.how_to_read(seen),
            picture=Drawing("profiling_parameters", states(model, state)),
            sentence=compare_parameters.sentence(seen),
            table=lambda: compare_parameters.table(seen),
            sources=[costs.parameters, costs.flops],
            recipe=recipe(seen.plan),
            mode=frame.mode(),
        )
