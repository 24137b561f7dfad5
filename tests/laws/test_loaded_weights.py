"""Weights from a file, as large as they may be: every picture of every lens is drawn of them, or says why not."""

import warnings
from contextlib import suppress
from dataclasses import replace

import pytest

from tfm_core import run_store
from tfm_core.training.config import of_task
from tfm_core.training.files import NotARun
from tfm_core.training.weights_file import as_file, from_file
from tfm_ui.lenses import lenses
from tfm_ui.pictures.registry import PICTURES, CannotBeShown, made

lenses()  # registers all pictures
TASKS = ("reverse", "dates")
STRENGTHS = [10.0**power for power in range(12)]


@pytest.fixture(scope="module", params=TASKS)
def absurd(request):
    """The name of the largest multiple of trained weights that is taken in."""
    run, taken = run_store().find(of_task(request.param)), None
    for strength in STRENGTHS:
        try:
            taken = from_file(as_file(replace(run, weights={name: w * strength for name, w in run.weights.items()})))
        except NotARun:
            break
    else:
        pytest.fail(f"expected weights times {strength:g} to be refused, and they are taken in")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_store(), "_memory", type(run_store()._memory)({taken.config.name: (taken, None)}))
        yield taken.config.name


@pytest.mark.parametrize("picture", sorted(PICTURES))
def test_every_picture_of_the_largest_weights_is_drawn_or_says_why_not(absurd, picture):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of an overflow on the way to what is drawn
        with suppress(CannotBeShown):
            assert made(picture, f"weights={absurd}")
