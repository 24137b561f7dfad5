"""The source on screen is the source that runs: in a copy of the app one function is edited, and both change."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
VISIT = """
import sys
from streamlit.testing.v1 import AppTest
from tests.opening import go_to
from tests.pages.test_app import HEADS, shown
app = AppTest.from_file("app.py", default_timeout=60)
go_to(app, HEADS).run()
app.session_state["source_head"] = True  # the menu is open
app.run()
assert not app.exception
print(shown(app)[1].round(6).tolist())
print("\\n".join(block.value for block in app.code))
go_to(app, "masks").run()
assert not app.exception
assert "transformers" not in sys.modules  # it takes seconds: only the view that calls it waits
"""


def visit(root: Path) -> str:
    run = subprocess.run([sys.executable, "-c", VISIT], cwd=root, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_an_edited_function_shows_its_new_lines_and_its_new_numbers(tmp_path):
    for part in ("app.py", "pages", "tfm_core", "tfm_ui", "assets", "tests", ".streamlit"):
        (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, tmp_path / part)
    before = visit(tmp_path)
    file = tmp_path / "tfm_core/model/scaled_dot_product.py"
    line, edited = "weights = masked_scores.softmax(dim=-1)", "weights = (2 * masked_scores).softmax(dim=-1)"
    assert line in file.read_text()
    file.write_text(file.read_text().replace(line, edited))
    after = visit(tmp_path)
    assert line in before
    assert edited in after
    assert line not in after
    assert before.splitlines()[0] != after.splitlines()[0]
