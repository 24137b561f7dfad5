"""A lens as data: its state, views, questions and pictures. `tfm_ui/page/lens_page.py` draws its page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

import streamlit as st

from tfm_ui.live import passes
from tfm_ui.live.cache import made_once
from tfm_ui.live.memory import LITTLE, why_too_large
from tfm_ui.page.question_names import names_in_links
from tfm_ui.page.questions import Question
from tfm_ui.pictures.panel import Block, Columns, Note, Panel
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.arrays import WEIGHTS_ALONE
from tfm_ui.state.fields import Limits, controls_of
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_row import Text

S = TypeVar("S", bound=LensState)
Measures = Mapping[str, Callable[[ModelState, Any], float | str]]  # name -> a pure function of the link
LENS_SCRIPT = "pages/lenses/lens.py"  # the script of every lens's page, except Home's


# What makes a block of a link: the class of a panel, or a function of the model's and the lens's state. A function may
# make a list of blocks, where it depends on the link how many there are; in columns a single one.
Made = Block | list[Block] | list[Block | None] | None
Maker = type[Panel] | Columns | Note | Callable[[ModelState, Any], Made]


def _made(maker: Maker, model: ModelState, state: LensState) -> Made:
    """The block that it makes of a link, or the blocks."""
    if isinstance(maker, Note):
        return maker
    if isinstance(maker, Columns):
        return Columns([[_made(inside, model, state) for inside in column] for column in maker.columns], maker.widths)
    if isinstance(maker, type):
        panel: Panel = made_once(maker, model, state)
        return panel if panel.is_shown else panel.instead()
    made: Made = maker(model, state)
    return made


def _panels(makers: Sequence[Maker]) -> Iterator[type[Panel]]:
    """The classes of panels among them."""
    for maker in makers:
        if isinstance(maker, Columns):
            yield from _panels([*chain.from_iterable(maker.columns)])
        elif isinstance(maker, type):
            yield maker


def _nothing(model: ModelState, state: LensState) -> str:
    return ""


def texts_of(model: ModelState, state: LensState) -> Sequence[Text]:
    """The text in the sidebar, and the target text where a model has two."""
    return [Text(model.source_tokens), *([Text(model.target_tokens)] if model.is_encoder_decoder else [])]


def nothing_named(model: ModelState, state: LensState) -> Sequence[Text]:
    """No text."""
    return ()


def _nowhere(model: ModelState, state: LensState) -> Sequence[Block | None]:
    return ()


@dataclass(frozen=True, kw_only=True)
class View(Generic[S]):
    """One view of a lens."""

    title: str = ""
    """The name of the view's tab, if the lens has several: what one will see there. Its name in a link is its key in
    `Lens.views`."""

    tab: str = ""
    """The name of the view under whose tab this one stands, too: a choice at the beginning of the row of controls opens
    it. By default a view has a tab of its own."""

    choice: str = ""
    """Its name in that choice, if it is not its title."""

    within: str = ""
    """The name of the view in whose picture a click opens this one, and to which a button leads back: it has no tab of
    its own. "" if it has one."""

    shows: Sequence[Maker]
    """What the view shows, from top to bottom: classes of panels, and pure functions that make a block of a link. The
    first is the main picture, which gets the first screen; the others stand below it."""

    also: Sequence[type[Panel]] = ()
    """Classes of panels that these functions return."""

    instead: Callable[[ModelState, S], Sequence[Block | None]] = _nowhere
    """What stands in place of all of it where there is nothing to show; nothing if it can be shown."""

    beside: Mapping[str, Picture] = field(default_factory=dict)
    """Name -> picture: what the view draws beside its controls, in no panel."""

    editor: Callable[[ModelState], None] | None = None
    """Draws where the reader writes, above the picture; it stays where there is nothing to show."""

    controls: Sequence[str] | Callable[[ModelState], S] = ()
    """The fields whose controls stand in the row above the picture; or a function that draws that row in its own way
    and returns the lens's state."""

    more: Sequence[str] = ()
    """The fields whose controls a button at the end of that row opens."""

    line: str = ""
    """The key of that row on the page."""

    questions: Sequence[Question] = ()
    """Questions to try in this view, in teaching order; each sets the model and the controls."""

    uses_model: bool = True
    """Whether the view shows something of the sidebar's model."""

    reads_pass: bool = False
    """Whether it shows what `tfm_ui.live.passes.run` has recorded: then the page tells how long that took."""

    badge: Callable[[ModelState, S], str] | None = None
    """Returns the facts beside the tabs where the page shows no pass of the sidebar's model."""

    never_trained: Callable[[ModelState, S], str] = _nothing
    """Returns in what trained weights are shown here that they were never trained in, in a sentence; "" if in nothing.
    It stands below the main picture."""

    reads_instead: Callable[[ModelState, S], str] = _nothing
    """Returns what the main picture is made from in place of the text in the sidebar, in a sentence; "" if it is made
    from that text. It stands above the picture, in place of the tokens."""

    reads: Callable[[ModelState, S], Sequence[Text]] = texts_of
    """Returns the texts that the main picture is made from, whose tokens stand above it; `nothing_named` where pictures
    of several texts stand side by side."""

    exercise: str = ""
    """The name of what is programmed in a notebook of this view (`tfm_core/checks/exercises`), where a lesson's steps
    name nothing; "" if nothing is."""

    running: Callable[[ModelState, S], str] = _nothing
    """Returns a sentence to show while the blocks are computed, if that takes seconds; otherwise ""."""

    @property
    def pictures(self) -> Mapping[str, Picture]:
        """Name -> picture: all that the view draws, in its panels and beside its controls."""
        panels = [*_panels(self.shows), *self.also]
        inside = {name: picture for panel in panels for name, picture in panel.pictures().items()}
        return {**inside, **self.beside}

    @property
    def works_on_weights_alone(self) -> bool:
        """Whether it shows something of attention weights out of a file, where there is no model."""
        return any(picture.works_on_weights_alone for picture in self.pictures.values())

    @property
    def may_read_another(self) -> bool:
        """Whether its main picture ever is made from something else than the text in the sidebar."""
        return self.reads_instead is not _nothing

    @property
    def tells_what_is_read(self) -> bool:
        """Whether a line above the main picture tells what it is made from."""
        return self.may_read_another or (self.uses_model and self.reads is not nothing_named)

    def texts(self, model: ModelState, state: S) -> Sequence[Text]:
        """The texts whose tokens stand above the main picture; none where it is made of others, or is not there."""
        named = self.uses_model and not self.reads_instead(model, state) and not self.instead(model, state)
        return self.reads(model, state) if named else ()

    def needs(self, model: ModelState, state: S) -> int:
        """The bytes that it takes at most at a time: what it says is computed from the same results as its pictures."""
        of_pass = passes.needs(model) if self.uses_model else LITTLE
        return max([of_pass, *(picture.needs(model, state) for picture in self.pictures.values())])

    def why_not_shown(self, model: ModelState, state: S) -> str:
        """Why this cannot be shown of this model, in a few words; "" if it can."""
        if self.uses_model and (reason := passes.why_not_run(model)):
            return reason
        if model.array and self.uses_model and not self.works_on_weights_alone:
            return WEIGHTS_ALONE
        return why_too_large(self.needs(model, state))

    def shown(self, model: ModelState, state: S) -> Sequence[Block | None]:
        """The blocks, and what `never_trained` says of trained weights."""
        instead: Sequence[Made] = self.instead(model, state)
        made = instead or [_made(each, model, state) for each in self.shows]
        first, *rest = (block for each in made for block in (each if isinstance(each, list) else [each]))
        note = self.never_trained(model, state) if not model.is_random else ""
        return [first, *([Note(note, "plain")] if note else []), *rest]


