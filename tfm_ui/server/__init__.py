"""What answers the browser beside Streamlit: pictures, scripts, limits on connections, the end."""
