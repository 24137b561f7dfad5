"""The view "learn": a model learns, and one sees when the head appears."""

from functools import partial

import streamlit as st

from tfm_core.training.scores import pattern_score
from tfm_core.training.train import train
from tfm_core.training.weights_file import as_file
from tfm_ui.lenses.training import badge, loading, row_controls, train_bar
from tfm_ui.lenses.training.learn.numbers import Learned, facts, formed
from tfm_ui.lenses.training.learn.pictures import PICTURES
from tfm_ui.lenses.training.runs import shown_config, shown_run, size_of, why_not
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def blocks(model: ModelState, state: TrainingState) -> list[Block | None]:
    """The picture; below it what the run is made of."""
    config, reason = shown_config(state), why_not(state)
    run = shown_run(config)
    result = Learned(config, run)
    task = config.about
    return [
        Box(
            key="training_learn",
            title=f"{task.title}: {'how it was learned' if run.is_complete else 'how it is learned'}",
            shape=f"{formats.count(size_of(config))} parameters",
            how_to_read="Drag the slider below the maps: the line in the charts shows which step they are of. Outlined "
            "cells are where the answer stands. Weights of attention go from 0 to 1; a cell without a "
            "number beside others with one has a weight under 0.005.",
            picture="training_learn",
            result=result,
            tools=partial(_take_along, result),
            sources=[train, pattern_score, formed],
        ),
        Note(reason, "warning", ":material/edit:") if reason else None,
        Note(facts(config, run), "plain"),
        *(Note(f"“{pattern.name}”: {pattern.why}", "plain") for pattern in task.patterns),
    ]


def _take_along(result: Learned) -> None:
    """The weights: in all lenses, and as a file; and another file's."""
    run = result.run
    with st.container(horizontal=True, gap="small", key="training_tools"):
        loading.draw()
        if not run.is_complete or run.config.network != "transformer" or run.config.about.classes:
            return
        st.button(
            f"Show the weights of step {formats.count(run.done or run.config.steps)} in all lenses",
            help="Of a run, the weights of its last step are kept; of the other steps on the slider, what its heads "
            "looked at and what it said.",
            on_click=train_bar.use_in_all_lenses,
            args=(run,),
            icon=":material/visibility:",
            type="tertiary",
            key="_training_use",
        )
        st.download_button(
            "Weights and configuration",
            partial(as_file, run),
            f"{run.config.task}.safetensors",
            "application/octet-stream",
            on_click="ignore",
            icon=":material/download:",
            type="tertiary",
            key="_training_weights",
        )


VIEW = View(
    title="Learn",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=badge.task_alone,
    controls=row_controls.of_run,
    uses_model=False,
    badge=badge.of_run,
)
