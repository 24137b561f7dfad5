"""The view "decode": what a network says of a source, token by token, and what it gets wrong.

An encoder-decoder writes one token after the other, and one sees where each comes from, and what its own mistakes do
to it; a reader of stories says where the answer to a question begins and ends.
"""

from html import escape

from tfm_ui.lenses.training import row_controls
from tfm_ui.lenses.training.decode.beside import DecodeBeside
from tfm_ui.lenses.training.decode.held_out import DecodeExposure, DecodeMistakes
from tfm_ui.lenses.training.decode.questions import QUESTIONS
from tfm_ui.lenses.training.decode.spans import DecodeSpan
from tfm_ui.lenses.training.decode.written import Decode, DecodeNext
from tfm_ui.lenses.training.panels import held_out_needs
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures import knobs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.panel import Block, Columns, Note
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.markdown import escape_markdown

BIAS = (
    "Exposure bias: a decoder that has only ever read right tokens was never exposed to its own mistakes. When it "
    "writes alone, one mistake is read by every later step, and may bring others (Ranzato et al. 2016; Bengio et al. "
    "2015, who let it read its own tokens now and then while it learns). How large it is, is measured above."
)


def knob(model: ModelState, state: TrainingState) -> Content:
    """The slider of how many tokens are written; none where none are."""
    written = Decode(model, state)
    if not written.is_shown:
        return knobs.content([])
    steps = written.steps
    return knobs.content([Knob("Tokens written", f"{PREFIX}written", written.step, 0, steps, stops=range(steps + 1))])


def _main(model: ModelState, state: TrainingState) -> Block:
    """What is written, and the next token; or where the answer begins and ends."""
    written = Decode(model, state)
    if not written.is_shown:
        return DecodeSpan(model, state)
    return Columns([[written], [DecodeNext(model, state)]], widths=(7, 3))


def _below(model: ModelState, state: TrainingState) -> list[Block]:
    """The same source by teacher forcing, all held-out examples, and what is wrong in them."""
    mistakes = DecodeMistakes(model, state)
    if not Decode(model, state).is_shown:
        return [mistakes]
    return [DecodeBeside(model, state), DecodeExposure(model, state), Note(BIAS, "plain"), mistakes]


def _other_length(model: ModelState, state: TrainingState) -> Note | None:
    """Whether the source is longer or shorter than all that was trained on."""
    panel = Decode(model, state)
    task, now = panel.config.about, len(panel.source)
    if not task.stretches or now == task.length:  # a task of sentences has them of several lengths
        return None
    return Note(f"Trained on sources of {task.length} tokens; this one has {now}.", "plain")


def _untrained(model: ModelState, state: TrainingState) -> Note | None:
    """Whether the weights may still change."""
    is_complete = Decode(model, state).run.is_complete
    return None if is_complete else Note("These weights are not trained to their end: press Train.", "info")


def _controls(model: ModelState) -> TrainingState:
    """The task, how much is written, the source, the settings, and the button that trains."""
    line = controls_line.row("line_training")
    asked = controls_line.draw(TrainingState, PREFIX, model, line, "pair", "seed")
    knobs = line.container(key="training_knobs_place")  # filled when all controls are known that its picture follows
    inside = controls_line.more(line, "Source")
    controls_line.draw(TrainingState, PREFIX, model, inside, "source")
    inside.caption("Tokens separated by spaces; empty: an example that was held out.")
    warned = line.container(width="content", key="training_source_warned")  # filled when the settings are known
    state = row_controls.settings(model, line)
    if Decode(model, asked).is_shown:
        with knobs:
            Drawing("training_decode_knobs", ((model, ""), (state, PREFIX))).draw("training_decode_knobs")
    if not Decode.refusal(model, state) and (problem := Decode(model, state).problem):
        # Where it was typed; the row tells of a link's as well.
        inside.warning(escape_markdown(problem), icon=":material/edit:")
        warned.html(f'<p class="facts" title="{escape(problem)}">⚠ not read</p>')
    row_controls.button(Decode.asked(state), line)
    return state


def _reads_instead(model: ModelState, state: TrainingState) -> str:
    return "Your own source or an example of the task is read here, and not the text in the sidebar."


VIEW = View(
    title="Decode",
    exercise="generate",
    shows=[_main, Decode.refusal, _other_length, _untrained, Decode.patterns, _below],
    also=[Decode, DecodeNext, DecodeSpan, DecodeBeside, DecodeExposure, DecodeMistakes],
    beside={"training_decode_knobs": Picture(KNOBS, knob, uses_model=False, shows_jobs=True, needs=held_out_needs)},
    reads_instead=_reads_instead,
    controls=_controls,
    uses_model=False,
    badge=Decode.badge,
    questions=QUESTIONS,
)
