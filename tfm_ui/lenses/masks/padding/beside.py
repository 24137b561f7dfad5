"""The chosen sentence alone and in a padded batch, with padding hidden and without: what moves, and who looks at it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import POSITIONAL, Transformer, padding_mask
from tfm_core.study import order
from tfm_core.study.order import apart
from tfm_ui.lenses.masks.masked_passes import at, forward_under_mask, layer_sites, under_exactly
from tfm_ui.lenses.masks.padding.padded import (
    ROUNDING,
    STREAM_TITLE,
    Padded,
    PaddingPanel,
    batch_needs,
    key_mask,
    laid,
    moved,
    of_batch,
    told,
    with_tokens,
)
from tfm_ui.lenses.masks.state import PREFIX
from tfm_ui.live import origins, passes, tables, windows
from tfm_ui.live.cache import cached
from tfm_ui.live.origins import Heads
from tfm_ui.live.places import place
from tfm_ui.live.script import script
from tfm_ui.live.tensors.attention import of_heads
from tfm_ui.live.tensors.step import Step, beside
from tfm_ui.page import controls
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import ABSENT, Axis, Map
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

WAYS = ("alone", "with", "without")
TITLES = {"with": "Padding hidden", "without": "Padding not hidden"}
RUNS = {"alone": "Alone"} | TITLES


@dataclass(frozen=True)
class Run:
    """One pass of the sentence.

    Attributes:
        streams: (place, row, d_model): what enters the first layer, what each layer leaves, and the output.
        heads: of the attention that the mask is for.
        rows: which of its queries the rows are.
    """

    streams: Tensor
    heads: Heads
    rows: slice

    def weights(self, layer: int, head: int) -> Tensor:
        """(row, key) of a head, columns of padding included; layer and head from 0."""
        return torch.from_numpy(self.heads.exact(layer, head)[self.rows])


def _run(batch: Padded, source: Tensor, mask: Tensor, rows: slice, item: int) -> Run:
    """A pass, of which `rows` of sentence `item` are kept; its mask is boolean (batch, 1, query, key)."""
    setting, sites = batch.setting, layer_sites(batch.setting.model)
    where = place(setting.model, setting.place)
    kept: dict[str, Tensor] = {}

    def keep(site: str, tensor: Tensor) -> None:
        kept[site] = tensor[item : item + 1].clone()  # of the batch no more than this

    forward_under_mask(setting, mask=mask, source=source, watch=dict.fromkeys([*sites, *origins.sites(where)], keep))
    made_of = origins.origins(kept, where, setting.model.num_layers, passes.scheme(setting.model, setting.place))
    heads = Heads(made_of, mask[item, 0].contiguous().numpy())
    return Run(torch.stack([kept[site][0, rows] for site in sites]), heads, rows)


@cached()
def runs(batch: Padded) -> Mapping[str, Run]:
    """The chosen sentence "alone", and in the batch "with" padding hidden and "without"; rows that are no padding."""
    source, mask = batch.alone
    alone = _run(batch, source, mask[None, None], slice(0, len(mask)), 0)
    beside = (
        _run(batch, batch.source, batch.masks(hidden=hidden), batch.queries, batch.item) for hidden in (True, False)
    )
    return dict(zip(WAYS, (alone, *beside), strict=True))


def alone_and_padded(
    *,
    model: Transformer,
    alone: Sequence[Tensor],
    padded: Sequence[Tensor],
    key_ids: Tensor,
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    argument: str,
    mask_site: str,
    sites: Sequence[str],
    weights_site: str,
    head: int,
) -> tuple[dict[str, list[Tensor]], dict[str, Tensor]]:
    """The sentence alone, and in the batch with padding hidden and without.

    Returns:
        shares, way -> for each place, how far each token's vector is from what it is alone, as a share of its length;
        weights, run -> (token, key) of a head.
    """
    mask_with_padding = with_tokens(mask_with_padding, rows, columns, among_tokens)
    hidden = mask_with_padding & padding_mask(key_ids)[0, 0]
    runs_under = {"alone": (alone, among_tokens), "with": (padded, hidden), "without": (padded, mask_with_padding)}
    streams, weights = {}, {}
    for way, (inputs, visible) in runs_under.items():
        _, trace = under_exactly(model, inputs, visible, argument, mask_site, [*sites, weights_site])
        tokens = slice(None) if way == "alone" else rows
        streams[way], weights[way] = [trace[site][0, tokens] for site in sites], trace[weights_site][0, head, tokens]
    before = streams.pop("alone")
    shares = {way: [apart(*places) for places in zip(before, after, strict=True)] for way, after in streams.items()}
    return shares, weights


class BesidePanel(PaddingPanel):
    """The sentence alone beside the sentence in its batch."""

    sources = (order.apart, padding_mask, laid, key_mask, forward_under_mask)
    needs = batch_needs

    @property
    def tensors(self) -> Step:
        scheme = passes.scheme(self.setting.model, self.setting.place)
        titles = {"alone": "the sentence alone", "with": "padding hidden", "without": "padding not hidden"}
        steps = {name: of_heads(run.heads, titles[name], scheme) for name, run in self.runs.items()}
        return beside("The sentence alone; in its batch with padding hidden; and not hidden", steps)

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """The run "alone", and in the batch "with" padding hidden and "without"."""
        return runs(self.batch)

    @cached_property
    def shares(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (place, token), how far each vector is from what it is alone."""
        return {way: moved(self.runs["alone"].streams, self.runs[way].streams) for way in TITLES}

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """Way -> (token, key) of the chosen head, columns of padding included."""
        return {way: run.weights(self.layer, self.head) for way, run in self.runs.items()}

    @cached_property
    def tokens(self) -> list[str]:
        """A label per token whose output is compared."""
        return self.names[0][: len(self.setting.queries.pieces)]

    def largest(self, way: str) -> float:
        """The largest move of an output."""
        return float(self.shares[way][-1].max())

    @property
    def pads_in_words(self) -> str:
        """Where padding stands, and how much of it."""
        on = {"right": "after", "left": "before"}[self.batch.side]
        return f"{formats.plural(self.batch.pads, 'PAD')} {on} {formats.plural(self.batch.read, 'token')}"

    @cached_property
    def open_columns(self) -> NDArray[np.intp]:
        """The columns of padding, of the attention that the mask is for."""
        return np.delete(np.arange(len(self.keys)), self.batch.keys)

    @property
    def may_look(self) -> bool:
        """Whether any token may look at padding if it is taken for words."""
        mask = self.batch.masks(hidden=False)[self.batch.item, 0][self.batch.queries]
        return bool(mask[:, self.open_columns].any())

    @property
    def harmless(self) -> bool:
        """Whether it makes no difference that padding is not hidden."""
        return max(self.largest(way) for way in TITLES) < ROUNDING

    @property
    def shifted(self) -> bool:
        """Whether tokens get other positions than alone: those that are added by place, where PAD stands before."""
        return self.batch.side == "left" and "encode" in POSITIONAL[self.model.positional].enters()

    def recipe(self) -> str:
        """A script that leaves `shares` and `weights`, as of `alone_and_padded`."""
        return script(
            alone_and_padded,
            **of_batch(self.batch, words=True),
            sites=layer_sites(self.setting.model),
            weights_site=at(self.setting, self.layer, "weights"),
            head=self.head,
        )


