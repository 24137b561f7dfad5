"""What pictures in the browser know of the page: which parameters of the link are none of theirs."""

import re

from tfm_ui.folders import ASSETS
from tfm_ui.page import in_lesson, present


def test_parameters_of_the_page_alone_are_those_of_its_modules():
    script = (ASSETS / "pictures/follow_queries.js").read_text("utf-8")
    (names,) = re.findall(r"OF_PAGE = new Set\(\[(.*)\]\)", script)
    assert re.findall(r'"(\w+)"', names) == sorted([in_lesson.PARAMETER, present.PARAMETER])
