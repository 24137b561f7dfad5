"""Which pictures a view draws: those of the folder that it lies in, and those that belong to its whole lens."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from tfm_ui.lenses import lenses
from tfm_ui.pictures.registry import PICTURES
from tfm_ui.state.lens_state import LensState


@cache
def view_of(name: str) -> str:
    """The view in whose folder this picture is computed; "" if that is its lens's own folder."""
    picture = PICTURES[name]
    lens = next(lens for lens in lenses() if lens.state is picture.state)
    content: Callable[..., Any] = picture.content
    while isinstance(content, partial):
        content = content.func
    folder = content.__module__.removeprefix(f"tfm_ui.lenses.{lens.name}.").partition(".")[0]
    return folder if folder in lens.views and len(lens.views) > 1 else ""


def pictures_of(page: type[LensState], view: str = "") -> list[str]:
    """The names of the pictures that are drawn in a view; in all views, if none is named."""
    of_lens = [name for name, picture in PICTURES.items() if picture.state is page]
    return [name for name in of_lens if not view or view_of(name) in ("", view)]
