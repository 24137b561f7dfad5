"""The view "contribution": what a head looks at beside what it writes: favourites, disagreement, attention sinks."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import MultiHeadAttention, Transformer, TransformerConfig, recording
from tfm_core.study.contribution import contribution_norms
from tfm_ui.lenses.attention.inside import ASKS, COLUMNS, ROWS, AttentionPanel
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.inside import Inside
from tfm_ui.live.passes import and_scores
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.attention import PAIRS
from tfm_ui.live.tensors.step import Named, Step
from tfm_ui.page.lens import View
from tfm_ui.pictures import maps, pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map
from tfm_ui.pictures.panel import Columns, Note, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences
from tfm_ui.text.ties import one_of_ties, places_of_largest

CAVEAT = (
    "A weight says where a head looks, not why the model answers as it does. Jain and Wallace (2019, “Attention is not "
    "Explanation”) found quite other weights that lead to the same answer; Wiegreffe and Pinter (2019, “Attention is "
    "not not Explanation”) replied that it depends on what one asks of an explanation, and how one tests it. "
    "The norm of what is written (Kobayashi et al. 2020) is a step closer to the output, and no explanation either."
)
SHOWN = 12  # bars of one row
SINK, TIMES_EVEN = 0.3, 2.0  # of the weight on average, and of an even share: from here on a key is called a sink


def norms(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str, module: str, head: int
) -> tuple[Tensor, Tensor]:
    """The weights of this head, and the lengths of the contributions, (query, key) both."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording() as trace:
        model(*inputs, mask=mask)
    weights = trace[f"{site}.weights"][0, head]  # (query, key)
    value = trace[f"{site}.value"][0, head]  # (key, head_dim)
    attention = model.get_submodule(module)
    assert isinstance(attention, MultiHeadAttention)
    columns = slice(head * value.shape[-1], (head + 1) * value.shape[-1])  # of this head
    output_weight = attention.output_projection.weight.detach()[:, columns].mT  # (head_dim, d_model)
    norms = contribution_norms(weights, value, output_weight)  # (query, key)
    return weights, norms


