"""What every panel of the view "change" shows: two sides, A and B, with their changes, a head and a locked cell."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_core import encode
from tfm_ui.lenses.attention.change.compared import Effect, by_token, effect_of, in_either
from tfm_ui.lenses.attention.changes import (
    Change,
    Places,
    Weight,
    fits,
    parse,
    possible,
    replacements,
    sort_out,
    with_change,
)
from tfm_ui.lenses.attention.inside import AttentionPanel
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.passes import and_scores
from tfm_ui.live.texts import texts_of
from tfm_ui.text import formats, token_labels
from tfm_ui.text.token_labels import Names

MARK = 0.123  # stands for a weight that is not known yet, and is as long as any that is dragged to


class ChangePanel(AttentionPanel):
    """A and B of one model, looked at in one head."""

    needs = and_scores(3)

    @property
    def kind(self) -> str:
        """The kind of attention, as changes call it: that of a single stack is the encoder's."""
        return self.state.kind if self.model.is_encoder_decoder else "encoder"

    @property
    def texts(self) -> tuple[str, str]:
        """Which texts queries and keys come from."""
        return texts_of(self.kind)

    @cached_property
    def names(self) -> Names:
        """What sentences call the tokens and heads."""
        texts = {"source": self.model.source_tokens, "target": self.model.target_tokens}
        labels = {text: token_labels.labels(tokens)[: len(tokens.pieces)] for text, tokens in texts.items()}
        return Names(labels, with_kinds=self.model.is_encoder_decoder)

    @property
    def head_in_words(self) -> str:
        """The head that is looked at."""
        return self.names.head(self.kind, self.state.layer, self.state.head)

    @property
    def is_example(self) -> bool:
        """Whether B's changes are the example that the view opens with."""
        return self.state.changes == AttentionState.changes

    @cached_property
    def changes(self) -> tuple[list[Change], list[Change]]:
        """The changes of A and of B that the model allows."""
        return possible(self.state.pinned, self.model), possible(self.state.changes, self.model)

    @property
    def same(self) -> bool:
        """Whether A and B are one model."""
        return self.changes[0] == self.changes[1]

    @cached_property
    def effect(self) -> Effect:
        """What differs between A and B whatever head is looked at."""
        stack = ("encoder",) if self.kind == "encoder" else ("decoder", "cross")
        return effect_of(self.model, self.state.pinned, self.state.changes, stack)

    @cached_property
    def rows(self) -> list[int]:
        """The tokens of the rows, from 0, as the text is written."""
        return in_either([side.positions[self.texts[0]] for side in self.effect.sides])

    @cached_property
    def columns(self) -> list[int]:
        """The tokens of the columns, likewise."""
        return in_either([side.positions[self.texts[1]] for side in self.effect.sides])

    @cached_property
    def _standing(self) -> list[tuple[Places, Places]]:
        """Where the tokens of the rows and of the columns stand, in A and in B."""
        (queries, keys), rows, columns = self.texts, self.rows, self.columns
        return [(side.positions[queries][rows], side.positions[keys][columns]) for side in self.effect.sides]

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """(2, query, key), False where a token is dropped."""
        return np.stack([(queries >= 0)[:, None] & (keys >= 0) for queries, keys in self._standing])

    @property
    def both(self) -> NDArray[np.bool_]:
        """(query), whether the token of the row is there in A and in B."""
        return np.asarray(self.there.any(-1).all(0))

    def _by_token(self, of_sides: Iterable[NDArray[Any]]) -> NDArray[Any]:
        return np.stack([by_token(matrix, *at) for matrix, at in zip(of_sides, self._standing, strict=True)])

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """(2, query, key), of the head in A and in B."""
        return self._by_token(side.weights(self.kind, self.layer, self.head) for side in self.effect.sides)

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """(2, query, key), where the mask lets look."""
        return self._by_token(side.heads[self.kind].visible for side in self.effect.sides)

    @property
    def difference(self) -> NDArray[np.float32]:
        """(query, key), B - A."""
        return np.asarray(self.weights[1] - self.weights[0])

    @property
    def queries(self) -> list[str]:
        """A label per row."""
        return self._labels(self.texts[0], self.rows)

    @property
    def keys(self) -> list[str]:
        """A label per column."""
        return self._labels(self.texts[1], self.columns)

    @property
    def numbered(self) -> tuple[list[str], list[str]]:
        rows, columns = zip(self.rows, self.queries, strict=True), zip(self.columns, self.keys, strict=True)
        return [f"{token + 1} {name}" for token, name in rows], [f"{token + 1} {name}" for token, name in columns]

    def _labels(self, text: str, tokens: list[int]) -> list[str]:
        """What these tokens of a text, from 0, are called; "cat→dog" where B reads another."""
        names, others = self.names.tokens[text], replacements(self.changes[1], text, self.model)
        read = {i: encode(piece, self.model.tokens_by).pieces[0] for i, piece in others.items()}
        return [names[i] + (f"→{token_labels.named(read[i])}" if i in read else "") for i in tokens]

    @property
    def cell(self) -> tuple[int, int]:
        """The locked query and key, as numbers from 1 of tokens that there are."""
        queries, keys = (len(self.names.tokens[text]) for text in self.texts)
        return min(self.state.query, queries), min(self.state.key, keys)

    @property
    def locked_cell(self) -> tuple[int, int] | None:
        """Row and column of the locked cell, from 0, if it is there in B."""
        places = [(text, number - 1) for text, number in zip(self.texts, self.cell, strict=True)]
        if any(self.effect.sides[1].positions[text][token] < 0 for text, token in places):
            return None
        return self.rows.index(places[0][1]), self.columns.index(places[1][1])

    @property
    def dragged(self) -> list[Change]:
        """B's changes and, as the last, the weight of the locked cell: MARK."""
        weight = Weight(self.kind, self.state.layer, self.state.head, *self.cell, MARK, self.state.rescale)
        return with_change(parse(self.state.changes)[0], weight)

    @property
    def full(self) -> str:
        """Why no weight can be dragged, if the link has no room for it."""
        return "" if fits(self.dragged) else "The link has no room for another weight: take a change of B back."

    @property
    def aside(self) -> str:
        """Which of the changes that were asked for this model does not allow, and why."""
        texts = [self.state.pinned] if self.is_example else [self.state.changes, self.state.pinned]
        reasons = {c: why for text in texts for c, why in sort_out(parse(text)[0], self.model)[1].items()}
        sentences = []
        for why in dict.fromkeys(reasons.values()):
            those = [f"“{change}”" for change, reason in reasons.items() if reason == why]
            more = f" and {len(those) - 3} more" if len(those) > 3 else ""
            sentences.append(f"Set aside: {', '.join(those[:3])}{more}, as {why}.")
        return " ".join(sentences)

    def title_of(self, side: int) -> str:
        """ "A: as it is", "B: 2 changes"."""
        number = len(self.changes[side])
        return f"{'AB'[side]}: {formats.plural(number, 'change') if number else 'as it is'}"
