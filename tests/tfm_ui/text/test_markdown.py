"""User text inside Markdown stays text. tests/browser/test_plain_text.py tests that Streamlit shows it so."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.text.markdown import JOINER, LOOKED_FOR, escape_markdown

PARTS = [
    "http://",
    "https:",
    "www",
    ".",
    "evil",
    "@",
    "a",
    ":",
    "material/",
    "->",
    "--",
    "<",
    "=",
    "~",
    "\\",
    "`",
    "$",
    "\n",
]
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
