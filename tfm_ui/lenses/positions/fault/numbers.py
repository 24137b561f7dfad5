"""A common fault: the encoding is added along the batch axis, where it should go along the sequence."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import POSITIONAL
from tfm_core.study import order
from tfm_core.study.ties import ties
from tfm_ui.lenses.positions import model_runs, readings
from tfm_ui.lenses.positions.fault import recipe
from tfm_ui.lenses.positions.model_runs import ROUNDING, difference_in_words, unmasked
from tfm_ui.lenses.positions.readings import HeadReading, Reading
from tfm_ui.lenses.positions.sites import end_of, site_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.weight_table import weight_table
from tfm_ui.live import passes, places
from tfm_ui.live.script import of_model, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences, token_labels

READ_UP_TO = 128  # places, of tokens and padding: the fault is the same at any length
DEFAULT = "sinusoidal"  # where neither A nor B is added to the embeddings


def adds(name: str) -> bool:
    """Whether a scheme is added to the embeddings: others cannot be added along the wrong axis."""
    return "encode" in POSITIONAL[name].enters()


def scheme_of(state: PositionsState) -> str:
    """The first of A and B that is added."""
    return next((name for name in (state.a, state.b) if name in POSITIONAL and adds(name)), DEFAULT)


def model_of(model: ModelState, state: PositionsState) -> ModelState:
    """The sidebar's model with that scheme; it reads no more of the text than is needed."""
    return model.varied(positional=scheme_of(state), seq_len=min(model.length, READ_UP_TO))


@dataclass(frozen=True)
class Effect:
    """What the right or the wrong way does.

    Attributes:
        added: float32 (seq, d_model), to the sentence that is shown.
        head: of the sentence that is shown, with the model's own mask.
        apart: the largest difference between an output of this sentence and the same one at another place of the
            batch, and at which place that is, from 0; None where there is but one sentence.
        moved: how far a token's output moves at most, without a mask, when the words of the sentence are shuffled, as
            a share of its length.
    """

    added: NDArray[np.float32]
    head: HeadReading
    apart: tuple[float, int] | None
    moved: float


@dataclass(frozen=True)
class Fault:
    """The right way beside the wrong one.

    Attributes:
        model: that reads the batch, with the scheme.
        state: the lens's controls.
        pe: float32 (seq, d_model), row i is PE(i), as the scheme has it.
        right, wrong: what comes of them.
    """

    model: ModelState
    state: PositionsState
    pe: NDArray[np.float32]
    right: Effect
    wrong: Effect

    @property
    def place(self) -> int:
        """The sentence that is shown, from 0."""
        return self.item - 1

    @property
    def item(self) -> int:
        """The sentence that is shown, from 1."""
        return min(self.state.item, self.state.batch)

    @cached_property
    def names(self) -> list[str]:
        """A label per token, padding included."""
        return token_labels.labels(self.model.source_tokens)

    @property
    def read(self) -> int:
        """How many of them are no padding."""
        return len(self.model.source_tokens.pieces)

    def aside(self, model: ModelState) -> str:
        """What differs from what the controls say; "" if nothing does."""
        said = []
        if not any(adds(name) for name in (self.state.a, self.state.b) if name in POSITIONAL):
            pinned = [name for name in dict.fromkeys((self.state.a, self.state.b)) if name in POSITIONAL]
            neither = f"{' and '.join(pinned)} {'is' if len(pinned) == 1 else 'are'} not added to the embeddings"
            said.append(f"{neither}, and so cannot be added along the wrong axis: {DEFAULT} is shown.")
        if model.length > READ_UP_TO:
            said.append(f"Of {model.length} places the first {READ_UP_TO} are read: the fault is the same.")
        if self.state.item > self.state.batch:
            said.append(f"A batch of {self.state.batch} has no sentence {self.state.item}: the last one is shown.")
        return " ".join(said)

    @property
    def effects(self) -> dict[str, Effect]:
        """What comes of both ways, by their names."""
        return {"right": self.right, "wrong": self.wrong}

    def recipe(self) -> str:
        """A script that leaves `added`, `weights`, `outputs`: [right, wrong], each of all sentences of the batch."""
        return script(
            recipe.right_and_wrong,
            **of_model(self.model),
            batch=self.state.batch,
            sentence=self.place,
            site=site_of(self.model, self.state.layer - 1, "weights"),
            head=self.state.model_head - 1,
            end=end_of(self.model),
        )


