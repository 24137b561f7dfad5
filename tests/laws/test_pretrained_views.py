"""Each view of each lens on the two pretrained models: it shows something, and its laws hold, or it says why not.

What a panel shows at rest alone is computed for the small one; of SmolLM2 it takes seconds.
"""

from urllib.parse import urlencode

import pytest

from tfm_core.pretrained.offered import OFFERED
from tfm_ui.lenses import lenses
from tfm_ui.page import words
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import content_of
from tfm_ui.state.model_state import ModelState

TEXTS = {
    "smollm2": "The animal didn't cross the street because it was too",
    "minilm": "The cat sat on the mat because it was tired.",
}
VIEWS = [(lens, view) for lens in lenses() for view in lens.views]
# MiniLM gives no logits, and is an encoder.
REFUSED = {
    ("minilm", "model", "output"): "no output matrix",
    **{("minilm", "generate", view): "decoder" for view in ("write", "kept", "surprise")},
}

MISTAKES = {
    "positions_fault_added",
    "positions_fault_maps",
    "masks_nan_spreads",
    "masks_padding",
}  # panels on what breaks a law

pytestmark = pytest.mark.skipif(
    not all(model.is_there for model in OFFERED.values()),
    reason="needs `python3 run.py --models`, as `run.py test` does",
)


@pytest.mark.parametrize("weights", TEXTS)
@pytest.mark.parametrize(("lens", "view"), VIEWS, ids=lambda each: getattr(each, "name", each))
def test_a_view_shows_a_pretrained_model_or_says_why_not(lens, view, weights):
    model, state = ModelState(weights=weights, text=TEXTS[weights]), lens.state(**_named(lens, view))
    if reason := lens.view_of(state).why_not_shown(model, state):
        assert REFUSED[weights, lens.name, view] in reason
        return
    query = urlencode(
        {"weights": weights, "text": TEXTS[weights]}
        | {f"{lens.prefix}{name}": x for name, x in _named(lens, view).items()}
    )
    places = words.of_page(lens, model, state)["places"]
    blocks = lens.blocks(model, state)
    assert blocks[0] is not None  # the main picture's place is never empty
    for panel in panels_in(blocks):
        slow = panel.slow and weights == "smollm2"
        if panel.picture_name and not slow:
            header, _ = content_of(panel.picture_name, query)
            assert header["about"] or not panel.is_shown
        laws = places.get(f"laws_{panel.key}", {}).get("laws", [])
        assert panel.key in MISTAKES or all(holds for holds, _ in laws), (panel.key, laws)
    assert lens.view_of(state).uses_model == ("facts_label" in places)


def _named(lens, view):
    """The field that names the view, where a lens has several."""
    return {"view": view} if len(lens.views) > 1 else {}