def views_of(lens: str, names: Sequence[str]) -> dict[str, View[Any]]:
    """The views of a lens: each is the `VIEW` of the file of its name, or of the folder.

    Args:
        lens: the lens's package, its `__name__`.
        names: of the views, in their order on the page.
    """
    return {name: import_module(f"{lens}.{name}").VIEW for name in names}


def measures_of(lens: str) -> Measures:
    """What lessons measure in a lens, by name: `MEASURES` of its file measures.py.

    Args:
        lens: the lens's package, its `__name__`.
    """
    measures: Measures = import_module(f"{lens}.measures").MEASURES
    return measures


class LeadsOn(NamedTuple):
    """What comes after a lens.

    Attributes:
        name: of the next lens, or "learn".
        title: of its page.
        why: why it comes next, as the end of a sentence about it, with the full stop.
    """

    name: str
    title: str
    why: str

    def after(self, title: str) -> str:
        """What is said after the last question of the lens with this title."""
        return f"That was the last question of {title}. Next comes {self.title}: {self.why}"


@dataclass(frozen=True, kw_only=True)
class Lens:
    """All that the rest of the app needs to know about a lens.

    Raises:
        ValueError: if the views differ from the options of the state's field `view`, if a view names a tab that there
            is not, or if a view or a question names a field that the state does not have.
    """

    name: str
    """The lens's folder and its address; with "_" appended, the prefix of its parameters in a link."""

    title: str
    """The lens's title in the bar at the top and on its page."""

    state: type[LensState]
    """The lens's controls, a dataclass. If there are several views, its field `view` names the visible one."""

    views: Mapping[str, View[Any]]
    """Name -> view, in their order on the page."""

    leads_on: LeadsOn | None = None
    """What comes after its last question; None of a lens after which nothing comes."""

    group: str = "look"
    """The group of pages in the bar at the top that it belongs to: "learn", "look" or "check"."""

    questions: Sequence[Question] = ()
    """Questions to try, in teaching order; with those of its views, in the views' order."""

    heading: str = ""
    """The heading of the page, if it differs from the title."""

    lead: str = ""
    """A sentence beside the heading."""

    way_in: Callable[[], None] | None = None
    """Draws the ways in beside the heading: to the first lesson, and into a lecture’s room."""

    beside: str = ""
    """The badge's name for the model, if the page does not show a pass of it."""

    script: str = LENS_SCRIPT
    """The file that Streamlit runs for the page."""

    measures: Measures = field(default_factory=dict)
    """Name -> what lessons measure of what is on screen: a pure function of the link; its docstring says what it is."""

    opens_with: Mapping[str, str] = field(default_factory=dict)
    """Field of the model -> value, as in a link, with which the lens opens where a link asks for nothing."""

    def __post_init__(self) -> None:
        of_views = [question for view in self.views.values() for question in view.questions]
        of_lens = [question for question in self.questions if question not in of_views]
        places = {name: place for place, name in enumerate(self.views)}
        by_view = sorted([*of_lens, *of_views], key=lambda question: places.get(question.view(self.state), 0))
        object.__setattr__(self, "questions", by_view)
        fields = controls_of(self.state)
        views = list(getattr(fields["view"][0], "options", ())) if "view" in fields else list(self.views)[:1]
        if views != list(self.views):
            raise ValueError(f"{self.name}: expected the views {views} of the field `view`, got {list(self.views)}")
        if missing := sorted({view.tab for view in self.views.values() if view.tab} - set(self.tabs)):
            raise ValueError(f"{self.name}: expected views with tabs of their own, {list(self.tabs)}, got {missing}")
        rows = [view.controls for view in self.views.values() if not callable(view.controls)]
        named = [name for row in (*rows, *(view.more for view in self.views.values())) for name in row]
        named += [name for question in self.questions for name in question.controls]
        if unknown := sorted(set(named) - set(fields)):
            raise ValueError(f"{self.name}: expected fields of {self.state.__name__}: {list(fields)}; got {unknown}")

    @property
    def tabs(self) -> Mapping[str, str]:
        """Name -> title of each view that has a tab of its own; nothing if there is a single view."""
        with_tab = {name: view.title for name, view in self.views.items() if not view.tab and not view.within}
        return with_tab if len(self.views) > 1 else {}

    def tab_of(self, name: str) -> str:
        """The name of the tab under which a view stands."""
        if name not in self.views:
            return ""
        return self.views[name].tab or self.views[name].within or name

    def choices(self, name: str) -> Mapping[str, str]:
        """The views under the tab of a view: name -> what it is called there; nothing if the view stands alone."""
        at_tab = {other: view for other, view in self.views.items() if not view.within}
        under = {other: view for other, view in at_tab.items() if self.tab_of(other) == self.tab_of(name)}
        return {other: view.choice or view.title for other, view in under.items()} if len(under) > 1 else {}

    @property
    def pictures(self) -> Mapping[str, Picture]:
        """Name -> picture, of all views. No other lens may use the same names."""
        return {name: picture for view in self.views.values() for name, picture in view.pictures.items()}

    @property
    def prefix(self) -> str:
        """The prefix of the lens's parameters in a link."""
        return f"{self.name}_"

    def limits(self, model: ModelState) -> Limits:
        """Field name -> attributes of its control that are narrower in a link: by this model, and by the questions."""
        names = [question.link for question in self.questions]
        return {**self.state.limits(model), "question": names_in_links(self.name, names)}

    @property
    def uses_model(self) -> bool:
        """Whether any view shows something of the sidebar's model."""
        return any(view.uses_model for view in self.views.values())

    def page(self, *, default: bool = False) -> st.Page:
        """The lens's page, for the router."""
        return st.Page(self.script, title=self.title, url_path=self.name, default=default)

    def view_of(self, state: LensState) -> View[Any]:
        """The view that is visible in this state."""
        return self.views[getattr(state, "view", next(iter(self.views)))]

    def needs(self, model: ModelState, state: LensState) -> int:
        """The bytes that the view in this state takes at most at a time."""
        return self.view_of(state).needs(model, state)

    def blocks(self, model: ModelState, state: LensState) -> Sequence[Block | None]:
        """What the page shows for a link, which the two states describe: a pure function."""
        return self.view_of(state).shown(model, state)
