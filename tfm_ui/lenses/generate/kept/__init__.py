"""The view "kept": the key-value cache, what it stores, the same text without it, and what both cost."""

from tfm_ui.lenses.generate.courses import why_not_write
from tfm_ui.lenses.generate.kept.costs import KeptCosts
from tfm_ui.lenses.generate.kept.questions import QUESTIONS
from tfm_ui.lenses.generate.kept.same import KeptSame
from tfm_ui.lenses.generate.kept.stored import Kept
from tfm_ui.lenses.generate.panel import draw_knobs, draw_steps, greedy_note, prompt_read, unable
from tfm_ui.lenses.generate.state import MOST_STEPS, PREFIX, GenerateState
from tfm_ui.live import passes
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures import knobs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState


def _controls(model: ModelState) -> GenerateState:
    """The layer, and what is done when the context is full; behind a button how the text is written."""
    line = controls_line.row("line_generate_kept")
    controls_line.draw(GenerateState, PREFIX, model, line, "layer", "full")
    more = controls_line.more(line)
    state = controls_line.draw(GenerateState, PREFIX, model, more, "method", "seed", "chat")
    draw_steps(model, state, more)
    if not why_not_write(model):
        draw_knobs("generate_kept_knobs", model, state)
    return state


def _running(model: ModelState, state: GenerateState) -> str:
    """What is said while the text is written once more without the cache."""
    heavy = not why_not_write(model) and (model.is_heavy or state.count(model) > 100)
    return "Writing the text with the cache and without it" if heavy else ""


def knob(model: ModelState, state: GenerateState) -> Content:
    """How many tokens are written: its slider moves the picture while it is dragged."""
    stops = [*range(1, 20), *range(20, MOST_STEPS + 1, 10)]
    return knobs.content([Knob("Tokens", f"{PREFIX}steps", state.count(model), 1, MOST_STEPS, stops=stops)])


VIEW = View(
    title="What is kept",
    exercise="kv-cache",
    shows=[Kept, greedy_note, KeptSame, KeptCosts],
    instead=unable(why_not_write),
    reads=prompt_read,
    beside={"generate_kept_knobs": Picture(KNOBS, knob, needs=passes.needs)},
    controls=_controls,
    running=_running,
    questions=QUESTIONS,
)
