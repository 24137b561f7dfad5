"""Pictures of a few named shares as horizontal bars."""

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from tfm_ui.pictures.canvas import Canvas, Content

BARS = Canvas("pictures/bars", '<div class="bars" data-picture><canvas role="img"></canvas></div>')
ROUNDING = 1e-5  # by so much the sum of float32 shares may exceed 1


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
        shares: of one whole, so together at most 1; printed in percent. NaN for a missing share.
        about: the picture in words.
        reference: a share to compare with, drawn as a dotted line.
        values: a text for each share, such as a number with its unit. It is printed before the percentage, which then
            has no decimals.
        gap: the text in place of a NaN.

    Raises:
        ValueError: if there are not as many values as shares, or if the shares are more than one whole.
    """
    if values and len(values) != len(shares):
        raise ValueError(f"expected a value for each of {len(shares)} shares, got {len(values)}")
    whole = sum(share for share in shares if not isnan(share))
    if whole > 1 + ROUNDING:
        raise ValueError(f"expected shares of one whole, got a sum of {whole:g}")
    header: dict[str, Any] = {"names": list(names), "about": about, "values": list(values), "gap": gap}
    if reference is not None:
        header["reference"] = reference
    return header, np.array(shares, np.float32)
