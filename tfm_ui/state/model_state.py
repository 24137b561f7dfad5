"""The state of the model that all lenses share: its controls, its configuration, its tokens."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from tfm_core import (
    ACTIVATIONS,
    ARCHITECTURES,
    NORMS,
    POSITIONAL,
    TOKENIZERS,
    Tokens,
    TrainingConfig,
    TransformerConfig,
    encode,
)
from tfm_core.model.tokens import Tokenizer
from tfm_core.model.trained import RANDOM
from tfm_ui.state import arrays, lab_gpt
from tfm_ui.state import trained as runs
from tfm_ui.state.arrays import WEIGHTS_ALONE, AttentionFile
from tfm_ui.state.fields import Choice, Flag, Text, Whole, control
from tfm_ui.state.pass_cost import EXACT_UP_TO, HEAVY, pass_bytes
from tfm_ui.state.pretrained import KNOWN, Known, known
from tfm_ui.state.samples import about, read_text
from tfm_ui.state.sizes import HEADS, LAYERS, TOKENS, WIDTH

MAX_TOKENS = TOKENS.high
# Rows of a learned position table: constant, so that the length of a text changes no weight. Not the library's default
# (tfm_core/model/kind.py), although it is the same number: should that change, old links still show the same weights.
MAX_LEN = 1024
# What decides the size and the values of weights, and neither which tokens are read nor whether the model can be run.
WEIGHTS = frozenset({"seed", "d_model", "d_ff", "norm", "activation"})
CHARS = 20_000  # the greatest length of a typed text, more than ten times what a link carries
TWO_TEXTS = (
    "An encoder-decoder has two texts: its encoder reads the first, its decoder the target text. "
    "An encoder that may not look ahead is called decoder-only on all pages."
)


@dataclass(frozen=True)
class WeightsName:
    """The weights: "random", the name of a pretrained model, of a run of training, such as "reverse,seed=3", or of an
    array of attention weights.
    """

    label: str
    help: str = (
        "Random: drawn from the seed, so no head has a job. Pretrained models read any text. Or trained on a "
        "task, whose tokens the model then reads."
    )

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The name in its plain form; the default if no run can have it."""
        if raw == RANDOM or known(raw) or arrays.is_name(raw):
            return raw, ""
        expected = f"it can be {RANDOM}, {', '.join(KNOWN)}, or the name of a run such as reverse or reverse,seed=3"
        try:
            name = runs.trains(raw[: runs.MOST_CHARS + 1]).name
        except ValueError as problem:
            why = str(problem) if len(str(problem)) < runs.MOST_CHARS else "this is none"
            return default, f"{expected}; {why}"
        if len(raw) > runs.MOST_CHARS:
            return default, f"{expected}; names have at most {runs.MOST_CHARS} characters"
        return name, "" if name == raw else f"the plain name of this run is {name}"


def shape_of(name: str) -> Mapping[str, Any]:
    """Field of the model's state -> the value that these weights fix; empty for random weights."""
    if array := arrays.known(name):
        return array.fixes
    config = runs.run_config(name)
    pretrained = known(name)
    if not config and not pretrained:
        return {}
    shape = pretrained.config if pretrained else config.transformer if config else None
    assert shape
    return {
        "tokenizer": "word",  # means nothing: these weights have their own
        "d_model": shape.d_model,
        "num_heads": shape.num_heads,
        "num_layers": shape.num_layers,
        "d_ff": shape.d_ff,
        "positional": shape.positional,
        "norm": shape.norm,
        "activation": shape.activation,
        "architecture": shape.architecture,
        "causal": shape.architecture != "encoder",
        "seed": shape.seed,
    }


