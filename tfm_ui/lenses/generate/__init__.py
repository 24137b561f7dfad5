"""The Generate lens: a decoder writes, token after token, and one sees how each token comes about."""

from tfm_ui.lenses.generate.kept.panels import VIEW as KEPT
from tfm_ui.lenses.generate.look.panels import VIEW as LOOK
from tfm_ui.lenses.generate.questions import QUESTIONS
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.surprise.panels import VIEW as SURPRISE
from tfm_ui.lenses.generate.write.panels import VIEW as WRITE
from tfm_ui.lenses.generate.write.questions import LAB
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="generate",
    title="Generate",
    state=GenerateState,
    views={"write": WRITE, "look": LOOK, "kept": KEPT, "surprise": SURPRISE},
    questions=QUESTIONS,
    opens_with=LAB,
)
