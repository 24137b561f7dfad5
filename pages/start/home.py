"""The page of Home."""

from tfm_ui import lenses
from tfm_ui.classroom import leading
from tfm_ui.lessons import row
from tfm_ui.page import lens_page

lens_page.show(lenses.lens("home"), row.here(lenses.lens, leading.note))
