"""Dates: from “03 may 1999” to “1999-05-03”, sign by sign."""

import torch

from tfm_core.training.tasks.cells import DIGITS, same_in_all
from tfm_core.training.tasks.task import IGNORED, Examples, Pattern, Task

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SPACE, DASH = "␣", "-"  # a space is a token, too, and tokens are separated by spaces
SIGNS = (*DIGITS, *sorted(set("".join(MONTHS))), SPACE, DASH)
FIRST_YEAR, LAST_YEAR = 1600, 2399
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
LENGTH = len("03 may 1999")
# Sign of the answer -> the signs of the date that say it.
DIGIT_CELLS = {0: (7,), 1: (8,), 2: (9,), 3: (10,), 8: (0,), 9: (1,)}
MONTH_CELLS = {5: (3, 4, 5), 6: (3, 4, 5)}


def _id(sign: str) -> int:
    return 1 + SIGNS.index(sign)


def _dates(generator: torch.Generator, count: int, length: int) -> Examples:
    year = torch.randint(FIRST_YEAR, LAST_YEAR + 1, (count,), generator=generator)
    month = torch.randint(0, 12, (count,), generator=generator)
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    days = torch.tensor(DAYS)[month] + ((month == 1) & is_leap)
    day = 1 + (torch.rand(count, generator=generator) * days).long()
    names = torch.tensor([[_id(sign) for sign in name] for name in MONTHS])[month]
    space, dash, nothing = (torch.full((count, 1), value) for value in (_id(SPACE), _id(DASH), IGNORED))
    years, months, dates = _digits(year, 4), _digits(month + 1, 2), _digits(day, 2)
    source = torch.cat([dates, space, names, space, years], 1)
    return Examples(source, torch.cat([years, dash, months, dash, dates, nothing], 1))


def _digits(number: torch.Tensor, count: int) -> torch.Tensor:
    """The ids of a number's last decimal digits, (batch, count)."""
    return torch.stack([number // 10**place % 10 for place in reversed(range(count))], 1) + _id("0")


DATES = Task(
    title="Dates",
    about="Write “03 may 1999” as “1999-05-03”, sign by sign.",
    vocabulary=SIGNS,
    architecture="encoder",
    length=LENGTH,
    sample=_dates,
    patterns=(
        Pattern("digit", "Each digit of year and day is copied from its place.", same_in_all(DIGIT_CELLS, LENGTH)),
        Pattern("month", "The month’s number is told by the letters of its name.", same_in_all(MONTH_CELLS, LENGTH)),
    ),
    defaults={"d_model": 32, "num_heads": 2, "steps": 400},
    stretches=False,
)
