"""All tasks, in the order in which one would teach them."""

from tfm_core.training.tasks.authors import AUTHORS
from tfm_core.training.tasks.counting import BRACKETS, MAJORITY
from tfm_core.training.tasks.dates import DATES
from tfm_core.training.tasks.order import REVERSE, REVERSE_BY_DECODER, SORT, SORT_BY_DECODER
from tfm_core.training.tasks.repeats import COPY, FIRST_AGAIN, INDUCTION
from tfm_core.training.tasks.stories import QUESTION_ANSWERING
from tfm_core.training.tasks.summary import SUMMARY
from tfm_core.training.tasks.task import Task
from tfm_core.training.tasks.textbook import RANDOM_LABELS, TEXTBOOK
from tfm_core.training.tasks.translation import TRANSLATION

TASKS: dict[str, Task] = {
    "reverse": REVERSE,
    "majority": MAJORITY,
    "copy": COPY,
    "first-again": FIRST_AGAIN,
    "induction": INDUCTION,
    "sort": SORT,
    "dates": DATES,
    "brackets": BRACKETS,
    "authors": AUTHORS,
    "textbook": TEXTBOOK,
    "textbook-random": RANDOM_LABELS,
    "reverse-decoder": REVERSE_BY_DECODER,
    "sort-decoder": SORT_BY_DECODER,
    "translation": TRANSLATION,
    "question-answering": QUESTION_ANSWERING,
    "summary": SUMMARY,
}
"""Name -> a task with known answers, in the order in which one would teach them.

Examples:
    >>> from tfm_core import TASKS
    >>> TASKS["reverse"].architecture
    'encoder'
    >>> TASKS["reverse"].tokenizer.split("a b c")
    ['a', 'b', 'c']
"""
