"""Rows without any key: what each way to treat them makes of one, and how a NaN spreads from one through the model."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from streamlit.column_config import TextColumn
from torch import Tensor

from tfm_core import MultiHeadAttention, Positional, Transformer, attention_weights, recording
from tfm_core.model import torch_twin
from tfm_core.study import empty_rows
from tfm_core.study.empty_rows import (
    TREATMENTS,
    Case,
    Treated,
    instead,
    minus_a_billion,
    minus_a_billion_in_half,
    minus_infinity,
)
from tfm_ui.lenses.masks.masked_passes import (
    at,
    attention_of,
    attention_under,
    forward_under_mask,
    layer_sites,
    reads,
    under_exactly,
)
from tfm_ui.lenses.masks.padding.padded import (
    ROUNDING,
    STREAM_TITLE,
    Padded,
    PaddingPanel,
    moved,
    of_batch,
    told,
    with_tokens,
    without_keys,
)
from tfm_ui.lenses.masks.padding.treated import (
    INFINITE,
    LARGE,
    OURS,
    TreatedPass,
    blind_to,
    spreads,
    treated_by_ours,
    treated_passes,
)
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.script import script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.text import formats

READ_UP_TO = 128  # places: what becomes of a row is the same at any length
SAME = 1e-5  # numbers that differ by less differ by rounding: by up to 1.5e-6 in 40 random models
EVALUATING, TRAINING = "nn.MHA, eval()", "nn.MHA, train()"
SPREAD_OUT = "−1e9 and softmax"
WIDTHS = {"its weights": 160, "its output": 170, "other rows, from ours": 150, "how": 400}


class EmptyRowsPanel(PaddingPanel):
    """A panel about the rows of the sentence's mask that have no key."""

    places = READ_UP_TO

    @cached_property
    def _emptied(self) -> tuple[Tensor, list[int], bool]:
        return without_keys(self.batch, self.state.row)

    @property
    def rows(self) -> list[int]:
        """The rows without a key, from 0."""
        return self._emptied[1]

    @property
    def by_hand(self) -> bool:
        """Whether the one among them was emptied here."""
        return self._emptied[2]

    @property
    def emptied(self) -> int:
        """The row as `without_keys` takes it: 0 for all rows that make no other mask, so that none is run twice."""
        return self.rows[0] + 1 if self.by_hand else 0

    @cached_property
    def queries(self) -> list[str]:
        """A label per row."""
        return self.names_of(self.setting.queries)

    @property
    def row(self) -> int:
        """The one that is looked at: the one that was asked for, if it is one of them, or else the first."""
        return self.state.row - 1 if self.state.row - 1 in self.rows else self.rows[0]

    @property
    def others(self) -> list[int]:
        """The rows that have a key."""
        return [row for row in range(len(self.queries)) if row not in self.rows]

    def called(self, row: int) -> str:
        """A row in words."""
        return f"row {row + 1} (“{self.queries[row]}”)"

    def about(self) -> str:
        """Which rows have no key, and why."""
        if self.by_hand:
            return f"The mask leaves every row a key: {self.called(self.row)} was emptied here."
        if len(self.rows) == 1:
            return f"The mask leaves {self.called(self.row)} no key."
        return f"The mask leaves {len(self.rows)} of {len(self.queries)} rows no key; shown is {self.called(self.row)}."

    def _cut(self, read: int, asked: int) -> str:
        return f"Empty rows are run on the first {read} of {asked} places: what becomes of them is the same."

    def in_script(self) -> dict[str, Any]:
        """The header of a recipe: that of the batch, and the rows that are emptied by hand."""
        return of_batch(self.batch, words=False) | {"emptied": self.rows if self.by_hand else []}


@cached()
def treated_rows(batch: Padded, row: int, layer: int) -> Mapping[str, tuple[Treated, Case]]:
    """What each treatment makes of a row without a key (`without_keys`), in the attention of a layer, from 0."""
    setting = batch.setting
    mask, _, _ = without_keys(batch, row)
    scheme = passes.scheme(setting.model, setting.place)
    acts = scheme is not None and {"rotate", "bias_at"} & set(scheme.enters())
    queries, keys = treated_by_ours(batch, row).reads[layer]
    case = Case.of(attention_of(setting, layer), queries, keys, mask, scheme if acts else None)
    return {name: treatment.run(case) for name, treatment in TREATMENTS.items()}