class Padding(BesidePanel):
    """How far the sentence's vectors are from what they are when it runs alone."""

    title = "Alone and in the batch"
    how_to_read = (
        "How far each token’s vector is from what it is when the sentence runs alone, from layer to layer. Among "
        "tokens the mask is the same in all runs."
    )

    @property
    def shape(self) -> str:
        return f"batch × tokens = {len(self.batch.settings)} × {self.batch.source.shape[1]}"

    def sentence(self) -> str:
        """What moves, and why."""
        hidden, free = (self.largest(way) for way in TITLES)
        if not self.batch.pads:
            places = formats.plural(self.setting.model.length, "place")
            return (
                f"The sentence fills all of its {places}: it has no padding, and there is nothing to hide. Alone and "
                f"in the batch its outputs differ by {told(max(hidden, free))} of their length at most. Choose a "
                "shorter sentence, or more tokens in the sidebar."
            )
        if self.harmless:
            return (
                f"{self.pads_in_words}: hidden or not, each output is what it is alone, to rounding "
                f"({told(max(hidden, free))} of its length at most). {self._reason()}"
            )
        if hidden < ROUNDING:
            count = int((self.shares["without"][-1] >= ROUNDING).sum())
            most = places_of_largest(self.shares["without"][-1], size=max(1.0, free))
            total = formats.plural(len(self.tokens), "output")
            return (
                f"{self.pads_in_words}: hidden, they change nothing but the last digits ({told(hidden)} of an output’s "
                f"length at most). Not hidden, they move {count} of {total}, “{self.tokens[most[0]]}” "
                f"most{one_of_ties(len(most))}, by {told(free)} of its length."
            )
        why = (
            f", because each token stands {formats.plural(self.batch.pads, 'place')} later, where the "
            f"{self.model.positional} position vectors are different"
            if self.shifted
            else ""
        )
        schemes = [name for name, scheme in POSITIONAL.items() if "encode" not in scheme.enters()]
        return (
            f"{self.pads_in_words}: even hidden, they move outputs by up to {told(hidden)} of their length{why}. "
            f"Not hidden, by up to {told(free)}. With positions by distance alone, or none "
            f"({', '.join(schemes)}), hidden padding changes nothing."
        )

    def _reason(self) -> str:
        if self.setting.place == "decoder":
            return "The decoder’s own text is never padded, and the encoder hides PAD by itself: look at “cross”."
        if self.may_look:
            return "Tokens may look at PAD, and get no more from it than rounding."
        if self.setting.causal_anyway and self.batch.side == "right":
            return (
                "No token looks ahead, and padding on the right lies ahead of every token: under the causal mask it "
                "does no harm. On the left it may."
            )
        return "The composed mask lets no token look at PAD, even where PAD is taken for a word."

    def laws(self) -> dict[str, bool]:
        """What padding should not change, measured."""
        if not self.batch.pads:
            return {}
        return {
            f"{TITLES[way].lower()}: the outputs of the sentence alone (largest move "
            f"{told(self.largest(way))} of an output’s length)": self.largest(way) < ROUNDING
            for way in TITLES
        }

    def table(self) -> pd.DataFrame:
        """A row per token, a column per way and place."""
        return pd.DataFrame(
            {
                f"{TITLES[way]}, {title}": row
                for way in TITLES
                for title, row in zip(self.titles, self.shares[way], strict=True)
            },
            index=pd.Index(self.tokens, name="token"),
        )

    def picture(self) -> Content:
        most = max(float(shares.max()) for shares in self.shares.values())
        scale = from_zero(most if most > ROUNDING else 1.0)  # rounding is not blown up
        return maps.content(
            [
                Map(name=title, values=self.shares[way], scale=scale, unit="of its length")
                for way, title in TITLES.items()
            ],
            rows=Axis(self.titles, STREAM_TITLE, "place"),
            columns=Axis(self.tokens, "token (column)", "token"),
            square=False,
        )

    def tools(self) -> None:
        """Draw buttons to what makes padding matter, where it does not."""
        with st.container(horizontal=True, gap="small", key="masks_padding_acts"):
            if self.harmless and self.model.masks_the_future and self.state.pad_side == "right":
                st.button(
                    "Switch the causal mask off",
                    on_click=controls.change,
                    args=("",),
                    kwargs={"causal": False},
                    key="_masks_causal",
                )
            if self.setting.place == "decoder":
                st.button(
                    "Look at cross-attention",
                    on_click=controls.change,
                    args=(PREFIX,),
                    kwargs={"place": "cross"},
                    key="_masks_cross",
                )


