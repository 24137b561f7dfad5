"""Pictures of a few named shares as horizontal bars."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfm_ui.pictures.canvas import Canvas, Content

BARS = Canvas("pictures/bars", '<div class="bars" data-picture><canvas role="img"></canvas></div>')


def content(
    names: Sequence[str],
    shares: Sequence[float],
    *,
    about: str,
    reference: float | None = None,
    values: Sequence[str] = (),
    gap: str = "none",
) -> Content:
    """The content for bars.js.

    Args:
        names: the names of the bars, from top to bottom.
        shares: 0 to 1, printed in percent; NaN for a missing share.
        about: the picture in words.
        reference: a share to compare with, drawn as a dotted line.
        values: a text for each share, such as a number with its unit. It is printed before the percentage, which then
            has no decimals.
        gap: the text in place of a NaN.

    Raises:
        ValueError: if there are not as many values as shares.
    """
    if values and len(values) != len(shares):
        raise ValueError(f"expected a value for each of {len(shares)} shares, got {len(values)}")
    header: dict[str, Any] = {"names": list(names), "about": about, "values": list(values), "gap": gap}
    if reference is not None:
        header["reference"] = reference
    return header, np.array(shares, np.float32)
