"""Presets of the Profiling lens.

What their questions take for granted is computed in tests/tfm_ui/test_presets_profiling.py.
"""

from tfm_ui.presets import Preset

PROFILING = (
    Preset(
        "First look",
        "Rows 2, 4 and 5 have the same parameters, only longer texts. What does their time follow, if not parameters?",
    ),
)
