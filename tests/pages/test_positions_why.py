"""The views "why" and "beyond" of the Positions lens without a browser."""

import pytest

from tests.pages.test_app import picture, plain, start, text_on, widget
from tfm_core import POSITIONAL
from tfm_ui.lenses.positions.state import CLAIMS

POSITIONS = "positions"


def page(view: str, a: str, b: str, **more: str):
    return start(POSITIONS, positions_view=view, positions_a=a, positions_b=b, **more)


def infos(app) -> str:
    return plain(" ".join(element.value for element in app.info))


@pytest.mark.crossed(a=POSITIONAL, b=["nothing", "sinusoidal", "rope"], view=["why", "beyond"])
def test_every_scheme_runs_as_a_and_as_b(view, a, b):
    app = page(view, a, b)
    text = text_on(app)
    assert not app.error
    assert f"A: {a}" in text + infos(app)
    if b == "rope" != a:
        assert "B: rope" in text


def test_each_claim_has_its_number_and_its_mark():
    said = {claim: text_on(page("why", "sinusoidal", "rope", positions_claim=claim)) for claim in CLAIMS}
    assert "one matrix shifts 59 positions by k = 5; the largest error is 1×10⁻⁷" in said["shift error"]
    assert "✓ B: rope: one score per distance" in said["turned scores"]
    assert "✓ A: sinusoidal: no two positions alike" in said["told apart"]
    assert "✕" not in "".join(said.values())


def test_what_a_scheme_has_no_say_in_is_not_asked():
    app = page("why", "alibi", "nothing")
    assert [w.key for w in app.get("number_input") if w.key == "positions_head"]
    assert not [w for w in app.get("button_group") if w.key == "positions_measure"]
    app = page("why", "sinusoidal", "nothing")
    assert not [w for w in app.get("number_input") if w.key == "positions_head"]
    widget(app, "positions_measure").set_value("distance").run()
    header, _ = picture(app, "positions_pairs")
    assert header["maps"][0]["name"] == "A: sinusoidal, ‖PE(m) − PE(n)‖"
    assert "None" not in text_on(app)


def test_a_length_within_max_len_is_told_what_to_do():
    assert "within max_len = 48: raise Length beyond it" in infos(
        page("beyond", "learned", "rope", positions_length="20")
    )
    app = page("beyond", "learned", "rope")
    assert "raise Length" not in infos(app)
    assert "positions 48 to 63 are not defined" in text_on(app)
    assert "B: none adds nothing" in infos(page("beyond", "learned", "none"))


def test_a_scheme_that_says_nothing_stands_alone():
    app = page("why", "none", "nothing")
    assert "all pairs are alike" in infos(app)
    assert "nothing to run out of" in infos(page("beyond", "none", "nothing"))


def test_the_clocks_stand_where_vectors_are_turned():
    app = page("see", "rope", "alibi", positions_position="20", positions_key="3")
    header, _ = picture(app, "positions_clocks_a")
    assert header["at"] == {"query": 20, "key": 3}
    assert "Query at m = 20, key at n = 3, m − n = 17" in text_on(app)
