"""The view "pairing", a fault that nothing reports: weights that were made for one pairing of what turns, read as the
other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import POSITIONAL, Transformer, TransformerConfig, recording
from tfm_core.positional.maths import apply_rotary, rotary_pairs
from tfm_core.positional.schemes import PAIRINGS
from tfm_core.study.order import apart
from tfm_core.study.ties import ties
from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.model_runs import ROUNDING, HeadReading, Reading, difference_in_words, site_of
from tfm_ui.lenses.positions.panel import TextPanel, WeightMaps, note
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import passes
from tfm_ui.live.never_trained import never_trained
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors.attention import of_heads
from tfm_ui.live.tensors.step import Step, beside
from tfm_ui.page import controls
from tfm_ui.page.lens import View
from tfm_ui.pictures import pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Block
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pretrained import KNOWN
from tfm_ui.text import formats, head_sentences
from tfm_ui.text.token_labels import named
from tfm_ui.text.token_row import Text

LIKELIEST = 6  # tokens of each way that are drawn
READ_UP_TO = 256  # places, of tokens and padding
# Where the sidebar's model has no scheme that turns.
TURNS = next(name for name, scheme in POSITIONAL.items() if scheme.overrides("pairs"))
TRY = ("The capital of France is", "Monday, Tuesday, Wednesday,")  # one that stays right, and one that does not
ROLES = "result", "muted"  # the colours of the two ways
INSTALLED = "smollm2"  # weights that were made for one of the pairings, if they are there


def both_pairings(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str, head: int
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The same weights with either pairing: pairing -> the weights (query, key) of a head, and -> outputs (seq, ...).

    Outputs are logits, or of a model without an output matrix the last hidden states.
    """
    weights, outputs = {}, {}
    for pairing in PAIRINGS:
        model = Transformer(replace(config, rope_pairing=pairing)).eval()
        with torch.no_grad(), recording([site]) as trace:
            outputs[pairing] = model(*inputs, mask=mask)[0]
        weights[pairing] = trace[site][0, head]
    return weights, outputs


def turns(model: ModelState) -> bool:
    """Whether the sidebar's model has a scheme that turns queries and keys."""
    return POSITIONAL[model.positional].overrides("pairs")


def model_of(model: ModelState) -> ModelState:
    """The sidebar's model, with a scheme that turns; it reads no more of the text than is needed."""
    fields = {} if turns(model) else {"positional": TURNS}
    return model.varied(**fields, seq_len=min(model.length, READ_UP_TO))


class PairingPanel(TextPanel):
    """A panel of one model whose weights are read in both ways."""

    sources = (apply_rotary, rotary_pairs, model_runs.reading)

    def __init__(self, model: ModelState, state: PositionsState) -> None:
        super().__init__(model_of(model), state)
        self.turns_itself = turns(model)
        """Whether the sidebar's model turns queries and keys, and not only here."""
        self.is_made_for_one = self.turns_itself and not model.is_random
        """Whether training has made the weights for one of the pairings: then reading them as the other is wrong."""

    @property
    def ways(self) -> list[str]:
        """The pairings; where weights were made for one, this one first."""
        ours = self.model.config.rope_pairing
        return sorted(PAIRINGS, key=lambda name: name != ours) if self.is_made_for_one else list(PAIRINGS)

    def title_of(self, name: str) -> str:
        """The title of a way."""
        if not self.is_made_for_one:
            return name.capitalize()
        return f"{'Right' if name == self.ways[0] else 'Wrong'}: {name}"

    @cached_property
    def readings(self) -> dict[str, Reading]:
        """Pairing -> the pass."""
        return {name: model_runs.reading(self.model, pairing=name) for name in self.ways}

    @property
    def tensors(self) -> Step:
        scheme = passes.scheme(self.model, "encoder" if self.model.is_encoder_decoder else "self")
        steps = {name: of_heads(run.attention[0], self.title_of(name), scheme) for name, run in self.readings.items()}
        return beside("The same weights, read in both ways", steps)

    @property
    def which(self) -> str:
        """The pairing that the weights were made for, in a sentence."""
        if self.is_made_for_one:
            return f"These weights were made for {self.ways[0]}."
        if self.model.is_random:
            return "Random weights were made for neither: the two are as good as each other, and not the same."
        return f"These weights were trained with other positions than {self.model.positional}, and so for neither."

    def recipe(self) -> str:
        """A script that leaves `weights`, pairing -> (query, key), and `outputs`, pairing -> (seq, ...)."""
        return script(
            both_pairings,
            **of_model(self.model),
            site=site_of(self.model, self.state.layer - 1, "weights"),
            head=self.state.model_head - 1,
        )


