"""Canvases: pictures that a script in the browser draws from a header and numbers, which the server sends as bytes.

A canvas has a script, `assets/<path>.js`, and a style, `assets/<path>.css`, which is added to
`assets/pictures/canvas.css`. The script's default export draws a header and its numbers. `standalone` makes a complete
HTML page from the same script and the same bytes.
"""

import base64
import json
import posixpath
import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from html import escape
from typing import Any

import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.folders import ASSETS
from tfm_ui.text import colours
from tfm_ui.text.colours import Mode

Header = dict[str, Any]  # becomes JSON
Content = tuple[Header, NDArray[Any]]  # what a script draws from: a header and numbers


def variables(mode: Mode) -> dict[str, str]:
    """What Streamlit gives style sheets on a page, for pictures that stand somewhere else: variable -> value."""
    return {
        "--st-background-color": colours.PAPER[mode],
        "--st-secondary-background-color": colours.SURFACE[mode],
        "--st-text-color": colours.INK[mode],
        "--st-primary-color": colours.INK[mode],
        "--st-font": "system-ui, sans-serif",
    }


def read_asset(name: str) -> str:
    """The text of a file below assets/."""
    return (ASSETS / name).read_text(encoding="utf-8")


def version() -> str:
    """A version for the address of scripts and styles: when one of them changes, browsers fetch all of them anew."""
    files = sorted([*ASSETS.rglob("*.js"), *ASSETS.rglob("*.css")])
    return blake2b(b"".join(file.read_bytes() for file in files), digest_size=6).hexdigest()


class Canvas:
    """One kind of picture: its script, its style and its HTML elements. A page, a notebook or a file shows it.

    Attributes:
        path: the path of the script and the style below assets/, without their endings.
        name: the last part of the path, which is the name of its Streamlit component.
        html: the elements on which the script works.
        figure: makes the same picture as a Plotly figure, for a download; None for controls, which show no numbers.
        library: the path below assets/ of a library that the script loads by itself; "" if it needs none. Files that
            work without a network contain it.
        saves: the kinds of files that the script makes.
    """

    def __init__(
        self,
        path: str,
        html: str,
        figure: Callable[[Header, NDArray[Any]], go.Figure] | None = None,
        *,
        library: str = "",
        saves: tuple[str, ...] = ("PNG",),
    ) -> None:
        self.path, self.name, self.html, self.figure = path, posixpath.basename(path), html, figure
        self.library, self.saves = library, saves

    @property
    def style(self) -> str:
        """The style sheet of the elements."""
        return read_asset("pictures/canvas.css") + read_asset(f"{self.path}.css")

    @property
    def library_script(self) -> str:
        """The library that the script loads."""
        return read_asset(self.library)


def _as_json(part: Any) -> Any:
    """NumPy's numbers and arrays, as Python's."""
    return part.tolist()


def encode(header: Mapping[str, Any], numbers: NDArray[Any]) -> bytes:
    """The bytes for the browser: the header's length (4 bytes, little-endian), the header as JSON, the numbers."""
    text = json.dumps(header, default=_as_json, allow_nan=False).encode()  # JSON knows no NaN
    text += b" " * (-len(text) % 4)  # a Float32Array must begin at a multiple of 4
    return len(text).to_bytes(4, "little") + text + numbers.tobytes()


IMPORT = re.compile(r'^import .* from "(.*)"\n', re.MULTILINE)


def bundle(script: str) -> str:
    """A script together with all scripts that it imports, as one text; each script stands after those that it needs."""
    texts: dict[str, str] = {}

    def add(path: str) -> None:
        if path not in texts:
            text = read_asset(path)
            for needed in IMPORT.findall(text):  # paths are relative to the importing script
                add(posixpath.normpath(posixpath.join(posixpath.dirname(path), needed)))
            texts[path] = (
                IMPORT.sub("", text).replace("export default function", "function draw").replace("export ", "")
            )

    add(script)
    return "\n".join(texts.values())


def standalone(
    kind: Canvas, data: bytes, title: str, caption: str, mode: Mode, source: str = "", link: str = ""
) -> str:
    """The picture as a complete HTML page that needs no server and no network. Hovering and zooming work.

    Args:
        kind: what draws it.
        data: its numbers.
        title: the page's title and heading.
        caption: stands below the picture.
        mode: the colour scheme.
        source: which weights it shows.
        link: brings it back.
    """
    root = "; ".join(f"{name}: {value}" for name, value in variables(mode).items())
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>
<style>:root {{ {root} }}
body {{ margin: 2rem auto; padding: 0 clamp(1rem, 3vw, 3rem);
  background: {colours.PAPER[mode]}; color: {colours.INK[mode]}; font-family: system-ui, sans-serif }}
h1 {{ overflow-wrap: anywhere; font-size: clamp(1.375rem, 2.5vw, 2rem) }}
body > p, footer {{ max-width: 80ch; line-height: 1.4; overflow-wrap: anywhere }}
{kind.style}</style>
<h1>{escape(title)}</h1>
<div id="picture">{kind.html}</div>
<p>{escape(caption)}</p>
<footer>{escape(source)} <a href="{escape(link)}">{escape(link)}</a> <span id="foot"></span></footer>
{f"<script>{kind.library_script}</script>" if kind.library else ""}
<script type="module">
{bundle(f"{kind.path}.js")}
const data = Uint8Array.from(atob("{base64.b64encode(data).decode()}"), sign => sign.charCodeAt(0))
const [header, numbers] = decode(data)
// There is no server to ask.
const nothing = () => {{}}
const alone = {{ alone: true, local: {{}}, preview: nothing, commit: nothing, retract: nothing, settling: nothing }}
const root = document.querySelector("[data-picture]")
draw({{ header, numbers, root, setTriggerValue: nothing, ...alone }})
document.querySelector("#foot").textContent = header.foot ?? ""
</script>
</html>
"""
