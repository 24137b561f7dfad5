"""The view "write": a prompt is continued, token after token; of each, how it was chosen, or what it looked at."""

from tfm_ui.lenses.generate.courses import why_not_write
from tfm_ui.lenses.generate.panel import draw_knobs, draw_steps, prompt_read, unable
from tfm_ui.lenses.generate.state import ATTENTION, PREFIX, GenerateState
from tfm_ui.lenses.generate.write.beams import Beams
from tfm_ui.lenses.generate.write.look import Look
from tfm_ui.lenses.generate.write.questions import QUESTIONS
from tfm_ui.lenses.generate.write.text import Write
from tfm_ui.live import passes
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures import knobs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.panel import Block, Note
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.fields import Number, controls_of
from tfm_ui.state.model_state import ModelState

OF_ONE_TEXT = Note(
    "A search with beams follows several texts at a time: attention is that of the text that is written greedily.",
    "plain",
)
OF_METHOD = {"sample": ["seed", "full"], "greedy": ["full"], "beam": ["width"]}


def _written(model: ModelState, state: GenerateState) -> list[Block]:
    """The text, with what is shown of each step; or the texts that a search has followed."""
    is_search = state.method == "beam"
    if state.shows == ATTENTION:
        return [Look(model, state), *([OF_ONE_TEXT] if is_search else [])]
    return [Beams(model, state) if is_search else Write(model, state)]


def _controls(model: ModelState) -> GenerateState:
    """How tokens are chosen, what of it is shown, and of which head; a button opens how many; sliders of sampling."""
    line = controls_line.row("line_generate_write")
    state = controls_line.draw(GenerateState, PREFIX, model, line, "method", "shows", "chat")
    more = controls_line.more(line)
    draw_steps(model, state, more)
    controls_line.draw(GenerateState, PREFIX, model, more, *OF_METHOD[state.method])
    head = controls_line.place(line, "head", idle=state.shows != ATTENTION)
    state = controls_line.draw(GenerateState, PREFIX, model, head, "layer", "head")
    draw_knobs("generate_knobs", model, state)
    return state


def sliders(model: ModelState, state: GenerateState) -> Content:
    """Temperature, top-k, top-p and min-p, which move the text while they are dragged."""
    field, _ = controls_of(GenerateState)["temperature"]
    assert isinstance(field, Number)
    vocab = model.config.vocab_size
    counts = [count for count in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if count < vocab]
    if state.method != "sample":
        return knobs.content([])
    return knobs.content(
        [
            Knob(field.label, f"{PREFIX}temperature", state.temperature, field.low, field.high, digits=field.digits),
            Knob("top-k", f"{PREFIX}top_k", state.top_k, 0, 2048, stops=[0, *counts]),
            Knob("top-p", f"{PREFIX}top_p", state.top_p, 0.01, 1, stops=[0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1]),
            Knob("min-p", f"{PREFIX}min_p", state.min_p, 0, 1, stops=[0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1]),
        ]
    )


VIEW = View(
    title="Write",
    exercise="generate",
    shows=[_written],
    also=[Write, Beams, Look],
    instead=unable(why_not_write),
    reads=prompt_read,
    beside={"generate_knobs": Picture(KNOBS, sliders, needs=passes.needs)},
    controls=_controls,
    questions=QUESTIONS,
)
