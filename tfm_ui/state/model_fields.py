"""The controls of the model that all lenses share: the fields of its state."""

from dataclasses import dataclass

from tfm_core import ACTIVATIONS, ARCHITECTURES, NORMS, POSITIONAL, TOKENIZERS
from tfm_core.model.trained import RANDOM
from tfm_ui.state.fields import Choice, Flag, Text, Whole, control
from tfm_ui.state.sizes import HEADS, LAYERS, TOKENS, WIDTH
from tfm_ui.state.trained import RunName

HELP_ON_WEIGHTS = (
    "Random: drawn from the seed, so no head has a job. Lab GPT: a small language model, which reads any text. Or "
    "trained on a task, whose tokens the model then reads."
)
HELP_ON_ARCHITECTURE = "An encoder-decoder has two texts: its encoder reads the first, its decoder the target text."
CHARS = 20_000  # the greatest length of a typed text, more than ten times what a link carries


@dataclass(frozen=True, kw_only=True)
class ModelFields:
    """The controls of the model, in the sidebar; the parameters in a link are the names of these fields."""

    text: str = control(Text("Text", CHARS), default="the cat sat on the mat because it was tired")
    target: str = control(Text("Target text", CHARS), default="die Katze war müde")
    tokenizer: str = control(
        Choice("Tokens by", tuple(TOKENIZERS), help="A token's id depends on nothing but itself."), default="word"
    )
    seq_len: int = control(TOKENS, default=0, held=True)  # 0: as many as the text has, see `length`
    d_model: int = control(WIDTH, default=32)
    num_heads: int = control(HEADS, default=4)
    num_layers: int = control(LAYERS, default=2)
    d_ff: int = control(
        Whole("d_ff", 0, 1024, box=True, help="Hidden units of the feed-forward network. At first 4 d_model."),
        default=0,
        held=True,
    )
    positional: str = control(
        Choice("Positions", tuple(POSITIONAL), help="How the model is told where a token stands."), default="sinusoidal"
    )
    norm: str = control(
        Choice("Norm", NORMS, help="Before each sub-layer (pre) or after it (post, as in 2017)."), default="pre"
    )
    activation: str = control(Choice("Activation", tuple(ACTIVATIONS)), default="gelu")
    architecture: str = control(Choice("Architecture", ARCHITECTURES, help=HELP_ON_ARCHITECTURE), default="encoder")
    causal: bool = control(
        Flag("Causal: no looking ahead", help="A choice in encoders; decoders are always causal."), default=True
    )
    weights: str = control(RunName("Weights", help=HELP_ON_WEIGHTS), default=RANDOM, held=True)
    seed: int = control(Whole("Seed", 0, 9999, box=True, help="Another seed, other random weights."), default=7)
