"""The page of every lens except Home; the address says which lens is shown."""

from tfm_ui import lenses
from tfm_ui.classroom import leading
from tfm_ui.lessons import row
from tfm_ui.page import frame, lens_page

lens_page.show(lenses.lens(frame.asked_lens()), row.here(lenses.lens, leading.note))
