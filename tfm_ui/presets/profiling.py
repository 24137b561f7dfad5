"""Presets of the Profiling lens.

What their questions take for granted is computed in tests/tfm_ui/test_presets_profiling.py.
"""

from tfm_ui.presets import Preset

PROFILING = (
    Preset(
        "First look",
        "From the first row to the third, d_model grows 4 times and the layers 3 times. By how much do the parameters "
        "grow, and by how much the time?",
    ),
)