@dataclass(frozen=True, kw_only=True)
class ModelState:
    """The controls of the model, in the sidebar; the parameters in a link are the names of its fields."""

    text: str = control(Text("Text", CHARS), default="the cat sat on the mat because it was tired")
    target: str = control(Text("Target text", CHARS), default="die Katze war müde")
    tokenizer: str = control(
        Choice("Tokens by", tuple(TOKENIZERS), help="A token's id depends on nothing but itself."), default="word"
    )
    seq_len: int = control(TOKENS, default=0, held=True)  # 0: as many as the text has, see `length`
    d_model: int = control(WIDTH, default=32, held=True)
    num_heads: int = control(HEADS, default=4, held=True)
    num_layers: int = control(LAYERS, default=2, held=True)
    d_ff: int = control(
        Whole("d_ff", 0, 1024, box=True, help="Hidden units of the feed-forward network. At first 4 d_model."),
        default=0,
        held=True,
    )
    positional: str = control(
        Choice("Positions", tuple(POSITIONAL), help="How the model is told where a token stands."),
        default="sinusoidal",
        alone=True,
    )
    norm: str = control(
        Choice("Norm", NORMS, help="Before each sub-layer (pre) or after it (post, as in 2017)."),
        default="pre",
        alone=True,
    )
    activation: str = control(Choice("Activation", tuple(ACTIVATIONS)), default="gelu", alone=True)
    architecture: str = control(Choice("Architecture", ARCHITECTURES, help=TWO_TEXTS), default="encoder")
    causal: bool = control(
        Flag("Causal: no looking ahead", help="A choice in encoders; decoders are always causal."),
        default=True,
        alone=True,
    )
    weights: str = control(WeightsName("Weights"), default=RANDOM, held=True)
    seed: int = control(
        Whole("Seed", 0, 9999, box=True, help="Another seed, other random weights."), default=7, alone=True
    )

    def __post_init__(self) -> None:
        for name, value in shape_of(self.weights).items():  # trained weights fix these
            object.__setattr__(self, name, value)

    @property
    def fixed(self) -> frozenset[str]:
        """The fields that the weights fix, so that no link need name them."""
        return frozenset(shape_of(self.weights))

    def chosen(self) -> dict[str, Any]:
        """Field -> value, those that the weights fix at their defaults: a link must not name what cannot be chosen."""
        return {
            field.name: field.default if field.name in self.fixed else getattr(self, field.name)
            for field in fields(self)
        }

    @cached_property
    def trained(self) -> TrainingConfig | None:
        """How the weights were trained on a task; None if they are random, or Lab GPT's."""
        return runs.run_config(self.weights)

    @property
    def is_random(self) -> bool:
        """Whether nobody has trained the weights."""
        return self.weights == RANDOM

    @property
    def pretrained(self) -> Known | None:
        """The pretrained model whose weights these are, so that any text is read as it stands; None of others."""
        return known(self.weights)

    @cached_property
    def array(self) -> AttentionFile | None:
        """The file of attention weights that is shown in place of a model; None of others, and if it is not there."""
        return arrays.known(self.weights)

    @property
    def is_lab_gpt(self) -> bool:
        """Whether the weights are those of the language model that comes with the app."""
        return self.weights == lab_gpt.NAME

    def varied(self, **changes: Any) -> "ModelState":
        """This model with other fields: also with such as its trained weights fix, so that it was never trained so."""
        if all(getattr(self, name) == changes[name] for name in self.fixed & changes.keys()):
            return replace(self, **changes)
        return Varied(**{field.name: getattr(self, field.name) for field in fields(self)} | changes)

    @property
    def tokens_by(self) -> Tokenizer:
        """What cuts texts into tokens: the tokenizer of that name, or what the weights were trained with."""
        if self.pretrained:
            return self.pretrained.tokenizer
        return self.trained.about.tokenizer if self.trained else TOKENIZERS[self.tokenizer]

    def if_random(self, said: str, trained: str = "", *, prose: str | None = None) -> str:
        """What is said of random weights, or of trained ones in its place; of pretrained ones `prose`, if given."""
        of_trained = trained if prose is None or not self.pretrained else prose
        return said if self.is_random else of_trained

    @cached_property
    def right_answers(self) -> tuple[str, ...]:
        """The right token at each position, "" where nothing is asked; empty if no whole example is read."""
        if not self.trained or self.example is None:
            return ()
        read = len((self.target_tokens if self.is_encoder_decoder else self.source_tokens).pieces)
        return runs.examples_of(self.trained.task)[self.example].answers[:read]

    @property
    def example(self) -> int | None:
        """The number of the example that trained weights read, whole, from 0; None if they read another text."""
        number = self._source.example
        texts = [self.source_tokens, *([self.target_tokens] if self.is_encoder_decoder else [])]
        if self.is_encoder_decoder and self._target.example != number:
            return None
        return None if any(text.dropped or text.padding for text in texts) else number

    @cached_property
    def config(self) -> TransformerConfig:
        """The configuration of the transformer; of an array one of its sizes, of which nothing may be shown."""
        if self.pretrained:
            return self._like(self.pretrained.config)
        return TransformerConfig(
            vocab_size=self.tokens_by.vocab_size,
            architecture=self.architecture,
            d_model=self.d_model,
            num_heads=self.num_heads,
            num_layers=self.num_layers,
            d_ff=self.d_ff,
            max_len=self.most_tokens if self.trained else MAX_LEN,
            positional=self.positional,
            norm=self.norm,
            activation=self.activation,
            tie_embeddings=not self.trained,
            seed=self.seed,
            weights=self.weights,
            head="none" if self.array or (self.trained and self.trained.about.spans) else "logits",
        )

    def _like(self, config: TransformerConfig) -> TransformerConfig:
        """A pretrained model's configuration with the fields of this state, which differ only in a `Varied` one."""
        fields_here = (
            *("architecture", "d_model", "num_heads", "num_layers", "d_ff"),
            *("positional", "norm", "activation", "seed"),
        )
        shares = config.num_kv_heads if self.num_heads == config.num_heads else 0
        return replace(config, num_kv_heads=shares, **{name: getattr(self, name) for name in fields_here})

    @property
    def hidden(self) -> int:
        """How many hidden units the feed-forward network of a layer has."""
        return self.d_ff or 4 * self.d_model

    @property
    def is_heavy(self) -> bool:
        """Whether a pass takes long, by an estimate of the bytes that it writes."""
        return (self.array.size if self.array else pass_bytes(self.config, self.longest)) > HEAVY

    @property
    def gives_logits(self) -> bool:
        """Whether the model has an output matrix, and so says something of tokens."""
        return self.config.head != "none"

    @property
    def no_logits(self) -> str:
        """Why nothing is said of tokens, in a sentence; "" where the model gives logits."""
        if self.gives_logits:
            return ""
        if self.array:
            return WEIGHTS_ALONE
        name = self.pretrained.short if self.pretrained else "This model"
        return f"{name} has no output matrix: it gives the last hidden states, and no logits."

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether the model has two stacks, and so a target text."""
        return self.architecture == "encoder-decoder"

    @property
    def architecture_name(self) -> str:
        """What the architecture is called on every page: a single stack in which no token sees later ones is a name."""
        return "decoder-only" if self.looks_back_only and not self.is_encoder_decoder else self.architecture

    @property
    def masks_the_future(self) -> bool:
        """Whether a causal mask is passed to the model: in encoders it is a choice; decoders have their own."""
        return self.causal and self.architecture == "encoder"

    @property
    def looks_back_only(self) -> bool:
        """Whether no token can see later ones, so that the last token's output predicts a next token."""
        return self.causal or self.architecture != "encoder"

    @cached_property
    def _source(self) -> runs.Reading:
        """What is read of the text box, and what should be said of it."""
        if self.array:
            return runs.Reading(self.array.text, None, self.array.about_tokens)
        if self.trained:
            return runs.source_reading(self.trained, self.text)
        return runs.Reading(read_text(self.text), None, about(self.text))

    @cached_property
    def _target(self) -> runs.Reading:
        """What is read of the box of the target text."""
        if not self.trained:
            return runs.Reading(read_text(self.target), None, about(self.target))
        if not self.is_encoder_decoder:
            return runs.Reading("", None, "")
        return runs.target_reading(self.trained, self.target, self._source)

    def reads(self, text: str) -> bool:
        """Whether the model reads a text as it stands: trained weights know the tokens of their task alone."""
        return not self.trained or runs.source_reading(self.trained, text).is_asked_for

    @property
    def read_text(self) -> str:
        """The text that is read: a sample's, an example's, or the content of the text box itself."""
        return self._source.text

    @property
    def read_target(self) -> str:
        """The target text that is read, as `read_text`."""
        return self._target.text

    @property
    def notes(self) -> dict[str, str]:
        """Field of a text -> what should be said of how it is read, such as a sample's origin; "" if nothing."""
        return {"text": self._source.note, "target": self._target.note}

    @property
    def most_tokens(self) -> int:
        """How many tokens the model can read at all."""
        if self.array:
            return self.array.length
        if self.pretrained:
            return self.pretrained.context
        return runs.longest_of(self.trained) if self.trained else MAX_TOKENS

    @cached_property
    def length(self) -> int:
        """How many tokens the model reads of the text: `seq_len`, or if that is 0 as many as the text has."""
        if self.array:
            return self.array.length
        pieces = len(encode(self.read_text, self.tokens_by).pieces)
        most = self.most_tokens
        if self.pretrained and not self.pretrained.pads:
            most = max(1, min(pieces, most))
        return min(self.seq_len or min(max(pieces, 2), EXACT_UP_TO), most)

    @property
    def longest(self) -> int:
        """The number of places in the longer one of the texts that the model reads."""
        return max(self.length, len(self.target_tokens.ids)) if self.is_encoder_decoder else self.length

    @cached_property
    def source_tokens(self) -> Tokens:
        """The tokens of the text, as the model reads them."""
        if self.array:
            return self.array.tokens
        if self.pretrained:
            return self.pretrained.tokens_of(self.read_text, self.length)
        return encode(self.read_text, self.tokens_by, self.length)

    @cached_property
    def target_tokens(self) -> Tokens:
        """The tokens of the target text, as the decoder of an encoder-decoder reads them: cut, but never padded."""
        pieces = len(encode(self.read_target, self.tokens_by).pieces)
        count = max(1, min(pieces, self.seq_len or EXACT_UP_TO, self.most_tokens))
        return encode(self.read_target, self.tokens_by, count)

    @property
    def empty_texts(self) -> list[str]:
        """The labels of the texts that have no tokens, so that the model has nothing to read."""
        read = {"Text": self.source_tokens} | ({"Target text": self.target_tokens} if self.is_encoder_decoder else {})
        return [label for label, tokens in read.items() if not tokens.pieces]


class Varied(ModelState):
    """A model with trained weights, but with other fields than those that it was trained with."""

    def __post_init__(self) -> None:
        """Leaves the fields as they are given."""
