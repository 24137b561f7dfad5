"""Asks the questions of a page without a browser."""

from html import escape

from streamlit.testing.v1 import AppTest

from tests.pages.test_app import text_on, widget
from tfm_ui.lenses import lenses


def pick(app: AppTest, name: str) -> AppTest:
    """Walk through the questions until the one of this name is asked."""
    asks = [escape(question.ask) for lens in lenses() for question in lens.questions if question.name == name]
    for _ in range(30):
        if any(ask in text_on(app) for ask in asks):
            return app
        widget(app, "_next_question").click().run()
        assert not app.exception
    raise AssertionError(f"{name!r} is never asked")
