"""The view "fault", a common fault: the encoding added along the batch axis, where it should go along the sequence."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, recording
from tfm_core.model.recording import Edit
from tfm_core.study.order import along_batch, along_sequence, moved, shuffle_order
from tfm_core.study.ties import ties
from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.model_runs import ROUNDING, HeadReading, difference_in_words, end_of, site_of
from tfm_ui.lenses.positions.panel import TextPanel, WeightMaps, note
from tfm_ui.lenses.positions.schemes import those
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import passes, places
from tfm_ui.live.never_trained import never_trained
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors.attention import of_heads
from tfm_ui.live.tensors.step import Step, beside, held
from tfm_ui.page.lens import View
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Block, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences
from tfm_ui.text.token_row import Text

READ_UP_TO = 128  # places, of tokens and padding: the fault is the same at any length
DEFAULT = those("encode")[0]  # where neither A nor B is added to the embeddings
TITLES = {"right": "Right: along the sequence", "wrong": "Wrong: along the batch"}


def right_and_wrong(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    batch: int,
    sentence: int,
    site: str,
    head: int,
    end: str,
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """What is added to one sentence (seq, d_model), its weights (query, key), and all outputs: [right, wrong] each."""
    model = Transformer(config).eval()
    start = "encoder." if config.architecture == "encoder-decoder" else ""
    stack = model.encoder if start else model.stack
    pe = stack.positional.encode(config.max_len)  # (max_len, d_model)
    assert pe is not None
    pe = pe.detach()
    empty = torch.zeros(batch, inputs[0].shape[1], config.d_model)
    added, weights, outputs = [], [], []
    for add in (along_sequence, along_batch):
        edits: dict[str, Edit] = {f"{start}embedding": partial(add, pe=pe), f"{start}position": torch.zeros_like}
        with torch.no_grad(), recording([site, end], edits) as trace:
            model(*(ids.expand(batch, -1) for ids in inputs), mask=mask)
        added.append(add(empty, pe)[sentence])
        weights.append(trace[site][sentence, head])
        outputs.append(trace[end])  # (batch, seq, d_model)
    return added, weights, outputs


def scheme_of(state: PositionsState) -> str:
    """The first of A and B that is added: others cannot be added along the wrong axis."""
    return next((name for name in state.sides if name in those("encode")), DEFAULT)


def model_of(model: ModelState, state: PositionsState) -> ModelState:
    """The sidebar's model with that scheme; it reads no more of the text than is needed."""
    return model.varied(positional=scheme_of(state), seq_len=min(model.length, READ_UP_TO))


@dataclass(frozen=True)
class Effect:
    """What the right or the wrong way does."""

    added: NDArray[np.float32]
    """(seq, d_model), to the sentence that is shown."""
    head: HeadReading
    """The head, of the sentence that is shown, with the model's own mask."""
    apart: tuple[float, int] | None
    """The largest difference between an output of this sentence and the same one at another place of the batch, and at
    which place that is, from 0; None where there is but one sentence."""
    moved: float
    """How far a token's output moves at most, without a mask, when the words of the sentence are shuffled, as a share
    of its length."""


