"""The Training lens: small transformers learn tasks with known answers, while one looks on."""

from tfm_ui.lenses.training import classify, compare, decode, learn
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.lens import Lens

_VIEWS = {"learn": learn, "decode": decode, "classify": classify, "compare": compare}
LENS = Lens(
    name="training",
    title="Training",
    state=TrainingState,
    views={name: view.VIEW for name, view in _VIEWS.items()},
    questions=[question for view in _VIEWS.values() for question in view.QUESTIONS],
)
