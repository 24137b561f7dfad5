"""Questions of the view "depth"."""

from tfm_ui.page.questions import Question

QUESTIONS: tuple[Question, ...] = ()
