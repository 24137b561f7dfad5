"""A visitor's text stays text on every view: no element of a page is made of it, and no Markdown holds it as it is.

What the browser makes of escaped Markdown: tests/browser/test_plain_text.py.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from benchmarks.streamlit_private.app_test import go_to, messages
from tests.browser.plain_text import ADDRESSES, HURTS
from tests.opening import new_app
from tfm_ui.lenses import lenses

# Texts: what would be elements and links, if tokens came together; and tokens that are signs of HTML and of Markdown.
TEXTS = {"elements": HURTS + ADDRESSES, "signs": "< * & < * & <"}
# In Markdown, what was not escaped of them; the app itself writes none.
LIVELY = re.compile(r"http://evil|www\.evil|a@evil|\[x\]\(|<a |<img|<script|\$x\$|:red\[|hurt=1|“[<*&]")
NO_TAG = re.compile(r"<(?![a-zA-Z/!])")  # in HTML, a sign that was not escaped
PLAIN = {"value", "json", "code_text", "alt"}  # fields that are never read as Markdown
TRAINED = {"generate": {"weights": "lab-gpt"}}  # a model that writes
VIEWS = [(lens, view) for lens in lenses() for view in lens.views]


class Elements(HTMLParser):
    """The elements of a piece of HTML: each begins as <tag attribute=value …>."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.begun: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.begun.append((tag, attrs))


def written(message: Message) -> Iterator[tuple[str, str]]:
    """The fields that hold text, and the texts."""
    for field, value in message.ListFields():
        for each in value if field.is_repeated else [value]:
            if field.type == FieldDescriptor.TYPE_STRING:
                yield field.name, each
            elif isinstance(each, Message):
                yield from written(each)


def faults(message: Message) -> list[str]:
    """What somebody's text has become in a message: elements, links, or Markdown."""
    if message.DESCRIPTOR.name != "Html":
        return [text for field, text in written(message) if field not in PLAIN and LIVELY.search(text)]
    [(_, body)] = written(message)
    begun = Elements(body).begun
    lively = {"img", "script", "a"} & {tag for tag, _ in begun} or "evil" in str([attrs for _, attrs in begun])
    return [body] if lively or NO_TAG.search(body) else []


def drawn(element: str, text: str) -> None:
    """A page of one element with this text: the body of HTML, the label of a button, or what is typed into a box."""
    import streamlit as st

    if element == "text_area":
        st.session_state["typed"] = text
        st.text_area("Text", key="typed")
    else:
        getattr(st, element)(text)


@pytest.mark.parametrize(
    ("element", "text", "is_fault"),
    [
        ("html", "<p>“<img src=x onerror=window.hurt=1>”</p>", True),
        ("html", "<p>“<” looks at “*”</p>", True),
        ("html", "<p>“&lt;” looks at “*”</p>", False),
        ("button", "“*” looks at “a”", True),
        ("button", r"“\*” looks at “a”", False),
        ("button", "see www.evil.test", True),
        ("text_area", TEXTS["elements"], False),
    ],
)
def test_what_a_text_has_become_is_noticed(element, text, is_fault):
    sent = list(messages(AppTest.from_function(drawn, args=(element, text)).run()))
    assert any(text == each for message in sent for _, each in written(message))
    assert any(faults(message) for message in sent) == is_fault


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(("lens", "view"), VIEWS, ids=[f"{lens.name}-{view}" for lens, view in VIEWS])
def test_a_text_becomes_no_element_and_is_in_no_markdown_as_it_is(lens, view, text):
    shown = {lens.prefix + "view": view} if len(lens.views) > 1 else {}
    texts = {"text": text, **({"masks_texts": text} if lens.name == "masks" else {})}
    app = go_to(new_app(**texts, **shown, **TRAINED.get(lens.name, {})), lens.name).run()
    assert not app.exception
    sent = list(messages(app))
    assert any(text == each for message in sent for _, each in written(message))  # in the box where it is typed
    assert [fault for message in sent for fault in faults(message)] == []
