"""The words of the text are shuffled: which outputs move with their words, under each scheme."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_core.model.transformer import Stack
from tfm_core.positional.schemes import PLAIN
from tfm_core.study.order import difference, moved, shuffle_order
from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.model_runs import ROUNDING, difference_in_words, end_of, run_schemes, sites_of_pass
from tfm_ui.lenses.positions.panel import TextPanel
from tfm_ui.lenses.positions.state import PREFIX
from tfm_ui.live.script import of_model, script
from tfm_ui.page import controls
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

OPEN = f"{PLAIN}, not causal"  # the row that shows what no positions are like where the mask tells no order either
READ_UP_TO = 24  # tokens of the two texts that are written out


def shuffled(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    schemes: Sequence[str],
    without_mask: str,
    end: str,
    read: int,
    shuffle: int,
) -> Mapping[str, Tensor]:
    """Scheme -> how far each token's output moves when the words are shuffled, as a share of its length.

    `without_mask` is the name of one more row: no positions, and no causal mask.
    """
    text, *more = inputs
    order = shuffle_order(text[0, :read].tolist(), shuffle)
    ids = text.clone()
    ids[0, :read] = text[0, order]
    models = {name: (replace(config, positional=name), mask) for name in schemes}
    if without_mask:
        models[without_mask] = (replace(config, positional=PLAIN, architecture="encoder"), None)
    share = {}
    for name, (each, its_mask) in models.items():
        before, after = (sites_of_pass(each, [tokens, *more], its_mask, [end])[0][0, :read] for tokens in (text, ids))
        share[name] = moved(before, after, order)
    return share


@dataclass(frozen=True)
class Moved:
    """One model, its text as written beside its text shuffled."""

    title: str
    """The title of its row."""
    shares: NDArray[np.float32]
    """(token), how far each token's output moved, as a share of its length."""
    largest: float
    """The largest difference between any two numbers of a token's output, before and after."""

    @property
    def stayed(self) -> int:
        """How many tokens have the output that they had."""
        return int((self.shares < ROUNDING).sum())


