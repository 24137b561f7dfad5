"""Addresses below the app's own that Streamlit's server answers."""

INSIDE = "_stcore"  # part of all these addresses: no link to a page has it
METRICS = "/_stcore/metrics"  # for operators: hidden, as it names sessions
UPLOADS = "/_stcore/upload_file/"  # then the session, "/", the file: each visitor may have so much on the server
HEALTH, STREAM = "/_stcore/health", "/_stcore/stream"  # what a page asks for first, and its websocket
