"""A view is a file and a line: the view that CONTRIBUTING names is added to a copy of the app, and opened there."""

import subprocess
import sys
from pathlib import Path

from tests.opening import ROOT
from tests.seeded_faults.copies import copy_of_the_tree

FILE, LENS = ROOT / "tests/example_view/reach.py", Path("tfm_ui/lenses/attention")
LINE = 'VIEWS = ("steps", "arcs", "contribution", "why", "written", "logit", "graph", "change", "scale", "dictionary"'
OPENS = """
import torch

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import new_app
from tests.pages.test_app import picture, text_on, widget
from tests.tfm_ui.pictures.charts import names
from tfm_ui.lenses import lens
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.model_state import ModelState

app = go_to(new_app(text="one two three four", attention_view="reach"), "attention").run()
assert not app.exception, app.exception
assert names(picture(app, "attention_reach")[0]) == ["one", "two", "three", "four"]
assert "the queries of this head look" in text_on(app)
assert "Which token looks furthest?" in text_on(app)
widget(app, "_next_question").click().run()
assert "Does the second head look as far?" in text_on(app)
assert app.session_state["attention_head"] == 2

of = lens("attention")
model, state = ModelState(text="one two three four"), of.state(view="reach", head=2)
[panel] = panels_in(of.blocks(model, state))
assert all(panel.laws().values())
weights = panel.inside.weights(1)
by_hand = [sum(float(w) * abs(q - k) for k, w in enumerate(row)) for q, row in enumerate(weights)]
torch.testing.assert_close(torch.tensor(panel.distances), torch.tensor(by_hand))
left = {}
exec(panel.recipe(), left)
torch.testing.assert_close(left["distances"], torch.tensor(by_hand))
print("opened")
"""


def test_a_view_of_one_file_and_one_line_is_opened():
    with copy_of_the_tree() as place:
        (place / LENS / FILE.name).write_bytes(FILE.read_bytes())
        state = place / LENS / "state.py"
        lines = state.read_text("utf-8")
        assert lines.count(LINE) == 1
        state.write_text(lines.replace(LINE, LINE + ', "reach"'), "utf-8")
        run = subprocess.run([sys.executable, "-W", "error", "-c", OPENS], cwd=place, capture_output=True, text=True)
        assert run.stdout.strip().endswith("opened"), run.stderr[-3000:]


def test_contributing_names_this_file():
    assert "tests/example_view/reach.py" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
