"""All views of the app, and for each a control that its pictures follow, found by trying."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from benchmarks.live.visitor import Visitor
from benchmarks.live.visitor_answers import drawn_of
from benchmarks.live.visitor_kept import Kept
from benchmarks.live.visitor_page import Shown
from tfm_ui.lenses import lenses
from tfm_ui.state.links import share_link
from tfm_ui.state.model_state import ModelState

SEED, TEXT = "seed", "text"
TEXTS, LETTERS = 1000, 10  # how many texts there are to choose from, and their length


@dataclass(frozen=True)
class Ticked:
    """A view, and how it is ticked.

    Attributes:
        link: of the view's first question.
        control: the link's parameter that is moved.
        values: what it can be, as a link writes it; without the value that the link opens with.
        has_seed: whether the view's link can have a seed.
    """

    link: str
    control: str
    values: Sequence[str]
    has_seed: bool

    @property
    def page(self) -> str:
        """The name of the view's page."""
        return self.link.strip("/").partition("?")[0]

    def opened_with(self, seed: int) -> str:
        """The link, with a seed beside the control that is moved, so that no two visitors ask for the same."""
        if self.control == SEED or not self.has_seed:
            return self.link
        return f"{self.link}{'&' if '?' in self.link else '?'}{SEED}={seed}"


def links() -> list[str]:
    """A link to each view of each lens: that of its first question."""
    all_of_them = []
    for lens in lenses():
        for view in lens.views:
            first = next(q for q in lens.questions if len(lens.views) == 1 or q.view(lens.state) == view)
            states = (ModelState(**first.model), ""), (lens.state(**first.controls), lens.prefix)
            all_of_them.append(share_link(f"/{lens.name}", *states))
    return all_of_them


async def scouted(address: str, asked: Sequence[str] = ()) -> list[Ticked]:
    """Open each view once, and look for the first control that its pictures follow: the seed, or one of the view.

    Args:
        address: of the server.
        asked: links to views; by default to all of them.
    """
    return [await _look(address, link) for link in asked or links()]


async def _look(address: str, link: str) -> Ticked:
    kept = Kept()
    async with Visitor(address, link, kept) as visitor:
        await visitor.open()
        if kept.errors:
            raise ValueError(f"expected a page without errors at {link}, got {kept.errors}")
        following = [shown for shown in visitor.page.pictures if not shown.slow and not shown.says]
        choices = _choices(visitor, link)
        for control, values in choices.items():
            tried = [await _drawn(visitor, following, {control: value}) for value in (values[0], values[-1])]
            if tried[0] != tried[1]:
                return Ticked(link, control, values, SEED in choices)
    control = next(iter(choices))
    return Ticked(link, control, choices[control], SEED in choices)


def _choices(visitor: Visitor, link: str) -> Mapping[str, Sequence[str]]:
    """Control -> its values, of those that have several: the seed, those of the lens, those of the model, the text."""
    of_lens = f"{link.strip('/').partition('?')[0]}_"
    controls = visitor.page.controls
    order = sorted(controls, key=lambda name: (name == TEXT, name != SEED, not name.startswith(of_lens)))
    offered = {name: [str(value) for value in controls[name].values] for name in order}
    offered[TEXT] = _texts()
    there = {name: controls[name].value for name in order}
    return {name: [v for v in values if v != there[name]] for name, values in offered.items() if len(values) > 2}


def _texts() -> list[str]:
    """Texts of single letters, which both random and trained weights can read."""
    chance = random.Random(0)
    return [" ".join(chance.sample(ascii_lowercase, LETTERS)) for _ in range(TEXTS)]


async def _drawn(visitor: Visitor, pictures: Sequence[Shown], values: Mapping[str, str]) -> list[tuple[str, bytes]]:
    if not pictures:
        return []
    return [drawn_of(picture) for picture in await visitor.pictures([shown.at(values) for shown in pictures])]
