"""The view "decode": panels, and the row of controls above them."""

from html import escape

from tfm_core import Transformer
from tfm_core.training.decoding import decode_greedily
from tfm_core.training.scores import pattern_score
from tfm_ui.lenses.training import badge, row_controls, train_bar
from tfm_ui.lenses.training.decode.numbers import Written, config_of_pair, source_of, written
from tfm_ui.lenses.training.decode.pictures import PICTURES, of_next
from tfm_ui.lenses.training.runs import why_not
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown


def blocks(model: ModelState, state: TrainingState) -> list[Block | None]:
    """The heads' cross-attention beside the next token's distribution."""
    shown, reason = written(state), why_not(row_controls.of_pair_state(state))
    return [
        Columns([[_cross(shown)], [_next(shown)]], widths=(7, 3)),
        Note(reason, "warning", ":material/edit:") if reason else None,
        Note(other_length(shown), "plain") if other_length(shown) else None,
        None if shown.run.is_complete else Note("These weights are not trained to their end: press Train.", "info"),
        *(Note(f"“{pattern.name}”: {pattern.why}", "plain") for pattern in shown.config.about.patterns),
    ]


def other_length(shown: Written) -> str:
    """A sentence that the source is longer or shorter than all that was trained on; "" if it is not."""
    trained, now = shown.config.about.length, len(shown.source)
    return f"Trained on sources of {trained} tokens; this one has {now}." if now != trained else ""


def _cross(shown: Written) -> Panel:
    return Box(
        key="training_decode",
        title=f"{shown.config.about.title}: where each token comes from",
        shape=f"{formats.plural(len(shown.source), 'step')}",
        how_to_read="A row for each token that the decoder writes, a column for each source token. Drag “Tokens "
        "written” to walk through the steps. A cell without a number has a weight under 0.005.",
        picture="training_decode",
        result=shown,
        sources=[decode_greedily, pattern_score, Transformer],
    )


def _next(shown: Written) -> Panel:
    return Box(
        key="training_decode_next",
        title="The next token",
        how_to_read="The probabilities of the likeliest tokens; all together have 100 %.",
        picture="training_decode_next",
        result=of_next(shown),
        sources=[decode_greedily],
    )


def controls_of_pair(model: ModelState) -> TrainingState:
    """The task, how much is written, the source, the settings, and the button that trains."""
    line = controls_line.row("line_training")
    controls_line.draw(TrainingState, PREFIX, model, line, "pair", "seed")
    knobs = line.container(key="training_knobs_place")  # filled when all controls are known that its picture follows
    inside = controls_line.more(line, "Source")
    controls_line.draw(TrainingState, PREFIX, model, inside, "source")
    inside.caption("Tokens separated by spaces; empty: an example that was held out.")
    warned = line.container(width="content", key="training_source_warned")  # filled when the settings are known
    state = row_controls.settings(model, line)
    with knobs:
        Drawing("training_decode_knobs", ((model, ""), (state, PREFIX))).draw("training_decode_knobs")
    pair = row_controls.of_pair_state(state)
    reason = why_not(pair)
    config = None if reason else config_of_pair(state)
    if config and (problem := source_of(config, state.source)[1]):
        inside.warning(
            escape_markdown(problem), icon=":material/edit:"
        )  # where it was typed; the row tells of a link's as well
        warned.html(f'<p class="facts" title="{escape(problem)}">⚠ not read</p>')
    with line:
        train_bar.draw(config, reason)
    return state


def _reads_instead(model: ModelState, state: TrainingState) -> str:
    return "Your own source or an example of the task is read here, and not the text in the sidebar."


VIEW = View(
    title="Decode",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=_reads_instead,
    controls=controls_of_pair,
    uses_model=False,
    badge=lambda model, state: badge.of_run(model, row_controls.of_pair_state(state)),
)
