"""Presets of the Profiling lens.

What their questions take for granted is computed in tests/tfm_ui/test_presets_profiling.py.
"""

from tfm_ui.presets import Preset

PROFILING = (
    Preset(
        "First look",
        "Rows 2, 4 and 5 have the same parameters, only longer texts. What does their time follow, if not parameters?",
    ),
    Preset(
        "With or without weights",
        "One model three times: every weight kept, none kept, torch’s fused kernel. What do weights cost in memory, "
        "and can the times be told apart at all?",
        page={"sizes": "128, 8, 4, 200", "targets": "with weights,without weights,fused"},
    ),
    Preset(
        "Not only transformers",
        "As many parameters each, at 50 tokens and at 200. Whose time grows 4 times with 4 times the tokens, and whose "
        "more?",
        page={"sizes": "128, 8, 4, 50\n128, 8, 4, 200", "targets": "with weights,LSTM,GRU,convolution"},
    ),
    Preset(
        "The same twice",
        "One configuration as two rows. How far apart are their medians, and what says the interval of their ratio?",
        page={"sizes": "128, 8, 4, 50\n128, 8, 4, 50"},
    ),
)
