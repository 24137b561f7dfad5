"""The scripts of a widget: the app's own, with what a notebook or a page of its own needs around them."""

import json
import re
from collections.abc import Sequence
from functools import cache

from tfm_ui.pictures.canvas import Canvas, bundle, read_asset, variables
from tfm_ui.text.colours import Mode

WIDGET = "notebook/widget"
MODES: tuple[Mode, ...] = ("light", "dark")
COMMENTS = re.compile(r"^[ \t]*/\*[\s\S]*?\*/[ \t]*\n|^[ \t]+|[ \t]+//.*$", re.MULTILINE)


def widget_script(canvases: Sequence[Canvas]) -> str:
    """The module that anywidget loads: its default export renders a widget of these canvases."""
    return f"{_widget(canvases, alone=False)}\nexport default widget\n"


def page_script(canvases: Sequence[Canvas], *, alone: bool) -> str:
    """The same for a page of its own; `widget` renders, with what `pageModel` makes of traits and answers.

    Args:
        canvases: in reading order.
        alone: whether the page has no answer to any choice.
    """
    return f"{_widget(canvases, alone=alone)}\n{_short('notebook/page.js')}"


def page_style(mode: str) -> str:
    """The style of a page of its own, around the widget.

    Args:
        mode: "light", "dark", or "auto", which follows the reader's system.
    """
    paper = {name: variables(name)["--st-background-color"] for name in MODES}
    usual = paper["dark" if mode == "dark" else "light"]
    around = f"body {{ margin: 2rem auto; max-width: 90rem; padding: 0 1rem; background: {usual} }}"
    if mode == "auto":
        around += f" @media (prefers-color-scheme: dark) {{ body {{ background: {paper['dark']} }} }}"
    return around


def _widget(canvases: Sequence[Canvas], *, alone: bool) -> str:
    kinds = ",\n".join(map(_kind, canvases))
    dresses = json.dumps({mode: variables(mode) for mode in MODES})
    style = json.dumps(read_asset(f"{WIDGET}.css"))
    made = f"widgetOf([{kinds}], {style}, {dresses}, {json.dumps(alone)})"
    return f"{_short(f'{WIDGET}.js')}\nconst widget = {made}"


@cache
def _kind(canvas: Canvas) -> str:
    """A canvas as `Kind` of assets/notebook/types.d.ts; its scripts' names are hidden from those of others."""
    told = {"name": canvas.name, "html": canvas.html, "css": canvas.style, "needsPlotly": bool(canvas.library)}
    drawn = f"(() => {{\n{_short(f'{canvas.path}.js')}\nreturn draw\n}})()"
    return f"{{ ...{json.dumps(told)}, draw: {drawn} }}"


@cache
def _short(script: str) -> str:
    """A script with all that it imports, without comments and indentation: each widget of a saved notebook holds it."""
    return COMMENTS.sub("", bundle(script))
