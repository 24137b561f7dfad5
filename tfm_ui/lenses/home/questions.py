"""Questions of Home. tests/tfm_ui/lenses/home/test_presets_home.py checks what their questions say."""

from tfm_ui.page.questions import Question

QUESTIONS = (
    Question(
        "First look",
        "Nobody has trained this model, and yet it would say “tired” again. Where could that come from?",
    ),
    Question(
        "Much larger",
        "Forty-seven times the parameters, and it repeats “tired” all the more. What do parameters alone not bring?",
        model={"num_layers": 8, "num_heads": 16, "d_model": 256},
    ),
    Question(
        "Another seed",
        "The same sentence, other random weights: another head is the sharpest now. What in these pictures has stayed, "
        "and what kept it?",
        model={"seed": 2},
    ),
)
