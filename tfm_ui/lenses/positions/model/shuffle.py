"""The words of the text are shuffled: which outputs move with their words, under each scheme."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core.study import order
from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.model import recipe
from tfm_ui.lenses.positions.model_runs import PLAIN, ROUNDING, difference_in_words, run_schemes, unmasked
from tfm_ui.lenses.positions.sites import end_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.script import of_model, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels

OPEN = "none, not causal"  # the row that shows what no positions are like where the mask tells no order either
READ_UP_TO = 24  # tokens of the two texts that are written out


@dataclass(frozen=True)
class Moved:
    """One model, its text as written beside its text shuffled.

    Attributes:
        title: of the row.
        shares: float32 (token), how far each token's output moved, as a share of its length.
        largest: the largest difference between any two numbers of a token's output, before and after.
    """

    title: str
    shares: NDArray[np.float32]
    largest: float

    @property
    def stayed(self) -> int:
        """How many tokens have the output that they had."""
        return int((self.shares < ROUNDING).sum())


@dataclass(frozen=True)
class Shuffle(Result):
    """The text as written and shuffled, under each scheme.

    Attributes:
        model: the sidebar's.
        state: the lens's controls.
        order: the old place of the token that now stands at each place.
        rows: scheme -> what became of it, A and B first; OPEN too, where the model has a causal mask.
    """

    model: ModelState
    state: PositionsState
    order: tuple[int, ...]
    rows: dict[str, Moved]

    @cached_property
    def names(self) -> list[str]:
        """A label per token."""
        return token_labels.labels(self.model.source_tokens)[: len(self.order)]

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
        both = [self.names, [self.names[i] for i in self.order]]
        more = " …" if len(self.order) > READ_UP_TO else ""
        before, after = (" ".join(names[:READ_UP_TO]) + more for names in both)
        return before, after

    def sentence(self) -> str:
        """What stays and what moves, and why."""
        if self.in_order:
            why = "The text is one token" if len(self.order) == 1 else "All tokens of this text are alike"
            return f"{why}: in any order it is the same text, and nothing can move."
        total = len(self.order)
        plain = self.rows[PLAIN]
        moving = {name: float(row.shares.max()) for name, row in self.rows.items() if name not in (PLAIN, OPEN)}
        most = max(moving, key=moving.__getitem__, default="")
        said = f"With {most} positions outputs move by up to {_share(moving[most])} of their length. " if most else ""
        if not self.masked:
            return f"Without positions {_kept(plain.stayed, total)} to rounding. {said}".strip()
        open_ = self.rows[OPEN]
        return (
            f"Even without positions the causal mask tells some order, as each token sees itself and those before it "
            f"alone: {_kept(plain.stayed, total)}, and the largest move is {_share(plain.shares.max())} of its length. "
            f"Without the mask {_kept(open_.stayed, total)}. {said}"
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
            index=pd.Index(self.names, name="token"),
        )
        ends = {f"moved, {name}": row.largest for name, row in self.rows.items()}
        return pd.concat([table, pd.DataFrame([ends], index=["largest difference of a number"])]).rename_axis("token")

    def recipe(self) -> str:
        """A script that leaves `share`, row -> how far each token's output moved."""
        return script(
            recipe.shuffled,
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


def moved(model: ModelState, title: str, text_order: tuple[int, ...]) -> Moved:
    """Run the model on the text as written and shuffled, and compare each word's output."""
    read = len(text_order)
    before, after = (model_runs.reading(model, order=shuffled).output[0, :read] for shuffled in ((), text_order))
    shares: NDArray[np.float32] = order.moved(before, after, text_order).numpy()
    return Moved(title, shares, float(order.difference(before, after, text_order).abs().max()))


def shuffle(model: ModelState, state: PositionsState) -> Shuffle:
    """Shuffle the text, and run it under each scheme that is run."""
    ids = model.source_tokens.ids[: len(model.source_tokens.pieces)]
    text_order = tuple(order.shuffle_order(ids, state.shuffle))
    rows = {
        name: moved(model.varied(positional=name), state.title_of(name), text_order)
        for name in run_schemes(model, state)
    }
    if model.architecture == "decoder" or model.masks_the_future:
        rows[OPEN] = moved(unmasked(model, PLAIN), OPEN, text_order)
    return Shuffle(model, state, text_order, rows)
