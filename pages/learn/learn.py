"""The page of lessons."""

import streamlit as st

st.html("<h1>Lessons</h1>")