@dataclass(frozen=True)
class Added(Result):
    """What each way adds to the sentence."""

    fault: Fault

    def sentence(self) -> str:
        """What each position gets."""
        fault = self.fault
        right, wrong = (len(np.unique(effect.added, axis=0)) for effect in (fault.right, fault.wrong))
        seq, batch, width, place = fault.model.length, fault.state.batch, fault.model.d_model, fault.place
        silent = " Even a batch of one is not spared: it gets PE(0) everywhere." if batch == 1 else ""
        return (
            f"Right: {formats.plural(right, 'distinct row')} for {formats.plural(seq, 'position')}. Wrong: sentence "
            f"{fault.item} stands at place {place} of the batch, so all its positions get PE({place}): "
            f"{formats.plural(wrong, 'distinct row')}. No error: ({batch}, {seq}, {width}) + ({batch}, 1, {width}) "
            f"is a sum like any other.{silent}"
        )

    def laws(self) -> dict[str, bool]:
        """Whether positions are told apart."""
        count = self.fault.model.length
        return {
            f"{way}: position i gets PE(i) at all {count} positions": np.array_equal(effect.added, self.fault.pe)
            for way, effect in self.fault.effects.items()
        }

    def table(self) -> pd.DataFrame:
        """A row per position, of both ways."""
        effects = self.fault.effects
        index = pd.MultiIndex.from_product(
            [effects, range(self.fault.model.length)], names=["way", "position \\ dimension"]
        )
        return pd.DataFrame(np.concatenate([effect.added for effect in effects.values()]), index=index)

    def recipe(self) -> str:
        """A script that leaves what is added in `added`: [right, wrong]."""
        return self.fault.recipe()


@dataclass(frozen=True)
class Consequences(Result):
    """What becomes of it in the model: the maps of one head, and outputs."""

    fault: Fault

    def sentence(self) -> str:
        """Where the maps differ most."""
        fault = self.fault
        right, wrong = (effect.head.weights[: fault.read] for effect in (fault.right, fault.wrong))
        apart = np.abs(right - wrong)
        where = f"In layer {fault.state.layer}, head {fault.state.model_head}"
        if apart.max() < ROUNDING:
            return f"{where} the two maps are the same. {head_sentences.NO_CHOICE if fault.read == 1 else ''}".strip()
        largest = ties(torch.from_numpy(apart), ROUNDING)[0]  # of equal ones the first, on every processor
        query, key = np.unravel_index(int(largest), apart.shape)
        shares = [formats.share(weights[query, key]) for weights in (right, wrong)]
        return (
            f"{where} “{fault.names[query]}” looks at “{fault.names[key]}” with {shares[0]} when it is right, "
            f"{shares[1]} when it is wrong. The model runs either way, and nothing says which it was."
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of any batch and any sentence, tested on both ways."""
        laws, fault = {}, self.fault
        for way, effect in fault.effects.items():
            if effect.apart:
                largest, other = effect.apart
                law = f"{way}: the same sentence has the same output at places {fault.place} and {other} of the batch"
                laws[f"{law} (largest difference {difference_in_words(largest)})"] = largest < ROUNDING
        if fault.read > 1 and len(set(fault.model.source_tokens.ids[: fault.read])) > 1:
            for way, effect in fault.effects.items():
                law = f"{way}: without a mask, shuffled words make other outputs (they move by up to"
                laws[f"{law} {difference_in_words(effect.moved)} of their length)"] = effect.moved > ROUNDING
        return laws

    def table(self) -> pd.DataFrame:
        """A row per pair of tokens."""
        heads = {way: effect.head for way, effect in self.fault.effects.items()}
        return weight_table(heads, self.fault.names[: self.fault.read])

    def recipe(self) -> str:
        """A script that leaves the maps in `weights`: [right, wrong]."""
        return self.fault.recipe()


def _effect(model: ModelState, state: PositionsState, along: str) -> Effect:
    layer, head, place = state.layer - 1, state.model_head - 1, min(state.item, state.batch) - 1
    read = len(model.source_tokens.pieces)
    ids = model.source_tokens.ids[:read]
    text_order = tuple(order.shuffle_order(ids, state.shuffle))

    def run(model: ModelState, shuffled: tuple[int, ...] = ()) -> Reading:
        return model_runs.reading(model, order=shuffled, batch=state.batch, along=along)

    masked, free = run(model), unmasked(model, model.positional)
    assert masked.added is not None
    other = 0 if place else 1
    outputs = masked.output[:, :read]
    apart = (float((outputs[place] - outputs[other]).abs().max()), other) if state.batch > 1 else None
    before, after = (run(free, shuffled).output[place, :read] for shuffled in ((), text_order))
    return Effect(
        added=masked.added[place].numpy(),
        head=readings.one_head(masked.attention[place], layer, head, read),
        apart=apart,
        moved=float(order.moved(before, after, text_order).max()),
    )


def fault(model: ModelState, state: PositionsState) -> Fault:
    """A batch of copies of the text, with the encoding added both ways."""
    model = model_of(model, state)
    scheme = passes.scheme(model, places.kind_of(model, "encoder"))
    assert scheme is not None
    pe = scheme.encode(model.length)
    assert pe is not None
    return Fault(model, state, pe.detach().numpy(), _effect(model, state, "sequence"), _effect(model, state, "batch"))
