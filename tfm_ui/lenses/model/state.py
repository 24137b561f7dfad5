"""The controls of the Model lens: which view, which attention the model has here, and what each view adds."""

from dataclasses import dataclass, replace

from tfm_core import ATTENTION, POSITIONAL, Tokens, TransformerConfig
from tfm_ui.lenses.model.sentences_fields import SentencesFields
from tfm_ui.lenses.model.shapes import OUTPUTS, OWN, SHAPES, THIS
from tfm_ui.lenses.model.tokens_fields import TokensFields
from tfm_ui.live import windows
from tfm_ui.settings import SETTINGS
from tfm_ui.state.fields import Choice, Flag, Limits, Number, Text, Whole, control
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import MAX_TOKENS, ModelState
from tfm_ui.state.sizes import MOST
from tfm_ui.text import formats

PREFIX = "model_"
VIEWS = (
    *("diagram", "block", "tokens", "feed_forward", "depth", "distance", "efficient"),
    *("output", "sentences", "masked"),
)
BLOCKS = (
    "embedding",
    "token_types",
    "position",
    "embedding_norm",
    "self_attention_norm",
    "self_attention",
    "self_attention_sum",
    "cross_attention_norm",
    "cross_attention",
    "cross_attention_sum",
    "feed_forward_norm",
    "feed_forward",
    "feed_forward_sum",
    "final_norm",
    "pooler",
    "transform",
    "logits",
    "head",
)
SUB_LAYERS = ("self-attention", "cross-attention", "feed-forward")
# Blocks of the machine that belong to no layer: what the view "block" calls them -> their names among `BLOCKS`.
OUTSIDE_LAYERS = {
    "embedding": "embedding",
    "positions": "position",
    "final norm": "final_norm",
    "logits": "logits",
    "token types": "token_types",
    "embedding norm": "embedding_norm",
    "pooler": "pooler",
    "transform": "transform",
}
BLOCK_STEPS = ("all", "norm", "sub-layer", "sum")
STARTS = ("ours", "torch")
DRAWS = tuple(number for number in (3, 5, 10, 20) if number <= SETTINGS.max_draws)
SPREADS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)  # standard deviations of embeddings
START_SIZES = ("this model", "256 / 8 / 4 / 50,000")  # d_model / heads / layers / token ids
FFN_SIZES = ("this model", "512 / 2,048")  # d_model / d_ff
ABOUT_ATTENTION = "What the self-attention of the model is, in this lens."
DROPOUTS = (0, 0.1, 0.2, 0.3, 0.5)  # 0 is whole, as links write no 0.0


def possible(model: ModelState) -> tuple[str, ...]:
    """The attentions that this model can have: one without scores has no place for the bias of ALiBi or T5."""
    biased = "bias_at" in POSITIONAL[model.positional].enters()
    return tuple(name for name, attention in ATTENTION.items() if attention.has_scores or not biased)


def why_not_all(model: ModelState) -> str:
    """Which attentions this model cannot have, and why; "" if it can have all."""
    without = [name for name in ATTENTION if name not in possible(model)]
    if not without:
        return ""
    these = f"{formats.listed(without)} attention"
    return f"With {model.positional} positions, {these} is not possible: it has no scores to which they could add."


def _texts(model: ModelState) -> list[Tokens]:
    return [model.source_tokens, *([model.target_tokens] if model.is_encoder_decoder else [])]


def most_draws(model: ModelState) -> int:
    """How often the weights of five networks may be drawn: less often for larger ones, so that it takes seconds."""
    numbers = len(_texts(model)) * model.num_layers * model.d_model * (model.d_model + model.hidden)
    most = 20 if numbers < 250_000 else 10 if numbers < 1_000_000 else 3
    return max(draws for draws in DRAWS if draws <= most)


