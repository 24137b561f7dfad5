"""What the controls of the Masks lens hold, and what follows from it: a sentence of the batch, and its mask.

Sentences, layers, heads and tokens are counted from 1.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import Tokens
from tfm_core.model.tokens import PAD_ID
from tfm_core.study.filled import filled
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_ui.lenses.masks.composition import Composition, composed
from tfm_ui.live import windows
from tfm_ui.live.places import tokens_of
from tfm_ui.state.fields import Choice, Limits, Text, Whole, control
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import MAX_TOKENS, ModelState
from tfm_ui.state.paint import SIDE as PAINTED_SIDE
from tfm_ui.state.paint import Cells, Paint, painted, resized, unpacked
from tfm_ui.state.sizes import MOST

PREFIX = "masks_"
VIEWS = ("see", "leaks", "padding", "without_key", "conventions")
EMPTY_IN = ("one layer", "all layers")  # where a row without a key is followed
SENTENCES = 8  # of a batch, at most
SIDES = ("right", "left")  # where padding stands: after the tokens, or before them
AS_COMPOSED = "as composed"  # what the list of masks allows, without what was painted over it
AS_PAINTED = "as painted"  # of the very mask that the model gets
PROMISES = (AS_COMPOSED, "causal", "padding", "causal and padding", "window 3", AS_PAINTED)


@dataclass(frozen=True, kw_only=True)
class MasksState(LensState):
    """One for all views, so that the batch and the mask stay what they were when the view changes."""

    NOT_SET_UP = LensState.NOT_SET_UP | {"whole"}

    view: str = control(Choice("View", VIEWS, "buttons"), default="see", held=True)
    texts: str = control(
        Text("More sentences of the batch, one a line", 2000, height=68), default="the dog barked at me"
    )
    item: int = control(Whole("Sentence", 1, SENTENCES, box=True), default=2)
    layer: int = control(Whole("Layer", 1, MOST, box=True), default=1)
    head: int = control(Whole("Head", 1, MOST, box=True), default=1)
    place: str = control(
        Choice("Attention", ("decoder", "cross"), help="Of an encoder-decoder: which one the mask is for."),
        default="decoder",
    )

    mask: str = control(Composition("Mask"), default="padding", held=True)
    paint: str = control(Paint("What was painted"), default="", held=True)
    part: str = control(windows.field("Part of the maps", MAX_TOKENS), default=windows.WHOLE, held=True)

    # leaks
    promise: str = control(
        Choice("Allowed by", PROMISES, help="What moves although this mask forbids it is a leak."), default=AS_COMPOSED
    )
    tries: int = control(
        Whole("Replacements", 1, 8, box=True, help="How many other tokens stand in for each one."), default=4
    )
    changed: int = control(Whole("Token changed", 0, MAX_TOKENS), default=0, held=True)  # 0: none is locked
    moved: int = control(Whole("Output moved", 0, MAX_TOKENS), default=0, held=True)

    whole: str = control(Text("All tokens changed", 12), default="", held=True)

    # padding
    pad_side: str = control(Choice("Padding on the", SIDES), default="right")
    row: int = control(
        Whole("Empty row", 0, MAX_TOKENS, box=True, help="The query that is left no key, from 1; 0 is the last one."),
        default=0,
    )

    # without_key
    empty_in: str = control(Choice("Run", EMPTY_IN, "buttons"), default=EMPTY_IN[0])

    # conventions
    convention: str = control(Choice("Convention", tuple(CONVENTIONS)), default="MHA, key_padding_mask")

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """What the model leaves to choose from."""
        return {"layer": {"high": model.num_layers}, "head": {"high": model.num_heads}}

    @staticmethod
    def without_meaning(model: ModelState) -> set[str]:
        """A single stack has one kind of attention."""
        return set() if model.is_encoder_decoder else {"place"}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a pass under a mask depends on.

    Attributes:
        model: the sidebar's, reading the sentence that was chosen.
        place: the attention that the mask is for: "self" of a single stack; "decoder" or "cross" of an encoder-decoder.
        composition: masks, as in a link (tfm_ui/lenses/masks/composition.py).
        paint: what was painted over them, as in a link (tfm_ui/state/paint.py).
    """

    model: ModelState
    place: str
    composition: str
    paint: str = ""

    @cached_property
    def _tokens(self) -> tuple[Tokens, Tokens]:
        return tokens_of(self.model, self.place)

    @property
    def is_heavy(self) -> bool:
        """Whether a pass takes long."""
        return self.model.is_heavy

    @property
    def queries(self) -> Tokens:
        """The tokens that look."""
        return self._tokens[0]

    @property
    def keys(self) -> Tokens:
        """The tokens that are looked at."""
        return self._tokens[1]

    @property
    def causal_anyway(self) -> bool:
        """Whether nobody looks ahead whatever is composed: by the sidebar's switch, or because a decoder never does."""
        return self.place == "decoder" or (self.place == "self" and self.model.looks_back_only)

    @cached_property
    def composed(self) -> Tensor:
        """What the masks say together, boolean (query, key)."""
        return self.of(self.composition)

    def of(self, composition: str) -> Tensor:
        """What another composition would say of this sentence, boolean (query, key)."""
        return composed(composition, self.queries.batch, self.keys.batch, causal=self.causal_anyway)

    @cached_property
    def mask(self) -> Tensor:
        """What the model gets: the composition, and the paint over it; boolean (query, key)."""
        if not self.paint or not self.paintable:
            return self.composed
        return torch.from_numpy(painted(self.composed.numpy(), self.painted))

    @property
    def painted(self) -> Cells:
        """How each pair is painted, (query, key), as in tfm_ui/state/paint.py."""
        return resized(unpacked(self.paint if self.paintable else ""), *self.composed.shape)

    @property
    def paintable(self) -> bool:
        """Whether the mask is small enough to be painted; a larger one is shown, and run, without its paint."""
        return max(self.composed.shape) <= PAINTED_SIDE


