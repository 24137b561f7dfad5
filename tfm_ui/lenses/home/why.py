"""Why the model says that: one row of real attention weights over the words themselves, of a head chosen by a rule."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, recording
from tfm_ui.lenses.heads.panels import Head
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live.attention import Attention
from tfm_ui.live.passes import run
from tfm_ui.live.places import place
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.step import Step
from tfm_ui.page import controls, frame
from tfm_ui.pictures.panel import Panel
from tfm_ui.state.lens_state import LensState
from tfm_ui.text import formats, token_row
from tfm_ui.text.ties import one_of_ties, places_of_largest
from tfm_ui.text.token_row import Item

MOST = 40  # tokens of a row that are drawn
NO_REASON = "A weight shows where a head looks; by itself it is not the reason for what the model says."
BY_CHANCE = "These weights are random, so where it looks is chance."


def chosen(rows: NDArray[np.float32], last: int) -> list[tuple[int, int, int]]:
    """The largest weights that the last token gives a single earlier one: layer, head and key of each, from 0.

    The first token is left aside, unless it is the only earlier one; a token without any earlier one has itself.

    Args:
        rows: (layer, head, key), the row of the last token in each head.
        last: the place of the last token, from 0.
    """
    begin, end = (1, last) if last > 1 else (0, 1)
    among = rows[:, :, begin:end]
    layers, heads, keys = np.unravel_index(places_of_largest(among), among.shape)
    return [(int(layer), int(head), int(key) + begin) for layer, head, key in zip(layers, heads, keys, strict=True)]


def last_row(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str, head: int, last: int
) -> Tensor:
    """The row of the last token in the chosen head, (key)."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording("*.weights") as trace:
        model(*inputs, mask=mask)
    weights = trace[site][0, head, last]  # (key)
    return weights


def shown(last: int, key: int) -> list[int]:
    """The places of the tokens that are drawn: of a long text the first, that of the largest weight, and the last."""
    return sorted({0, key, *range(max(0, last + 1 - MOST), last + 1)})


