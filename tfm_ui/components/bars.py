"""A few named shares as horizontal bars."""

from collections.abc import Sequence

import numpy as np

from tfm_ui.components.canvas import Canvas, Content

BARS = Canvas("bars", '<div class="bars" data-picture><canvas role="img"></canvas></div>')


def content(names: Sequence[str], shares: Sequence[float], *, reference: float, about: str) -> Content:
    """What bars.js draws.

    Args:
        names: what the bars stand for, the first on top.
        shares: 0 to 1, printed in percent.
        reference: a share to compare with, drawn as a dotted line.
        about: the picture in words.
    """
    return {"names": names, "reference": reference, "about": about}, np.array(shares, np.float32)
