"""Questions of the view "output"."""

from tfm_ui.page.questions import Question

QUESTIONS: tuple[Question, ...] = ()
