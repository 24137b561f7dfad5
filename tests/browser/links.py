"""What tfm_core gives for the link in the address bar."""

from urllib.parse import parse_qs, urlsplit

import numpy as np

from tfm_ui.lenses.heads.panels import Head
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.links import state_of
from tfm_ui.state.model_state import ModelState


def computed(link: str) -> np.ndarray:
    """The weights that a link stands for, in plain Python."""
    query = parse_qs(urlsplit(link).query, keep_blank_values=True)
    model, lens = state_of(ModelState, "", query), state_of(HeadsState, "heads_", query)
    scope: dict = {}
    exec(Head(model, lens).recipe(), scope)
    return scope["weights"].numpy()


def same(shown: list[list[float]], link: str) -> None:
    np.testing.assert_array_equal(np.array(shown, np.float32), computed(link))