class FaultPanel(TextPanel):
    """A panel of a batch of copies of the text, to which the encoding is added both ways.

    Its model is the one that reads the batch, with the scheme.
    """

    sources: Sequence[Source] = (along_sequence, along_batch, model_runs.reading)
    canvas = MAPS

    def __init__(self, model: ModelState, state: PositionsState) -> None:
        super().__init__(model_of(model, state), state)

    @property
    def place(self) -> int:
        """The sentence that is shown: its place in the batch, from 0."""
        return min(self.state.item, self.state.batch) - 1

    @cached_property
    def effects(self) -> Mapping[str, Effect]:
        """What comes of both ways, by their names."""
        return {"right": self._effect("sequence"), "wrong": self._effect("batch")}

    @property
    def tensors(self) -> Step:
        state, place = self.state, self.place
        kind = "encoder" if self.model.is_encoder_decoder else "self"
        scheme, seq, batch = passes.scheme(self.model, kind), self.model.length, state.batch
        assert scheme is not None
        with torch.no_grad():
            pe = scheme.encode(max(seq, batch))
        assert pe is not None
        steps = {}
        for name, along, code in (("right", "sequence", f"encoding[:{seq}]"), ("wrong", "batch", f"encoding[{place}]")):
            run = model_runs.reading(self.model, order=(), batch=batch, along=along)
            assert run.added is not None
            code = code if name == "right" else f"{code}.expand({seq}, -1)"
            about = "what is added to the embeddings of this sentence"
            added = held("added", ("token", "d_model"), run.added[place], about, code)
            heads = of_heads(run.attention[place], TITLES[name], scheme)
            steps[name] = replace(heads, tensors=[added, *heads.tensors])
        whole = beside(f"Sentence {place + 1} of {batch}", steps)
        encoding = held("encoding", ("position", "d_model"), pe.float(), "what the scheme has for each position")
        return replace(whole, tensors=[encoding, *whole.tensors])

    def _effect(self, along: str) -> Effect:
        state, read, place = self.state, self.read, self.place
        text_order = tuple(shuffle_order(self.model.source_tokens.ids[:read], state.shuffle))

        def run(model: ModelState, shuffled: tuple[int, ...] = ()) -> model_runs.Reading:
            return model_runs.reading(model, order=shuffled, batch=state.batch, along=along)

        masked, free = run(self.model), model_runs.unmasked(self.model, self.model.positional)
        assert masked.added is not None
        other = 0 if place else 1
        outputs = masked.output[:, :read]
        apart = (float((outputs[place] - outputs[other]).abs().max()), other) if state.batch > 1 else None
        before, after = (run(free, shuffled).output[place, :read] for shuffled in ((), text_order))
        return Effect(
            added=masked.added[place].numpy(),
            head=model_runs.head_reading(masked.attention[place], state.layer - 1, state.model_head - 1, read),
            apart=apart,
            moved=float(moved(before, after, text_order).max()),
        )

    def recipe(self) -> str:
        """A script that leaves `added`, `weights`, `outputs`: [right, wrong], each of all sentences of the batch."""
        return script(
            right_and_wrong,
            **of_model(self.model),
            batch=self.state.batch,
            sentence=self.place,
            site=site_of(self.model, self.state.layer - 1, "weights"),
            head=self.state.model_head - 1,
            end=end_of(self.model),
        )


class FaultAdded(FaultPanel):
    """What each way adds to the sentence."""

    how_to_read = "Each row is a position, each column a dimension; both maps on one scale."

    @property
    def title(self) -> str:
        return f"What is added to sentence {self.place + 1} of {self.state.batch}: {self.model.positional}"

    @property
    def shape(self) -> str:
        return f"seq × d_model = {self.model.length} × {self.model.d_model}"

    @cached_property
    def pe(self) -> NDArray[np.float32]:
        """(seq, d_model): row i is PE(i), as the scheme has it."""
        scheme = passes.scheme(self.model, places.kind_of(self.model, "encoder"))
        pe = scheme.encode(self.model.length) if scheme else None
        assert pe is not None
        return pe.detach().numpy()

    def picture(self) -> Content:
        scale = around_zero(max(float(np.abs(effect.added).max()) for effect in self.effects.values()))
        dimensions = range(self.model.d_model)
        return maps.content(
            [Map(name=TITLES[way], values=effect.added, scale=scale) for way, effect in self.effects.items()],
            rows=Axis(self.names, "position (token)", "position"),
            columns=Axis([str(i) for i in dimensions], "dimension", "dimension", counted=True),
            places=(list(range(len(self.names))), list(dimensions)),
            read=self.read,
            square=False,
        )

    def sentence(self) -> str:
        """What each position gets."""
        right, wrong = (len(np.unique(effect.added, axis=0)) for effect in self.effects.values())
        seq, batch, width, place = self.model.length, self.state.batch, self.model.d_model, self.place
        silent = " Even a batch of one is not spared: it gets PE(0) everywhere." if batch == 1 else ""
        return (
            f"Right: {formats.plural(right, 'distinct row')} for {formats.plural(seq, 'position')}. Wrong: sentence "
            f"{self.place + 1} stands at place {place} of the batch, so all its positions get PE({place}): "
            f"{formats.plural(wrong, 'distinct row')}. No error: ({batch}, {seq}, {width}) + ({batch}, 1, {width}) "
            f"is a sum like any other.{silent}"
        )

    def laws(self) -> dict[str, bool]:
        """Whether positions are told apart."""
        return {
            f"{way}: position i gets PE(i) at all {self.model.length} positions": np.array_equal(effect.added, self.pe)
            for way, effect in self.effects.items()
        }

    def table(self) -> pd.DataFrame:
        """A row per position, of both ways."""
        ways = [self.effects, range(self.model.length)]
        index = pd.MultiIndex.from_product(ways, names=["way", "position \\ dimension"])
        return pd.DataFrame(np.concatenate([effect.added for effect in self.effects.values()]), index=index)


