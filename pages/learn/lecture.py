"""The page on which a visitor puts a lecture together."""

from tfm_ui import lenses
from tfm_ui.lessons import lecture_page

lecture_page.show(lenses.lens, lenses.NAMES)
