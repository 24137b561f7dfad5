"""Questions of the view "efficient"."""

from tfm_ui.page.questions import Question

QUESTIONS: tuple[Question, ...] = ()
