"""The Positions lens's view "model" in a real browser."""

import re

import numpy as np
from playwright.sync_api import expect

from tfm_ui.lenses.positions.model.shuffle import Shuffled
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState

LINK = "/positions?positions_view=model"
VALUES = "e => Array.from(e._memory.values)"


def moves(visitor):
    """The map of how far tokens moved, once it is drawn."""
    return visitor.maps("positions_shuffled")


def computed(seed: int) -> np.ndarray:
    rows = Shuffled(ModelState(), PositionsState(shuffle=seed)).rows.values()
    return np.concatenate([row.shares for row in rows])


def the_way_through_the_model_breaks_into_lines_and_fits_a_phone(visitor) -> None:
    visitor.resize(390)
    visitor.back_to(f"{LINK}&architecture=encoder-decoder&positions_a=t5&positions_b=learned")
    drawing = visitor.page.locator(".entry")
    visitor.page.wait_for_function("e => e._memory?.rows", arg=drawing.element_handle())
    boxes = drawing.evaluate("""e => e._memory.rows.flatMap(row => row.lines.flat()).map(
        step => [step.x, step.x + step.w, e.clientWidth, step.marks.map(([side, name]) => side + name).join()])""")
    assert all(0 <= left < right <= room for left, right, room, _ in boxes)
    assert [marks for *_, marks in boxes if marks] == ["Blearned", "Blearned", "At5"]
    assert visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_shuffle_again_moves_other_words_and_comes_back_from_the_link_and_the_way_fits_a_phone(visit):
    visitor = visit(LINK)
    picture = moves(visitor)
    before = picture.evaluate(VALUES)
    np.testing.assert_allclose(before, computed(1), atol=1e-5)
    visitor.press("Shuffle again", "positions_shuffled")
    changed = f"([e, before]) => {{ const now = ({VALUES})(e); return now.some((v, i) => v !== before[i]) }}"
    visitor.page.wait_for_function(changed, arg=[picture.element_handle(), before])
    expect(visitor.page).to_have_url(re.compile("positions_shuffle=2"))
    np.testing.assert_allclose(picture.evaluate(VALUES), computed(2), atol=1e-5)
    visitor.page.reload()
    visitor.wait()
    np.testing.assert_allclose(moves(visitor).evaluate(VALUES), computed(2), atol=1e-5)
    the_way_through_the_model_breaks_into_lines_and_fits_a_phone(visitor)
