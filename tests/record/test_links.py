"""Each link shows what it showed when it was recorded; see tests/record/__main__.py for how to record anew."""

from urllib.parse import quote

import pytest
import torch

from tests.record.links import LINKS
from tests.record.page import visited
from tests.record.record import changed, read

RECORD = read()


def test_every_link_is_recorded_once():
    assert len(set(LINKS)) == len(LINKS) >= 80
    assert list(RECORD) == list(LINKS)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: quote(link, safe="/?&=., ").replace("%20", " ")[:100])
def test_a_link_shows_what_it_showed(link):
    torch.set_num_threads(1)
    if lines := list(changed(RECORD[link], visited(link))):
        more = f"\n... and {len(lines) - 20} more" if len(lines) > 20 else ""
        pytest.fail(f"{link}\n" + "\n".join(lines[:20]) + more, pytrace=False)
