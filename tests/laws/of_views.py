"""Which pictures a view draws."""

from tfm_ui.lenses import lenses
from tfm_ui.state.lens_state import LensState


def pictures_of(page: type[LensState], view: str = "") -> list[str]:
    """The names of the pictures that are drawn in a view; in all views, if none is named."""
    of = [lens for lens in lenses() if lens.state is page]
    return [name for lens in of for name in (lens.views[view].pictures if view else lens.pictures)]
