"""The row of controls above each view's picture: what is measured, how, and the button that measures."""

from collections.abc import Sequence

from tfm_core.profiling import TARGETS, Plan
from tfm_ui.lenses.profiling import measure_bar
from tfm_ui.lenses.profiling.plan import kind_of, line_of, plan_of, rows_of, setup_of, size_of_sidebar, sizes_of
from tfm_ui.lenses.profiling.state import DEVICES, PREFIX, SIZES, ProfilingState
from tfm_ui.page import controls, controls_line
from tfm_ui.state.lists import names
from tfm_ui.state.model_state import ModelState
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown

DEVICE = ("device",) if len(DEVICES) > 1 else ()
HOW = ("rounds", "backward", "dtype", *DEVICE, "threads", "count_embedding", "count_output", "vocabulary")


def of_lengths(model: ModelState) -> ProfilingState:
    """One target at growing lengths."""
    line = controls_line.row("line_profiling")
    _draw(model, line, "target", "longest")
    return _with_button(model, line, "length_batch")


def random_numbers(model: ModelState, state: ProfilingState) -> str:
    """What is measured reads no text: its cost depends on how many tokens it reads, and not on which."""
    what = "token ids" if state.count_embedding else "vectors"
    return f"No text is read here: every configuration reads {what} drawn at random."


def of_rows(model: ModelState, first: Sequence[str] = (), more: Sequence[str] = ()) -> ProfilingState:
    """The rows and their targets fold away, but are always there: what is not drawn is not in the link.

    Args:
        model: the sidebar's model.
        first: the fields whose controls stand before them.
        more: the fields whose controls stand in "More", beside those of how the rows are measured.
    """
    line = controls_line.row("line_profiling")
    _draw(model, line, *first)
    place = line.container(width="content")  # a link's lines are known when their box has been drawn
    state = _configurations(model, controls_line.opened_by(line, "rows"))
    controls_line.opener(place, rows_label(state), "rows")
    number = len(names(state.targets))
    label = names(state.targets)[0] if number == 1 else f"{number} targets"
    _targets(model, controls_line.more(line, label, "targets"), state)
    return _with_button(model, line, *more, "batch")


def rows_label(state: ProfilingState) -> str:
    """The name of the menu of configurations: how many of its lines describe none, where the menu is closed, too."""
    left_out = len(sizes_of(state.sizes, state.batch)[1])
    return "Configurations" + (f", {formats.plural(left_out, 'line')} left out" if left_out else "")


def _configurations(model: ModelState, menu: DeltaGenerator) -> ProfilingState:
    """A line for each configuration; what is wrong with one stands below, where it moves no picture."""
    state = _draw(model, menu, "sizes")
    for problem in rows_of(model, state)[1]:
        menu.caption(escape_markdown(problem))
    of_sidebar = line_of(size_of_sidebar(model))
    menu.button(
        "Add the sidebar’s model",
        icon=":material/add:",
        on_click=controls.change,
        args=(PREFIX,),
        kwargs={"sizes": f"{state.sizes.rstrip()}\n{of_sidebar}".lstrip()},
        help=f"A line more: {of_sidebar}.",
        type="tertiary",
        key="_profiling_add",
    )
    return state


def _targets(model: ModelState, menu: DeltaGenerator, state: ProfilingState) -> None:
    """A button for each that can run here, pressed or not; the last one stays. What cannot be of this kind says why."""
    chosen, setup = names(state.targets), setup_of(state)
    sizes, _ = sizes_of(SIZES, state.batch, kind_of(model, state))
    chips = menu.container(horizontal=True, gap="small", key="profiling_targets")
    for number, (name, target) in enumerate(TARGETS.items()):
        if name not in chosen and target.refuses(setup):
            continue
        lacks = target.lacks(sizes[0]) if sizes else ""
        rest = [other for other in chosen if other != name]
        wanted = rest if name in chosen and rest else list(dict.fromkeys([*chosen, name]))
        chips.button(
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


def _with_button(model: ModelState, line: DeltaGenerator, *first: str) -> ProfilingState:
    """The menu “More” with these controls and how it is measured; then the button, and what is told of it."""
    state = controls_line.draw_more(ProfilingState, PREFIX, model, line, *first, *HOW)
    measure_bar.draw(plan_of(model, state), state.run, _plan_now)
    return state


def _plan_now() -> Plan | None:
    model = controls.current(ModelState)
    return plan_of(model, controls.current(ProfilingState, PREFIX, ProfilingState.limits(model)))


def _draw(model: ModelState, where: DeltaGenerator, *fields: str) -> ProfilingState:
    return controls_line.draw(ProfilingState, PREFIX, model, where, *fields)
