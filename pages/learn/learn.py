"""The page of the lessons."""

from tfm_ui import lenses
from tfm_ui.lessons import brought, learn_page

learn_page.show(lenses.lens)
brought.box(lenses.lens, lenses.NAMES)
