"""The command `attention-lab`: starts the app that an installation carries; `python3 run.py` does it in a checkout.

attention-lab --server.port 8600      # what follows goes to `streamlit run`
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from tfm_ui.folders import FOLDER

NEEDED = ("streamlit", "cachetools", "pandas", "plotly", "prometheus_client", "psutil", "regex", "segno", "tokenizers")
LACKING = """The app needs packages that are not installed here: {packages}.
Install it with its extra [app]: pip install ".[app]" in a checkout, or with the name of the wheel in place of the dot.
"""


def lacking() -> list[str]:
    """The packages, of those that the app imports at its start, that are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


def command(options: Sequence[str]) -> list[str]:
    """What starts the app. Streamlit reads its settings beside the script, wherever it is started.

    Args:
        options: of `streamlit run`.
    """
    # -P: modules are not looked for in the folder from which somebody starts it.
    return [sys.executable, "-P", "-m", "streamlit", "run", str(FOLDER / "app.py"), *options]


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the app, and return its exit code when it has ended. On POSIX the server takes this process's place."""
    if packages := lacking():
        sys.stderr.write(LACKING.format(packages=", ".join(packages)))
        return 1
    called = command(sys.argv[1:] if arguments is None else arguments)
    if os.name == "posix":
        os.execv(called[0], called)
    return subprocess.run(called).returncode
