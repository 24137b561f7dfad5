"""The page on which a visitor puts a lecture together."""

from functools import partial

from tfm_ui import lenses
from tfm_ui.lessons import brought, give, lecture_page

lecture_page.show(
    lenses.lens,
    partial(give.buttons, lens_of=lenses.lens),
    partial(brought.checked, lens_of=lenses.lens, names=lenses.NAMES),
)