@dataclass(frozen=True, kw_only=True)
class ModelLensState(TokensFields, SentencesFields, LensState):
    """One for all views: the layer, the token and the attention stay what they were when the view changes."""

    NOT_SET_UP = LensState.NOT_SET_UP | {"whole"}

    view: str = control(Choice("View", VIEWS, "buttons"), default=VIEWS[0], held=True)

    # shared by several views
    attention: str = control(
        Choice("Attention", tuple(ATTENTION), help=ABOUT_ATTENTION),
        default="full",
    )
    stack: str = control(Choice("Stack", ("encoder", "decoder"), "buttons"), default="encoder")
    layer: int = control(Whole("Layer", 1, MOST, box=True), default=1)
    token: int = control(Whole("Token", 1, 1024, box=True, help="Its place in the text, from 1."), default=2)

    # diagram
    shape: str = control(
        Choice(
            "Shape",
            (THIS, *SHAPES, OWN),
            help="The sidebar’s model, live; or a shape that is counted without making its weights.",
        ),
        default=THIS,
    )
    block: str = control(Choice("Block", BLOCKS), default="self_attention", held=True)
    all_layers: bool = control(Flag("All layers"), default=False)
    flow_part: str = control(windows.field("Part of token × dimension", MAX_TOKENS), default=windows.WHOLE, held=True)
    own_d_model: int = control(Whole("d_model of your numbers", 1, 20_480, box=True), default=4096)
    own_heads: int = control(Whole("Heads of your numbers", 1, 256, box=True), default=32)
    own_layers: int = control(Whole("Layers of your numbers", 1, 200, box=True), default=32)
    own_d_ff: int = control(Whole("d_ff of your numbers", 1, 100_000, box=True), default=11_008)
    own_words: int = control(Whole("Token ids of your numbers", 1, 500_000, box=True), default=32_000)
    own_tokens: int = control(Whole("Tokens of your numbers", 1, 1_000_000, box=True), default=4096)
    own_target: int = control(
        Whole("Target’s token ids", 0, 500_000, box=True, help="0: source and target share one table."), default=0
    )
    own_output: str = control(Choice("Output of your numbers", OUTPUTS), default=OUTPUTS[0])
    run: bool = control(Flag("Run it once", help="A batch of token ids, with random weights."), default=False)
    batch: int = control(Whole("Texts run", 1, 16, box=True, help="In the batch that is run once."), default=4)
    batch_tokens: int = control(Whole("Tokens of each text", 2, 64, box=True), default=20)

    # block
    sub_layer: str = control(Choice("Block", (*SUB_LAYERS, *OUTSIDE_LAYERS)), default=SUB_LAYERS[0])
    step: str = control(Choice("Steps", BLOCK_STEPS), default=BLOCK_STEPS[0])
    dropout: float = control(
        Choice(
            "Dropout",
            DROPOUTS,
            help="Training mode sets this share of what the sub-layer writes to 0; 0 is evaluation mode.",
        ),
        default=DROPOUTS[0],
    )
    dropout_draw: int = control(Whole("Draw of the dropout", 1, 9999), default=1, held=True)
    block_dim: int = control(Whole("Dimension", 1, 256), default=1, held=True)
    block_part: str = control(windows.field("Part of token × dimension", MAX_TOKENS), default=windows.WHOLE, held=True)

    # feed_forward
    unit: int = control(Whole("Unit", 1, 16_384, box=True, help="Of d_ff hidden units."), default=1)
    ffn_size: str = control(Choice("Size counted", FFN_SIZES), default=FFN_SIZES[0])
    hidden_part: str = control(windows.field("Part of token × unit", MAX_TOKENS), default=windows.WHOLE, held=True)

    # depth
    depth: int = control(
        Whole("Depth", 1, 48, box=True, help="Layers of the four stacks; the model’s are set in the sidebar."),
        default=24,
    )
    depth_dropout: float = control(Choice("Dropout", DROPOUTS, help="In training mode."), default=0.1)

    # distance
    reach_length: int = control(Choice("Tokens read", (8, 16, 32, 48, 64, 96, 128)), default=48)
    reach_seeds: int = control(
        Choice(
            "Draws of weights",
            DRAWS,
            help="Each from the next seed; fewer in a large model.",
            lowered_by=SETTINGS.lowered_by("max_draws"),
        ),
        default=min(10, DRAWS[-1]),
    )
    reach_kernel: int = control(Choice("Kernel", (3, 5, 9, 17), help="Tokens that a convolution sees."), default=3)
    reach_start: str = control(
        Choice(
            "First weights",
            STARTS,
            help="As this library draws them, for all five networks; or as torch starts nn.Linear, nn.Conv1d and its "
            "recurrent networks.",
        ),
        default=STARTS[0],
    )

    whole: str = control(Text("All draws made", 12), default="", held=True)

    # efficient
    head: int = control(Whole("Head", 1, MOST, box=True), default=1)
    tile: int = control(Whole("Tile", 1, 6, box=True, help="Queries, and keys, in a tile of the scores."), default=4)
    tile_step: int = control(Whole("Step", 1, 144), default=1, held=True)
    efficient_part: str = control(windows.field("Part of query × key", MAX_TOKENS), default=windows.WHOLE, held=True)

    # output
    temperature: float = control(Number("Temperature", 0.1, 5), default=1.0, held=True)
    tied: bool = control(Flag("Tied embeddings", help="One matrix for the embeddings and the logits."), default=True)
    top: int = control(Whole("Tokens listed", 3, 20, box=True), default=8)
    spread: float = control(Choice("Embeddings drawn with", SPREADS, help="Their standard deviation."), default=1)
    start_size: str = control(
        Choice("First loss of", START_SIZES, help="Of which size the loss before training is."), default=START_SIZES[0]
    )

    def config(self, model: ModelState) -> TransformerConfig:
        """The sidebar's configuration with the lens's attention, or full attention where that one is not possible."""
        return replace(model.config, attention=self.attention if self.attention in possible(model) else "full")

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """Layers, heads, hidden units and tokens of this model, and the attentions that are possible in it."""
        return {
            "attention": {"options": possible(model), "help": f"{ABOUT_ATTENTION} {why_not_all(model)}".strip()},
            "layer": {"high": model.num_layers},
            "head": {"high": model.num_heads},
            "gap": {"high": max(2, *(len(text.pieces) for text in _texts(model)))},
            "unit": {"high": model.config.feed_forward_dim},
            "token": {"high": max(2, *(len(text.pieces) for text in _texts(model)))},  # 2 is the default
        }

    @staticmethod
    def without_meaning(model: ModelState) -> set[str]:
        """`stack`, if the model is a single stack; `tied` of trained weights, which are as they were trained."""
        return (set() if model.is_encoder_decoder else {"stack"}) | (set() if model.is_random else {"tied"})
