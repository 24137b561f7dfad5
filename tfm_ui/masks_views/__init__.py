"""The views of the Masks lens, drawn with Streamlit."""
