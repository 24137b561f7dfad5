"""The Training lens: small transformers learn tasks with known answers, while one looks on."""

from tfm_ui.lenses.training.learn.panels import VIEW as LEARN
from tfm_ui.lenses.training.learn.pictures import PICTURES as OF_LEARN
from tfm_ui.lenses.training.questions import QUESTIONS
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="training",
    title="Training",
    state=TrainingState,
    views={"learn": LEARN},
    questions=QUESTIONS,
    pictures=OF_LEARN,
)
