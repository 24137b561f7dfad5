"""The entry point for Streamlit Community Cloud, which installs the requirements.txt that is beside it.

It is the same app as `streamlit run app.py`: that script draws each visit. The call of `st.App` has to stand here,
because Streamlit reads the text of the entry point to find out whether it is a whole server.
"""

import os
import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("ATTENTION_LAB_PRESET", "hosted")
# The platform gives 0.7 to 2.7 GB, of which a worker takes 150 MB and more.
os.environ.setdefault("ATTENTION_LAB_WORKERS", "1")

if __name__ != "__mp_main__":  # worker processes import this file under that name, and serve nobody
    import app as lab
    from tfm_ui.server.asgi import ROUTES, lifespan

    app = st.App(lab.__file__, routes=ROUTES, middleware=lab.middleware, lifespan=lifespan)
