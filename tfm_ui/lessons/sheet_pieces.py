"""The pieces of a sheet, each made when it is asked for: for a server's route, and for a file that needs no server."""

import base64
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from urllib.parse import quote

from tfm_ui.lessons import shelf
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.lessons.sheet import KINDS, PAPERS, Answered, Sheet, answered
from tfm_ui.lessons.shown import LensOf, Shown, shown
from tfm_ui.live.cache import kept_together
from tfm_ui.live.memory import is_large, why_too_large
from tfm_ui.page.paper_pictures import name
from tfm_ui.pictures.registry import WITHOUT, CannotBeShown, made
from tfm_ui.pictures.words_svg import in_words
from tfm_ui.visitors.turn import turn_to_compute

IN_QUERY = "/?:@!$'()*+,;=%~-._&"  # signs that a query may hold as they are (RFC 3986, 3.4), and "%"
Piece = Callable[[], str]  # makes a part of the page; it may compute


def pieces(lens_of: LensOf, lesson: str, kind: str, paper: str, address: str) -> Sequence[Piece]:
    """The pieces of a sheet of a lesson that is kept here.

    Args:
        lens_of: the app's lenses.
        lesson: its name.
        kind: one of KINDS.
        paper: one of PAPERS.
        address: of the app, without a slash at its end; "" if it is not known.

    Raises:
        LookupError: if there is no such lesson.
        StoreAway: if the store does not answer.
        ValueError: if there is no such sheet.
    """
    for given, expected in ((kind, KINDS), (paper, PAPERS)):
        if given not in expected:
            raise ValueError(f"expected one of {', '.join(expected)}, got {given[:40]}")
    sheet = Sheet(lesson, shelf.find(lesson), kind, paper, address, _of_server)
    return [*_pieces(sheet, lens_of)]


def document(lens_of: LensOf, lesson: Lesson, kind: str, paper: str, address: str, called: str = "") -> Iterator[str]:
    """A sheet as one file, piece by piece, with its pictures in it.

    Args:
        lens_of: the app's lenses.
        lesson: the lesson.
        kind: one of KINDS.
        paper: one of PAPERS.
        address: of the app that the QR codes lead to; "" for none.
        called: its name, if that app keeps it: then its links are short.
    """
    for piece in _pieces(Sheet(called, lesson, kind, paper, address, _in_file, scripts=False), lens_of):
        yield piece()


def _pieces(sheet: Sheet, lens_of: LensOf) -> Iterator[Piece]:
    yield sheet.begin
    for at, step in enumerate(sheet.lesson.steps):
        yield partial(_block, sheet, lens_of, at, step)
    yield sheet.end


def _block(sheet: Sheet, lens_of: LensOf, at: int, step: Step) -> str:
    try:
        this = shown(step, lens_of)
        return sheet.block(this, at, _computed(this) if sheet.computes else Answered())
    except ValueError as problem:  # a page or a control that this version does not have
        return sheet.refused(at, f"This step cannot be shown: {problem}.")


def _computed(this: Shown) -> Answered:
    """The answer, in the visitor's turn; the sentence why not, if it would take more memory than pictures may."""
    size = this.lens.needs(this.model, this.state)
    if reason := this.lens.view_of(this.state).why_not_shown(this.model, this.state) or why_too_large(size):
        return Answered(problem=reason)
    with turn_to_compute(heavy=is_large(size) or this.model.is_heavy), kept_together():
        return answered(this)


def _of_server(this: Shown, kind: str, without: Sequence[str]) -> str:
    """The address of a picture, as seen from the sheet's."""
    left_out = f"without={quote(','.join(without), safe='*,')}&" if without else ""
    return f"pictures/{kind}/{this.lens.name}.svg?{left_out}{quote(this.step.show[1], safe=IN_QUERY)}"


def _in_file(this: Shown, kind: str, without: Sequence[str]) -> str:
    """A picture as the address that holds all of it."""
    asked = WITHOUT.join([name(this.lens, kind), *([",".join(without)] if without else [])])
    try:
        svg = made(asked, this.step.show[1])
    except CannotBeShown as reason:
        svg = in_words(str(reason))
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
