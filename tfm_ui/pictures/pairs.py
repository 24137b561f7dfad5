"""Pictures of two shares for each of a few names, as pairs of horizontal bars."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tfm_ui.pictures.canvas import Canvas, Content

PAIRS = Canvas("pictures/pairs", '<div class="pairs" data-picture><canvas role="img"></canvas></div>')


def content(
    names: Sequence[str], series: tuple[str, str], shares: NDArray[np.float32], *, roles: tuple[str, str], about: str
) -> Content:
    """The content for pairs.js.

    Args:
        names: the names of the pairs, from top to bottom.
        series: what the upper and the lower bar of each pair stand for.
        shares: (2, name), 0 to 1, printed in percent.
        roles: the colour roles of the upper and the lower bar.
        about: the picture in words.
    """
    header = {"names": names, "series": series, "roles": roles, "about": about}
    return header, np.asarray(shares, np.float32)
