"""Reads a page that AppTest has run, in the words of the record: to show that content.py says what a page draws."""

import json
import re
from html import unescape
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from tests.explanations import without_explanations
from tests.record.statistics import text
from tests.record.tables import table_of

MENUS = ("Numbers",)  # by their labels; their content is made when they are open

Record = dict[str, Any]


def drawn(app: AppTest) -> Record:
    """What stands on the page: panels in their order, queries of pictures, values of controls, and notes."""
    for node in app.main:
        if isinstance(node, Block) and node.type == "popover" and node.proto.popover.label in MENUS:
            app.session_state[node.key] = True
    app.run()
    assert not app.exception, app.exception[0].value
    reader = _Reader()
    reader.read(app.main)
    sidebar = {name: node.value for node in app.sidebar if (name := _parameter(node))}
    return {**reader.content, "controls": sidebar | reader.content["controls"]}


def _parameter(node: Any) -> str:
    """The parameter of the link that a control is bound to, or "" if there is none: then its key begins with _."""
    key = getattr(node, "key", None)
    if isinstance(node, Block) or not key or node.type in ("bidi_component", "dataframe", "button"):
        return ""
    return str(key) if hasattr(node, "value") and not key.startswith("_") else ""


class _Reader:
    """Goes through a page and sorts its content."""

    def __init__(self) -> None:
        self.content: Record = {"panels": {}, "pictures": {}, "controls": {}, "html": []}

    def read(self, block: Block, panel: Record | None = None) -> None:
        """What lies in a block, which may lie in a panel."""
        for node in block.children.values():
            if isinstance(node, Block):
                key, inner = node.key or "", panel
                if key.startswith("panel_"):
                    inner = self.content["panels"].setdefault(key.removeprefix("panel_"), {})
                self.read(node, inner)
            elif name := _parameter(node):
                self.content["controls"][name] = node.value
            elif node.type == "bidi_component":
                self._picture(node, panel)
            elif node.type == "html":
                self._html(node.proto.body, panel)
            elif node.type == "dataframe" and panel is not None:
                panel["table"] = table_of(node.value)

    def _picture(self, node: Any, panel: Record | None) -> None:
        data = json.loads(node.proto.json or "{}")
        if {"name", "query"} <= data.keys():  # others are no pictures
            self.content["pictures"][data["name"]] = data["query"]
            if panel is not None:
                panel["picture"] = data["name"]

    def _html(self, body: str, panel: Record | None) -> None:
        body = without_explanations(body)
        if panel is None:
            self.content["html"].append(_plain(body))
        elif heading := re.search(r'class="phead"><h2>(.*?)<small[^>]*>(.*?)</small></h2>', body, re.DOTALL):
            panel["title"], panel["shape"] = map(_plain, heading.groups())
        elif 'class="how"' in body:
            panel["how to read"] = _plain(body)
        elif 'class="said"' in body:
            panel.setdefault("sentence", _plain(body))
        elif 'class="law"' in body:
            panel["laws"] = [_plain(law) for law in re.findall(r"<span>(.*?)</span>", body, re.DOTALL)]


def _plain(html: str) -> str:
    """The text in HTML, as statistics.py describes it."""
    return text(unescape(re.sub(r"<[^>]*>", "", html)).strip())
