"""Asks the questions of a page without a browser."""

import re

from streamlit.testing.v1 import AppTest

from tests.pages.test_app import text_on, widget
from tfm_ui.lenses import lens

AT = re.compile(r'data-lens="(\w+)" data-number="(\d+)"')


def pick(app: AppTest, name: str) -> AppTest:
    """Walk through the questions until the one of this name is asked."""
    while (steps := steps_to(app, name)) != 0:
        widget(app, "_next_question" if steps > 0 else "_previous_question").click().run()
        assert not app.exception
        assert abs(steps_to(app, name)) == abs(steps) - 1
    return app


def steps_to(app: AppTest, name: str) -> int:
    """How many questions there are from the one on screen to the one of this name, forwards or, below 0, backwards."""
    ((of_lens, number),) = AT.findall(text_on(app))
    names = [question.name for question in lens(of_lens).questions]
    return names.index(name) - int(number) + 1
