"""The view "see": the mask, and the model that obeys it; below, what the mask would save as texts grow."""

from tfm_ui.lenses.masks.batch import THE_BATCH, reads_instead
from tfm_ui.lenses.masks.composer import PICTURES, mask_and
from tfm_ui.lenses.masks.masked_passes import other_mask
from tfm_ui.lenses.masks.see.growth import Growth
from tfm_ui.lenses.masks.see.head import See
from tfm_ui.page.lens import View

VIEW = View(
    title="Mask and weights",
    shows=[See, *THE_BATCH, Growth],
    beside=PICTURES,
    reads_instead=reads_instead,
    controls=mask_and("layer", "head"),
    never_trained=other_mask,
)
