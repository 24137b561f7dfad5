"""A picture of the app as a widget of a notebook, and as a file of its own.

A widget shows one or two canvases of the app, by the app's own scripts. Python computes what they draw; what the reader
chooses in a picture is a traitlet of the widget, which Python reads and sets. No other machine is asked for anything.
"""

import base64
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from typing import Any, ClassVar

import anywidget
import plotly.graph_objects as go
import traitlets

from attention_lab.script import page_script, page_style, widget_script
from tfm_ui.live.windows import WHOLE
from tfm_ui.pictures.canvas import Canvas, Content, encode

STILL = "ATTENTION_LAB_STILL"  # the environment variable that asks for a PNG beside each widget
MODES = ("auto", "light", "dark")
Answers = Mapping[str, Mapping[str, Mapping[str, Any]]]
NUMBERS = ("first", "second")  # the traitlets that hold the bytes of the pictures


class NotThereError(ValueError, traitlets.TraitError):
    """A choice that cannot be made. Being both, it is a ValueError for readers, and traitlets takes the choice back."""


@contextmanager
def _refused() -> Iterator[None]:
    """What traitlets refuses by its type is a ValueError for readers, too."""
    try:
        yield
    except traitlets.TraitError as problem:
        if isinstance(problem, ValueError):
            raise
        raise NotThereError(str(problem)) from problem


def check_part(part: str) -> str:
    """The part of a table, "top,left,rows,columns", as a picture holds it.

    Raises:
        NotThereError: if it is none.
    """
    words = [word.strip() for word in part.split(",")]
    if len(words) != len(WHOLE.split(",")) or not all(word.isascii() and word.isdigit() for word in words):
        raise NotThereError(f"part: expected four whole numbers, top,left,rows,columns; got {part!r}")
    return part


class Picture(anywidget.AnyWidget):
    """One or two canvases with their words.

    A class of pictures says which canvases it has, and computes in `draw` what they show. Each choice that a reader can
    make in a picture is a traitlet; `draw` runs when one that is named in `choices` changes, wherever it was changed.

    Attributes:
        mode: "light", "dark", or "auto", which follows the notebook.
        notes: what must be known of the numbers, in sentences, such as which sentence of a batch is shown.
        parts: for each canvas what is said of it, among it its title, its sentence and the shape of its numbers.

    Several choices are drawn at once where they are made within `with picture.hold_trait_notifications():`.

    Raises:
        ValueError: for a choice that cannot be made, which is taken back, and for an option that the picture lacks.

    Examples:
        >>> import torch
        >>> import attention_lab
        >>> picture = attention_lab.heads(torch.rand(3, 1, 2, 4, 4).softmax(-1), batch=0)
        >>> isinstance(picture, attention_lab.Picture)
        True
        >>> picture.mode = "dark"
        >>> page = picture.to_html("Two heads a layer")  # a file of its own
        >>> page.startswith("<!doctype html>")
        True
    """

    canvases: ClassVar[tuple[Canvas, ...]]
    choices: ClassVar[tuple[str, ...]] = ()
    still: ClassVar[int] = -1  # the number of the canvas that becomes a PNG: the last

    mode = traitlets.Enum(MODES, default_value="auto").tag(sync=True)
    notes: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
    parts: Any = traitlets.List(traitlets.Dict()).tag(sync=True)
    first: Any = traitlets.Bytes().tag(sync=True)
    second: Any = traitlets.Bytes().tag(sync=True)
    library: Any = traitlets.Bytes().tag(sync=True)  # Plotly's script, in the first widget that needs it

    _carried: ClassVar[set[bytes]] = set()  # the libraries that a widget of this process carries

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "canvases" in vars(cls):
            if len(cls.canvases) > len(NUMBERS):
                raise ValueError(f"expected at most {len(NUMBERS)} canvases, got {len(cls.canvases)}")
            cls._esm = widget_script(cls.canvases)  # before anywidget looks for it
        super().__init_subclass__(**kwargs)

    def __init__(self, **traits: Any) -> None:
        options = [name for name in self.trait_names() if name in self.choices or name in ("mode", "notes")]
        if unknown := [name for name in traits if name not in options]:
            raise ValueError(f"expected options of {', '.join(sorted(options))}; got {', '.join(unknown)}")
        with _refused():
            super().__init__(**traits)
        self._contents: list[Content] = []
        if (library := _library(self.canvases)) not in self._carried:
            self._carried.add(library)
            self.library = library
        self.on_msg(self._answer)
        self.observe(self._chosen, names=list(self.choices))
        self._draw_again()

    def __setattr__(self, name: str, value: Any) -> None:
        with _refused():
            super().__setattr__(name, value)

    def draw(self) -> None:
        """Compute what the canvases show, and tell it by `show`."""
        raise NotImplementedError(f"expected {type(self).__name__} to draw something")

    def show(
        self,
        number: int,
        content: Content | None,
        *,
        title: str,
        sentence: str,
        shape: str = "",
        header: Mapping[str, Any] | None = None,
        sets: Mapping[str, str | tuple[str, int]] | None = None,
        local: Mapping[str, Any] | None = None,
    ) -> None:
        """Show numbers in a canvas; the first canvas comes first.

        Args:
            number: of the canvas, from 0.
            content: what its script draws, with numbers of any shape; None if its numbers stay, which then are not
                sent again.
            title: stands above it.
            sentence: its main statement, which is also its text alternative.
            shape: of the numbers.
            header: entries that take the place of those of the content's header.
            sets: what the script calls a choice -> the traitlet that holds it; with the number that the script gives to
                the first, if that is not 0 as in Python.
            local: what the script keeps in the browser of choices.
        """
        part = told(title=title, sentence=sentence, shape=shape, header=header, sets=sets, local=local)
        self.parts = [*self.parts[:number], part, *self.parts[number + 1 :]]
        if content is not None:
            self._contents[number:] = [content, *self._contents[number + 1 :]]
            setattr(self, NUMBERS[number], encode(*content))

    def answers(self) -> Answers:
        """What a page of its own says to choices that are made in it: trait -> value, as JSON -> traits; {} of none."""
        return {}

    def to_html(self, title: str = "") -> str:
        """The widget as a complete HTML page, which needs no Python, no server and no network.

        Hovering, zooming, keys and dark mode work; of what Python would have to compute, what `answers` has.

        Args:
            title: the page's title; by default that of its first picture.
        """
        heading, answers, library = title or self.parts[0]["title"], self.answers(), _library(self.canvases).decode()
        traits = {"parts": self.parts, "notes": list(self.notes), "mode": self.mode}
        traits |= {name: getattr(self, name) for name in NUMBERS[: len(self.canvases)]}
        return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(heading)}</title>
