"""The panel "Change one token": what moved after the last layer, and whether it was allowed to."""

from dataclasses import dataclass

import pandas as pd

from tfm_core import hops, leaks, reach_by_layer, reachability, replacements, route
from tfm_core.study.leak_test import streams
from tfm_core.study.leaks import Hop, influence_by_part
from tfm_ui.lenses.masks.leaks.measured import Measurement
from tfm_ui.lenses.masks.leaks.plan import CROSSES
from tfm_ui.lenses.masks.leaks.way import way_in_words
from tfm_ui.lenses.masks.state import AS_COMPOSED
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, token_labels
from tfm_ui.text.ties import one_of_ties

SOURCES = (influence_by_part, replacements, streams, reachability, reach_by_layer, hops, leaks, route)


@dataclass(frozen=True)
class MovedOutputs(Result):
    """What was measured after the last layer, beside what is allowed.

    Attributes:
        measured: the measurement, of which only what is after the last layer is told.
    """

    measured: Measurement

    def sentence(self) -> str:
        """Whether there are leaks, and the way of the locked cell, or of the largest leak."""
        cell = self.measured.locked or self.measured.worst
        said = [self.measured.of_part, self._verdict(), self._unmoved(), self._about(*cell) if cell else ""]
        return " ".join(filter(None, said))

    def _verdict(self) -> str:
        moved, allowed = self.measured.moved[-1], self.measured.allowed[-1]
        these = " from these tokens" if self.measured.is_part else ""
        if self.measured.worst:
            row, column = self.measured.worst
            promise, count = f"“{self.measured.state.promise}” forbids", int(self.measured.leaking.sum())
            if self.measured.state.promise == AS_COMPOSED:
                promise = "the masks as composed forbid"
            alike = one_of_ties(len(self.measured.largest))
            more = (
                f"; {formats.count(count)} leaks{these or ' in all'}, this is the largest{alike}"
                if count > 1
                else f", the only leak{these}"
            )
            more += f", and {formats.count(CROSSES)} are crossed out" if count > CROSSES else ""
            token, output = self.measured.token(row), self.measured.output(column)
            return (
                f"Leak: {output} moves by up to {formats.number(moved[row, column])} when {token} changes, which "
                f"{promise}{more}."
            )
        count, of_them = int(allowed.sum()), int((self.measured.moves[-1] & allowed).sum())
        pairs = f"allowed pair{'s' * (count != 1)} moved"
        of = f"all {formats.count(count)} {pairs}" if count == of_them > 1 else ""
        of = of or f"{formats.count(of_them)} of {formats.count(count)} {pairs}"
        if allowed.all():
            return f"No leak is possible{these}, as every pair is allowed: {of}."
        most, rest = moved[~allowed].max(), int((~allowed).sum())
        by = f"moved by rounding only, at most {formats.tiny(most)}" if most else "did not move at all"
        return f"No leak{these}: {of}; the {formats.plural(rest, 'forbidden one')} {by}."

    def _unmoved(self) -> str:
        """What was allowed and did not move: why."""
        still = self.measured.allowed[-1] & ~self.measured.moves[-1]
        if not still.any():
            return ""
        hidden = int((still & ~self.measured.within[-1]).sum())
        faint = int(still.sum()) - hidden
        said = [f"{formats.count(hidden)} because the mask forbids more than what is tested against"] * bool(hidden)
        said += [f"{formats.count(faint)} because what arrives is too small to tell from rounding"] * bool(faint)
        return f"Allowed pairs that did not move: {' and '.join(said)}."

    def _about(self, row: int, column: int) -> str:
        """One cell, and how the token came to the output."""
        token, output = self.measured.token(row), self.measured.output(column)
        way = self.measured.way(self.measured.setting.mask)
        places = route(way, self.measured.plan.places[row], column)
        if not places:
            return (
                f"Locked: {token} does not move {output}, because the masks leave no path."
                if self.measured.locked
                else ""
            )
        by = formats.number(self.measured.moved[-1, row, column])
        by = f"by {by}" if self.measured.moves[-1, row, column] else f"by no more than rounding ({by})"
        said = f"Locked: {token} moves {output} {by}. " if self.measured.locked else ""
        return said + way_in_words(way, self.measured.way(self.measured.promise), places, token, self._place)

    def _place(self, hop: Hop, place: int) -> str:
        """What a hop writes to."""
        if hop.where == "encoder":
            return f"encoder output {place + 1} “{token_labels.labels(self.measured.setting.keys)[place]}”"
        return self.measured.output(place)

    def laws(self) -> dict[str, bool]:
        """What was measured of what is allowed, of the mask itself, and of padding; nothing of what is not there."""
        laws = {}
        if not self.measured.allowed[-1].all():
            count = int(self.measured.leaking.sum())
            how_many = f" ({formats.count(count)} leak{'s' * (count > 1)})" if count else ""
            laws[f"every output that moved was allowed to{how_many}"] = not count
        if not self.measured.within.all():
            most = float(self.measured.moved[~self.measured.within].max())
            laws[
                "what the mask keeps apart moves by rounding alone, in every layer: at most "
                f"{formats.tiny(most)} (more than {formats.tiny(self.measured.influence.tolerance)} counts as moved)"
            ] = most <= self.measured.influence.tolerance
        return laws | self._of_padding()

    def _of_padding(self) -> dict[str, bool]:
        """What a padding mask is there for."""
        setting, places = self.measured.setting, self.measured.plan.places
        real = len(setting.queries.pieces)
        pads = [row for row, place in enumerate(places) if place >= len(setting.keys.pieces)]
        if not pads:
            return {}
        most = float(self.measured.moved[-1, pads, :real].max())
        change = formats.number(most) if most else "0"
        law = f"another token in place of a PAD moves no output of a real token (largest change {change})"
        return {law: most <= self.measured.influence.tolerance}

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        return self.measured.table()

    def recipe(self) -> str:
        """A script that measures the same."""
        return self.measured.recipe()
