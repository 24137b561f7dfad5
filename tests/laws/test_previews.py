"""The picture of a link, for who opens it in no browser: every view has one, drawn from what the view draws."""

from io import BytesIO
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image

from tfm_ui.lenses import lens, lenses
from tfm_ui.pictures.figures import PREVIEW_HEIGHT, PREVIEW_WIDTH
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import Asked, content_of, made

VIEWS = [(each.name, view) for each in lenses() for view in each.views]
WORDS = 150  # rows of pixels in which the title and the sentence stand
# A table; what nothing has been measured for; listings and what is printed of them.
WITHOUT = {("positions", "table"), ("profiling", "roofline"), ("clinic", "code")}


@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_every_view_has_a_picture_that_follows_its_link(name, view):
    of = lens(name)
    where = {f"{of.prefix}view": view} if len(of.views) > 1 else {}
    queries = [urlencode(dict(of.opens_with) | where | moved) for moved in ({}, {"text": "a cat", "causal": "false"})]
    pngs = [made(f"{name}.preview", query) for query in queries]
    with Image.open(BytesIO(pngs[0])) as image:
        assert image.size == (PREVIEW_WIDTH, PREVIEW_HEIGHT)
        below = np.asarray(image.convert("RGB"))[WORDS:-60]
    drawn = (below != 255).any(axis=2).mean()
    assert (drawn == 0) == ((name, view) in WITHOUT), f"{drawn:.1%} of it is drawn on"
    of_page = Asked(queries[0])
    panel = panels_in(of.blocks(of_page.model, of_page.lens(of.state, of.prefix)))[0]
    if panel.picture_name and drawn:
        first, other = (content_of(panel.picture_name, query)[1] for query in queries)
        assert (pngs[0] != pngs[1]) >= (first.tobytes() != other.tobytes())


@pytest.mark.parametrize("name", ["heads", "masks", "attention"])
@pytest.mark.parametrize("text", ["猫 坐 在 垫子 上", "😀 $x_{$ <b>%{z}", "x " * 300])
def test_any_text_has_a_picture(name, text):
    assert made(f"{name}.preview", urlencode({"text": text, "tokenizer": "characters"})).startswith(b"\x89PNG")
