"""The page that a speaker reads while presenting."""

from tfm_ui import lenses
from tfm_ui.lessons import speaker

speaker.show(lenses.lens)
