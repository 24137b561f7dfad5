"""User text inside Markdown stays text. tests/browser/test_plain_text.py tests that Streamlit shows it so."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.text.markdown import JOINER, LOOKED_FOR, escape_markdown

PARTS = [*"http:// https: www . evil @ a : material/ -> -- < = ~ \\ ` $".split(), "\n"]
TEXTS = st.text() | st.lists(st.sampled_from(PARTS)).map("".join)


def unescaped(text: str) -> str:
    """The text after Markdown has removed backslashes."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


@given(TEXTS)
def test_it_reads_as_it_was_written_but_in_one_line(text):
    assert unescaped(escape_markdown(text)).replace(JOINER, "") == text.replace("\r", " ").replace("\n", " ").replace(
        JOINER, ""
    )


@given(TEXTS)
def test_nothing_is_left_that_would_become_a_link_an_icon_or_an_arrow(text):
    assert not LOOKED_FOR.search(unescaped(escape_markdown(text)))


@given(TEXTS)
def test_no_sign_of_markdowns_stands_without_a_backslash(text):
    assert not re.search(r"""[`*_{}\[\]<>()#+\-.!|~$:^=&"']""", re.sub(r"\\.", "", escape_markdown(text)))


@pytest.mark.parametrize("text", ["the cat, 9 tokens", "a; b? c/d %", "日本 🦊 é"])
def test_an_ordinary_text_is_left_alone(text):
    assert escape_markdown(text) == text


# the boxes of a page are Markdown: what is not written in the code itself is escaped where it is put into one

ROOT = Path(__file__).parents[3]
BOXES = {"warning", "info", "error", "success", "caption", "toast"}
# Put together of the code's own words alone, or escaped before.
OURS = {
    "tfm_ui/page/frame.py: '\\n\\n'.join(texts[:3])",
    "tfm_ui/page/frame.py: f'{busy} Any change of a control asks again.'",
    "tfm_ui/page/panels.py: f'{rows}: more are too much for a browser. The CSV file under “Download” has all of them.'",
    "tfm_ui/page/upload.py: SEEN_BY.format(what=what)",
    "tfm_ui/lenses/model/diagram/passed.py: f'Drawing the weights and running the batch took "
    "{self.run.seconds:.2f} s on this server.'",
    "tfm_ui/lessons/lecture_page.py: NOTHING",
    "tfm_ui/lessons/speaker.py: AWAY",
    "tfm_ui/lessons/speaker.py: READS",
    "tfm_ui/lessons/speaker.py: WAITS",
    "tfm_ui/classroom/opening.py: PRIVACY",
    "tfm_ui/classroom/room_page.py: ENTERING.format(code=mine.code)",
    "tfm_ui/classroom/room_page.py: OTHER_DEVICE",
    "tfm_ui/lenses/clinic/to_masks.py: LOOK_AT_IDS",
    "tfm_ui/lenses/clinic/to_masks.py: LOOK_AT_WEIGHTS",
    "tfm_ui/lenses/clinic/to_masks.py: reason",
}


def put_into_boxes() -> Iterator[str]:
    """What is put into a box and is neither a text of the code nor escaped: the file, and the argument."""
    for path in [ROOT / "app.py", *sorted((ROOT / "tfm_ui").rglob("*.py"))]:
        code = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(code)) if any(f".{box}(" in code for box in BOXES) else ():
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            said = node.args[0]
            is_box = node.func.attr in BOXES and "_log" not in ast.unparse(node.func)
            if is_box and not isinstance(said, ast.Constant) and "escape_markdown(" not in ast.unparse(said):
                yield f"{path.relative_to(ROOT)}: {ast.unparse(said)}"


def test_what_is_not_written_in_the_code_is_escaped():
    assert set(put_into_boxes()) == OURS
