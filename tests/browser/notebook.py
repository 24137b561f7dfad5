"""A widget in a browser beside its real Python half, as in a notebook: traits go both ways.

Jupyter's page is not there: what anywidget promises to a widget's script is (get, set, save_changes, on, off, send).
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from attention_lab.picture import Picture
from tests.browser.test_standalone import drawn

MODEL = """
const bytes = text => new DataView(Uint8Array.from(atob(text), sign => sign.charCodeAt(0)).buffer)
const read = state => Object.fromEntries(Object.entries(state).map(([name, value]) =>
  [name, value?.bytes === undefined ? value : bytes(value.bytes)]))
const state = read(STATE), listeners = {}, wishes = {}
const idle = BUSY ? new Promise(done => { window.rest = done }) : null
const tell = (event, ...told) => [...listeners[event] ?? []].forEach(act => act(...told))
window.take = changes => {
  Object.assign(state, read(changes))
  Object.keys(changes).forEach(name => tell(`change:${name}`))
}
const model = {
  get: name => state[name],
  set: (name, value) => { state[name] = wishes[name] = value },
  save_changes: async () => take(await wished(wishes)),
  on: (event, act) => { (listeners[event] ??= []).push(act) },
  off: (event, act) => { listeners[event] = listeners[event].filter(other => other !== act) },
  send: async message => {
    await idle
    const { content, buffers } = await sent(message)
    tell("msg:custom", content, buffers.map(bytes))
  },
}
const el = document.createElement("div")
window.leave = widget.render({ model, el })
await new Promise(done => setTimeout(done)) // JupyterLab has a widget rendered first, and puts it onto its page then
document.querySelector("main").append(...el.children)
window.attached = true
"""


class Notebook:
    """A page with a widget in it.

    Attributes:
        problems: errors of scripts, and addresses that were asked for.
    """

    def __init__(self, page: Page, widget: Picture, *, style: str = "", busy: bool = False) -> None:
        """Open a page.

        Args:
            page: an empty one.
            widget: what is in it.
            style: the notebook's own style.
            busy: whether Python runs a cell, and answers when the page calls `rest()`.
        """
        self.page, self.widget, self.problems = page, widget, list[str]()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: request.url.startswith("blob:") or self.problems.append(request.url))
        page.expose_function("wished", self._wished)
        page.expose_function("sent", self._sent)
        self._sent_before = self._state()
        script = widget._esm.replace("export default widget", "")
        state = json.dumps(self._sent_before).replace("<", "\\u003c")
        model = MODEL.replace("BUSY", json.dumps(busy)).replace("STATE", state)
        page.set_content(
            f"<!doctype html><html><head><style>{style}</style></head><body><main></main>"
            f'<script type="module">{script}\n{model}</script></body></html>'
        )
        page.wait_for_function("() => window.attached")
        drawn(page)

    def follow(self) -> None:
        """The page takes what Python has set since."""
        self.page.evaluate("changes => take(changes)", self._changes())
        drawn(self.page)

    def _state(self) -> dict[str, Any]:
        state = self.widget.get_state()
        return {name: _plain(value) for name, value in state.items() if not name.startswith("_") and name != "layout"}

    def _changes(self) -> dict[str, Any]:
        state, before = self._state(), self._sent_before
        self._sent_before = state
        return {name: value for name, value in state.items() if value != before.get(name)}

    def _wished(self, wishes: dict[str, Any]) -> dict[str, Any]:
        self.widget.set_state(wishes)
        return self._changes()

    def _sent(self, message: dict[str, Any]) -> dict[str, Any]:
        answers: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=(): answers.append(  # type: ignore[method-assign]
            {"content": content, "buffers": [b64encode(part).decode() for part in buffers]}
        )
        self.widget._answer(self.widget, message, [])
        return answers[0]


def pages_of_their_own(
    browser: Browser, folder: Path, width: int, widgets: Mapping[str, Picture]
) -> Iterator[tuple[str, Page]]:
    """Each widget's page, drawn in the dark: none asks for an address, has an error, or is wider than the window."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark")
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: request.url.startswith("file:") or problems.append(request.url))
    for name, widget in widgets.items():
        file = folder / f"{name}.html"
        file.write_text(widget.to_html(), encoding="utf-8")
        page.goto(file.as_uri())
        page.locator("canvas, .plot .main-svg").first.wait_for()
        drawn(page)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), name
        yield name, page
    assert problems == []
    page.close()


def _plain(value: Any) -> Any:
    return {"bytes": b64encode(value).decode()} if isinstance(value, bytes) else value
