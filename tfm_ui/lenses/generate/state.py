"""The Generate lens's own controls: how tokens are chosen, how many, and what of it is looked at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfm_core import ACTIVATIONS, Sampling, TransformerConfig
from tfm_core.generation.chat import CHATS, Chat
from tfm_ui.state.fields import Choice, Flag, Limits, Number, Text, Whole, control, number_in, whole_number
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.state.sizes import MOST

PREFIX = "generate_"
VIEWS = ("write", "kept", "surprise")
CHOICE, ATTENTION = "choice", "attention"  # what is shown of each step of a text
METHODS = ("sample", "greedy", "beam")
AGAINST = ("other text", "random weights", "short memory")
MOST_STEPS = 200
USUAL, FEW = 60, 12  # tokens that are written at first; of a model that takes long for one
MANY_WEIGHTS = 200_000_000  # bytes that are read for a token: a model of more takes long
MOST_FORCED = 12
EXPECTED = (
    f"it can hold at most {MOST_FORCED} pairs of a step and a token id, such as 3.417, separated by spaces; "
    f"steps go from 1 to {MOST_STEPS}"
)


@dataclass(frozen=True)
class Forced:
    """The field of tokens that a reader puts in place of drawn ones: "3.417 9.88" puts token 417 at step 3, 88 at 9."""

    label: str

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The valid pairs by step; of several at a step, the last."""
        words = raw.replace(",", " ").split()
        pairs = {pair[0]: pair[1] for word in words if (pair := _pair(word))}
        text = as_text(dict(sorted(pairs.items())[:MOST_FORCED]))
        return text, "" if text == " ".join(words) else EXPECTED


def forced_in(text: str) -> dict[int, int]:
    """The number of a step, from 1 -> the token id that is put there."""
    return dict(pair for word in text.split() if (pair := _pair(word)))


def as_text(forced: Mapping[int, int]) -> str:
    """The text of these pairs, by step."""
    return " ".join(f"{step}.{token}" for step, token in sorted(forced.items()))


def _pair(word: str) -> tuple[int, int] | None:
    step, _, token = word.partition(".")
    numbers = whole_number(step), whole_number(token)
    if numbers[0] is None or numbers[1] is None or not 1 <= numbers[0] <= MOST_STEPS:
        return None
    return numbers[0], numbers[1]


@dataclass(frozen=True)
class Temperature(Number):
    """A temperature; 0 is the limit of ever smaller ones, where the likeliest token is taken."""

    def read(self, raw: str, default: Any) -> tuple[float, str]:
        """0, or the nearest number in the range."""
        return (0.0, "") if number_in(raw) == 0 else super().read(raw, default)


@dataclass(frozen=True, kw_only=True)
class GenerateState(LensState):
    """The controls of all views."""

    PLACES = ("view", "shows")
    NOT_SET_UP = LensState.NOT_SET_UP | {"step", "at", "run"}

    view: str = control(
        Choice("View", VIEWS, "buttons", older={"look": ("write", {"shows": ATTENTION})}),
        default=VIEWS[0],
        held=True,
    )

    # how it is written
    steps: int = control(Whole("Tokens written", 0, MOST_STEPS, box=True), default=0, held=True)  # 0: see `count`
    method: str = control(Choice("Method", METHODS), default="sample")
    temperature: float = control(Temperature("Temperature", 0.05, 5.0), default=0.8, held=True)
    top_k: int = control(Whole("top-k", 0, 2048), default=50, held=True)  # 0: all
    top_p: float = control(Number("top-p", 0.01, 1.0), default=1.0, held=True)
    min_p: float = control(Number("min-p", 0.0, 1.0), default=0.0, held=True)
    width: int = control(Choice("Beams", (1, 2, 3, 4, 6, 8), help="How many texts are followed at a time."), default=4)
    seed: int = control(Whole("Seed of the draws", 0, 9999, box=True), default=1)
    full: str = control(
        Choice("When the context is full", ("window", "stop"), help="Go on with its newer half, or stop."),
        default="window",
    )
    forced: str = control(Forced("Tokens put there"), default="", held=True)
    chat: bool = control(
        Flag("Chat", help="The text is a message, within the template with which the model was trained to answer."),
        default=False,
    )

    # what of it is looked at: how each token was chosen, or what it looked at; step 0 is the last
    shows: str = control(Choice("Of each step", (CHOICE, ATTENTION), "buttons"), default=CHOICE)
    step: int = control(Whole("Step on screen", 0, MOST_STEPS), default=0, held=True, local=True)
    layer: int = control(Whole("Layer", 1, MOST, box=True), default=1)
    head: int = control(Whole("Head", 1, MOST, box=True), default=1)

    # what was measured of writing with the cache and without it: the measurement's name
    run: str = control(Text("Measurement", 12), default="", held=True)

    # what a text is compared with
    against: str = control(Choice("Beside", AGAINST), default=AGAINST[0])
    other: str = control(Text("Other text", 4000), default="")
    memory: int = control(Whole("Tokens remembered", 1, 64), default=4, held=True)

    # the token of the text that is looked at, those of B counted on after those of A; 0: the most surprising one
    at: int = control(Whole("Token on screen", 0, 9999), default=0, held=True, local=True)

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """Layers and heads of this model."""
        return {"layer": {"high": model.num_layers}, "head": {"high": model.num_heads}}

    @staticmethod
    def without_meaning(model: ModelState) -> set[str]:
        """Only a model that was trained to answer has a template for messages."""
        return set() if model.weights in CHATS else {"chat"}

    def chat_of(self, model: ModelState) -> Chat | None:
        """The template in which the text stands; None if it stands in none."""
        return CHATS.get(model.weights) if self.chat else None

    def count(self, model: ModelState) -> int:
        """How many tokens are written at most: as many as are asked for, or of a large model a few, to go on from."""
        return self.steps or (FEW if is_large(model.config) else USUAL)

    @property
    def sampling(self) -> Sampling:
        """How tokens are chosen; greedily, as at temperature 0, and with beams, nothing is drawn."""
        if self.method != "sample" or not self.temperature:
            return Sampling(greedy=True)
        return Sampling(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            seed=self.seed,
        )

    def put(self, model: ModelState) -> dict[int, int]:
        """The number of a step, from 0 -> the token id that the reader has put there."""
        return {step - 1: token for step, token in forced_in(self.forced).items() if step <= self.count(model)}


def is_large(config: TransformerConfig) -> bool:
    """Whether the model takes long for a token, and much memory where its weights are not those of a file."""
    return bytes_of_a_token(config) > MANY_WEIGHTS


def bytes_of_a_token(config: TransformerConfig) -> int:
    """How many bytes of weights are read to write a token: all, without biases and norms; also of a mapped file."""
    shared = config.head_dim * config.kv_heads
    attention = 2 * config.d_model * (config.d_model + shared)
    matrices = 3 if ACTIVATIONS[config.activation].gated else 2
    layer = attention + matrices * config.d_model * config.feed_forward_dim
    return NUMBER * (config.vocab_size * config.d_model + config.num_layers * layer)