class Filled(ModelState):
    """A pretrained model without a token for padding, whose texts are filled up with its token of id `PAD_ID`."""

    @cached_property
    def length(self) -> int:
        """How many places are asked for, also if the text is shorter."""
        return min(self.seq_len or super().length, self.most_tokens)

    @cached_property
    def source_tokens(self) -> Tokens:
        """The text, and what fills it up."""
        return filled(super().source_tokens, self.length)


def sentences(model: ModelState, state: MasksState) -> list[str]:
    """The batch: the sidebar's text, and the lens's own sentences, as many as there are; empty lines are none.

    Where trained weights do not know the tokens of a sentence, it is another example of their task.
    """
    lines = [line for line in state.texts.splitlines() if line.strip()]
    known = [line if model.reads(line) else f"@{number}" for number, line in enumerate(lines, 2)]
    return [model.text, *known][:SENTENCES]


def padded(model: ModelState, state: MasksState) -> ModelState:
    """The model with as many places as each sentence of the batch has: if none are chosen, those of the longest."""
    longest = max(replace(model, text=text).longest for text in sentences(model, state))
    return model if model.seq_len else replace(model, seq_len=longest)


def about_batch(model: ModelState, state: MasksState) -> str:
    """What of the batch is another than was asked for; "" if nothing."""
    count, lines = len(sentences(model, state)), sum(bool(line.strip()) for line in state.texts.splitlines())
    said = []
    if not all(model.reads(line) for line in state.texts.splitlines() if line.strip()):
        said.append("Sentences of tokens that these weights do not know are examples of their task here.")
    if lines >= SENTENCES:
        said.append(f"A batch holds {SENTENCES} sentences: of the {lines} lines the first {SENTENCES - 1} are taken.")
    if state.item > count:
        only = "only the sidebar’s sentence" if count == 1 else f"{count} sentences"
        said.append(f"The batch has {only}: there is no sentence {state.item}, the last one is shown.")
    batch = (setting(model, state, item).model for item in range(1, count + 1))
    if any(isinstance(each, Filled) and each.source_tokens.padding for each in batch):
        known = model.pretrained
        assert known is not None
        said.append(
            f"{known.short} has no token for padding: PAD is its token “{known.tokenizer.pieces[PAD_ID]}” here, and "
            "only the mask “padding” hides it."
        )
    return " ".join(said)


def item_of(model: ModelState, state: MasksState) -> int:
    """The sentence that is looked at, from 1; the last, if there are fewer than was asked for."""
    return min(state.item, len(sentences(model, state)))


def setting(model: ModelState, state: MasksState, item: int | None = None) -> Setting:
    """A sentence of the batch, the chosen one by default, and its mask."""
    text = sentences(model, state)[(item or item_of(model, state)) - 1]
    place = state.place if model.is_encoder_decoder else "self"
    model = replace(padded(model, state), text=text)
    if model.pretrained and not model.pretrained.pads:
        model = Filled(**{field.name: getattr(model, field.name) for field in fields(model)})
    return Setting(model=model, place=place, composition=state.mask, paint=state.paint)
