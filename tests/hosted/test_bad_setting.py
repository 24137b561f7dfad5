"""A setting that cannot be ends the start with one sentence, whichever file is started, and with no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # seconds for the imports
STREAMLIT = [sys.executable, "-m", "streamlit", "run"]
STARTS = {
    "streamlit run app.py": [*STREAMLIT, "app.py", "--server.headless=true"],
    "run.py": [sys.executable, "-c", "import run, sys; sys.exit(run.serve('streamlit', 'run', 'app.py'))"],
    "Community Cloud": [*STREAMLIT, "hosting/cloud/streamlit_app.py", "--server.headless=true"],
}


@pytest.mark.parametrize("start", STARTS)
def test_it_is_one_sentence_and_exit_code_1(start):
    ended = subprocess.run(
        STARTS[start],
        cwd=ROOT, env=os.environ | {"ATTENTION_LAB_CACHE_MB": "many"}, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert ended.returncode == 1
    assert "Traceback" not in ended.stdout + ended.stderr
    told = ended.stderr.strip().splitlines()[-1]
    assert told == "ATTENTION_LAB_CACHE_MB: expected a whole number from 1 on, got 'many'."
