"""What makes a tab work on after its server has gone: it runs the page as soon as it is connected to the next.

Otherwise nothing would run until the visitor's next act, and that would be lost: a new session knows neither the
fragments of the page on screen nor what is to be called when a button is pressed. Streamlit runs the page after a lost
connection if a part of it is to run regularly; so one part is, so seldom that it never does.
"""

from datetime import timedelta

import streamlit as st

SELDOM = timedelta(days=20)  # browsers count milliseconds up to 2**31, which are 24.8 days


@st.fragment(run_every=SELDOM)
def run_after_lost_connection() -> None:
    """Draw nothing, as the part of the page that is to run regularly."""
