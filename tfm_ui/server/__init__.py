"""What the server does in addition to Streamlit: pictures, scripts, limits on connections, a quick shutdown."""
