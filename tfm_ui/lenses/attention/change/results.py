"""What becomes of changes: A beside B in one head, along the residual stream, and at the output."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import encode
from tfm_ui.lenses.attention.change.aligned import NOTHING
from tfm_ui.lenses.attention.change.compared import Compared, compared
from tfm_ui.lenses.attention.change.kinds import Replace, Silence
from tfm_ui.lenses.attention.change.scripts import script_of
from tfm_ui.lenses.attention.change.setting import Setting
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.known_words import known_texts
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels
from tfm_ui.text.ties import one_of_ties, places_of_largest

SHOWN = 8  # tokens whose probability moved most


@dataclass(frozen=True)
class Changed(Result):
    """A and B of one model, looked at in one head.

    Attributes:
        setting: what is asked for.
        compared: what was computed.
    """

    setting: Setting
    compared: Compared

    @property
    def queries(self) -> list[str]:
        """A label per row."""
        return self.setting.labels(self.setting.texts[0], self.compared.queries)

    @property
    def keys(self) -> list[str]:
        """A label per column."""
        return self.setting.labels(self.setting.texts[1], self.compared.keys)


class ChangedWeights(Changed):
    """The weights of the head."""

    @property
    def locked(self) -> tuple[int, int] | None:
        """Row and column of the locked cell, from 0, if it is there in B."""
        query, key = (number - 1 for number in self.setting.cell)
        if query not in self.compared.queries or key not in self.compared.keys:
            return None
        row, column = self.compared.queries.index(query), self.compared.keys.index(key)
        return (row, column) if self.compared.there[1, row, column] else None

    def sentence(self) -> str:
        """The largest difference in the weights of this head."""
        if self.setting.same:
            return "A and B are the same: silence a head, or lock a cell and drag its weight."
        both = self.compared.there.all(0)
        size = np.abs(np.where(both, self.compared.difference, 0))
        if not size.size or size.max() < NOTHING:
            where = f"layer {self.setting.layer}, head {self.setting.head}"
            return f"{self._no_weight_differs(where)} {self.about_leak()}".strip()
        most = places_of_largest(size, size=float(self.compared.weights.max()))
        query, key = divmod(most[0], size.shape[1])
        a, b = formats.weights(*self.compared.weights[:, query, key].tolist())
        moved = int((size.max(-1) >= NOTHING).sum())
        return (
            f"Largest difference{one_of_ties(len(most), 'pairs')}: “{self.queries[query]}” looks at “{self.keys[key]}” "
            f"with {b} instead of {a}. "
            f"{moved} of {formats.plural(int(both.any(-1).sum()), 'row')} changed. {self.about_leak()}"
        ).strip()

    def _no_weight_differs(self, where: str) -> str:
        silent = Silence(self.setting.kind, self.setting.layer, self.setting.head)
        in_a, in_b = (silent in changes for changes in self.setting.changes)
        if in_a != in_b:
            side = "A" if in_a else "B"
            return f"The weights of {where} are the same, but in {side} its output is 0; the effect is shown below."
        return f"No weight of {where} differs between A and B."

    def about_leak(self) -> str:
        """Who sees whom though the mask forbids it; "" if nobody does."""
        leak = self.compared.effect.leak
        return leak.said(self.setting.names) if leak else ""

    def laws(self) -> dict[str, bool]:
        """What holds of every attention, tested on B: edits may break it."""
        weights, visible = self.compared.weights[1], self.compared.visible[1]
        rows = np.flatnonzero(visible.any(-1))
        off = np.abs(weights[rows].sum(-1) - 1)
        sums = f"every row of {self.setting.shown_head} sums to 1 in B"
        if off.size and off.max() >= 1e-5:
            row = int(rows[off.argmax()])
            alone = ", with no other key to make up for it" if visible[row].sum() == 1 else ""
            total = formats.weight(round(float(weights[row].sum()), 4))
            sums = f"{sums} (“{self.queries[row]}” sums to {total}{alone})"
        leaks = int((weights[~visible] > 0).sum())
        masked = f"masked weights of {self.setting.shown_head} are exactly 0 in B"
        return {sums: not off.size or bool(off.max() < 1e-5), masked + (f" ({leaks} not)" if leaks else ""): not leaks}

    def crosses(self) -> list[tuple[int, int, int]]:
        """(side, row, column) of the weights that the mask forbids; those of B also in the difference."""
        leaks = np.argwhere(~self.compared.visible & self.compared.there & (self.compared.weights > 0)).tolist()
        both = [(2, row, column) for side, row, column in leaks if side == 1]
        return [(side, row, column) for side, row, column in leaks] + both

    def table(self) -> pd.DataFrame:
        """A row for each pair that is there in A and in B, the largest difference first."""
        difference = self.compared.difference
        rows, columns = np.nonzero(self.compared.there.all(0))
        order = np.argsort(-np.abs(difference[rows, columns]), kind="stable")
        rows, columns = rows[order], columns[order]
        queries, keys = _numbered(self.compared.queries, self.queries), _numbered(self.compared.keys, self.keys)
        named = [[queries[row] for row in rows], [keys[column] for column in columns]]
        index = pd.MultiIndex.from_arrays(named, names=["query", "key"])
        return _beside_each_other(self.compared.weights[:, rows, columns], index)

    def recipe(self) -> str:
        """A script that leaves B's weights in `weights`, (query, key), in the order in which B reads."""
        setting = self.setting
        return script_of(setting.model, setting.changes[1], setting.kind, setting.layer, setting.head)