def treatments(
    *,
    model: Transformer,
    padded: Sequence[Tensor],
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    emptied: Sequence[int],
    argument: str,
    mask_site: str,
    query_site: str,
    key_site: str,
    attention_path: str,
    positional_path: str | None,
) -> dict[str, Treated]:
    """What each treatment makes of rows without a key: output (1, query, d_model), weights (1, head, query, key)."""
    mask = with_tokens(mask_with_padding, rows, columns, among_tokens)
    mask[emptied] = False
    _, trace = under_exactly(model, padded, mask, argument, mask_site, [query_site, key_site])
    attention = model.get_submodule(attention_path)
    positional = model.get_submodule(positional_path) if positional_path else None
    assert isinstance(attention, MultiHeadAttention)
    assert isinstance(positional, Positional | None)
    case = Case.of(attention, trace[query_site], trace[key_site], mask, positional)
    treated = {name: treatment.run(case)[0] for name, treatment in TREATMENTS.items()}
    return treated


class EmptyRow(EmptyRowsPanel):
    """Each treatment of that row."""

    title = "A row without a key"
    open_table = OpenTable({name: TextColumn(width=width) for name, width in WIDTHS.items()})
    sources = (
        *(empty_rows.minus_infinity, empty_rows.minus_a_billion, empty_rows.fused, empty_rows.torch_module),
        *(torch_twin.as_torch, attention_weights, MultiHeadAttention.forward),
    )

    @cached_property
    def treated(self) -> Mapping[str, tuple[Treated, Case]]:
        """Treatment -> what it gives, and the case that it can be compared in."""
        return treated_rows(self.batch, self.emptied, self.layer)

    @property
    def tensors(self) -> Step:
        step = attention_under(self.setting, self.layer, mask=self._emptied[0], source=self.batch.chosen_source)
        outputs = [
            held(f"output_{number}", ("query", "d_model"), treated.output[0], f"the output by “{name}”")
            for number, (name, (treated, _)) in enumerate(self.treated.items(), 1)
        ]
        return step.also(*outputs, note="What each treatment makes of the row is taken as it is.")

    @cached_property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Treatment -> the row's weights in the chosen head, (key), of those that hand weights out."""
        return {
            name: treated.weights[0, self.head, self.row].numpy()
            for name, (treated, _) in self.treated.items()
            if treated.weights is not None
        }

    def is_nan(self, name: str) -> bool:
        """Whether the row's output is NaN."""
        return bool(self.treated[name][0].output[0, self.row].isnan().any())

    def weights_said(self, name: str) -> str:
        """The row's weights in words."""
        if name not in self.weights:
            return "not handed out"
        row = self.weights[name]
        if np.isnan(row).any():
            return "NaN"
        if not row.any():
            return "all 0"
        if np.ptp(row) < SAME:
            return f"{formats.weight(float(row[0]))} on {f'all {len(row)} keys' if len(row) > 1 else 'the only key'}"
        return f"{formats.weight(float(row.min()))} to {formats.weight(float(row.max()))}"

    @property
    def in_half(self) -> Tensor:
        """The row's weights in the chosen head where −1e9 is written in float16, (key)."""
        _, case = self.treated[SPREAD_OUT]
        scores = case.scores[0, self.head, self.row].masked_fill(~case.mask[self.row], -torch.inf)
        return minus_a_billion_in_half(scores)

    def output_said(self, name: str) -> str:
        """The row's output in words: what it is equal to, as measured."""
        treated, case = self.treated[name]
        row = treated.output[0, self.row]
        if row.isnan().any():
            return "NaN"
        bias = case.attention.output_projection.bias
        bias = torch.zeros_like(row) if bias is None else bias
        with torch.no_grad():
            mean = case.gathered(case.value.mean(-2, keepdim=True))[0, 0]
        if (row - bias).abs().max() < SAME:
            return "the output projection’s bias" if bias.any() else "all 0"
        if (row - mean).abs().max() < SAME:
            return "the mean of all values"
        return f"of length {formats.number(float(row.norm()))}"

    def off_elsewhere(self, name: str) -> float:
        """The largest difference from ours in the rows that have keys; NaN where such a row is NaN."""
        treated, case = self.treated[name]
        rows = self.others
        return float((treated.output - case.output)[0, rows].abs().max()) if rows else 0.0

    def sentence(self) -> str:
        """Who gives a NaN, and who does not."""
        bad = [name for name in TREATMENTS if self.is_nan(name)]
        sentences = [self.about(), f"{len(bad)} of {len(TREATMENTS)} ways make it NaN."]
        if not self.is_nan(SPREAD_OUT):
            sentences.append(f"−1e9 makes no NaN, but a weight of {self.weights_said(SPREAD_OUT)}, hidden or not.")
        if self.is_nan(EVALUATING) != self.is_nan(TRAINING):
            sentences.append(
                "One and the same nn.MultiheadAttention, not asked for weights, gives "
                f"{'NaN' if self.is_nan(EVALUATING) else 'numbers'} in eval mode, on its fast path, and "
                f"{'NaN' if self.is_nan(TRAINING) else 'numbers'} in training mode."
            )
        else:
            sentences.append(
                "Not asked for weights, nn.MultiheadAttention gives the same in both modes here: its fast path takes "
                "self-attention with an even number of heads alone."
            )
        if any(self.treated[name][1] is not self.treated["ours"][1] for name in TREATMENTS):
            sentences.append(f"It has no place for {self.model.positional}, and is compared with ours without it.")
        return " ".join(sentences)

    @property
    def how_to_read(self) -> str:
        return (
            f"What its weights are in {self.where}, where they are handed out; below, every treatment, run with this "
            "model’s weights."
        )

    def picture(self) -> Content:
        """The weights of that row, of the treatments that hand weights out."""
        weights = np.stack(list(self.weights.values()))
        return maps.content(
            [Map(name="", values=weights, scale=from_zero(float(np.nanmax(weights))), unit="weight")],
            rows=Axis(list(self.weights), "treatment", "way"),
            columns=Axis(self.keys, "key (column): is looked at", "key", "key"),
            square=False,
            blank="NaN",
        )

    def laws(self) -> dict[str, bool]:
        """What no treatment changes, and what must hold of ours."""
        laws = {"ours: no key, no weight, no NaN": not self.is_nan("ours") and not self.weights["ours"].any()}
        if self.others:
            apart = max(self.off_elsewhere(name) for name in TREATMENTS)
            law = f"in this layer the rows that have keys are right in all {len(TREATMENTS)} ways"
            laws[f"{law} (largest difference from ours {formats.tiny(apart)})"] = apart < SAME
        return laws

    def table(self) -> pd.DataFrame:
        """A row per treatment."""
        other = [formats.tiny(self.off_elsewhere(name)) if self.others else "there are none" for name in TREATMENTS]
        return pd.DataFrame(
            {
                "its weights": [self.weights_said(name) for name in TREATMENTS],
                "its output": [self.output_said(name) for name in TREATMENTS],
                "other rows, from ours": other,
                "how": [treatment.about for treatment in TREATMENTS.values()],
            },
            index=pd.Index(TREATMENTS, name="the row without a key"),
        )

    def recipe(self) -> str:
        """A script that leaves `treated`, treatment -> output (1, query, d_model), weights (1, head, query, key)."""
        setting, layer = self.setting, self.layer
        query_site, key_site = reads(setting, layer)
        single_stack = not setting.model.is_encoder_decoder
        acts = self.treated["ours"][1].positional is not None
        return script(
            treatments,
            **self.in_script(),
            query_site=query_site,
            key_site=key_site,
            attention_path=("stack." if single_stack else "") + at(setting, layer, "").rstrip("."),
            positional_path=f"{'stack' if single_stack else 'decoder'}.positional" if acts else None,
        )


