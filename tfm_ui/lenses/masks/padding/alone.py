"""The panel "Alone and in the batch": what moves beside padding, and by how much."""

from dataclasses import dataclass

import pandas as pd

from tfm_core import POSITIONAL
from tfm_ui.lenses.masks.masked_passes import layer_sites
from tfm_ui.lenses.masks.padding import recipe
from tfm_ui.lenses.masks.padding.beside import TITLES, AloneAndPadded
from tfm_ui.lenses.masks.padding.padded_code import of_batch
from tfm_ui.lenses.masks.padding.shares import ROUNDING, titles_of, told
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest


@dataclass(frozen=True)
class Alone(Result):
    """How far the sentence's vectors are from what they are when it runs alone.

    Attributes:
        beside: the sentence run alone and in its batch.
    """

    beside: AloneAndPadded

    def sentence(self) -> str:
        """What moves, and why."""
        hidden, free = (self.beside.largest(way) for way in TITLES)
        if not self.beside.batch.pads:
            places = formats.plural(self.beside.batch.setting.model.length, "place")
            return (
                f"The sentence fills all of its {places}: it has no padding, and there is nothing to hide. Alone and "
                f"in the batch its outputs differ by {told(max(hidden, free))} of their length at most. Choose a "
                "shorter sentence, or more tokens in the sidebar."
            )
        if self.beside.harmless:
            return (
                f"{self.beside.where}: hidden or not, each output is what it is alone, to rounding "
                f"({told(max(hidden, free))} of its length at most). {self._reason()}"
            )
        if hidden < ROUNDING:
            count = int((self.beside.shares["without"][-1] >= ROUNDING).sum())
            most = places_of_largest(self.beside.shares["without"][-1], size=max(1.0, free))
            total = formats.plural(len(self.beside.names), "output")
            return (
                f"{self.beside.where}: hidden, they change nothing but the last digits ({told(hidden)} of an output’s "
                f"length at most). Not hidden, they move {count} of {total}, “{self.beside.names[most[0]]}” "
                f"most{one_of_ties(len(most))}, by {told(free)} of its length."
            )
        why = (
            f", because each token stands {formats.plural(self.beside.batch.pads, 'place')} later, where the "
            f"{self.beside.model.positional} position vectors are different"
            if self.beside.shifted
            else ""
        )
        schemes = [name for name, scheme in POSITIONAL.items() if "encode" not in scheme.enters()]
        return (
            f"{self.beside.where}: even hidden, they move outputs by up to {told(hidden)} of their length{why}. "
            f"Not hidden, by up to {told(free)}. With positions by distance alone, or none "
            f"({', '.join(schemes)}), hidden padding changes nothing."
        )

    def _reason(self) -> str:
        setting = self.beside.batch.setting
        if setting.place == "decoder":
            return "The decoder’s own text is never padded, and the encoder hides PAD by itself: look at “cross”."
        if self.beside.may_look:
            return "Tokens may look at PAD, and get no more from it than rounding."
        if setting.causal_anyway and self.beside.batch.side == "right":
            return (
                "No token looks ahead, and padding on the right lies ahead of every token: under the causal mask it "
                "does no harm. On the left it may."
            )
        return "The composed mask lets no token look at PAD, even where PAD is taken for a word."

    def laws(self) -> dict[str, bool]:
        """What padding should not change, measured."""
        if not self.beside.batch.pads:
            return {}
        return {
            f"{TITLES[way].lower()}: the outputs of the sentence alone (largest move "
            f"{told(self.beside.largest(way))} of an output’s length)": self.beside.largest(way) < ROUNDING
            for way in TITLES
        }

    def table(self) -> pd.DataFrame:
        """A row per token, a column per way and place."""
        titles = titles_of(self.beside.batch.setting.model)
        return pd.DataFrame(
            {
                f"{TITLES[way]}, {title}": row
                for way in TITLES
                for title, row in zip(titles, self.beside.shares[way], strict=True)
            },
            index=pd.Index(self.beside.names, name="token"),
        )

    def recipe(self) -> str:
        """A script that leaves `shares`, way -> for each place, how far each token is from what it is alone."""
        batch = self.beside.batch
        return script(recipe.shares_moved, **of_batch(batch, words=True), sites=layer_sites(batch.setting.model))
