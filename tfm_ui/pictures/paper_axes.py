"""The axes of pictures on paper: names and ticks that have too little room."""

from itertools import pairwise
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator
from matplotlib.transforms import Bbox

LETTERS = 8.0  # points: the smallest letters, but for numbers within cells
APART = 4  # pixels: between the names of two ticks at least
SHORTEST = 12  # characters in a line of a title


def width_of(whole: Figure, text: str, **look: Any) -> float:
    """The width of a text in pixels."""
    drawn = whole.text(0, 0, text, parse_math=False, **look)
    wide = float(drawn.get_window_extent().width)
    drawn.remove()
    return wide


def wrap_title(axes: Axes) -> bool:
    """Write the title of a vertical axis in two lines if it is longer than the axis, and tell whether it is."""
    title = axes.yaxis.label
    room, text = axes.get_window_extent().height, title.get_text()
    if not text or "\n" in text or title.get_window_extent().height <= room:
        return False
    short = text.partition(" (")[0]
    title.set_text(short)
    tall = title.get_window_extent().height
    if tall > room:
        letters = max(SHORTEST, int(len(short) * room / tall), -(-len(short) // 2) + 3)
        title.set_text("\n".join(wrap(short, letters, max_lines=2, placeholder=" …")))
    return True


def thin_ticks(axes: Axes) -> None:
    """Leave ticks of a horizontal axis away whose names would touch."""
    axis = axes.xaxis
    for fewer in range(3):
        low, high = sorted(axes.get_xlim())
        ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
        named = [(place, name) for place, name in ticks if low <= place <= high and name.get_text()]
        boxes = sorted((name.get_window_extent().x0, name.get_window_extent().x1) for _, name in named)
        if all(before[1] + APART <= after[0] for before, after in pairwise(boxes)):
            return
        if isinstance(axis.get_major_locator(), FixedLocator):
            kept = named[:: fewer + 2]
            axis.set_ticks([place for place, _ in kept], [name.get_text() for _, name in kept], parse_math=False)
            return
        axis.set_major_locator(LogLocator(numticks=6 - 2 * fewer) if axes.get_xscale() == "log" else MaxNLocator(4))
        axis.set_minor_locator(NullLocator())


def make_room(left: Axes, right: Axes) -> None:
    """Narrow the right one of two axes, if what stands at its side lies over the left one."""
    taken = right.get_tightbbox()
    over = left.get_window_extent().x1 + 6 - (taken.x0 if taken else float("inf"))
    wide = right.get_window_extent().width
    if 0 < over < wide - 20:
        place = right.get_position(original=True)
        share = over / wide * right.get_position().width
        right.set_position(Bbox([[place.x0 + share, place.y0], [place.x1, place.y1]]))
