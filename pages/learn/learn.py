"""The page of the lessons."""

from functools import partial

from tfm_ui import lenses
from tfm_ui.lessons import brought, give, learn_page

learn_page.show(lenses.lens, partial(give.menu, lens_of=lenses.lens))
brought.box(lenses.lens, lenses.NAMES)