class ContributionPanel(AttentionPanel):
    """A panel on what a head looks at and what it writes."""

    sources: Sequence[Source] = (contribution_norms, Inside.weights, Inside.output_weight, MultiHeadAttention.forward)
    needs = and_scores(1)

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """(query, key), a."""
        return self.inside.weights(self.head).numpy()

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        """(query, key), ||a v W_O||."""
        value, output_weight = self.inside.value[self.head], self.inside.output_weight(self.head)
        return contribution_norms(torch.from_numpy(self.weights), value, output_weight).numpy()

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """(query, key), False where masked."""
        return self.inside.visible.numpy()

    @property
    def tensors(self) -> Step:
        inside = self.inside
        step = live_steps.attention(self.model, self.kind, self.layer)

        def lengths() -> Tensor:
            heads = range(inside.heads)
            return torch.stack(
                [contribution_norms(inside.weights(i), inside.value[i], inside.output_weight(i)) for i in heads]
            )

        about = "how long the vector is that each query gets from each key: ‖a v W_O‖"
        code = "weights * (V @ split(W_O, num_heads).mT).norm(dim=-1)[:, None]"
        return step.also(Named("contribution", PAIRS, (inside.heads, *inside.visible.shape), about, lengths, code))

    @property
    def row(self) -> int:
        """The chosen query, from 0."""
        return min(self.state.query, self.read) - 1

    @cached_property
    def shares(self) -> NDArray[np.float32]:
        """(query, key), each norm as a share of its row's; zeros in a row that writes nothing."""
        total = self.norms.sum(-1, keepdims=True)
        return np.asarray(np.divide(self.norms, total, out=np.zeros_like(self.norms), where=total > 0))

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """The rows that are tokens and have a choice."""
        return np.flatnonzero(self.visible[: self.read].sum(-1) > 1)

    @cached_property
    def clear(self) -> list[int]:
        """Those of them that have a favourite: a token that they look at more than at any other."""
        if not len(self.free):
            return []
        second, first = np.sort(self.weights[self.free], -1)[:, -2:].T
        return [int(row) for row in self.free[first > second * (1 + head_sentences.TIE)]]

    @cached_property
    def differing(self) -> dict[int, float]:
        """The rows with a favourite where another token writes most -> by how much more, as a share."""
        by_row = {}
        for row in self.clear:
            looked, written = int(self.weights[row].argmax()), int(self.shares[row].argmax())
            more = float(self.shares[row, written] - self.shares[row, looked])
            if more > head_sentences.TIE * self.shares[row, written]:
                by_row[row] = more
        return by_row

    def agreement(self) -> str:
        """Where looking and writing disagree most."""
        if not len(self.free):
            return head_sentences.NO_CHOICE
        if not self.norms[self.free].any():
            return "The head writes nothing: all that it looks at has a value of length 0."
        if not self.clear:
            return "No row has a favourite: each looks at two tokens or more alike."
        rows = formats.plural(len(self.clear), "row") + " with a favourite"
        if not self.differing:
            return f"In all {rows}, the token with the largest weight also contributes most."
        most = places_of_largest(np.array(list(self.differing.values())), size=1.0)
        row = list(self.differing)[most[0]]
        return (
            f"In {len(self.differing)} of {rows}, the token with the largest weight is not the one that contributes "
            "most. "
            f"The furthest apart{one_of_ties(len(most), 'rows')}: {self.sentence_of(row)}"
        )

    def sentence_of(self, row: int) -> str:
        """Which token one row looks at most, and which contributes most to it."""
        name = f"“{self.queries[row]}”"
        if not self.visible[row].any():
            return f"{name} may see nothing: it looks at no token, and nothing is written."
        looked, written = int(self.weights[row].argmax()), int(self.shares[row].argmax())
        weight, share = formats.weight(self.weights[row, looked]), self.shares[row]
        if row in self.differing:
            first, second = formats.percents(float(share[written]), float(share[looked]))
            ties = one_of_ties(len(places_of_largest(share)))
            return (
                f"{name} looks most at “{self.keys[looked]}” ({weight}), but “{self.keys[written]}” contributes most"
                f"{ties} ({first} of the lengths; “{self.keys[looked]}” {second})."
            )
        if self.visible[row].sum() == 1:
            return f"{name} has no choice: all comes from “{self.keys[looked]}”."
        if row not in self.clear:
            return f"{name} has no favourite: it looks at two tokens or more alike."
        most = formats.percent(float(share[looked]))
        return f"{name} looks most at “{self.keys[looked]}” ({weight}), which also contributes most ({most})."

    def sink(self) -> str:
        """The attention sink of this head, if it has one.

        A sink is a key that gets much of the weight whoever looks (Xiao et al. 2023). Here: more than 0.3 on average
        over the rows that have a choice, and more than twice what an even spread would give it.
        """
        if not len(self.free):
            return ""
        visible = self.visible[self.free]
        mean = self.weights[self.free].mean(0)
        even = (visible / visible.sum(-1, keepdims=True)).mean(0)
        key = int(mean.argmax())
        if mean[key] <= max(SINK, TIMES_EVEN * even[key]):
            return ""
        share = self.shares[self.free, key].mean()
        ratio = share / mean[key]
        verdicts = {0.5: "but writes little", 0.9: "and writes less", 1.1: "and writes as much"}
        verdict = next((words for most, words in verdicts.items() if ratio < most), "and writes more")
        return (
            f"“{self.keys[key]}” is an attention sink here: it gets {formats.percent(float(mean[key]))} of the weight "
            f"on average, where an even spread would give it {formats.percent(even[key])}, {verdict}: "
            f"{formats.percent(float(share))} of the lengths."
        )

    def numbers_at(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> pd.DataFrame:
        """A row for each of these pairs: weight, norm, and the norm's share of its row."""
        matrices = {"weight": self.weights, "norm": self.norms, "share of norms": self.shares}
        numbers = {name: matrix[rows, columns] for name, matrix in matrices.items()}
        return pd.DataFrame(numbers, index=self.pairs(rows, columns))


class Contribution(ContributionPanel):
    """All rows of the head."""

    name = "contribution"
    title = "What it looks at, and what that contributes"
    how_to_read = (
        "First map: where each query looks. Second map: how long the vector is that it gets from there. Click a cell "
        "to choose its row."
    )
    sources = (*ContributionPanel.sources, ContributionPanel.sink)
    canvas = MAPS

    def sentence(self) -> str:
        """Where looking and writing disagree most, and whether a key is a sink."""
        return " ".join(filter(None, [self.agreement(), self.sink()]))

    def laws(self) -> dict[str, bool]:
        """The vectors a v W_O sum over the keys to the head's share; the shares of all heads and b_O, to the output."""
        inside, head, outputs = self.inside, self.head, self.inside.recorded["head_output"]
        with torch.no_grad():
            summed = inside.weights(head) @ (inside.value[head] @ inside.output_weight(head))
            shares = torch.stack([output @ inside.output_weight(at) for at, output in enumerate(outputs)])
            bias: torch.Tensor | None = inside.module.output_projection.bias
            whole = shares.sum(0) + (0 if bias is None else bias)
            off_share = (summed - shares[head]).abs().max().item()
            off_output = (whole - inside.recorded["output"]).abs().max().item()
        share = f"contributions sum, as vectors, to the head’s share (largest error {formats.tiny(off_share)})"
        summands = "all heads’ shares" if bias is None else "all heads’ shares and the bias"
        output = f"{summands} sum to the output (largest error {formats.tiny(off_output)})"
        return {share: off_share < 1e-4, output: off_output < 1e-4}

    def table(self) -> pd.DataFrame:
        """A row for each pair that may be."""
        return self.numbers_at(*np.nonzero(self.visible))

    def picture(self) -> Content:
        """What the head looks at, beside what it writes; the chosen row ringed."""
        names = {
            "What it looks at: a": (self.weights, "weight"),
            "What it writes: ‖a v Wᴼ‖": (self.norms, "length"),
        }
        return maps.content(
            [
                Map(
                    name=name,
                    values=np.where(self.visible, matrix, MASKED),
                    scale=from_zero(float(matrix.max())),
                    unit=unit,
                )
                for name, (matrix, unit) in names.items()
            ],
            rows=Axis(self.queries, *ROWS),
            columns=Axis(self.keys, *COLUMNS),
            picked=(self.row, min(self.state.key, len(self.tokens[1].pieces)) - 1),
            whole_row=True,
            asks=ASKS,
            read=self.read,
        )

    def recipe(self) -> str:
        """A script that leaves the lengths in `norms`, (query, key)."""
        site = self.site("").removesuffix(".")
        module = site if self.model.is_encoder_decoder else f"stack.{site}"
        return script(norms, **of_model(self.model), site=site, module=module, head=self.head)


class ContributionRow(ContributionPanel):
    """The chosen row of the head."""

    name = "contribution_row"
    how_to_read = "Lengths as shares of their sum; vectors that point in opposite directions partly cancel."
    shape = ""
    locked = True
    canvas = CHART

    @property
    def title(self) -> str:
        return f"The row of “{self.queries[self.row]}”"

    @property
    def seen_keys(self) -> NDArray[np.intp]:
        """The keys that the row may see."""
        return np.flatnonzero(self.visible[self.row])

    @property
    def bars(self) -> list[int]:
        """The keys that are worth a bar, in the order of the text."""
        larger = np.maximum(self.weights[self.row], self.shares[self.row])[self.seen_keys]
        return sorted(self.seen_keys[np.argsort(-larger, kind="stable")[:SHOWN]].tolist())

    def sentence(self) -> str:
        """Which token the row looks at most, and which contributes most to it."""
        return self.sentence_of(self.row)

    def table(self) -> pd.DataFrame:
        """A row per key that may be seen."""
        return self.numbers_at(np.full_like(self.seen_keys, self.row), self.seen_keys).droplevel("query")

    def picture(self) -> Content:
        """The chosen row: each weight beside the share that it makes of what is written."""
        row, bars = self.row, self.bars
        return pairs.content(
            [self.keys[key] for key in bars],
            ("looks at: weight a", "writes: share of the ‖a v Wᴼ‖"),
            np.stack([self.weights[row, bars], self.shares[row, bars]]),
            roles=("query", "result"),
            rows="key token",
        )


def _caveat(model: ModelState, state: AttentionState) -> Note:
    """What neither a weight nor a length says; always beside them."""
    random = " These weights are random: what they show is how attention works, nothing about language."
    return Note(CAVEAT + model.if_random(random), "plain")


VIEW: View[AttentionState] = View(
    title="Contribution",
    exercise="contributions",
    shows=[Columns([[Contribution], [ContributionRow]], widths=(7, 3)), _caveat],
    controls=("kind", "layer", "head"),
    line="line_contribution",
    reads_pass=True,
)
