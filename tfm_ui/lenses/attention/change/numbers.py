"""What becomes of changes: the model as A beside the model as B, and what differs, with the largest by name."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tfm_core import encode
from tfm_core.study.interventions import set_weight, silence_head, zero_value
from tfm_ui.lenses.attention.change import computed as compute_changes
from tfm_ui.lenses.attention.change.compared import Compared
from tfm_ui.lenses.attention.change.feasible import replaced
from tfm_ui.lenses.attention.change.grammar import Change, Replace, Weight, fits, parse, with_change
from tfm_ui.lenses.attention.change.naming import Naming
from tfm_ui.lenses.attention.change.rerun import Bench, edits
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.texts import texts_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words
from tfm_ui.text.tied import one_of, tied

SHOWN = 8  # tokens whose probability moved most
SOURCES = (silence_head, zero_value, set_weight, edits, Bench.run)
MARK = 0.123  # stands for a weight that is not known yet, and is as long as any that is dragged to
NOTHING = 1e-6  # what moves less than this, as a share, has not moved but for rounding


@dataclass(frozen=True)
class ChangeView:
    """A and B of one model, seen at one head.

    Attributes:
        model: the model.
        state: the lens's controls.
        compared: what was computed.
    """

    model: ModelState
    state: AttentionState
    compared: Compared

    @cached_property
    def naming(self) -> Naming:
        """What tokens are called."""
        return Naming(self.model)

    @property
    def kind(self) -> str:
        """Of attention, as changes call it."""
        return self.state.kind if self.model.is_encoder_decoder else "encoder"

    @property
    def texts(self) -> tuple[str, str]:
        """Which texts queries and keys come from."""
        return texts_of(self.kind)

    @property
    def queries(self) -> list[str]:
        """A label per row."""
        return self._labels(self.texts[0], self.compared.queries)

    @property
    def keys(self) -> list[str]:
        """A label per column."""
        return self._labels(self.texts[1], self.compared.keys)

    def _labels(self, text: str, tokens: list[int]) -> list[str]:
        """What these tokens are called; "cat→dog" where B reads another."""
        names, others = self.naming.names[text], replaced(self.naming.possible(self.state.changes), text)
        return [names[i] + (f"→{words.named(others[i])}" if i in others else "") for i in tokens]

    @property
    def cell(self) -> tuple[int, int]:
        """The locked query and key, as numbers from 1 of tokens that there are."""
        of_queries, of_keys = self.texts
        return min(self.state.query, len(self.naming.names[of_queries])), min(
            self.state.key, len(self.naming.names[of_keys])
        )

    @property
    def cell_is_there(self) -> bool:
        """Whether the locked cell is there in B."""
        query, key = self.cell
        found = self.compared
        if query - 1 not in found.queries or key - 1 not in found.keys:
            return False
        return bool(found.there[1, found.queries.index(query - 1), found.keys.index(key - 1)])

    @property
    def as_first_seen(self) -> bool:
        """Whether B's changes are the example that the view opens with."""
        return self.state.changes == AttentionState.changes

    @property
    def aside(self) -> str:
        """Which of the changes that were asked for this model does not allow, and why."""
        return self.naming.aside("" if self.as_first_seen else self.state.changes, self.state.pinned)

    @property
    def dragged(self) -> list[Change]:
        """B's changes and, as the last, the weight of the locked cell: MARK."""
        (query, key), state = self.cell, self.state
        weight = Weight(self.kind, state.layer, state.head, query, key, MARK, state.rescale)
        return with_change(parse(state.changes)[0], weight)

    @property
    def full(self) -> str:
        """Why no weight can be dragged, if the link has no room for it."""
        return "" if fits(self.dragged) else "The link has no room for another weight: take a change of B back."

    @property
    def same(self) -> bool:
        """Whether A and B are one model."""
        return self.naming.possible(self.state.changes) == self.naming.possible(self.state.pinned)

    def title_of(self, side: int) -> str:
        """ "A: as it is", "B: 2 changes"."""
        number = len(self.naming.possible((self.state.pinned, self.state.changes)[side]))
        return f"{'AB'[side]}: {look.plural(number, 'change') if number else 'as it is'}"

    def about_weights(self) -> str:
        """The largest difference in the weights of this head."""
        if self.same:
            return "A and B are the same: silence a head, or lock a cell and drag its weight."
        both = self.compared.there.all(0)
        size = np.abs(np.where(both, self.compared.difference, 0))
        if not size.size or size.max() < NOTHING:
            where = f"layer {self.state.layer}, head {self.state.head}"
            return f"No weight of {where} is another in B. {self.about_leak()}".strip()
        most = tied(size, size=float(self.compared.weights.max()))
        query, key = divmod(most[0], size.shape[1])
        a, b = look.weights(*self.compared.weights[:, query, key].tolist())
        moved = int((size.max(-1) >= NOTHING).sum())
        return (
            f"Largest difference{one_of(len(most), 'pairs')}: “{self.queries[query]}” looks at “{self.keys[key]}” "
            f"with {b} instead of {a}. "
            f"{moved} of {look.plural(int(both.any(-1).sum()), 'row')} changed. {self.about_leak()}"
        ).strip()

    def about_leak(self) -> str:
        """Who sees whom though the mask forbids it, and what was measured."""
        if not (leak := self.compared.leak):
            return ""
        text, change = texts_of(leak.change.kind)[0], leak.change
        query, key = self.naming.token(text, change.query), self.naming.token(text, change.key)
        more = f"; {look.plural(leak.more, 'other weight')} of B leak{'s' if leak.more == 1 else ''} too"
        where = self.naming.where(change.kind, change.layer, change.head)
        said = f"✕ A leak in B, {where}: {query} sees {key}, which comes later{more if leak.more else ''}."
        if leak.moved is None:
            return said
        if leak.moved < NOTHING:
            return f"{said} Yet reading another token for {key} moves the output at {query} by nothing."
        return (
            f"{said} Reading another token for {key} now moves the output at {query} by {look.percent(leak.moved)} "
            "of its length."
        )

    def about_stream(self) -> str:
        """Where the residual stream moved most, for how far it had come."""
        moved = self.compared.relative * self.compared.both[:, None]
        if self.same or not moved.size or moved.max() < NOTHING:
            return "The residual stream is the same in A and B." if self.same else "No vector of this stream moved."
        most = tied(moved, size=max(1.0, float(moved.max())))  # a share of the vector that it is a difference of
        row, place = divmod(most[0], moved.shape[1])
        reached = self.compared.both & (moved[:, -1] >= NOTHING)
        return (
            f"Largest{one_of(len(most), 'moves')}: {_place(self.compared.places[place])}, “{self.queries[row]}” moved "
            f"by {_share(moved[row, place])} of its length in A. In the end {reached.sum()} of "
            f"{look.plural(int(self.compared.both.sum()), 'vector')} moved."
        )

    @cached_property
    def output_moved(self) -> NDArray[np.bool_]:
        """(vocab), the tokens whose probability is another in B, but for rounding."""
        a, b = self.compared.probabilities
        return np.asarray(np.abs(b - a) >= NOTHING)

    @property
    def how_to_read_output(self) -> str:
        """What the bars of the output are, and which tokens have one."""
        which = "the tokens that moved most" if self.output_moved.any() else "the likeliest tokens, as none moved"
        return f"Softmax of the logits at the last token, in A and in B: {which}."

    @cached_property
    def likely(self) -> tuple[list[str], np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
        """The tokens whose probability moved most, and their probabilities in A and B, (2, token).

        The likeliest, if none moved.
        """
        a, b = self.compared.probabilities
        moved = np.flatnonzero(self.output_moved)
        most = moved[np.argsort(-np.abs(b - a)[moved], kind="stable")][:SHOWN]
        if not len(moved):
            most = np.argsort(-a, kind="stable")[:SHOWN]
        most = most[np.argsort(-np.maximum(a, b)[most], kind="stable")]
        texts = [self.model.source_tokens, self.model.target_tokens][: 1 + self.model.is_encoder_decoder]
        for text in (self.state.pinned, self.state.changes):
            pieces = [change.piece for change in self.naming.possible(text) if isinstance(change, Replace)]
            texts += [encode(piece, self.model.tokenizer) for piece in pieces]
        return words.token_names(most.tolist(), texts), self.compared.probabilities[:, most]

    def about_output(self) -> str:
        """Which token's probability moved most, at the last token of the text."""
        text = "target" if self.model.is_encoder_decoder else "source"
        a, b = (self.naming.token(text, last + 1) for last in self.compared.last)
        at = f"At {a}" if a == b else f"At {a} in A, {b} in B"
        names, shares = self.likely
        moved = np.abs(shares[1] - shares[0])
        if not self.output_moved.any():
            return f"{at} the output is the same in A and B."
        most = tied(moved, size=float(shares.max()))
        token = most[0]
        total = 0.5 * float(np.abs(self.compared.probabilities[1] - self.compared.probabilities[0]).sum())
        before, after = (set(tied(side)) for side in self.compared.probabilities)
        top = "" if before & after else " The likeliest token is another one."
        then, now = look.percents(*shares[:, token].tolist())
        return (
            f"{at} the largest difference{one_of(len(most))} is {names[token]}: {now} instead of {then}. "
            f"{look.percent(total)} of all probability went elsewhere.{top}"
        )

    def laws(self) -> dict[str, bool]:
        """What holds of every attention, tested on B: edits may break it."""
        weights, visible = self.compared.weights[1], self.compared.visible[1]
        rows = np.flatnonzero(visible.any(-1))
        off = np.abs(weights[rows].sum(-1) - 1)
        here = self.naming.where(self.kind, self.state.layer, self.state.head)
        sums = f"every row of {here} sums to 1 in B"
        if off.size and off.max() >= 1e-5:
            row = int(rows[off.argmax()])
            alone = ", with no other key to make up for it" if visible[row].sum() == 1 else ""
            sums = f"{sums} (“{self.queries[row]}” sums to {_weight(weights[row].sum())}{alone})"
        leaks = int((weights[~visible] > 0).sum())
        return {
            sums: not off.size or bool(off.max() < 1e-5),
            f"masked weights of {here} are exactly 0 in B" + (f" ({leaks} not)" if leaks else ""): not leaks,
        }

    def crosses(self) -> list[tuple[int, int, int]]:
        """(side, row, column) of the weights that the mask forbids."""
        leaks = np.argwhere(~self.compared.visible & self.compared.there & (self.compared.weights > 0)).tolist()
        both = [(2, row, column) for side, row, column in leaks if side == 1]
        return [(side, row, column) for side, row, column in leaks] + both


def _place(name: str) -> str:
    if name == "start":
        return "at the start"
    layer, sub_layer = name.split()
    long = {"attention": "attention", "cross": "cross-attention", "FFN": "feed-forward network"}
    return f"after the {long[sub_layer]} of layer {layer}"


def _weight(number: float) -> str:
    return look.weight(round(float(number), 4))


def _share(number: float) -> str:
    return f"{number:.2f}" if number >= 0.01 else look.tiny(float(number))


def view(model: ModelState, state: AttentionState) -> ChangeView:
    """The model with the changes of A and of B."""
    return ChangeView(
        model,
        state,
        compute_changes.compared(model, state.pinned, state.changes, state.kind, state.layer - 1, state.head - 1),
    )
