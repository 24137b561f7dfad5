"""Two texts that look alike: whether they do, where they differ, and what tokens make of it."""

from functools import cached_property

import pandas as pd

from tfm_core.language.alike import Difference, code_points, differences, signs_alike, skeleton
from tfm_ui.lenses.model.tokens.labels import chip, isolated
from tfm_ui.lenses.model.tokens.schemes import TokensPanel
from tfm_ui.pictures.panel import Note, OpenTable
from tfm_ui.text import formats

MOST_ROWS = 40
SHORT = 40  # characters of the second text that are quoted
NAMED = 3  # places that the sentence names


class TokensAlike(TokensPanel):
    """A table of signs that are easily taken for others, in the text and in the second one."""

    title = "Does it look like something else?"
    sources = (skeleton, differences, signs_alike)
    how_to_read = (
        "Texts are compared sign by sign with a part of the Unicode table of confusables (UTS #39) and with other "
        "forms of the same sign (NFKC, UAX #15). A letter of another alphabet is named "
        "where it stands among Latin letters."
    )

    @cached_property
    def apart(self) -> tuple[Difference, ...] | None:
        """Where the text and the second one differ, if they look alike."""
        return differences(self.text, self.state.second)

    @property
    def are_twins(self) -> bool:
        """Whether the two texts look alike and are not the same."""
        return bool(self.apart)

    @property
    def is_shown(self) -> bool:
        return bool(len(self.table()))

    def instead(self) -> Note:
        return Note(self.sentence(), "plain")

    def sentence(self) -> str:
        """Whether they look alike, where they differ, and how many tokens each has."""
        if self.are_twins:
            return self._of_twins()
        if self.apart == () and self.text:
            return "The text and the second text are the same, sign by sign. " + self._of_signs()
        second = self.state.second[:SHORT] + "…" * (len(self.state.second) > SHORT)
        return f"The text does not look like the second text, “{isolated(second)}”. {self._of_signs()}"

    def _of_twins(self) -> str:
        assert self.apart
        places = [
            f"at sign {each.at[0] + 1} the one has {_named(each.texts[0])}, the other {_named(each.texts[1])}"
            for each in self.apart[:NAMED]
        ]
        more = f", and in {len(self.apart) - NAMED} more places" if len(self.apart) > NAMED else ""
        mine, other = self.cut(self.chosen), self.cut(self.chosen, self.state.second)
        same = "the same ids" if mine.ids == other.ids else "other ids"
        return (
            f"The text and the second text look alike and are not the same: {formats.listed(places)}{more}. "
            f"{self.chosen} makes {formats.plural(len(mine.ids), 'token')} of the one and "
            f"{formats.count(len(other.ids))} of the other, with {same}."
        )

    def _of_signs(self) -> str:
        count = len(signs_alike(self.text))
        if not count:
            return "No sign of the text is easily taken for another."
        return f"{formats.plural(count, 'sign')} of the text can be taken for another: see the table."

    def laws(self) -> dict[str, bool]:
        """The second text follows from what is told apart."""
        if self.apart is None:
            return {}
        rest, at = list[str](), 0
        for each in self.apart:
            rest += [self.text[at : each.at[0]], each.texts[1]]
            at = each.at[0] + len(each.texts[0])
        changed = "".join(rest) + self.text[at:]
        return {"with the named signs exchanged, the text is the second text": changed == self.state.second}

    def table(self) -> pd.DataFrame:
        """A row for each sign: its place, its code points, what it is taken for; of twins what stands opposite."""
        if self.are_twins:
            rows = [
                (each.at[0] + 1, chip(each.texts[0]), code_points(each.texts[0]), code_points(each.texts[1]))
                for each in (self.apart or ())[:MOST_ROWS]
            ]
            return pd.DataFrame(rows, columns=["at", "sign", "code points", "in the second text"])
        told = [
            (sign.at + 1, chip(sign.text), code_points(sign.text), f"{sign.like or 'nothing'}: {sign.why}")
            for sign in signs_alike(self.text)[:MOST_ROWS]
        ]
        return pd.DataFrame(told, columns=["at", "sign", "code points", "is taken for"])

    @property
    def open_table(self) -> OpenTable:
        return OpenTable({})


def _named(text: str) -> str:
    return f"“{isolated(chip(text))}” ({code_points(text)})" if text else "nothing"