class FaultMaps(FaultPanel, WeightMaps):
    """What becomes of it in the model: the maps of one head, and outputs."""

    title = "What becomes of it"
    sources = (*FaultPanel.sources, shuffle_order, moved)

    @property
    def how_to_read(self) -> str:
        return (
            f"The attention of layer {self.state.layer}, head {self.state.model_head} in the sidebar’s model, with "
            f"{self.model.positional}: rows look at columns."
        )

    @property
    def heads(self) -> Mapping[str, HeadReading]:
        return {way: effect.head for way, effect in self.effects.items()}

    def title_of(self, name: str) -> str:
        return TITLES[name]

    def sentence(self) -> str:
        """Where the maps differ most."""
        right, wrong = (head.weights[: self.read] for head in self.heads.values())
        apart = np.abs(right - wrong)
        where = f"In layer {self.state.layer}, head {self.state.model_head}"
        if apart.max() < ROUNDING:
            return f"{where} the two maps are the same. {head_sentences.NO_CHOICE if self.read == 1 else ''}".strip()
        largest = ties(torch.from_numpy(apart), ROUNDING)[0]  # of equal ones the first, on every processor
        query, key = np.unravel_index(int(largest), apart.shape)
        shares = [formats.share(weights[query, key]) for weights in (right, wrong)]
        return (
            f"{where} “{self.names[query]}” looks at “{self.names[key]}” with {shares[0]} when it is right, "
            f"{shares[1]} when it is wrong. The model runs either way, and nothing says which it was."
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of any batch and any sentence, tested on both ways."""
        laws = {}
        for way, effect in self.effects.items():
            if effect.apart:
                largest, other = effect.apart
                law = f"{way}: the same sentence has the same output at places {self.place} and {other} of the batch"
                laws[f"{law} (largest difference {difference_in_words(largest)})"] = largest < ROUNDING
        if len(set(self.model.source_tokens.ids[: self.read])) > 1:
            for way, effect in self.effects.items():
                law = f"{way}: without a mask, shuffled words make other outputs (they move by up to"
                laws[f"{law} {difference_in_words(effect.moved)} of their length)"] = effect.moved > ROUNDING
        return laws


def aside(model: ModelState, state: PositionsState) -> str:
    """What differs from what the controls say; "" if nothing does."""
    sentences = []
    if not any(name in those("encode") for name in state.sides):
        neither = f"{' and '.join(state.sides)} {'is' if len(state.sides) == 1 else 'are'} not added to the embeddings"
        sentences.append(f"{neither}, and so cannot be added along the wrong axis: {DEFAULT} is shown.")
    if model.length > READ_UP_TO:
        sentences.append(f"Of {model.length} places the first {READ_UP_TO} are read: the fault is the same.")
    if state.item > state.batch:
        sentences.append(f"A batch of {state.batch} has no sentence {state.item}: the last one is shown.")
    return " ".join(sentences)


def _both_functions(model: ModelState, state: PositionsState) -> Block:
    """The code of both ways, side by side."""

    def draw() -> None:
        for column, way in zip(st.columns(2, gap="medium"), (along_sequence, along_batch), strict=True):
            column.code(inspect.getsource(way), wrap_lines=True)

    return draw


def _other_positions(model: ModelState, state: PositionsState) -> str:
    """A sentence that trained weights were never trained with this scheme; "" if they were."""
    return never_trained(model, [model_of(model, state).config])


VIEW = View(
    reads=lambda model, state: [Text(model_of(model, state).source_tokens)],
    never_trained=_other_positions,
    title="Wrong axis",
    shows=[FaultAdded, note(aside), FaultMaps, _both_functions],
    controls=("a", "b", "batch", "item", "layer", "model_head"),
    line="line_positions",
)
