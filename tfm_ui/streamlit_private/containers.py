"""The type of what st.container and st.columns return: Streamlit has no public name for it.

Functions that draw into a place which their caller has chosen name it in their signatures.
"""

from streamlit.delta_generator import DeltaGenerator as DeltaGenerator