class Why(Panel):
    """The row of the last token in the head that gives the most weight to a single earlier one."""

    state: LensState

    works_on_weights_alone = True
    sources = (chosen, Attention.rows)

    @property
    def kind(self) -> str:
        """The kind of attention: that in which the text that the model goes on from looks at itself."""
        return "decoder" if self.model.is_encoder_decoder else "self"

    @property
    def attention(self) -> Attention:
        """All heads of this kind."""
        return run(self.model).attention[self.kind]

    @property
    def last(self) -> int:
        """The place of the last token, from 0."""
        return self.attention.read - 1

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """The row of the last token in each head, (layer, head, key); padding, which comes after it, is left out."""
        return self.attention.rows(self.last)[:, :, : self.last + 1]

    @cached_property
    def ties(self) -> list[tuple[int, int, int]]:
        """The place of the largest weight, and of those that equal it, as in `chosen`."""
        return chosen(self.rows, self.last)

    @cached_property
    def head(self) -> Head:
        """The chosen head, as the Heads lens shows it."""
        layer, head, _ = self.ties[0]
        return Head(self.model, HeadsState(kind="decoder", layer=layer + 1, head=head + 1))

    @property
    def tensors(self) -> Step:
        return live_steps.attention(self.model, self.kind, self.ties[0][0])

    @property
    def weights(self) -> NDArray[np.float32]:
        """The weights of the row, (key)."""
        layer, head, _ = self.ties[0]
        row: NDArray[np.float32] = self.rows[layer, head]
        return row

    @property
    def title(self) -> str:
        return f"Why? Look at one head: {self.head.title.lower()}"

    @property
    def how_to_read(self) -> str:
        """What the numbers are, and what the signs in the tokens stand for."""
        text = self.model.target_tokens if self.model.is_encoder_decoder else self.model.source_tokens
        whole = "; together they are 1" * self.attention.shares_out_1
        signs = token_row.signs([token_row.Text(text)])
        read = f"The last token asks. Below each token stands how much weight the head gives it{whole}."
        return f"{read} {signs}." if signs else read

    @property
    def word_row(self) -> Sequence[Item]:
        """The tokens with their weights, and how many are left out between them."""
        row, after = list[Item](), 0
        for at in shown(self.last, self.ties[0][2]):
            if at > after:
                row.append(f"… {formats.count(at - after)} more …")
            row += token_row.row([self.head.queries[at]], [float(self.weights[at])])
            after = at + 1
        return row

    def sentence(self) -> str:
        """The rule by which the head was chosen, where it looks, and how little that proves."""
        names, last, (layer, head, key) = self.head.queries, self.last, self.ties[0]
        if last == 0:
            return f"“{names[0]}” is the only token: there is nothing else that a head could look at."
        heads = self.rows.shape[0] * self.rows.shape[1]
        largest = float(self.rows[layer, head, key])
        among = "a single earlier token, with the first one left aside" if last > 1 else "the only earlier token"
        if not largest:
            return f"No head gives {among} any weight that “{names[last]}” has to give. {NO_REASON}"
        this = f"Of the {heads} heads this one looks" if heads > 1 else "This is the only head. It looks"
        ties = one_of_ties(len(self.ties))
        sentences = [
            f"{this} most at {among}: “{names[key]}” gets {formats.weight(largest)} of the weight that “{names[last]}” "
            f"has to give{ties}.",
            self._on_the_first(heads) if last > 1 else "",
            NO_REASON,
            self.model.if_random(BY_CHANCE) * (not self.model.array),
        ]
        return " ".join(filter(None, sentences))

    def _on_the_first(self, heads: int) -> str:
        """How many heads look most at the first token, which therefore is left aside; "" if none does."""
        count = int((self.rows.argmax(-1) == 0).sum())
        if not count:
            return ""
        look = "looks" if count == 1 else "look"
        return f"{formats.plural(count, 'head')} of {heads} {look} most at the first token."

    def laws(self) -> Mapping[str, bool]:
        """The sum of the row, which softmax makes 1."""
        if not self.attention.shares_out_1:
            return {}
        error = abs(float(self.weights.sum(dtype=np.float64)) - 1)
        return {f"the row sums to 1 (error {formats.tiny(error)})": error <= self.attention.tolerance}

    def table(self) -> pd.DataFrame:
        """The weight of each token."""
        names = pd.Index(self.head.queries[: self.last + 1], name="token")
        return pd.DataFrame({"weight": self.weights}, index=names)

    def recipe(self) -> str:
        """A script that leaves the row in `weights`, (key); of a file, the weights of the whole head."""
        if self.model.array:
            return self.head.recipe()
        layer, head, _ = self.ties[0]
        site = place(self.model, self.kind).format(layer=layer, what="weights")
        return script(last_row, **of_model(self.model), site=site, head=head, last=self.last)

    def tools(self) -> None:
        """Draw the ways to this head; where it is, is computed only for who goes there."""
        with st.container(horizontal=True, gap="small", key="lead_on"):
            if _leads("All of this head", "_to_head"):
                st.switch_page(frame.page_of("heads"), query_params=controls.open_with("heads_", **self._at))
            if not self.model.array and _leads("How this weight is computed", "_to_cell"):
                cell = {"query": self.last + 1, "key": self.ties[0][2] + 1}
                query = controls.open_with("attention_", **self._at, **cell)
                st.switch_page(frame.page_of("attention"), query_params=query)

    @property
    def _at(self) -> Mapping[str, Any]:
        """The fields by which a lens shows this head."""
        layer, head, _ = self.ties[0]
        kind = {"kind": self.kind} if self.model.is_encoder_decoder else {}
        return {"layer": layer + 1, "head": head + 1, **kind}


def _leads(label: str, key: str) -> bool:
    return st.button(label, icon=":material/arrow_forward:", icon_position="right", type="tertiary", key=key)
