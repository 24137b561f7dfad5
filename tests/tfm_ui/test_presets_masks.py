"""What the questions of the Masks lens's presets take for granted."""

from tfm_ui.masks_lens import conventions
from tfm_ui.masks_lens.state import MasksState
from tfm_ui.model_state import ModelState
from tfm_ui.presets import MASKS


def masks(name):
    preset = next(preset for preset in MASKS if preset.name == name)
    return ModelState(**preset.model), MasksState(**preset.page)


# conventions


def test_which_way_round_no_call_complains_and_torchs_module_alone_gives_nan():
    seen = conventions.view(*masks("Which way round?")).found
    assert all(one.slipped > 0.1 or one.slipped_nan for one in seen.values())
    giving = [name for name, one in seen.items() if one.slipped_nan]
    assert giving == ["MHA, attn_mask", "MHA, attn_mask per head", "MHA, key_padding_mask"]
    queries = [seen[name].slipped_nan for name in giving]
    assert queries == [2, 1, 10]
