"""What the questions of the Masks lens's presets take for granted."""

from tfm_ui.masks_lens import leaks, leaks_travel
from tfm_ui.masks_lens.state import MasksState
from tfm_ui.model_state import ModelState
from tfm_ui.presets import MASKS


def masks(name):
    preset = next(preset for preset in MASKS if preset.name == name)
    return ModelState(**preset.model), MasksState(**preset.page)


# leaks


def test_leaky_by_one_lets_see_one_token_ahead_in_each_layer():
    model, state = masks("Leaky by one")
    travel = leaks_travel.view(model, state)
    promised, measured = travel.reaches["ahead"]
    assert (promised, measured) == ([0, 0], [1, 2])
    seen = leaks.view(model, state)
    assert int((seen.setting.mask != seen.promise).sum()) == 9  # a diagonal of ten tokens
    assert int(seen.leaking.sum()) == 9 + 8
    assert "up to 9 tokens back and 2 tokens ahead of it; promised: 9 and 0." in travel.about_reach()


def test_through_the_window_the_first_word_reaches_the_last_behind_layer_seven():
    travel = leaks_travel.view(*masks("Through the window"))
    assert travel.seen.moves[:, 0, 7].tolist() == [False] * 6 + [True] * 2
    assert travel.seen.moves[:, 7, 0].tolist() == [False] * 6 + [True] * 2
    assert travel.reaches["back"][1] == [1, 2, 3, 4, 5, 6, 7, 7]
    assert list(travel.laws().values()) == [True]


def test_one_cell_too_many_makes_thirteen_leaks():
    model, state = masks("One cell too many")
    seen = leaks.view(model, state)
    painted = seen.setting.mask & ~seen.promise
    assert painted.nonzero().tolist() == [[1, 8]]
    assert int(leaks.view(ModelState(num_layers=1), state).leaking.sum()) == 1
    assert int(seen.leaking.sum()) == 13
