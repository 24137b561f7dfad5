"""Questions of the view "diagram"."""

from tfm_ui.page.questions import Question

QUESTIONS: tuple[Question, ...] = ()
