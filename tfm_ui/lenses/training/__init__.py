"""The Training lens: small transformers learn tasks with known answers, while one looks on."""

from tfm_ui.lenses.training.classify.panels import VIEW as CLASSIFY
from tfm_ui.lenses.training.compare.panels import VIEW as COMPARE
from tfm_ui.lenses.training.decode.panels import VIEW as DECODE
from tfm_ui.lenses.training.learn.panels import VIEW as LEARN
from tfm_ui.lenses.training.lengths.panels import VIEW as LENGTHS
from tfm_ui.lenses.training.questions import QUESTIONS
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="training",
    title="Training",
    state=TrainingState,
    views={"learn": LEARN, "decode": DECODE, "classify": CLASSIFY, "compare": COMPARE, "lengths": LENGTHS},
    questions=QUESTIONS,
)
