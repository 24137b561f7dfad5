"""Two shares for each of a few names, as horizontal bars: one beside the other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tfm_ui.pictures.canvas import Canvas, Content

PAIRS = Canvas("pictures/pairs", '<div class="pairs" data-picture><canvas role="img"></canvas></div>')


def content(
    names: Sequence[str], series: tuple[str, str], shares: NDArray[np.float32], *, roles: tuple[str, str], about: str
) -> Content:
    """What pairs.js draws.

    Args:
        names: what the bars stand for, the first on top.
        series: what the upper and the lower bar of a name are.
        shares: (2, name), 0 to 1, printed in percent.
        roles: their colours in the visual language; they are told apart by place and length too.
        about: the picture in words.
    """
    header = {"names": names, "series": series, "roles": roles, "about": about}
    return header, np.asarray(shares, np.float32)