class ChangedStream(Changed):
    """The residual stream."""

    def sentence(self) -> str:
        """Where it moved most, for how far it had come."""
        effect, both = self.compared.effect, self.compared.both
        moved = effect.relative * both[:, None]
        if self.setting.same:
            return "The residual stream is the same in A and B."
        if not moved.size or moved.max() < NOTHING:
            return "No vector of this stream moved."
        most = places_of_largest(
            moved, size=max(1.0, float(moved.max()))
        )  # a share of the vector that it is a difference of
        row, place = divmod(most[0], moved.shape[1])
        reached = both & (moved[:, -1] >= NOTHING)
        largest = float(moved[row, place])
        share = f"{largest:.2f}" if largest >= 0.01 else formats.tiny(largest)
        return (
            f"Largest{one_of_ties(len(most), 'moves')}: {_place(effect.places[place])}, “{self.queries[row]}” moved "
            f"by {share} of its length in A. In the end {reached.sum()} of "
            f"{formats.plural(int(both.sum()), 'vector')} moved."
        )

    def table(self) -> pd.DataFrame:
        """A row per token, a column per place: ||x_B - x_A|| / ||x_A||."""
        rows = pd.Index(_numbered(self.compared.queries, self.queries), name="token")
        return pd.DataFrame(self.compared.effect.relative, index=rows, columns=self.compared.effect.places)


class ChangedOutput(Changed):
    """What the model would say next."""

    @cached_property
    def moved(self) -> NDArray[np.bool_]:
        """(vocab), the tokens whose probability differs between A and B by more than rounding."""
        a, b = self.compared.effect.probabilities
        return np.asarray(np.abs(b - a) >= NOTHING)

    @property
    def how_to_read(self) -> str:
        """What the bars of the output are, and which tokens have one."""
        which = "the known words that moved most" if self.moved.any() else "the likeliest known words, as none moved"
        return f"Softmax of the logits at the last token, in A and in B: {which}."

    @cached_property
    def likely(self) -> tuple[list[str], NDArray[np.float32]]:
        """The words whose probability moved most, and their probabilities in A and B, (2, word).

        The likeliest, if none moved. Only numbers that stand for a known word are words.
        """
        a, b = self.compared.effect.probabilities
        model = self.setting.model
        typed = [change.piece for changes in self.setting.changes for change in changes if isinstance(change, Replace)]
        texts = [encode(piece, model.tokens_by) for piece in typed]
        known = token_labels.pieces_of_ids([*texts, *known_texts(model)])
        words = np.array([i for i in range(len(a)) if i in known], np.intp)
        moved = words[self.moved[words]]
        most = moved[np.argsort(-np.abs(b - a)[moved], kind="stable")][:SHOWN]
        if not len(moved):
            most = words[np.argsort(-a[words], kind="stable")][:SHOWN]
        most = most[np.argsort(-np.maximum(a, b)[most], kind="stable")]
        names = [f"“{token_labels.named(known[i][0])}”" for i in most.tolist()]
        return names, self.compared.effect.probabilities[:, most]

    def sentence(self) -> str:
        """Which token's probability moved most, at the last token of the text."""
        effect = self.compared.effect
        text = "target" if self.setting.model.is_encoder_decoder else "source"
        a, b = (self.setting.names.token(text, last + 1) for last in effect.last)
        at = f"At {a}" if a == b else f"At {a} in A, {b} in B"
        names, shares = self.likely
        if not self.moved.any():
            return f"{at} the output is the same in A and B.{effect.right_in_words}"
        most = places_of_largest(np.abs(shares[1] - shares[0]), size=float(shares.max()))
        total = 0.5 * float(np.abs(effect.probabilities[1] - effect.probabilities[0]).sum())
        before, after = (set(places_of_largest(side)) for side in effect.probabilities)
        top = "" if before & after else " The likeliest token has changed."
        then, now = formats.percents(*shares[:, most[0]].tolist())
        return (
            f"{at} the largest difference{one_of_ties(len(most))} is {names[most[0]]}: {now} instead of {then}. "
            f"{formats.percent(total)} of all probability went elsewhere.{top}{effect.right_in_words}"
        )

    def table(self) -> pd.DataFrame:
        """The probabilities that moved most; the largest, if none moved."""
        names, shares = self.likely
        return _beside_each_other(shares, pd.Index(names, name="token"))


def _numbered(tokens: Sequence[int], names: Sequence[str]) -> list[str]:
    return [f"{token + 1} {name}" for token, name in zip(tokens, names, strict=True)]


def _beside_each_other(sides: NDArray[np.float32], index: pd.Index) -> pd.DataFrame:
    a, b = sides
    return pd.DataFrame({"A": a, "B": b, "B − A": b - a}, index=index)


def _place(name: str) -> str:
    if name == "start":
        return "at the start"
    layer, sub_layer = name.split()
    long = {"attention": "attention", "cross": "cross-attention", "FFN": "feed-forward network"}
    return f"after the {long[sub_layer]} of layer {layer}"


def changed(model: ModelState, state: AttentionState) -> tuple[ChangedWeights, ChangedStream, ChangedOutput]:
    """The model with the changes of A and of B."""
    setting = Setting(
        model=model,
        kind=state.kind if model.is_encoder_decoder else "encoder",
        layer=state.layer,
        head=state.head,
        query=state.query,
        key=state.key,
        rescale=state.rescale,
        a=state.pinned,
        b=state.changes,
        is_example=state.changes == AttentionState.changes,
    )
    both = compared(model, state.pinned, state.changes, state.kind, state.layer - 1, state.head - 1)
    return ChangedWeights(setting, both), ChangedStream(setting, both), ChangedOutput(setting, both)
