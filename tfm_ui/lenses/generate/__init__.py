"""The Generate lens: a decoder writes, token after token, and one sees how each token comes about."""

from tfm_ui.lenses.generate.kept import VIEW as KEPT
from tfm_ui.lenses.generate.kept.questions import QUESTIONS as OF_KEPT
from tfm_ui.lenses.generate.panel import LAB
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.surprise import VIEW as SURPRISE
from tfm_ui.lenses.generate.surprise.questions import QUESTIONS as OF_SURPRISE
from tfm_ui.lenses.generate.write import VIEW as WRITE
from tfm_ui.lenses.generate.write.questions import QUESTIONS as OF_WRITE
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="generate",
    title="Generate",
    state=GenerateState,
    views={"write": WRITE, "kept": KEPT, "surprise": SURPRISE},
    questions=[*OF_WRITE, *OF_KEPT, *OF_SURPRISE],
    opens_with=LAB,
)
