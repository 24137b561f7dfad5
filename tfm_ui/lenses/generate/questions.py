"""Questions of the Generate lens."""

from tfm_ui.lenses.generate.write.questions import QUESTIONS as OF_WRITE

QUESTIONS = [*OF_WRITE]
