"""A visitor's text stays text on every view: no element of a page is made of it, and no Markdown holds it as it is.

What the browser makes of escaped Markdown: tests/browser/test_plain_text.py.
"""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from streamlit.proto.Html_pb2 import Html

from tests.browser.plain_text import ADDRESSES, HURTS
from tests.opening import go_to, new_app
from tfm_ui.lenses import lenses

# What Markdown would make something of, and a token of the text that has a sign in it; the app itself writes none.
UNESCAPED = ("http://evil", "www.evil", "a@evil", "[x](", "<a ", "<img", "<script", "$x$", ":red[", "hurt=1")
PLAIN = {"value", "json", "code_text"}  # fields that are never read as Markdown
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


def messages(node: Any) -> Iterator[Message]:
    """What a page and all that stands in it send to the browser."""
    if isinstance(message := getattr(node, "proto", None), Message):
        yield message
    for child in getattr(node, "children", {}).values():
        yield from messages(child)


def written(message: Message) -> Iterator[tuple[str, str]]:
    """The fields that hold text, and the texts."""
    for field, value in message.ListFields():
        for each in value if field.is_repeated else [value]:
            if field.type == FieldDescriptor.TYPE_STRING:
                yield field.name, each
            elif isinstance(each, Message):
                yield from written(each)


def test_markdown_and_elements_would_be_noticed():
    message = Html(body="<p>it says <img src=x onerror=window.hurt=1></p>")
    assert list(written(message)) == [("body", message.body)]
    assert [tag for tag, _ in Elements(message.body).begun] == ["p", "img"]


@pytest.mark.parametrize(("lens", "view"), VIEWS, ids=[f"{lens.name}-{view}" for lens, view in VIEWS])
def test_a_text_becomes_no_element_and_is_in_no_markdown_as_it_is(lens, view):
    shown = {lens.prefix + "view": view} if len(lens.views) > 1 else {}
    app = go_to(new_app(text=HURTS + ADDRESSES, **shown, **TRAINED.get(lens.name, {})), lens.name).run()
    assert not app.exception
    sent = list(messages(app._tree))
    assert any(HURTS in text for message in sent for _, text in written(message))  # in the box where it is typed
    for message in sent:
        if isinstance(message, Html):
            begun = Elements(message.body).begun
            assert {"img", "script", "a"}.isdisjoint(tag for tag, _ in begun), message.body
            assert "evil" not in str([attrs for _, attrs in begun]), message.body
        else:
            for field, text in written(message):
                assert field in PLAIN or not [sign for sign in UNESCAPED if sign in text], (field, text)
