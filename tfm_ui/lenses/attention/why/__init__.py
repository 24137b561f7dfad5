"""The view "why": a score in parts, and under the same tab what a head wrote, a logit, and the whole of a pass."""

from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.why.score import Why, WhyKey, WhyLead, WhyQuery
from tfm_ui.lenses.attention.why.shared import HeadMap
from tfm_ui.lenses.attention.why.without import WhyWithout
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Columns

VIEW: View[AttentionState] = View(
    title="Why",
    choice="Score",
    shows=[
        Columns([[WhyQuery], [Why], [WhyKey]], widths=(3, 5, 3)),
        Columns([[HeadMap], [WhyLead, WhyWithout]], widths=(4, 5)),
    ],
    controls=("kind", "layer", "head"),
    line="line_why",
    reads_pass=True,
)
