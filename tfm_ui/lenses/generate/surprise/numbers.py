"""What the view "surprise" says: how surprising A is to the model, and B beside it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.surprise import recipe
from tfm_ui.lenses.generate.surprise.scored import TOP
from tfm_ui.lenses.generate.surprise.sides import FIRST, OTHER_TEXT, Side, side_a, side_b, why_no_other
from tfm_ui.live.script import Code, config_code, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units
from tfm_ui.text.ties import one_of_ties, places_of_largest

ROUNDING = 1e-9  # of float64
NOTHING = "There is nothing to rate: type a text of a few words, as the first token has no probability."
SAME = 1e-5  # bits: a smaller difference is rounding


@dataclass(frozen=True)
class Surprising(Result):
    """One text, or two sides.

    Attributes:
        sides: A, and B if there is one.
        linked: whether both have the same tokens.
        hint: why there is no B; "" if there is one.
    """

    sides: Sequence[Side]
    linked: bool
    hint: str

    @property
    def rated(self) -> list[Side]:
        """The sides that have tokens with a probability."""
        return [side for side in self.sides if side.scored.count]

    @cached_property
    def top(self) -> float:
        """The largest surprise on screen, in bits; 0 if there is none."""
        return max((float(side.scored.bits.max()) for side in self.rated), default=0.0)

    def sentence(self) -> str:
        """Each side's perplexity, and what surprises most; where both read the same, where they differ most."""
        if not self.rated:
            return NOTHING
        said = [self._of(side) for side in self.rated]
        if self.linked and len(self.rated) == len(self.sides) == 2:
            said.append(self._apart())
        said.append(self._how_begun(self.rated[0]))
        said += [self._cut(side) for side in self.sides[: 1 if self.linked else None] if side.dropped]
        return " ".join(filter(None, said))

    def _of(self, side: Side) -> str:
        scored = side.scored
        places = places_of_largest(scored.bits.numpy())
        worst = places[0]
        place = worst + FIRST
        many = len(self.sides) > 1
        subject = f"{side.name}{f', {side.label},' if side.label else ''} has a perplexity of" if many else "Perplexity"
        share = formats.percent(math.exp(float(scored.logs[worst])), 3)
        means = ", as in an even choice among so many tokens at each place: that is" if side is self.rated[0] else ""
        return (
            f"{subject} {units.three(scored.perplexity)}{means}, {units.three(side.bits_per_token)} bits a token and "
            f"{units.three(side.bits_per_byte)} bits a byte, over {formats.plural(scored.count, 'token')}. "
            f"“{side.names[place]}”, token {place + 1}{one_of_ties(len(places), 'tokens')}, surprises most: "
            f"{units.three(float(scored.bits[worst]))} bits, a probability of {share}."
        )

    def _apart(self) -> str:
        a, b = (side.scored.bits.numpy() for side in self.sides)
        less = int((b - a > SAME).sum())
        gaps = np.abs(a - b)
        places = places_of_largest(gaps, float(max(a.max(), b.max())))
        at = places[0] + FIRST
        return (
            f"A is less surprised than B at {less} of {formats.plural(len(a), 'token')}. They differ most at "
            f"“{self.sides[0].names[at]}”, token {at + 1}{one_of_ties(len(places), 'tokens')}: "
            f"{units.three(float(a[places[0]]))} bits and {units.three(float(b[places[0]]))}."
        )

    def _how_begun(self, side: Side) -> str:
        said = f"The first token, “{side.names[0]}”, has no probability: nothing stands before it."
        if self.sides[0].model.is_lab_gpt:
            said += " In training, a start token stood before each text; no view puts one before yours."
        return said

    def _cut(self, side: Side) -> str:
        whole = formats.count(len(side.pieces) + side.dropped)
        whose = "the" if self.linked or len(self.sides) == 1 else f"{side.name}’s"
        return f"Of {whose} {whole} tokens the first {formats.count(len(side.pieces))} are rated."

    def laws(self) -> Mapping[str, bool]:
        """What must hold of probabilities and their logarithms."""
        if not self.rated:
            return {}
        off = max(side.scored.off for side in self.rated)
        vocab = formats.count(self.rated[0].config.vocab_size)
        apart = max(abs(2**side.bits_per_token / side.scored.perplexity - 1) for side in self.rated)
        whole = [math.exp(float(side.scored.logs.sum()) / side.scored.count) for side in self.rated]
        product = max(abs(share * side.scored.perplexity - 1) for share, side in zip(whole, self.rated, strict=True))
        return {
            f"the probabilities of all {vocab} tokens sum to 1 in each place (largest error {formats.tiny(off)})": off
            < ROUNDING,
            f"perplexity is 2 to the power of the bits a token (error {formats.tiny(apart)})": apart < ROUNDING,
            "perplexity is 1 / the geometric mean of the tokens’ probabilities (error "
            f"{formats.tiny(product)})": product < ROUNDING,
            "a token of rank 1 is the likeliest, and no other is": all(
                bool(((side.scored.ranks == 1) == (side.scored.top_shares[:, 0] <= side.scored.logs.exp())).all())
                for side in self.rated
            ),
        }

    def table(self) -> pd.DataFrame:
        """A row per token of each side."""
        return pd.concat([_table(side, many=len(self.sides) > 1) for side in self.sides])

    def recipe(self) -> str:
        """A script that leaves `bits` and `perplexities` of the sides."""
        if not self.rated:
            return ""
        first, context = self.sides[0], self.sides[0].model.most_tokens
        if short := [side.memory for side in self.rated if side.memory]:
            return script(
                recipe.remembered,
                config=config_code(first.config),
                ids=list(first.ids),
                context=context,
                memory=short[0],
            )
        pairs = [f"({config_code(side.config)}, {list(side.ids)})" for side in self.rated]
        return script(recipe.rated, sides=Code(f"[{', '.join(pairs)}]"), context=context)


