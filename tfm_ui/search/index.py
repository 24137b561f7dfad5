"""The index of the search: an entry for each view, question, step of a lesson, word and setting. Pure.

Everything in it is read from what the pages themselves are drawn from, so that it is complete by itself.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import blake2b
from typing import Any, Protocol

from tfm_ui.page import frame
from tfm_ui.page.lens import Lens
from tfm_ui.search.places import places
from tfm_ui.state.fields import Field, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.glossary_words import GLOSSARY

VIEW, QUESTION, STEP, WORD, SETTING = "view", "question", "step", "word", "setting"
KINDS = (VIEW, QUESTION, STEP, WORD, SETTING)
# The pages that show no lens, by their addresses.
PAGES = {
    frame.LEARN: (
        "Learn",
        "Lessons, a lecture and exercise sheets; “Teach it” prints a lesson, with answers, or makes a notebook of it",
        "course chapter homework jupyter ipynb blanks solutions print paper pdf syllabus progress",
    ),
    frame.LECTURE: (
        "Your lecture",
        "Put questions, steps and pages of your own in order, with notes and minutes, and present them",
        "deck slides speaker qr short link collect assignment",
    ),
    frame.ROOM: (
        "Room",
        "Enter a room by its code, and follow a lecture on your own screen; the owner’s desk, with polls",
        "classroom class join code poll vote quiz audience students histogram follow",
    ),
}
SIDEBAR = "in the sidebar, beside every page"
MOST_VIEWS = 3  # that an entry of a setting names


class Step(Protocol):
    """What the index reads of a step of a lesson."""

    @property
    def name(self) -> str:
        """Its name in links."""
        ...

    @property
    def heading(self) -> str:
        """Its heading."""
        ...

    @property
    def words(self) -> str:
        """What it says."""
        ...


class Lesson(Protocol):
    """What the index reads of a lesson."""

    @property
    def title(self) -> str:
        """Its title."""
        ...

    @property
    def steps(self) -> Sequence[Step]:
        """Its steps."""
        ...


@dataclass(frozen=True)
class Entry:
    """Something that can be found.

    Attributes:
        kind: one of KINDS.
        name: what it is called in links, unique among those of its kind: "heads.all-tokens" of a question of a lens.
        title: what it is called on screen.
        place: where it is, in words; "" of a word, which is explained where it is found.
        words: what else it says, such as the text of a question; shown below the title.
        also: words by which it is found, too, and that are not shown: other forms of a word, options of a setting.
    """

    kind: str
    name: str
    title: str
    place: str
    words: str = ""
    also: str = ""


def entries(lenses: Sequence[Lens], lessons: Mapping[str, Lesson]) -> list[Entry]:
    """All that can be found, each once.

    Args:
        lenses: all lenses, in teaching order.
        lessons: name -> lesson, of those that come with the app.
    """
    of_lenses = [entry for lens in lenses for entry in (*_views(lens), *_questions(lens), *_settings(lens))]
    of_lessons = [entry for name, lesson in lessons.items() for entry in _steps(name, lesson)]
    of_pages = [
        Entry(VIEW, name, title, "The page of this name", about, also) for name, (title, about, also) in PAGES.items()
    ]
    return [*of_pages, *of_lenses, *of_lessons, *_of_model(), *_words()]


def where(lens: Lens, view: str) -> str:
    """A view in words: "Attention · Why: Score"; of a lens with a single view its title alone."""
    title = view_title(lens, view)
    return f"{lens.title} · {title}" if title != lens.title else title


def view_title(lens: Lens, view: str) -> str:
    """What a view is called: by its tab, and where several stand under that tab by its choice, too."""
    if len(lens.views) == 1:
        return lens.title
    tab, choices = lens.views[lens.tab_of(view)].title, lens.choices(view)
    called = choices.get(view, "") or lens.views[view].title
    return called if called == tab else f"{tab}: {called}"


def _views(lens: Lens) -> Iterator[Entry]:
    for name, view in lens.views.items():
        title = view_title(lens, name)
        place = f"The page {lens.title}" if title != lens.title else "The page of this name"
        asked = ", ".join(each.name for each in lens.questions if (each.view(lens.state) or name) == name)
        about = f"Questions: {asked}" if asked else ""
        yield Entry(VIEW, f"{lens.name}.{name}", title, place, about, f"{lens.heading} {view.title}".strip())


def _questions(lens: Lens) -> Iterator[Entry]:
    for question in lens.questions:
        view = question.view(lens.state) or next(iter(lens.views))
        yield Entry(QUESTION, f"{lens.name}.{question.link}", question.name, where(lens, view), question.ask)


def _steps(name: str, lesson: Lesson) -> Iterator[Entry]:
    for number, step in enumerate(lesson.steps, 1):
        yield Entry(STEP, f"{name}.{step.name}", step.heading, f"{lesson.title} · step {number}", step.words)


def _settings(lens: Lens) -> Iterator[Entry]:
    fields = controls_of(lens.state)
    for name, (field, _) in fields.items():
        if at := places().get(lens.prefix + name):
            named = [view_title(lens, view) for view in at.views]
            more = len(named) - MOST_VIEWS
            views = ", ".join(named[:MOST_VIEWS]) + (f" and {more} more" if more > 0 else "")
            yield _setting(lens.prefix + name, field, lens.title if views == lens.title else f"{lens.title} · {views}")


def _of_model() -> Iterator[Entry]:
    for name, (field, _) in controls_of(ModelState).items():
        yield _setting(name, field, SIDEBAR)


def _setting(parameter: str, field: Field, place: str) -> Entry:
    options: Any = getattr(field, "options", ())
    named = () if callable(options) else [option for option in options if isinstance(option, str)]
    about = [getattr(field, "help", None) or "", f"Options: {', '.join(named)}." if named else ""]
    return Entry(SETTING, parameter, field.label, place, " ".join(filter(None, about)), parameter)


def _words() -> Iterator[Entry]:
    for name, word in GLOSSARY.items():
        yield Entry(WORD, name, name, "", word.about, " ".join(word.forms))


@dataclass(frozen=True)
class Index:
    """The index as the browser fetches it.

    Attributes:
        names: kind -> the names of its entries: what a browser may ask for.
        data: a JSON list of [kind, name, title, place, words, also].
        version: of the data, for its address.
    """

    names: Mapping[str, frozenset[str]]
    data: bytes
    version: str


def made(these: Sequence[Entry]) -> Index:
    """The index of these entries."""
    data = json.dumps([astuple(entry) for entry in these], ensure_ascii=False, separators=(",", ":")).encode()
    names = {kind: frozenset(entry.name for entry in these if entry.kind == kind) for kind in KINDS}
    return Index(names, data, blake2b(data, digest_size=6).hexdigest())


_KEPT: dict[str, Index] = {}


def kept(entries_of: Callable[[], Sequence[Entry]]) -> Index:
    """The index, which is made when it is first asked for: lenses and lessons do not change while a server runs.

    Args:
        entries_of: makes all entries.
    """
    if not _KEPT:
        _KEPT["index"] = made(entries_of())
    return _KEPT["index"]
