"""What benchmarks and tests use of Streamlit that Streamlit does not promise: their other files import none of it.

docs/streamlit.md lists it, with what it is for.
"""
