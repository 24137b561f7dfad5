"""What the view "change" is asked for: two sides, A and B, with their changes, a head to look at and a locked cell."""

from dataclasses import dataclass
from functools import cached_property

from tfm_core import encode
from tfm_ui.lenses.attention.change.changes import fits, parse, possible, replaced, sizes, sort_out, with_change
from tfm_ui.lenses.attention.change.kinds import Change, Weight
from tfm_ui.live.texts import texts_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels
from tfm_ui.text.token_labels import Names

MARK = 0.123  # stands for a weight that is not known yet, and is as long as any that is dragged to


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a link asks for.

    Attributes:
        model: the model.
        kind: of attention, as changes call it: that of a single stack is the encoder's.
        layer, head: that are looked at, from 1.
        query, key: the locked cell as it is asked for, from 1.
        rescale: whether the rest of a row makes room for a weight that is set.
        a, b: the changes of each side, as in the link.
        is_example: whether B's changes are the example that the view opens with.
    """

    model: ModelState
    kind: str
    layer: int
    head: int
    query: int
    key: int
    rescale: bool
    a: str
    b: str
    is_example: bool

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
    def shown_head(self) -> str:
        """The head that is looked at, in words."""
        return self.names.head(self.kind, self.layer, self.head)

    @cached_property
    def changes(self) -> tuple[list[Change], list[Change]]:
        """The changes of A and of B that the model allows."""
        return possible(self.a, self.model), possible(self.b, self.model)

    @property
    def same(self) -> bool:
        """Whether A and B are one model."""
        return self.changes[0] == self.changes[1]

    def title_of(self, side: int) -> str:
        """ "A: as it is", "B: 2 changes"."""
        number = len(self.changes[side])
        return f"{'AB'[side]}: {formats.plural(number, 'change') if number else 'as it is'}"

    def labels(self, text: str, tokens: list[int]) -> list[str]:
        """What these tokens of a text, from 0, are called; "cat→dog" where B reads another."""
        names, others = self.names.tokens[text], replaced(self.changes[1], text, self.model)
        read = {i: encode(piece, self.model.tokens_by).pieces[0] for i, piece in others.items()}
        return [names[i] + (f"→{token_labels.named(read[i])}" if i in read else "") for i in tokens]

    @property
    def cell(self) -> tuple[int, int]:
        """The locked query and key, as numbers from 1 of tokens that there are."""
        queries, keys = (len(self.names.tokens[text]) for text in self.texts)
        return min(self.query, queries), min(self.key, keys)

    @property
    def dragged(self) -> list[Change]:
        """B's changes and, as the last, the weight of the locked cell: MARK."""
        query, key = self.cell
        weight = Weight(self.kind, self.layer, self.head, query, key, MARK, self.rescale)
        return with_change(parse(self.b)[0], weight)

    @property
    def full(self) -> str:
        """Why no weight can be dragged, if the link has no room for it."""
        return "" if fits(self.dragged) else "The link has no room for another weight: take a change of B back."

    @property
    def aside(self) -> str:
        """Which of the changes that were asked for this model does not allow, and why."""
        texts = [self.a] if self.is_example else [self.b, self.a]
        reasons = {c: why for text in texts for c, why in sort_out(parse(text)[0], sizes(self.model))[1].items()}
        said = []
        for why in dict.fromkeys(reasons.values()):
            those = [f"“{change}”" for change, reason in reasons.items() if reason == why]
            more = f" and {len(those) - 3} more" if len(those) > 3 else ""
            said.append(f"Set aside: {', '.join(those[:3])}{more}, as {why}.")
        return " ".join(said)
