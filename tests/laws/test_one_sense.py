"""Words that decide meaning are used in one sense, in all that the app can say."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What is not said -> what is said in its place.
ELSE = {
    r"\bbehind\b": "after, of positions, layers and texts",
    r"\bpromis(e|es|ed)\b": "allowed and forbidden, of masks",
    r"\bparted by\b": "separated by",
    r"\bdearest\b": "the one that costs most",
    r"\b(takes|gets|writes) most\b": "has the largest weight; contributes most",
    r"^That there\b": "a whole sentence",
    r"\bhangs? on\b": "depends on",
    r"^(Held|Read|Trained|Shown|Measured|Drawn) (is|was|are|were)\b": "the subject first",
    r"\b[Ww]ho (always|guesses|gives|copies|predicts|reads)\b": "what is done, or the reader, by name",
}
SCRIPTS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`")


def spoken() -> Iterator[tuple[str, str]]:
    """Where a text of two words or more stands, and the text; neither descriptions of the code nor names."""
    for file in sorted((ROOT / "tfm_ui").rglob("*.py")):
        if file.name == "question_numbers.py":  # the names of old links, which nobody reads
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        about = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in about:
                yield f"{file.relative_to(ROOT)}:{node.lineno}", node.value
    for file in sorted((ROOT / "assets").rglob("*.js")):
        if "plotly" not in file.parts:
            script = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
            yield from ((str(file.relative_to(ROOT)), text) for text in SCRIPTS.findall(script))


TEXTS = [(where, text) for where, text in spoken() if " " in text.strip()]


def test_there_is_much_that_the_app_can_say():
    assert len(TEXTS) > 2_000
    assert any("every row sums to 1" in text for _, text in TEXTS)
    assert any("drag to zoom" in text for _, text in TEXTS)


@pytest.mark.parametrize("word", ELSE)
def test_a_word_that_has_two_senses_is_not_said(word):
    assert [(where, text) for where, text in TEXTS if re.search(word, text)] == [], f"say {ELSE[word]}"
