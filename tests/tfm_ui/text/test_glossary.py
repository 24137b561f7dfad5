"""The glossary: words are explained where they stand, once a text, and whatever a visitor types stays text."""

import re
from html import escape, unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.text.glossary import GLOSSARY, explained

EXPLANATION = re.compile(r'<span class="about" aria-hidden="true">.*?</span>')


def without_marks(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", EXPLANATION.sub("", html)))


@pytest.mark.parametrize("word", GLOSSARY)
def test_each_word_is_explained_where_it_first_stands(word):
    html = explained(f"The {word} here, and the {word} there.")
    assert html.count(escape(GLOSSARY[word])) == 2  # for the eye, and as the label for the ear
    assert html.index(escape(GLOSSARY[word])) < html.index("here")
    assert without_marks(html) == f"The {word} here, and the {word} there."


def test_a_part_of_a_word_is_none():
    assert explained("biased PADs and non-causal") == "biased PADs and non-causal"


@given(st.text())
def test_the_text_stays_what_it_is(text):
    html = explained(text)
    assert without_marks(html) == text
    if not any(word in text for word in GLOSSARY):
        assert html == escape(text)


def test_an_explanation_is_a_short_sentence():
    for about in GLOSSARY.values():
        assert about.endswith(".")
        assert len(about) <= 110
