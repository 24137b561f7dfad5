"""Charts: pictures over an axis. Each is a Plotly figure, which a pure function makes and Plotly's script draws.

The figure is complete: it can be opened without the app. What depends on the window (colours, size of letters, how many
charts stand side by side, names beside the ends of lines) is the browser's (assets/pictures/chart.js).
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.figures import Figure

SHORT = {"f": "f8", "i": "i4"}  # of a NumPy kind of number, the type in which Plotly gets it
TITLE = 48  # the height of the title of a file, in pixels


def _figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    figure = go.Figure(header["figure"])
    figure.layout.margin.t = (figure.layout.margin.t or 0) + TITLE
    figure.layout.height = (figure.layout.height or 0) + TITLE
    figure.update_traces(uid=None)  # of use only where a figure is drawn again and again
    return figure


CHART = Canvas(
    "pictures/chart",
    """
<div class="chart" data-picture>
  <div class="plot" tabindex="0" role="application"></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    _figure,
    library="plotly/plotly-basic-4.1.1.min.js",
    saves=("PNG", "SVG"),
)


def packed(part: Any) -> Any:
    """A figure in Plotly's JSON, which holds arrays as bytes; those without numbers are lists."""
    if isinstance(part, Mapping):
        return {key: packed(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [packed(value) for value in part]
    if not isinstance(part, np.ndarray):
        return part
    if not part.size or part.dtype.kind not in SHORT:
        return part.tolist()
    short = SHORT[part.dtype.kind]
    return {"dtype": short, "bdata": b64encode(part.astype(short).tobytes()).decode("ascii")}


def content(figure: Figure, *, about: str = "") -> Content:
    """The content for chart.js.

    Args:
        figure: what is drawn.
        about: the picture in words.
    """
    return {"about": about, "figure": packed(figure)}, np.zeros(0, np.float32)