def _table(side: Side, *, many: bool) -> pd.DataFrame:
    scored, pieces = side.scored, side.model.tokens_by.pieces
    empty = [np.nan] * min(FIRST, len(side.pieces))
    columns: dict[str, Sequence[object]] = {"side": [side.name] * len(side.pieces)} if many else {}
    columns |= {
        "token": side.pieces,
        "probability": [*empty, *scored.logs.exp().tolist()],
        "bits": [*empty, *scored.bits.tolist()],
        "rank": [*empty, *scored.ranks.tolist()],
        "entropy, bits": [*empty, *(scored.entropies / math.log(2)).tolist()],
        "perplexity up to here": [*empty, *scored.running.tolist()],
    }
    blanks = [""] * len(empty)
    for number in range(min(TOP, scored.top_ids.shape[1])):
        ids = scored.top_ids[:, number].tolist()
        columns[f"likeliest {number + 1}"] = [*blanks, *(pieces[token] for token in ids)]
        columns[f"its probability {number + 1}"] = [*empty, *scored.top_shares[:, number].tolist()]
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(side.pieces) + 1, name="place"))


def surprising(model: ModelState, state: GenerateState) -> Surprising:
    """What the link describes."""
    other = side_b(model, state)
    sides = [side_a(model, state), *([other] if other else [])]
    return Surprising(sides, state.against != OTHER_TEXT, why_no_other(model, state))


@dataclass(frozen=True)
class Along(Result):
    """The sides over their tokens."""

    shown: Surprising

    def sentence(self) -> str:
        """How few tokens have half of the bits, and the perplexity in the middle of the text and at its end."""
        return " ".join(map(self._of, self.shown.rated)) or NOTHING

    def _of(self, side: Side) -> str:
        scored = side.scored
        whose = f"{side.name}’s" if len(self.shown.sides) > 1 else "the"
        few = fewest_for_half(scored.bits.numpy())
        middle = (scored.count + 1) // 2
        return (
            f"Half of {whose} {units.three(float(scored.bits.sum()))} bits fall on the {few} most surprising of "
            f"{formats.plural(scored.count, 'token')}. Up to token {middle + FIRST} the perplexity is "
            f"{units.three(float(scored.running[middle - 1]))}, at the end {units.three(scored.perplexity)}."
        )

    def table(self) -> pd.DataFrame:
        """A row per token; a column for each side."""
        columns = {
            f"{what} {side.name}": pd.Series(
                values.numpy(), index=range(FIRST + 1, FIRST + 1 + side.scored.count), dtype=np.float64
            )
            for side in self.shown.sides
            for what, values in (("bits", side.scored.bits), ("perplexity up to here", side.scored.running))
        }
        return pd.DataFrame(columns).rename_axis("place")

    def laws(self) -> Mapping[str, bool]:
        """Where the right chart ends."""
        if not self.shown.rated:
            return {}
        apart = max(abs(float(side.scored.running[-1]) / side.scored.perplexity - 1) for side in self.shown.rated)
        return {
            f"up to the last token the perplexity is that of the text (error {formats.tiny(apart)})": apart < ROUNDING
        }


def fewest_for_half(bits: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    """How few of these numbers, the largest first, add up to half of all."""
    sums = np.cumsum(np.sort(bits)[::-1])
    return int(np.searchsorted(sums, sums[-1] / 2) + 1)
