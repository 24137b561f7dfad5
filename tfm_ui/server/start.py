"""What the server does before its first visitor, and once after the first visit."""

import gc

import streamlit as st

from tfm_core.allocator import configure, give_back
from tfm_ui.live.passes import run
from tfm_ui.state import lab_gpt
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.runs import connect

COLLECTED = 5.0  # seconds between two collections of garbage


def preload() -> None:
    """Prepare a process that computes pictures: it finds what servers keep, and its first passes are over."""
    configure()
    connect()
    _run_first()


def _run_first() -> None:
    """Run the default model before the first visitor: the first pass of a process takes ten times as long as others."""
    run(ModelState(seed=0))  # the slow first pass, so that the badge shows the time of an ordinary one
    run(ModelState())
    run(ModelState(weights=lab_gpt.NAME, text=lab_gpt.PROSE))  # what Home opens on


@st.cache_resource(show_spinner=False)
def warm_up() -> None:
    """Exclude long-lived objects from garbage collection, once per process, after the first visit's imports.

    The collector skips frozen objects.
    """
    _run_first()
    gc.collect()
    gc.freeze()


@st.cache_resource(show_spinner=False, ttl=COLLECTED)
def collect_garbage() -> None:
    """Free what only refers to itself, as finished runs do: at the end of a page's run, at most every few seconds.

    Python alone might keep it for minutes. Streamlit would collect after every run, which takes 100 ms with the pages
    of a class, delays every visitor, and is therefore off in .streamlit/config.toml.
    """
    gc.collect()
    give_back()
