"""Where each scheme enters a model: the way of a token through it, drawn from the model's state and `enters()`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from tfm_core import POSITIONAL, MultiHeadAttention, Positional, TransformerLayer
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.positions.sites import enters, site_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

SOURCES = (Positional.enters, Stack.place, Stack.run, TransformerLayer.forward, MultiHeadAttention.forward)

# place -> what is done there, and the sites of the recording where the values can be read
STEPS = {
    "encode": ("+ position vectors", ("position",)),
    "rotate": ("turn Q and K", ("rotated_query", "rotated_key")),
    "bias_at": ("+ bias", ("position_bias",)),
}


@dataclass(frozen=True)
class Step:
    """One box of the drawing.

    Attributes:
        text: in it.
        note: below it, "" if nothing.
        marks: side -> scheme, of those that enter here.
        place: whether schemes can enter here.
        layer: whether it is repeated in each layer.
    """

    text: str
    note: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    place: bool = False
    layer: bool = False


@dataclass(frozen=True)
class Diagram(Result):
    """The drawing.

    Attributes:
        model, state: what was asked for.
        rows: title -> its boxes, in the order in which a token meets them.
        layers: of each stack.
        about: the drawing in words.
    """

    model: ModelState
    state: PositionsState
    rows: Mapping[str, list[Step]]
    layers: int
    about: str

    def sentence(self) -> str:
        """The drawing in words."""
        return self.about

    def table(self) -> pd.DataFrame:
        """A row per scheme."""
        rows = [
            {
                "scheme": name,
                "pinned as": self.state.sides.get(name, ""),
                "enters": enters(name),
                "to be read at": ", ".join(sites(self.model, name, self.state.layer - 1)),
            }
            for name in POSITIONAL
        ]
        return pd.DataFrame(rows).set_index("scheme")


def sites(model: ModelState, name: str, layer: int = 0) -> list[str]:
    """The sites of the recording where what this scheme does can be read; layer from 0."""
    start = "encoder." if model.is_encoder_decoder else ""
    places = POSITIONAL[name].enters()
    return [
        start + site if place == "encode" else site_of(model, layer, site)
        for place in places
        for site in STEPS[place][1]
    ]


def diagram(model: ModelState, state: PositionsState) -> Diagram:
    """The sidebar's model, with A and B where they enter."""
    title = "Encoder" if model.is_encoder_decoder else model.architecture_name.capitalize()
    looks_back = "causal" if model.looks_back_only and not model.is_encoder_decoder else ""
    rows = {f"{title}, {model.norm}-norm": _stack(model, state, cross=False, last=not model.is_encoder_decoder)}
    if model.is_encoder_decoder:
        rows[f"Decoder, {model.norm}-norm"] = _stack(model, state, cross=True, last=True)
        looks_back = "causal in the decoder"
    rows["Inside each self-attention"] = [
        Step("Q, K, V", f"{formats.plural(model.num_heads, 'head')}"),
        _place(state, "rotate"),
        Step("q·k / √dₖ", f"dₖ = {model.config.head_dim}"),
        _place(state, "bias_at"),
        Step("mask", looks_back or "padding alone"),
        Step("softmax", "weights"),
        Step("× V"),
        Step("Wᴼ"),
    ]
    said = [f"{side}, {name}, enters {enters(name)}." for name, side in state.sides.items()]
    read = [
        f"{name} at {' and '.join(sites(model, name, state.layer - 1))}"
        for name in state.sides
        if POSITIONAL[name].enters()
    ]
    both = ", and in the decoder likewise" if model.is_encoder_decoder else ""
    where = f" Their names in a recording of the model: {'; '.join(read)}{both}." if read else ""
    return Diagram(model, state, rows, model.num_layers, " ".join(said) + where)


def _stack(model: ModelState, state: PositionsState, *, cross: bool, last: bool) -> list[Step]:
    """The boxes of one stack, from tokens to its end."""
    tokens = model.target_tokens if cross else model.source_tokens
    steps = [
        Step("tokens", str(len(tokens.ids))),
        Step("embedding", f"d_model {model.d_model}"),
        _place(state, "encode"),
    ]
    for name in ("self-attention", *["cross-attention"] * cross, "feed-forward"):
        norm, rest = Step("norm", layer=True), [Step(name, layer=True), Step("+ residual", layer=True)]
        steps += [norm, *rest] if model.norm == "pre" else [*rest, norm]
    steps += [Step("norm")] if model.norm == "pre" else []
    return [*steps, Step("logits") if last else Step("to the decoder")]


def _place(state: PositionsState, place: str) -> Step:
    text, read = STEPS[place]
    marks = {side: name for name, side in state.sides.items() if place in POSITIONAL[name].enters()}
    return Step(text, ", ".join(read), marks, place=True)
