"""What a server does before its first visitor, and once after."""

import gc

import streamlit as st
import torch

from tfm_ui.live.passes import run
from tfm_ui.state.model_state import ModelState


def preload() -> None:
    """In the server, before its first visitor: the first pass of a process takes ten times as long as the others."""
    torch.set_num_threads(1)  # two collapse under a busy neighbour
    run(ModelState(seed=0))  # so that the badge tells the time of a pass, and not of a start
    run(ModelState())


@st.cache_resource(show_spinner=False)
def warm_up() -> None:
    """Once per process, after the first visit's imports: leave what lives long out of garbage collection.

    Streamlit collects after every script run, which takes 125 ms with torch loaded and stalls every user; frozen
    objects are skipped.
    """
    preload()
    gc.collect()
    gc.freeze()
