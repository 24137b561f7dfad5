"""What a request asks about, as another process gets it: what was read of the link, and no more."""

import pickle
from urllib.parse import urlencode

import pytest

from tfm_ui.lenses import lens, lenses
from tfm_ui.pictures.registry import PICTURES, PREVIEWS, WORDS, Asked, read

TEXT = "the cat sat on the mat. " * 4000
LINK = urlencode({"text": TEXT, "seed": 3, "heads_layer": 2, "unknown": "x" * 50_000})


@pytest.mark.parametrize("names", [list(PICTURES), list(WORDS), list(PREVIEWS)], ids=["pictures", "words", "previews"])
def test_what_is_sent_has_all_that_its_pictures_need_of_the_link_and_not_the_link(names):
    asked = read(names, LINK)
    data = pickle.dumps(asked)
    assert len(data) < len(LINK) / 2
    there = pickle.loads(data)
    assert there.model == asked.model != Asked("").model
    for each in lenses():
        assert there.lens(each.state, each.prefix) == asked.lens(each.state, each.prefix)


def test_a_lens_that_was_not_read_is_missed_and_does_not_get_its_defaults():
    there = pickle.loads(pickle.dumps(read(["heads"], LINK)))
    heads, masks = lens("heads"), lens("masks")
    assert there.lens(heads.state, heads.prefix).layer == 2
    with pytest.raises(ValueError, match="read before it was sent, got 'masks_'"):
        there.lens(masks.state, masks.prefix)
