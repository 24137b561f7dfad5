"""Questions of the Training lens, in the order of its views."""

from tfm_ui.lenses.training.learn.questions import QUESTIONS as OF_LEARN

QUESTIONS = (*OF_LEARN,)
