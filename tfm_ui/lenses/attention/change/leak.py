"""A leak: a token that sees a later one though the mask forbids it."""

from dataclasses import dataclass

from tfm_ui.lenses.attention.change.aligned import NOTHING
from tfm_ui.lenses.attention.change.kinds import Weight
from tfm_ui.text import formats
from tfm_ui.text.token_labels import Names


@dataclass(frozen=True)
class Leak:
    """A weight that was set where the mask forbids to look.

    Attributes:
        change: that weight.
        more: how many other weights leak too.
        moved: how far the query's output moves when the key's token is another one, as a share of its length; without
            the leak it could not depend on it at all. None if the query is of the text that is not looked at.
    """

    change: Weight
    more: int
    moved: float | None

    def said(self, names: Names) -> str:
        """Who sees whom, and what was measured."""
        query, key = (names.token(*token) for token in self.change.tokens())
        where = names.head(self.change.kind, self.change.layer, self.change.head)
        more = f"; {formats.plural(self.more, 'other weight')} of B leak{'s' if self.more == 1 else ''} too"
        said = f"✕ A leak in B, {where}: {query} sees {key}, which comes later{more if self.more else ''}."
        if self.moved is None:
            return said
        if self.moved < NOTHING:
            return f"{said} Yet reading another token for {key} moves the output at {query} by nothing."
        return (
            f"{said} Reading another token for {key} now moves the output at {query} by {formats.percent(self.moved)} "
            "of its length."
        )
