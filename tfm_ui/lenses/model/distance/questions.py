"""Questions of the view "distance"."""

from tfm_ui.page.questions import Question

QUESTIONS: tuple[Question, ...] = ()