class PaddingWeights(BesidePanel):
    """The chosen head of each run."""

    title = "Where the weight goes"

    @property
    def how_to_read(self) -> str:
        head = f"{self.where[0].upper()}{self.where[1:]}"
        return f"{head} in the three runs; tokens (rows) look at tokens and PAD (columns). One scale."

    @cached_property
    def maps(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (token, key); NaN where the mask forbids to look, and alone where padding would be."""
        batch, maps = self.batch, {}
        for way, weights in self.weights.items():
            if way == "alone":
                maps[way] = np.full((len(self.tokens), len(self.keys)), np.nan, np.float32)
                maps[way][:, batch.keys] = weights.where(batch.alone[1], torch.nan).numpy()
            else:
                mask = batch.masks(hidden=way == "with")[batch.item, 0][batch.queries]
                maps[way] = weights.where(mask, torch.nan).numpy()
        return maps

    @cached_property
    def onto(self) -> NDArray[np.float32]:
        """The share of each token's weights that lies on padding where that is not hidden: (token)."""
        onto: NDArray[np.float32] = self.weights["without"][:, self.open_columns].sum(-1).numpy()
        return onto

    def sentence(self) -> str:
        count = len(self.open_columns)
        if not count:
            alone, *others = self.weights.values()
            apart = max(float((weights - alone).abs().max()) for weights in others)
            return f"In {self.where} no key is padding, and the three maps differ by {formats.tiny(apart)} at most."
        pads, take = (f"the {count} PADs", "take") if count > 1 else ("the one PAD", "takes")
        if not self.may_look:
            return f"In {self.where} nobody may look at {pads}, even where PAD is taken for a word."
        most = places_of_largest(self.onto, size=1.0)
        mean, largest = (formats.percent(float(share)) for share in (self.onto.mean(), self.onto[most[0]]))
        return (
            f"In {self.where} {pads} {take} {mean} of a token’s weight on average, of "
            f"“{self.tokens[most[0]]}” most{one_of_ties(len(most))}, {largest}. "
            "A row sums to 1: what PAD takes, tokens lose."
        )

    def laws(self) -> dict[str, bool]:
        """Whether padding has no weight where it is hidden."""
        if not len(self.open_columns):
            return {}
        given = float(self.weights["with"][:, self.open_columns].max())
        return {f"padding hidden: PAD gets no weight (largest {formats.weight(given)})": given == 0}

    def table(self) -> pd.DataFrame:
        """A row per run and token, a column per key, padding numbered."""
        keys = [f"{key} {place}" if key == "PAD" else key for place, key in enumerate(self.keys, 1)]
        names = pd.Index(self.tokens, name="query \\ key")
        tables = {RUNS[way]: pd.DataFrame(weights, index=names, columns=keys) for way, weights in self.maps.items()}
        return pd.concat(tables, names=["run"])

    def picture(self) -> Content:
        part = windows.part_of(windows.WHOLE, len(self.tokens), len(self.keys))
        scale = from_zero(max(float(weights.max()) for weights in self.weights.values()))
        tensors = {way: torch.from_numpy(weights) for way, weights in self.maps.items()}
        drawn = {way: windows.pooled(tables.matrix(weights), part) for way, weights in tensors.items()}
        first = np.arange(0, part.columns, part.block[1])
        there = np.add.reduceat(np.isin(np.arange(part.columns), self.open_columns, invert=True), first)
        drawn["alone"][:, there == 0] = ABSENT
        return maps.content(
            [Map(name=RUNS[way], values=weights, scale=scale, unit="weight") for way, weights in drawn.items()],
            rows=Axis(part.row_names(self.tokens), "query (row): looks", "query", "query"),
            columns=Axis(part.column_names(self.keys), "key (column): is looked at", "key", "key"),
            places=([place + 1 for place in range(0, part.rows, part.block[0])], [int(at) + 1 for at in first]),
            part=part,
            square=part.columns <= 3 * part.rows,  # else a short sentence in much padding would be a thread
        )
