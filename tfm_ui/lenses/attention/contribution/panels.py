"""What a head looks at beside what it writes."""

from tfm_core import MultiHeadAttention
from tfm_core.study.contribution import contribution_norms
from tfm_ui.lenses.attention.contribution.numbers import ChosenRow, WholeHead, caveat, contribution
from tfm_ui.lenses.attention.contribution.pictures import PICTURES
from tfm_ui.lenses.attention.contribution.writing import HeadWriting
from tfm_ui.lenses.attention.inside import Inside
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, Panel
from tfm_ui.state.model_state import ModelState

SOURCES = (contribution_norms, Inside.weights, Inside.output_weight, MultiHeadAttention.forward)


def blocks(model: ModelState, state: AttentionState) -> list[Block]:
    """All rows of a head and the chosen one, and what neither a weight nor a length says."""
    whole, chosen = contribution(model, state)
    return [Columns([[_whole_head(whole)], [_chosen_row(chosen)]], widths=(7, 3)), Note(caveat(model), "plain")]


def _whole_head(whole: WholeHead) -> Panel:
    return Box(
        key="contribution",
        title="What it looks at, and what that contributes",
        how_to_read="First map: where each query looks. Second map: how long the vector is that it gets from there. "
        "Click a cell to choose its row.",
        shape=f"query × key = {len(whole.writing.queries)} × {len(whole.writing.keys)}",
        picture="contribution",
        result=whole,
        sources=[*SOURCES, HeadWriting.sink],
    )


def _chosen_row(chosen: ChosenRow) -> Panel:
    return Box(
        key="contribution_row",
        title=f"The row of “{chosen.writing.queries[chosen.row]}”",
        how_to_read="Lengths as shares of their sum; vectors that point in opposite directions partly cancel.",
        locked=True,
        picture="contribution_row",
        result=chosen,
        sources=SOURCES,
    )


VIEW = View(
    title="Contribution",
    blocks=blocks,
    drawn=PICTURES,
    controls=("kind", "layer", "head"),
    line="line_contribution",
    reads_pass=True,
)
