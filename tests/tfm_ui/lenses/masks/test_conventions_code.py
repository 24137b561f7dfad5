"""The code to copy makes the mask that is shown, and the recipe gives the numbers of the table."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.masks.test_conventions import ACROSS, BATCH, DECODER, LARGE, SMALL
from tfm_core import Transformer, encode
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_ui.lenses.masks import paint as mask_paint
from tfm_ui.lenses.masks.conventions.calls import conventions
from tfm_ui.lenses.masks.conventions.code import code_to_copy
from tfm_ui.lenses.masks.conventions.table import AllCalls


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize(
    ("model", "state"),
    [
        (SMALL, BATCH),
        (SMALL, replace(BATCH, paint=mask_paint.whole(np.tri(3, 3) > 0))),
        (LARGE, replace(BATCH, mask="window 3 or global 1 and padding")),
        (LARGE, replace(BATCH, mask="")),
        (DECODER, replace(BATCH, mask="documents 5 7 or strided 4", texts="@alice\n'quoted' \"twice\"\\n")),
        (ACROSS, replace(BATCH, mask="cross and prefix 2", place="cross")),
        (ACROSS, replace(BATCH, mask="window 2 and padding", place="decoder")),
    ],
)  # fmt: skip
def test_the_code_to_copy_runs_and_makes_the_same_mask(name, model, state):
    batch, space = conventions(model, replace(state, convention=name)), {}
    with torch.no_grad():
        exec(code_to_copy(batch.settings, batch.convention), space)
    assert torch.equal(space["mask"], batch.mask)
    assert torch.equal(space["handed"], batch.handed)
    output = space["output"][0] if isinstance(space["output"], tuple) else space["output"]
    assert batch.settings[0].mask.shape[0] in output.shape


@pytest.mark.parametrize(
    ("model", "state"),
    [
        (SMALL, BATCH),
        (replace(SMALL, norm="post", positional="rope", text="@alice"), replace(BATCH, layer=2)),
        (replace(LARGE, num_heads=1), replace(BATCH, mask="window 2 and padding")),
        (ACROSS, replace(BATCH, mask="cross", place="cross", layer=2)),
        (replace(ACROSS, norm="post"), replace(BATCH, mask="window 2 and cross", place="cross")),
        (DECODER, replace(BATCH, mask="padding", layer=2)),
    ],
)
def test_the_recipe_gives_the_same_numbers(model, state):
    batch, space = conventions(model, state), {}
    exec(AllCalls(batch).recipe(), space)
    assert space["verified"].keys() == batch.verified.keys()
    for name, ours in batch.verified.items():
        theirs = space["verified"][name]
        for field in ("difference", "of_said", "slipped", "slipped_nan", "largest", "empty"):
            assert getattr(theirs, field) == getattr(ours, field), (name, field)


def test_texts_are_what_the_code_says():
    """A line that is the name of a sample stands for its text, in the code too."""
    batch, space = conventions(DECODER, replace(BATCH, texts="@alice")), {}
    exec(AllCalls(batch).recipe(), space)
    assert torch.equal(space["source"][1:], encode(batch.settings[1].model.read_text, "word", 20).batch)
    assert isinstance(space["model"], Transformer)
