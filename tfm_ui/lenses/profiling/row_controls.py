"""The lens's controls that several views share: how it is measured, the rows, and the line with the button."""

from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.profiling import measure_bar
from tfm_ui.lenses.profiling.plan import plan_of, rows_of
from tfm_ui.lenses.profiling.state import DEVICES, PREFIX, ProfilingState
from tfm_ui.page import controls_line
from tfm_ui.state.lists import names
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown


def draw(model: ModelState, where: DeltaGenerator, *names: str) -> ProfilingState:
    """Draw these controls, and return what all of the lens's controls hold."""
    return controls_line.draw(ProfilingState, PREFIX, model, where, *names)


def how_it_is_measured(model: ModelState, where: DeltaGenerator, *first: str) -> ProfilingState:
    """A folded menu, with these controls on top."""
    menu = where.popover("How it is measured", icon=":material/tune:", type="tertiary", key="_profiling_how")
    device = ["device"] if len(DEVICES) > 1 else []
    settings = [*first, "rounds", "backward", "dtype", *device, "threads", "embedding", "vocabulary"]
    return draw(model, menu.container(), *settings)


def chosen_row(model: ModelState) -> ProfilingState:
    """`rows_of_compare`, and which of them is looked at."""
    return rows_of_compare(model, "row")


def rows_of_compare(model: ModelState, *first: str) -> ProfilingState:
    """A row with these controls, the rows of the view "compare", how they are measured, and the button.

    The rows are folded and not left out: what is not drawn is not in the link.
    """
    line = controls_line.row("line_profiling")
    draw(model, line, *first)
    menu = controls_line.more(line, "Configurations").container()
    state = draw(model, menu, "sizes", "batch")
    for problem in rows_of(model, state)[1]:
        menu.caption(escape_markdown(problem))
    targets = escape_markdown(formats.listed(names(state.targets)))
    menu.caption(f"Each with {targets}, as chosen under “Configurations” in the view of that name.")
    return with_button(model, how_it_is_measured(model, line))


def with_button(model: ModelState, state: ProfilingState) -> ProfilingState:
    """Draw the button that measures what these controls ask for, and what is told of it."""
    measure_bar.draw(plan_of(model, state), state.run)
    return state
