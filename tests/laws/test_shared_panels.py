"""Panels that the pictures and the words of a request share: in any order, each shows what it shows alone."""

import pytest

from tests.record.addresses import recorded_links
from tests.record.content import nothing_kept, read
from tfm_ui.lenses import lens
from tfm_ui.live.cache import kept_together
from tfm_ui.pictures.canvas import encode
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import CannotBeShown, content_of

TOLD_EACH_TIME = "facts"  # among them is how long the pass took


def shown(name, asked):
    """The bytes of a picture or of words; None if there is none for this link."""
    try:
        header, numbers = content_of(name, asked)
    except CannotBeShown:
        return None
    if isinstance(header.get("places"), dict):
        header = {**header, "places": {at: told for at, told in header["places"].items() if at != TOLD_EACH_TIME}}
    return encode(header, numbers)


@pytest.mark.parametrize("link", [link for link in recorded_links() if link.question], ids=str)
def test_pictures_and_words_are_the_same_alone_and_together(link):
    with nothing_kept(measured=link.is_measured):
        page, asked = lens(link.lens), read(link)
        state = asked.lens(page.state, page.prefix)
        panels = panels_in(page.blocks(asked.model, state))
        names = [*dict.fromkeys(panel.picture_name for panel in panels if panel.picture_name), f"{page.name}.words"]
        alone = {name: shown(name, asked) for name in names}
        for order in (names, names[::-1]):
            with kept_together():
                assert {name: shown(name, asked) for name in order} == alone
