"""A few named numbers as horizontal bars."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from tfm_ui.figures import look
from tfm_ui.figures.look import Mode


def bars(names: Sequence[str], shares: Sequence[float], *, reference: float, mode: Mode = "light") -> go.Figure:
    """One bar per name, the first on top, each with its share printed in percent.

    Args:
        names: what the bars stand for.
        shares: 0 to 1.
        reference: a share to compare with, drawn as a dotted line.
        mode: "light" or "dark".
    """
    colour = look.ROLE[mode]["result"]
    percent = [f"{share:.2%}" for share in shares]
    return go.Figure(
        {
            "data": [
                {
                    "type": "bar",
                    "orientation": "h",
                    "x": list(shares),
                    "y": [f"{escape(name)} " for name in names],
                    "text": percent,
                    "textposition": "outside",
                    "cliponaxis": False,
                    "marker": {"color": colour},
                    "width": 0.55,
                    "hovertemplate": "%{y}<br>probability <b>%{x:.4%}</b> = softmax(logits)<extra></extra>",
                }
            ],
            "layout": {
                "height": 230,
                "margin": {"l": 4, "r": 60, "t": 4, "b": 30},
                "paper_bgcolor": look.PAPER[mode],
                "plot_bgcolor": look.PAPER[mode],
                "font": {"family": look.FONT, "size": 15, "color": look.INK[mode]},
                "xaxis": {
                    "range": [0, max(shares) * 1.05],
                    "tickformat": ".1%",
                    "nticks": 4,
                    "gridcolor": look.RULE[mode],
                    "zeroline": False,
                    "tickfont": {"color": look.MUTED[mode], "size": 13},
                },
                "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
                "shapes": [
                    {
                        "type": "line",
                        "x0": reference,
                        "x1": reference,
                        "yref": "paper",
                        "y0": 0,
                        "y1": 1,
                        "line": {"color": look.INK[mode], "width": 2, "dash": "dot"},
                    }
                ],
            },
        }
    )