<style>{page_style(self.mode)}</style>
<main></main>
{f"<script>{library}</script>" if library else ""}
<script type="module">
{page_script(self.canvases, alone=not answers)}
const model = pageModel({_in_script(traits)}, {_in_script(answers)})
widget.render({{ model, el: document.querySelector("main") }})
</script>
</html>
"""

    def png(self) -> bytes:
        """One of the pictures as a PNG of 1200 × 630 pixels, which Matplotlib draws; the widget shows more.

        Raises:
            ImportError: where Matplotlib is not installed.
        """
        header, numbers = self._contents[self.still]
        figure, said = self.canvases[self.still].figure, self.parts[self.still]
        assert figure
        return self._png_of(figure(header, numbers), said["title"], said["sentence"])

    def _png_of(self, figure: go.Figure, title: str, sentence: str) -> bytes:
        from tfm_ui.pictures.still import png  # Matplotlib takes half a second to import

        return png(figure, title=title, sentence=sentence, foot="Attention Lab")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """What a notebook shows; with the environment variable ATTENTION_LAB_STILL a PNG for places without scripts."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data is not None:
            said = [f"{part['title']}: {part['sentence']}" for part in self.parts]
            data = {**data, "text/plain": "\n".join([*said, *self.notes])}
            if os.environ.get(STILL):
                data["image/png"] = base64.b64encode(self.png()).decode()
        return data, metadata

    def _answer(self, _: Any, message: Mapping[str, Any], buffers: Sequence[bytes]) -> None:
        """Hand out Plotly's script where the browser has none, as after the page was loaded anew."""
        if message.get("library"):
            self.send({"library": True}, [_library(self.canvases)])

    def _chosen(self, change: Any) -> None:
        self._draw_again()

    def _draw_again(self) -> None:
        with self.hold_sync():  # one message, and one drawing
            self.draw()


@cache
def _library(canvases: tuple[Canvas, ...]) -> bytes:
    """The libraries that these canvases need, each once."""
    return "\n".join(dict.fromkeys(canvas.library_script for canvas in canvases if canvas.library)).encode()


def told(
    *,
    title: str,
    sentence: str,
    shape: str = "",
    header: Mapping[str, Any] | None = None,
    sets: Mapping[str, str | tuple[str, int]] | None = None,
    local: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """An entry of `Picture.parts`, see `Picture.show`."""
    words = {"title": title, "sentence": sentence, "shape": shape}
    return {**words, "header": dict(header or {}), "sets": dict(sets or {}), "local": dict(local or {})}


def _in_script(data: Any) -> str:
    """JSON that may stand in a script of a page: no text in it can end the script. Bytes are written in base64."""

    def as_text(part: bytes) -> dict[str, str]:
        return {"bytes": base64.b64encode(part).decode()}

    return json.dumps(data, default=as_text).replace("<", "\\u003c")
