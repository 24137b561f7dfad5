"""Questions of the view "feed_forward"."""

from tfm_ui.page.questions import Question

QUESTIONS: tuple[Question, ...] = ()
