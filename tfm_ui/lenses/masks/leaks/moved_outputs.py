"""Change one token: what moved after the last layer, and whether it was allowed to."""

from collections.abc import Callable, Sequence

import numpy as np

from tfm_core import hops, leaks, reach_by_layer, reachability, replacements, route
from tfm_core.study.leak_test import streams
from tfm_core.study.leaks import Hop, influence_by_part
from tfm_ui.lenses.masks.leaks.measured import LeaksPanel, all_of
from tfm_ui.lenses.masks.state import AS_COMPOSED, PREFIX
from tfm_ui.page import exact_bar
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MASKED, Map
from tfm_ui.text import formats, token_labels
from tfm_ui.text.ties import one_of_ties


class Leaks(LeaksPanel):
    """What was measured after the last layer, beside what is allowed."""

    title = "Change one token: which outputs move?"
    how_to_read = (
        "Each row: the token that is changed into others. Columns: by how much each output, the residual stream after "
        "the last layer, changes at most, in powers of ten. So a key is a row here, and a query a column. Beside it, "
        "from which layer on the mask under “Allowed by” lets an output move."
    )
    sources = (influence_by_part, replacements, streams, reachability, reach_by_layer, hops, leaks, route)

    @property
    def shape(self) -> str:
        return f"token × output = {len(self.rows)} × {len(self.columns)}, each token changed into {self.plan.tries}"

    @property
    def locked(self) -> bool:
        return self.locked_cell is not None

    def sentence(self) -> str:
        """Whether there are leaks, and the way of the locked cell, or of the largest leak."""
        cell = self.locked_cell or self.worst
        said = [self.of_part, self._verdict(), self._unmoved(), self._about(*cell) if cell else ""]
        return " ".join(filter(None, said))

    def _verdict(self) -> str:
        moved, allowed = self.moved[-1], self.allowed[-1]
        these = " from these tokens" if self.is_part else ""
        if self.worst:
            row, column = self.worst
            promise, count = f"“{self.state.promise}” forbids", int(self.leaking.sum())
            if self.state.promise == AS_COMPOSED:
                promise = "the masks as composed forbid"
            alike = one_of_ties(len(self.largest))
            more = (
                f"; {formats.count(count)} leaks{these or ' in all'}, this is the largest{alike}"
                if count > 1
                else f", the only leak{these}"
            )
            more += f", and {formats.count(self.most_marked)} are crossed out" if count > self.most_marked else ""
            token, output = self.token(row), self.output(column)
            return (
                f"Leak: {output} moves by up to {formats.number(moved[row, column])} when {token} changes, which "
                f"{promise}{more}."
            )
        count, of_them = int(allowed.sum()), int((self.moves[-1] & allowed).sum())
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
        still = self.allowed[-1] & ~self.moves[-1]
        if not still.any():
            return ""
        hidden = int((still & ~self.within[-1]).sum())
        faint = int(still.sum()) - hidden
        said = [f"{formats.count(hidden)} because the mask forbids more than what is tested against"] * bool(hidden)
        said += [f"{formats.count(faint)} because what arrives is too small to tell from rounding"] * bool(faint)
        return f"Allowed pairs that did not move: {' and '.join(said)}."

    def _about(self, row: int, column: int) -> str:
        """One cell, and how the token came to the output."""
        token, output = self.token(row), self.output(column)
        way = self.way(self.setting.mask)
        places = route(way, self.plan.places[row], column)
        if not places:
            return (
                f"Locked: {token} does not move {output}, because the masks leave no path." if self.locked_cell else ""
            )
        by = formats.number(self.moved[-1, row, column])
        by = f"by {by}" if self.moves[-1, row, column] else f"by no more than rounding ({by})"
        said = f"Locked: {token} moves {output} {by}. " if self.locked_cell else ""
        return said + way_in_words(way, self.way(self.promise), places, token, self._place)

    def _place(self, hop: Hop, place: int) -> str:
        """What a hop writes to."""
        if hop.where == "encoder":
            return f"encoder output {place + 1} “{token_labels.labels(self.setting.keys)[place]}”"
        return self.output(place)

    def laws(self) -> dict[str, bool]:
        """What was measured of what is allowed, of the mask itself, and of padding; nothing of what is not there."""
        laws = {}
        if not self.allowed[-1].all():
            count = int(self.leaking.sum())
            how_many = f" ({formats.count(count)} leak{'s' * (count > 1)})" if count else ""
            laws[f"every output that moved was allowed to{how_many}"] = not count
        if not self.within.all():
            most = float(self.moved[~self.within].max())
            laws[
                "what the mask keeps apart moves by rounding alone, in every layer: at most "
                f"{formats.tiny(most)} (more than {formats.tiny(self.influence.tolerance)} counts as moved)"
            ] = most <= self.influence.tolerance
        return laws | self._of_padding()

    def _of_padding(self) -> dict[str, bool]:
        """What a padding mask is there for."""
        setting, places = self.setting, self.plan.places
        real = len(setting.queries.pieces)
        pads = [row for row, place in enumerate(places) if place >= len(setting.keys.pieces)]
        if not pads:
            return {}
        most = float(self.moved[-1, pads, :real].max())
        change = formats.number(most) if most else "0"
        law = f"another token in place of a PAD moves no output of a real token (largest change {change})"
        return {law: most <= self.influence.tolerance}

    def picture(self) -> Content:
        """What moved after the last layer, beside after which layer it is allowed to."""
        arrives = np.where(self.allowed[-1], self.allowed.shape[0] - self.allowed.sum(0) + 1.0, MASKED)
        drawn = [
            Map(name="measured: largest change", values=self.cells(-1), scale=self.scale),
            Map(
                name="allowed: from this layer on",
                values=arrives.astype(np.float32),
                scale=from_zero(float(len(self.allowed))),
                unit="layers",
                whole=True,
            ),
        ]
        crosses = [(0, row, column) for row, column in self.crossed_out(-1, self.most_marked)]
        return self.maps(drawn, crosses)

    def tools(self) -> None:
        """Draw the button that computes all of it, where a part is measured."""
        if exact := all_of(self.model, self.state):
            exact_bar.draw(exact, self.state.whole, PREFIX)


def way_in_words(
    way: Sequence[Hop], allowed: Sequence[Hop], places: Sequence[int], start: str, name: Callable[[Hop, int], str]
) -> str:
    """The moves of a way, and which of them are not allowed.

    Args:
        way: what the mask lets information do.
        allowed: what it is allowed to do.
        places: where it stands at first and after each hop, as of `route`.
        start: what stands first, in words.
        name: of what a hop writes to.
    """
    said, wrong = [start], []
    for hop, may, came, place in zip(way, allowed, places, places[1:], strict=False):
        if came != place or hop.where == "cross":  # there, the places are another text's
            said.append(f"{name(hop, place)} in {_layer(hop)}")
        if not may.sees[place, came]:
            wrong.append(_layer(hop))
    moves = " → ".join(said) if len(said) > 1 else f"{start} stays where it is, in the residual stream"
    steps = f" What is allowed leaves out the step{'s' * (len(wrong) > 1)} in {formats.listed(wrong)}." if wrong else ""
    return f"Its path: {moves}.{steps}"


def _layer(hop: Hop) -> str:
    layer = f"layer {hop.layer + 1}"
    return {"encoder": f"encoder {layer}", "cross": f"{layer} (cross-attention)", "self": layer}[hop.where]
