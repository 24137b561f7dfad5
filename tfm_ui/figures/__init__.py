"""Arrays and strings in, plotly figures out. Knows neither torch nor Streamlit nor the rest of the project."""
