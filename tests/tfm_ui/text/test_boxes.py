"""The boxes of a page are Markdown: what is not written in the code itself is escaped where it is put into one."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
BOXES = {"warning", "info", "error", "success", "caption", "toast"}
# Put together of the code's own words alone, or escaped before.
OURS = {
    "tfm_ui/page/frame.py: '\\n\\n'.join(texts[:3])",
    "tfm_ui/page/frame.py: f'{busy} Any change of a control asks again.'",
    "tfm_ui/page/panels.py: f'{rows}: more are too much for a browser. The CSV file under “Download” has all of them.'",
    "tfm_ui/page/upload.py: SEEN_BY.format(what=what)",
    "tfm_ui/lenses/masks/conventions/foreign.py: f'No mask is drawn while that file stands here: {back}.'",
}


def put_into_boxes() -> Iterator[str]:
    """What is put into a box and is neither a text of the code nor escaped: the file, and the argument."""
    for path in [ROOT / "app.py", *sorted((ROOT / "tfm_ui").rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            said = node.args[0]
            is_box = node.func.attr in BOXES and "_log" not in ast.unparse(node.func)
            if is_box and not isinstance(said, ast.Constant) and "escape_markdown(" not in ast.unparse(said):
                yield f"{path.relative_to(ROOT)}: {ast.unparse(said)}"


def test_what_is_not_written_in_the_code_is_escaped():
    assert set(put_into_boxes()) == OURS
