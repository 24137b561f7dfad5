"""What a server with its own settings makes of links: in a new process for each, as settings are read at an import.

`python -m tests.hosted.opened` reads a line of JSON for each call, [function, query, settings], and prints the answer.
"""

import os
from typing import Any

import streamlit
import torch

from tests.hosted.answering import PREFIX, answer_all

LARGE = streamlit, torch  # are imported once, nothing of ours: each call is answered by a copy of this process


def set_settings(settings: dict[str, str]) -> None:
    """The process has these settings and no others."""
    for name in list(os.environ):
        if name.startswith(PREFIX):
            del os.environ[name]
    os.environ.update({f"{PREFIX}{name}": value for name, value in settings.items()})


def link(query: dict[str, str], settings: dict[str, str]) -> tuple[list[int], list[str], int, str]:
    """What it makes of a link: its sizes, its notices, its length, and why it cannot run."""
    set_settings(settings)
    from tfm_ui.live.passes import too_large
    from tfm_ui.state.links import read_link, state_of
    from tfm_ui.state.model_state import ModelState

    given = {name: [value] for name, value in query.items()}
    state = state_of(ModelState, "", given)
    corrections = [str(correction) for correction in read_link(ModelState, "", given)]
    sizes = [state.seq_len, state.num_layers, state.num_heads, state.d_model]
    return sizes, corrections, state.length, too_large(state)


def draws(query: dict[str, str], settings: dict[str, str]) -> tuple[int, int, list[str]]:
    """How many weights Model draws at first and at most, and its notices of a link."""
    set_settings(settings)
    from tfm_ui.lenses.model.state import ModelLensState, most_draws
    from tfm_ui.state.links import read_link
    from tfm_ui.state.model_state import ModelState

    state, model = ModelLensState(), ModelState()
    given = {name: [value] for name, value in query.items()}
    corrections = read_link(ModelLensState, "model_", given, state.limits(model))
    return state.reach_seeds, most_draws(model), list(map(str, corrections))


def answer(name: str, query: dict[str, str], settings: dict[str, str]) -> Any:
    """What the function of this name returns."""
    return {"link": link, "draws": draws}[name](query, settings)


if __name__ == "__main__":
    answer_all(answer)
