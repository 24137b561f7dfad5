"""Questions of the view "block"."""

from tfm_ui.page.questions import Question

QUESTIONS: tuple[Question, ...] = ()
