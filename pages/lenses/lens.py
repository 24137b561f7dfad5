"""The page of each lens but Home: which one, the address says."""

from tfm_ui import lenses
from tfm_ui.page import frame, lens_page

lens_page.show(lenses.lens(frame.asked_lens()))
