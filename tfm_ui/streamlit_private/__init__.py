"""What the app uses of Streamlit's Python that Streamlit does not promise: no other room imports any of it.

docs/streamlit.md lists it, with what it is for; tests/tfm_ui/streamlit_private say what a new version has changed.
"""
