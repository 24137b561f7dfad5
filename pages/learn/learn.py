"""The page Learn."""

import streamlit as st

with st.container(key="learn"):
    st.html("<h1>Learn</h1>")
