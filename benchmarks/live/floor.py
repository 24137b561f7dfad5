"""The floor: a Streamlit page with one slider and one line of text. No Streamlit page can answer a key press faster.

Like Attention Lab, it excludes long-lived objects from garbage collection. With Streamlit's default, a collection of
80 ms after every run, the floor would be higher, and Attention Lab would look better than it is.
"""

import gc

import streamlit as st


@st.cache_resource(show_spinner=False)
def freeze() -> None:
    """Exclude long-lived objects from garbage collection, once per process, after the first visit's imports."""
    gc.collect()
    gc.freeze()


st.text(f"value {st.slider('Value', 0, 1000, 500)}")
freeze()