def spread_through_the_model(
    *,
    model: Transformer,
    padded: Sequence[Tensor],
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    emptied: Sequence[int],
    argument: str,
    mask_site: str,
    attention: str,
    sites: Sequence[str],
) -> tuple[dict[str, list[Tensor]], dict[str, Tensor]]:
    """Streams, way -> for each place (token, d_model), and logits, way -> (token, vocab)."""
    mask = with_tokens(mask_with_padding, rows, columns, among_tokens)
    mask[emptied] = False
    streams, logits = {}, {}
    for way, weights_of in spreads().items():
        edits = instead(weights_of, attention) if weights_of else {}
        output, trace = under_exactly(model, padded, mask, argument, mask_site, sites, edits)
        output = model.logits(output).detach()  # without an output matrix, the last hidden states themselves
        streams[way], logits[way] = [trace[site][0] for site in sites], output[0]
    return streams, logits


class NanSpreads(EmptyRowsPanel):
    """The whole model with each treatment in all its layers."""

    title = "How a NaN spreads"
    how_to_read = (
        "Each token after each layer, the treatment in the place of ours in all of them: NaN, or how far it is from "
        "ours."
    )
    sources = (instead, minus_infinity, minus_a_billion, forward_under_mask, recording)

    @cached_property
    def runs(self) -> Mapping[str, TreatedPass]:
        """Way -> the pass."""
        return treated_passes(self.batch, self.emptied)

    @cached_property
    def shares(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (place, row), how far each vector is from ours; NaN where it is NaN."""
        return {name: moved(self.runs[OURS].streams, run.streams) for name, run in self.runs.items()}

    @property
    def blind(self) -> int:
        """How many rows with keys may not look at the rows without."""
        mask, rows, _ = self._emptied
        return int(blind_to(mask, rows).sum())

    def nans(self, name: str) -> list[int]:
        """How many rows are NaN, at each place."""
        counts: list[int] = np.isnan(self.shares[name]).sum(1).tolist()
        return counts

    def lost(self, name: str) -> float:
        """The share of logits that are NaN, or where there are none, of the numbers of the last hidden states."""
        return float(self.runs[name].logits.isnan().float().mean())

    def sentence(self) -> str:
        """How far it comes, and what the other ways cost."""
        total = formats.plural(len(self.queries), "row")
        counts = dict(zip(self.titles, self.nans(INFINITE), strict=True))
        steps = [f"{count} of {total} after {title}" for title, count in counts.items() if title.startswith("layer")]
        return (
            f"{INFINITE}: NaN in {', '.join(steps[:3])}{', and so on' if len(steps) > 3 else ''}; in "
            f"{formats.percent(self.lost(INFINITE))} of the {self._lost_of}. {self._why()} {self._quiet()}"
        )

    @property
    def _lost_of(self) -> str:
        """What comes out of the model."""
        return "logits" if self.model.gives_logits else "last hidden states: it gives no logits"

    def _why(self) -> str:
        model, counts, onto = self.setting.model, self.nans(INFINITE), self.runs[INFINITE].onto_empty
        if not self.others:
            return "No row has a key: all are NaN at once."
        if model.num_layers == 1:
            return "There is no second layer for it to spread in."
        if counts[2] == counts[1]:
            return "In layer 2 it stays where it is."
        if onto is None:
            return "It spreads where the decoder looks at its own text: 0 × NaN = NaN, even where causality hides it."
        row, it = ("the row", "it") if len(self.rows) == 1 else ("the rows", "them")
        if not self.blind:
            whose = "its key and value are" if it == "it" else "their keys and values are"
            return f"In layer 2 {whose} NaN for all who may look at {it}."
        give = "gives" if self.blind == 1 else "give"
        weight = formats.weight(onto[self.head])
        return (
            f"Hiding {row} from others does not help: in layer 2 (head {self.head + 1}) "
            f"{formats.plural(self.blind, 'row')} that may not look there {give} {it} a weight of {weight}, and "
            f"{weight} × NaN = NaN."
        )

    def _quiet(self) -> str:
        """What the way without a NaN costs."""
        apart = self.shares[LARGE][-1]
        emptied, rest = (float(apart[rows].max(initial=0)) for rows in (self.rows, self.others))
        rows, most = ("the row is", "") if len(self.rows) == 1 else ("the rows are", "up to ")
        others = (
            f", others {'by rounding alone' if rest < ROUNDING else f'by up to {told(rest)}'}" if self.others else ""
        )
        far = f"{most}{told(emptied)} of a length away from ours{others}"
        return f"{LARGE}: no NaN to warn anyone, and in the end {rows} {far}."

    def picture(self) -> Content:
        """Each row after each layer: NaN, or how far it is from ours."""
        scale = from_zero(max(float(np.nanmax(shares)) for shares in self.shares.values()))
        return maps.content(
            [
                Map(name=name, values=shares, scale=scale, unit="of a length from ours")
                for name, shares in self.shares.items()
            ],
            rows=Axis(self.titles, STREAM_TITLE, "place"),
            columns=Axis(self.queries, "token (column)", "token"),
            square=False,
            blank="NaN",
        )

    def laws(self) -> dict[str, bool]:
        """Which ways stay without a NaN."""
        return {f"{name}: no NaN in any row of any layer": not sum(self.nans(name)) for name in self.runs}

    def table(self) -> pd.DataFrame:
        """A row per way, place and token."""
        frames = [
            pd.DataFrame(
                {
                    "way": name,
                    "place": title,
                    "row": range(1, len(row) + 1),
                    "token": self.queries,
                    "NaN": np.isnan(row),
                    "difference from ours": row,
                }
            )
            for name, shares in self.shares.items()
            for title, row in zip(self.titles, shares, strict=True)
        ]
        return pd.concat(frames, ignore_index=True)

    def recipe(self) -> str:
        """A script that leaves, by way, `streams`, for each place (token, d_model), and `logits`, (token, vocab).

        Of a model without an output matrix `logits` are the last hidden states, (token, d_model).
        """
        return script(
            spread_through_the_model,
            **self.in_script(),
            attention=at(self.setting, "*", "").rstrip("."),
            sites=layer_sites(self.setting.model),
        )
