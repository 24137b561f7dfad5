"""The controls of the model's sizes, up to what the server's settings allow."""

from tfm_ui.settings import SETTINGS
from tfm_ui.state.fields import Choice, Length, Whole

STOPS = *range(2, 65), *range(72, 257, 8), *range(320, 1025, 64)  # of the slider; links may use any number

TOKENS = Length(
    "Tokens",
    2,
    SETTINGS.max_tokens,
    stops=tuple(stop for stop in STOPS if stop <= SETTINGS.max_tokens),
    may_be_open=True,
    help="As many as the text has, until you move it: then shorter texts are padded, and longer ones cut.",
    lowered_by=SETTINGS.lowered_by("max_tokens"),
)
WIDTH = Choice(
    "d_model",
    tuple(range(32, SETTINGS.max_d_model + 1, 32)),
    help="Width of the vector that stands for each token.",
    lowered_by=SETTINGS.lowered_by("max_d_model"),
)
HEADS = Choice(
    "Heads",
    tuple(number for number in (1, 2, 4, 8, 16) if number <= SETTINGS.max_heads),
    help="Each head is d_model / heads wide.",
    lowered_by=SETTINGS.lowered_by("max_heads"),
)
LAYERS = Whole("Layers", 1, SETTINGS.max_layers, lowered_by=SETTINGS.lowered_by("max_layers"))
MOST = 128  # layers of a pretrained model, and heads of a layer, at most: each lens's `limits` know how many there are
