"""The least that a Streamlit page can be, one slider and one line of text: what a key press costs here, none can save.

It leaves what lives long out of garbage collection, as Attention Lab does: with the collection of 80 ms after every
run, Streamlit's default, the floor would be higher and flatter us.
"""

import gc

import streamlit as st


@st.cache_resource(show_spinner=False)
def freeze() -> None:
    """Once per process, after the first visit's imports."""
    gc.collect()
    gc.freeze()


st.text(f"value {st.slider('Value', 0, 1000, 500)}")
freeze()
