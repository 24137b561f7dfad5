"""How figures look. Knows neither torch nor Streamlit nor the rest of the project."""
