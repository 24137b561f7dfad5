"""The source on screen is the source that runs: in a copy of the app one function is edited, and both change."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.pages.test_app import HEADS, shown, with_menus

ROOT = Path(__file__).parents[2]
COPIED = ("app.py", "benchmarks", "pages", "tfm_core", "tfm_ui", "assets", "tests", ".streamlit")
VISIT = """
import sys
from benchmarks.streamlit_private.app_test import go_to, pages_without_preparation
from tests.pages.test_source import visited
with pages_without_preparation():
    app = visited()
    go_to(app, "masks").run()
assert not app.exception
assert "transformers" not in sys.modules  # it takes seconds: only the view that calls it waits
"""


def visited():
    """Print a row of the picture, and all code below it."""
    app = with_menus(["head"], HEADS)
    sys.stdout.write("\n".join([str(shown(app)[1].round(6).tolist()), *(block.value for block in app.code)]))
    return app


def test_an_edited_function_shows_its_new_lines_and_its_new_numbers(tmp_path, capsys):
    for part in COPIED:
        (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, tmp_path / part)
    file = tmp_path / "tfm_core/model/scaled_dot_product.py"
    line, edited = "weights = masked_scores.softmax(dim=-1)", "weights = (2 * masked_scores).softmax(dim=-1)"
    assert line in file.read_text()
    file.write_text(file.read_text().replace(line, edited))
    run = subprocess.run([sys.executable, "-c", VISIT], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    visited()
    before, after = capsys.readouterr().out, run.stdout
    assert line in before
    assert edited in after
    assert line not in after
    assert before.splitlines()[0] != after.splitlines()[0]
