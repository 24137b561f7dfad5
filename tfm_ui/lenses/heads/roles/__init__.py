"""The view “Roles”: what each head does, by scores that exceed what position alone would give; what breaks without."""

from collections.abc import Sequence

from tfm_ui.lenses.heads.roles.head import OneHead, RoleSentences
from tfm_ui.lenses.heads.roles.map import RoleMap
from tfm_ui.lenses.heads.roles.questions import QUESTIONS
from tfm_ui.lenses.heads.roles.silence import Silence, grammar, how_measured
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live.head_roles import why_not
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Columns, Note
from tfm_ui.state.model_state import ModelState


def _instead(model: ModelState, state: HeadsState) -> Sequence[Block | None]:
    reason = why_not(model)
    return [Note(reason, "info", ":material/category:")] if reason else []


def _reads(model: ModelState, state: HeadsState) -> str:
    return "Read here: random tokens, and sentences of ours with marked pairs; not the text in the sidebar."


VIEW = View(
    title="Roles",
    exercise="multi-head-attention",
    shows=[Columns([[RoleMap], [OneHead]], (1, 1)), grammar, Silence, RoleSentences, how_measured],
    instead=_instead,
    controls=("role", "layer", "head", "breaks"),
    questions=QUESTIONS,
    reads_instead=_reads,
)
