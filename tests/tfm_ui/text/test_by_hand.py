"""Acts are said in the words of the reader's hand: fingers neither click nor hover; a visitor's text stays as it is."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.opening import ROOT
from tests.tfm_ui.text.test_glossary import SAID
from tfm_ui.lenses import lenses
from tfm_ui.lessons import shelf
from tfm_ui.text.by_hand import by_hand
from tfm_ui.text.glossary import explained, marked, plain_of

OF_A_MOUSE = re.compile(r"\b(hover\w*|click\w*|mouse|pointer|[Pp]oint at)\b", re.IGNORECASE)


def touched(text: str) -> str:
    """What is read of a text where there are fingers and no mouse."""
    return "".join(piece["touch"] if isinstance(piece, dict) else plain_of(piece) for piece in marked(text))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Click a cell.", "Tap a cell."),
        ("A click on a row; it clicks.", "A tap on a row; it taps."),
        ("Clicking, clicked: a hover tells.", "Tapping, tapped: a tap tells."),
        ("Clickable clicks-per-second", "Clickable clicks-per-second"),
        ("“click” and “the first click here” beside click", "“click” and “the first click here” beside tap"),
        ("Strongest: was → click, 0.91.", "Strongest: was → click, 0.91."),
        ("·click", "·click"),
    ],
)
def test_acts_become_taps_and_what_is_quoted_stays(text, read):
    assert touched(text) == read
    assert "".join(map(plain_of, marked(text))) == text


@given(st.text(max_size=60))
def test_of_any_text_nothing_is_lost(text):
    assert "".join(piece if isinstance(piece, str) else piece["mouse"] for piece in by_hand(text)) == text


def test_both_words_stand_in_the_html_for_the_style_to_choose():
    html = explained("Click a <b> of the softmax.")
    assert html.startswith('<span class="by_mouse">Click</span><span class="by_touch">Tap</span> a &lt;b&gt; of the ')
    assert '<span class="word"' in html


def test_nothing_that_the_app_says_asks_fingers_to_click_or_hover():
    asked = [question.ask for lens in lenses() for question in lens.questions]
    steps = [
        text
        for name in (*shelf.names(), *shelf.teaching())
        for step in shelf.shipped(name).steps
        for text in (step.words, step.task)
    ]
    said = {text for text in [*SAID, *asked, *steps] if OF_A_MOUSE.search(text)}
    assert len(said) > 15
    for text in said:
        quoted = re.sub(r"“[^”]*”", "", touched(unescape(text)))
        assert not OF_A_MOUSE.search(quoted), text


def test_scripts_say_click_and_hover_only_where_there_is_a_mouse():
    """A sentence in a script is for a mouse only beside the question whether there is one."""
    scripts = [path for path in (ROOT / "assets").rglob("*.js") if "plotly" not in path.parts]
    assert len(scripts) > 50
    known = re.compile(r"isTouched|\(pointer: coarse\)")
    told = 0
    for path in scripts:
        lines = re.sub(r"/\*.*?\*/", lambda note: "\n" * note[0].count("\n"), path.read_text("utf-8"), flags=re.DOTALL)
        before = ""
        for line in re.sub(r"(?m)(^|\s)//.*$", "", lines).split("\n"):
            for _, text in re.findall(r"""(["`])((?:(?!\1).)*)\1""", line):
                if " " in text and OF_A_MOUSE.search(re.sub(r"\$\{[^}]*\}|\(pointer: coarse\)", "", text)):
                    assert known.search(before + line), f"{path.name}: {text}"
                    told += 1
            before = line
    assert told >= 2