class Shuffled(TextPanel):
    """The text as written and shuffled, under each scheme that is run."""

    title = "Shuffle the words"
    sources = (shuffle_order, moved, difference, model_runs.reading, Stack.place, Stack.run)
    canvas = MAPS
    slow = True  # two passes for each scheme, where the other panels of this page share one

    @property
    def how_to_read(self) -> str:
        output = "encoder output" if self.model.is_encoder_decoder else "output"
        return f"How far each token’s {output} moved, matched by token; 0: it moved with its word."

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The old place of the token that now stands at each place."""
        return tuple(shuffle_order(self.model.source_tokens.ids[: self.read], self.state.shuffle))

    @cached_property
    def rows(self) -> dict[str, Moved]:
        """Scheme -> what became of it, A and B first; OPEN too, where the model has a causal mask."""
        rows = {
            name: self._moved(self.model.varied(positional=name), self.state.title_of(name))
            for name in run_schemes(self.model, self.state)
        }
        if self.model.architecture == "decoder" or self.model.masks_the_future:
            rows[OPEN] = self._moved(model_runs.unmasked(self.model, PLAIN), OPEN)
        return rows

    def _moved(self, model: ModelState, title: str) -> Moved:
        """Run a model on the text as written and shuffled, and compare each word's output."""
        orders = ((), self.order)
        before, after = (model_runs.reading(model, order=order).output[0, : self.read] for order in orders)
        largest = float(difference(before, after, self.order).abs().max())
        return Moved(title, moved(before, after, self.order).numpy(), largest)

    @property
    def masked(self) -> bool:
        """Whether this stack may not look ahead."""
        return OPEN in self.rows

    @property
    def in_order(self) -> bool:
        """Whether every order of these tokens is the same text."""
        return list(self.order) == list(range(len(self.order)))

    def texts(self) -> tuple[str, str]:
        """The text before and after, or the beginning of both."""
        both = [self.names[: self.read], [self.names[: self.read][i] for i in self.order]]
        more = " …" if len(self.order) > READ_UP_TO else ""
        before, after = (" ".join(names[:READ_UP_TO]) + more for names in both)
        return before, after

    def picture(self) -> Content:
        shares = np.stack([row.shares for row in self.rows.values()])
        scale = from_zero(float(shares.max()))
        return maps.content(
            [Map(name="‖after − before‖ / ‖before‖", values=shares, scale=scale, unit="of its length")],
            rows=Axis([row.title for row in self.rows.values()], "scheme", "scheme"),
            columns=Axis(self.names[: self.read], "token (column), as the text was written", "token"),
            places=(
                list(range(1, len(shares) + 1)),
                list(range(len(self.names[: self.read]))),
            ),  # positions are counted from 0
            square=False,
        )

    def tools(self) -> None:
        """Draw the text before and after, and buttons for another order and without the causal mask."""
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="positions_shuffle"):
            st.button(
                "Shuffle again",
                icon=":material/shuffle:",
                on_click=controls.change,
                args=(PREFIX,),
                kwargs={"shuffle": (self.state.shuffle + 1) % 10_000},
                disabled=self.in_order,
                key="_positions_shuffle",
            )
            if self.model.masks_the_future:
                st.button(
                    "Switch the causal mask off",
                    on_click=controls.change,
                    args=("",),
                    kwargs={"causal": False},
                    key="_positions_causal",
                )
        before, after = self.texts()
        st.html(
            f'<p class="order"><span>as written</span><span dir="auto">{escape(before)}</span></p>'
            f'<p class="order"><span>shuffled</span><span dir="auto">{escape(after)}</span></p>'
        )

    def sentence(self) -> str:
        """What stays and what moves, and why."""
        if self.in_order:
            why = "The text is one token" if len(self.order) == 1 else "All tokens of this text are alike"
            return f"{why}: in any order it is the same text, and nothing can move."
        total = len(self.order)
        plain = self.rows[PLAIN]
        moving = {name: float(row.shares.max()) for name, row in self.rows.items() if name not in (PLAIN, OPEN)}
        most = max(moving, key=moving.__getitem__, default="")
        move = f"With {most} positions outputs move by up to {_share(moving[most])} of their length. " if most else ""
        if not self.masked:
            return f"Without positions {_kept(plain.stayed, total)} to rounding. {move}".strip()
        open_ = self.rows[OPEN]
        return (
            f"Even without positions the causal mask tells some order, as each token sees itself and those before it "
            f"alone: {_kept(plain.stayed, total)}, and the largest move is {_share(plain.shares.max())} of its length. "
            f"Without the mask {_kept(open_.stayed, total)}. {move}"
        ).strip()

    def laws(self) -> dict[str, bool]:
        """A model that knows no order permutes its outputs as its words are. Empty where all orders are the same."""
        if self.in_order:
            return {}
        row = self.rows[OPEN if self.masked else PLAIN]
        law = "without positions and without a causal mask, rows are permuted exactly"
        return {f"{law} (largest difference {difference_in_words(row.largest)})": row.stayed == len(self.order)}

    def table(self) -> pd.DataFrame:
        """A row per token: its places, and how far it moved under each scheme; below, the largest difference."""
        back = np.argsort(self.order)
        columns = {f"moved, {name}": row.shares for name, row in self.rows.items()}
        table = pd.DataFrame(
            {"place before": np.arange(len(back)), "place after": back, **columns},
            index=pd.Index(self.names[: self.read], name="token"),
        )
        ends = {f"moved, {name}": row.largest for name, row in self.rows.items()}
        return pd.concat([table, pd.DataFrame([ends], index=["largest difference of a number"])]).rename_axis("token")

    def recipe(self) -> str:
        """A script that leaves `share`, row -> how far each token's output moved."""
        return script(
            shuffled,
            **of_model(self.model),
            schemes=tuple(name for name in self.rows if name != OPEN),
            without_mask=OPEN if self.masked else "",
            end=end_of(self.model),
            read=len(self.order),
            shuffle=self.state.shuffle,
        )


def _kept(count: int, total: int) -> str:
    if count == total:
        return f"each of the {total} tokens kept its output"
    return f"{count or 'none'} of {total} tokens kept {'its' if count == 1 else 'their'} output"


def _share(value: float) -> str:
    """A move as a share of a length, which it may exceed; a small move is not written as 0."""
    return formats.percent(value)
