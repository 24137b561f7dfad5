"""A page whose view needs more memory than a picture may take says so, computes nothing, and comes back."""

from tests.pages.test_app import start
from tfm_ui.lenses.model.depth import wirings
from tfm_ui.live import memory


def test_a_page_that_needs_too_much_says_how_much_and_computes_nothing(monkeypatch):
    monkeypatch.setattr(memory, "MOST", 100_000_000)
    monkeypatch.setattr(wirings, "signals", None)  # to compute it would fail
    app = start("model", model_view="depth", model_depth="48", d_model="256", d_ff="1024", activation="swiglu")
    assert not app.exception
    assert any("100 MB is the limit" in info.value for info in app.info)
    app = start("model", model_view="diagram", d_model="256", d_ff="1024", activation="swiglu")
    assert not app.exception
    assert not any("is the limit" in info.value for info in app.info)
