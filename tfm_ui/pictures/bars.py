"""A few named shares as horizontal bars."""

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
    """What bars.js draws.

    Args:
        names: what the bars stand for, the first on top.
        shares: 0 to 1, printed in percent; NaN where there is none.
        about: the picture in words.
        reference: a share to compare with, drawn as a dotted line.
        values: what each share is, with its unit: printed before the percent, which then are whole.
        gap: what stands for a NaN.

    Raises:
        ValueError: for values that are not as many as the shares.
    """
    if values and len(values) != len(shares):
        raise ValueError(f"expected a value for each of {len(shares)} shares, got {len(values)}")
    header: dict[str, Any] = {"names": list(names), "about": about, "values": list(values), "gap": gap}
    if reference is not None:
        header["reference"] = reference
    return header, np.array(shares, np.float32)