class PairingNext(PairingPanel):
    """What a decoder says next, read in both ways."""

    title = "The next token, read in both ways"
    canvas = CHART

    @classmethod
    def content(cls, model: ModelState, state: Any) -> Content:
        """What is drawn for a link; an empty picture where it is not shown."""
        if cls(model, state).is_shown:
            return super().content(model, state)
        return pairs.content([], ("", ""), np.zeros((2, 0), np.float32), roles=ROLES)

    @property
    def is_shown(self) -> bool:
        """Whether the model says something of next tokens that has a name."""
        names_next = self.model.architecture == "decoder" and self.model.gives_logits
        return self.turns_itself and names_next and bool(self.model.tokens_by.pieces)

    @property
    def how_to_read(self) -> str:
        return f"For each way the {LIKELIEST} likeliest tokens after the text, the likeliest of the first way on top."

    @cached_property
    def shares(self) -> dict[str, NDArray[np.float32]]:
        """Pairing -> the probabilities of all tokens after the last one of the text, (vocab)."""
        machine, shares = passes.transformer(self.model.config), {}
        for name, reading in self.readings.items():
            with torch.no_grad():
                shares[name] = machine.logits(reading.output[0, self.read - 1]).double().softmax(-1).numpy()
        return shares

    @cached_property
    def drawn(self) -> list[int]:
        """The ids of the tokens that are drawn."""
        likeliest = (np.argsort(-shares, kind="stable")[:LIKELIEST].tolist() for shares in self.shares.values())
        return list(dict.fromkeys(token for ids in likeliest for token in ids))

    def called(self, token: int) -> str:
        """A token by name."""
        return named(self.model.tokens_by.pieces[token])

    @property
    def shape(self) -> str:
        return f"vocabulary {formats.count(self.model.config.vocab_size)}, twice"

    def sentence(self) -> str:
        """The likeliest token of both ways."""
        first, second = self.ways
        tokens = [int(self.shares[name].argmax()) for name in (first, second)]
        right, then = (float(self.shares[name][tokens[0]]) for name in (first, second))
        last = named(self.model.source_tokens.pieces[-1])
        said = (
            f"{self.which} After “{last}” the likeliest token, read with {first}, is “{self.called(tokens[0])}”, "
            f"{formats.percent(right)}. Read with {second}"
        )
        if tokens[0] == tokens[1]:
            return f"{said}, it is the same one, {formats.percent(then)}: such a text does not tell the two apart."
        wrong = float(self.shares[second][tokens[1]])
        return (
            f"{said}, it has {formats.percent(then)}, and the likeliest is “{self.called(tokens[1])}”, "
            f"{formats.percent(wrong)}. No error, no warning."
        )

    def picture(self) -> Content:
        names = [self.called(token) for token in self.drawn]
        series = (self.title_of(self.ways[0]), self.title_of(self.ways[1]))
        shares = np.stack([self.shares[name][self.drawn] for name in self.ways]).astype(np.float32)
        return pairs.content(names, series, shares, roles=ROLES, about=self.sentence(), rows="token")

    def table(self) -> pd.DataFrame:
        """A row per token that is drawn."""
        columns = {f"probability, {name}": self.shares[name][self.drawn] for name in self.ways}
        index = pd.Index([self.model.tokens_by.pieces[token] for token in self.drawn], name="token")
        return pd.DataFrame(columns, index=index)

    def laws(self) -> dict[str, bool]:
        """What must hold of each."""
        off = max(abs(float(shares.sum(dtype=np.float64)) - 1) for shares in self.shares.values())
        return {f"each way’s probabilities sum to 1 (largest error {formats.tiny(off)})": off < ROUNDING}


