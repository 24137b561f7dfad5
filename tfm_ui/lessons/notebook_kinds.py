"""The kinds of a lesson's notebook, and what its file is called."""

from typing import Literal, get_args

from tfm_ui.lessons.lesson import Lesson
from tfm_ui.page.question_names import name_in_links

# "students": blanks, and neither solutions nor answers; "study": both are there, folded; "solutions": all filled in.
Kind = Literal["students", "study", "solutions"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ENDS: dict[Kind, str] = {"students": "", "study": "-self-study", "solutions": "-solutions"}


def file_name(lesson: Lesson, kind: Kind) -> str:
    """What the file is called: by the lesson's title, and by what it has."""
    return f"{name_in_links(lesson.title) or 'lesson'}{ENDS[kind]}.ipynb"
