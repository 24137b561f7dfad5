"""The Training lens: small transformers learn tasks with known answers, while one looks on."""

from dataclasses import replace

from tfm_ui.lenses.training.classify.panels import VIEW as CLASSIFY
from tfm_ui.lenses.training.classify.pictures import PICTURES as OF_CLASSIFY
from tfm_ui.lenses.training.compare.panels import VIEW as COMPARE
from tfm_ui.lenses.training.compare.pictures import PICTURES as OF_COMPARE
from tfm_ui.lenses.training.decode.panels import VIEW as DECODE
from tfm_ui.lenses.training.decode.pictures import PICTURES as OF_DECODE
from tfm_ui.lenses.training.learn.panels import VIEW as LEARN
from tfm_ui.lenses.training.learn.pictures import PICTURES as OF_LEARN
from tfm_ui.lenses.training.lengths.panels import VIEW as LENGTHS
from tfm_ui.lenses.training.lengths.pictures import PICTURES as OF_LENGTHS
from tfm_ui.lenses.training.questions import QUESTIONS
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.lens import Lens

PICTURES = OF_LEARN | OF_DECODE | OF_CLASSIFY | OF_COMPARE | OF_LENGTHS
LENS = Lens(
    name="training",
    title="Training",
    state=TrainingState,
    views={"learn": LEARN, "decode": DECODE, "classify": CLASSIFY, "compare": COMPARE, "lengths": LENGTHS},
    questions=QUESTIONS,
    pictures={name: replace(picture, uses_model=False, here=True) for name, picture in PICTURES.items()},
)
