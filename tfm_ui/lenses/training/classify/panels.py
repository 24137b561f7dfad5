"""The view "classify": a network beside a bag of words, on real text and on the textbook's set-up."""

from typing import Any

import streamlit as st

from tfm_core.training.baselines import baselines, logistic_regression, naive_bayes
from tfm_core.training.examples import EVALUATED
from tfm_core.training.tasks import textbook
from tfm_core.training.tasks.authors import ORIGINS
from tfm_core.training.train import train
from tfm_ui.lenses.training import badge, row_controls, train_bar
from tfm_ui.lenses.training.classify.examples import FIRST, WRONG, Confusion, Sentences
from tfm_ui.lenses.training.classify.numbers import Classified
from tfm_ui.lenses.training.classify.pictures import PICTURES
from tfm_ui.lenses.training.classify.said import Said, classified, has_ended, of_label, said_by, told
from tfm_ui.lenses.training.classify.words import why_random
from tfm_ui.lenses.training.learn.numbers import facts
from tfm_ui.lenses.training.runs import config_of, size_of, why_not
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.page import controls, controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, OpenTable, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def blocks(model: ModelState, state: TrainingState) -> list[Block | None]:
    """The curves; below them what the network says of examples that it has never seen."""
    chosen = of_label(state)
    if reason := why_not(chosen):
        return [Note(reason, "warning", ":material/edit:")]
    result = classified(chosen)
    texts = [Note(text, "plain") for text in notes(result)]
    if not has_ended(result.config):
        return [_curves_panel(result), *texts]
    said = said_by(result.config)
    return [
        _curves_panel(result),
        Columns([[_confusion_panel(result, said)], texts], widths=(2, 3)),
        _sentences_panel(result, said, state.example - 1),
    ]


def _curves_panel(result: Classified) -> Panel:
    every = formats.count(result.measured)
    done = [run.done for run in (result.run, result.beside) if run]
    return Box(
        # The link stays the same while a run grows: by another key the browser asks for the picture again.
        key="_".join(["training_classify", *map(str, done)]),
        title=result.config.about.title,
        shape=f"{formats.count(size_of(result.config))} parameters",
        how_to_read=f"Dashed: what is reached without a network. Points on the way are measured over {EVALUATED} "
        f"held-out examples, the last one over {every}. Thin: the loss on what is trained on, with dropout.",
        picture="training_classify",
        result=result,
        sources=[train, baselines, naive_bayes, logistic_regression],
    )


def notes(result: Classified) -> list[str]:
    """Where the text is from, why random labels end where they do, and what the run is made of."""
    config = result.config
    said = []
    if config.task == "authors":
        origins = "; ".join(ORIGINS.values())
        said.append(
            f"3,600 sentences, 1,200 of each author, all in the public domain: {origins}. There are no names in them, "
            "and each author has equally many sentences of each length, so neither tells the author. Subjects may: "
            "whales here, laws there."
        )
    if config.task in ("textbook", "textbook-random"):
        epochs = config.steps / -(-textbook.TRAIN // config.batch_size)
        said.append(
            f"{formats.count(textbook.TRAIN)} sequences to train on, {formats.count(textbook.HELD_OUT)} held out; "
            f"{formats.count(config.steps)} steps are {epochs:.3g} epochs. Without weight decay, AdamW is Adam. The "
            f"head reads {'the mean over all tokens' if config.pooling == 'mean' else 'the first token'}."
        )
        said += filter(None, [why_random(result)])
    return [*said, facts(config, result.run)]


def _confusion_panel(result: Classified, said: Said) -> Panel:
    return Box(
        key="training_confusion",
        title="What is taken for what",
        how_to_read="A row per right label, a column per label that the network says: the diagonal is right.",
        picture="training_confusion",
        result=Confusion(result.config, said),
        sources=[told],
    )


def _sentences_panel(result: Classified, said: Said, row: int) -> Panel:
    examples, labels = Sentences(result.config, said, row), result.config.about.labels
    return Box(
        key="training_sentences",
        title="Examples that were never trained on",
        how_to_read=f"The first {FIRST} held-out examples, then the {WRONG} most confident mistakes. A click on a row "
        "shows it.",
        result=examples,
        picture="training_looks",
        open_table=OpenTable(
            _columns(labels), row=min(row, len(examples.shown) - 1), choose=_choose, not_on_phones=labels
        ),
        sources=[told],
    )


def _columns(labels: tuple[str, ...]) -> dict[str, Any]:
    number = st.column_config.NumberColumn
    shares = {name: number(format="%.1f%%", help="the probability that the network gives it") for name in labels}
    return {"text": st.column_config.TextColumn(width="large"), **shares}


def _choose(row: int) -> None:
    controls.change(PREFIX, example=row + 1)


def _controls(model: ModelState) -> TrainingState:
    line = controls_line.row("line_training_classify")
    state = controls_line.draw(TrainingState, PREFIX, model, line, "labelled", "seed")
    state = row_controls.settings(model, line, *(["pooling"] if of_label(state).has_classes else []))
    reason = why_not(of_label(state))
    with line:
        train_bar.draw(None if reason else config_of(of_label(state)), reason)
    return state


VIEW = View(
    title="Classify",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=badge.task_alone,
    controls=_controls,
    uses_model=False,
    badge=lambda model, state: badge.of_run(model, of_label(state)),
)