class PairingMaps(PairingPanel, WeightMaps):
    """The maps of one head, read in both ways."""

    title = "The same weights, read with either pairing"

    @property
    def how_to_read(self) -> str:
        return (
            f"The attention of layer {self.state.layer}, head {self.state.model_head}: rows look at columns. "
            + " ".join(f"{name.capitalize()}: {what}." for name, what in PAIRINGS.items())
        )

    @cached_property
    def heads(self) -> Mapping[str, HeadReading]:
        layer, head = self.state.layer - 1, self.state.model_head - 1
        return {
            name: model_runs.head_reading(reading.attention[0], layer, head, self.read)
            for name, reading in self.readings.items()
        }

    @cached_property
    def moved(self) -> float:
        """How far the last layer's output for a token moves at most, as a share of its length."""
        before, after = (self.readings[name].output[0, : self.read] for name in self.ways)
        return float(apart(before, after).max())

    def sentence(self) -> str:
        """Where the maps differ most, and how far outputs move."""
        first, second = (head.weights[: self.read] for head in self.heads.values())
        where = f"In layer {self.state.layer}, head {self.state.model_head}"
        differ = np.abs(first - second)
        outputs = f"In the end outputs differ by up to {formats.percent(self.moved)} of their length."
        if differ.max() < ROUNDING:
            same = f"{where} the two maps are the same. {head_sentences.NO_CHOICE if self.read == 1 else ''}".strip()
            return f"{self.which} {same}"
        largest = ties(torch.from_numpy(differ), ROUNDING)[0]  # of equal ones the first, on every processor
        query, key = np.unravel_index(int(largest), differ.shape)
        shares = [formats.share(weights[query, key]) for weights in (first, second)]
        names = self.ways
        return (
            f"{self.which} {where} “{self.names[query]}” looks at “{self.names[key]}” with {shares[0]} under "
            f"{names[0]}, {shares[1]} under {names[1]}. {outputs} The model runs either way, and nothing says which "
            "it was."
        )

    @cached_property
    def reordered(self) -> float:
        """How far a score with neighbours is at most from one with halves whose dimensions have changed places."""
        width, length = self.model.d_model // self.model.num_heads, self.model.length
        query, key = torch.randn(2, length, width, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        order = rotary_pairs(width, neighbours=True).mT.flatten()  # first those that come first in a pair
        base = self.model.config.positional_base
        beside = apply_rotary(query, base=base, neighbours=True) @ apply_rotary(key, base=base, neighbours=True).mT
        halves = apply_rotary(query[:, order], base=base) @ apply_rotary(key[:, order], base=base).mT
        return float((beside - halves).abs().max())

    def laws(self) -> dict[str, bool]:
        """What leads from one convention to the other."""
        law = "with a drawn head’s dimensions in the other’s order, both pairings give the same scores"
        return {f"{law} (largest difference {difference_in_words(self.reordered)})": self.reordered < 1e-9}


def _main(model: ModelState, state: PositionsState) -> Block:
    """What comes next, of a model that says it; else the maps."""
    says = PairingNext(model, state)
    return says if says.is_shown else PairingMaps(model, state)


def _maps(model: ModelState, state: PositionsState) -> Block | None:
    """The maps, where they are not the main picture."""
    return PairingMaps(model, state) if PairingNext(model, state).is_shown else None


def aside(model: ModelState, state: PositionsState) -> str:
    """What differs from what the sidebar says; "" if nothing does."""
    sentences = []
    if not turns(model):
        sentences.append(f"{model.positional} positions turn nothing, so the sidebar’s model is run with {TURNS} here.")
    if model.length > READ_UP_TO:
        sentences.append(f"Of {model.length} places the first {READ_UP_TO} are read.")
    return " ".join(sentences)


def _other_positions(model: ModelState, state: PositionsState) -> str:
    """A sentence that trained weights were never trained with this scheme; "" if they were."""
    return never_trained(model, [model_of(model).config])


def _try(model: ModelState, state: PositionsState) -> Block | None:
    """Buttons that open two texts with a model whose weights were made for one pairing; none where it is not there."""
    if KNOWN[INSTALLED].why_not_there:
        return None

    def draw() -> None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="positions_try_pairing"):
            st.html(f'<p class="side">{KNOWN[INSTALLED].short} after</p>', width="content")
            for number, text in enumerate(TRY):
                changes = {"weights": INSTALLED, "text": text}
                st.button(
                    f"“{text}”", on_click=controls.change, args=("",), kwargs=changes, key=f"_try_pairing_{number}"
                )

    return draw


VIEW = View(
    reads=lambda model, state: [Text(model_of(model).source_tokens)],
    never_trained=_other_positions,
    title="Wrong pairs",
    exercise="rope-turns",
    shows=[_main, _maps, note(aside), _try],
    also=[PairingNext, PairingMaps],
    controls=("layer", "model_head"),
    line="line_positions",
)
