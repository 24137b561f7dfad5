"""The model of the sidebar under each scheme, all its other weights the same: maps of one head, scores by distance."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.model import recipe
from tfm_ui.lenses.positions.model_runs import PLAIN, run_schemes
from tfm_ui.lenses.positions.readings import HeadReading
from tfm_ui.lenses.positions.sites import site_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.weight_table import weight_table
from tfm_ui.live.script import of_model, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences, token_labels
from tfm_ui.text.ties import one_of_ties, places_of_largest


@dataclass(frozen=True)
class Maps(Result):
    """One head under each scheme.

    Attributes:
        model: the sidebar's.
        state: the lens's controls.
        heads: scheme -> the head under it, A and B first.
    """

    model: ModelState
    state: PositionsState
    heads: dict[str, HeadReading]

    @cached_property
    def names(self) -> list[str]:
        """A label per token, padding included."""
        return token_labels.labels(self.model.source_tokens)

    @property
    def read(self) -> int:
        """How many tokens the text has, without padding."""
        return len(self.model.source_tokens.pieces)

    @property
    def where(self) -> str:
        """Which head it is."""
        of = " of the encoder" if self.model.is_encoder_decoder else ""
        return f"layer {self.state.layer}, head {self.state.model_head}{of}"

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The rows that are tokens and have a choice."""
        first = next(iter(self.heads.values()))
        return np.flatnonzero(first.visible[: self.read].sum(-1) > 1)

    def elsewhere(self, name: str) -> float:
        """The share of a row's weight that stands elsewhere than without positions, averaged over `rows`."""
        if not len(self.rows):
            return 0.0
        apart = np.abs(self.heads[name].weights[self.rows] - self.heads[PLAIN].weights[self.rows])
        return float(apart.sum(-1).mean() / 2)

    def sentence(self) -> str:
        """Where A and B differ most, and how far each scheme is from none at all."""
        now = f"Positions in the sidebar’s model: {self.model.positional}."
        if not len(self.rows):
            return f"{now} {head_sentences.NO_CHOICE}"
        sides = [name for name in (self.state.a, self.state.b) if name in self.heads and name != PLAIN]
        names = list(dict.fromkeys(sides)) or [name for name in self.heads if name != PLAIN][:1]
        moved = [f"{name} moves {formats.percent(self.elsewhere(name))}" for name in names]
        if not moved:
            return f"{now} No other scheme is run, so there is nothing to compare “{PLAIN}” with."
        return (
            f"{now} {self._apart()}Compared with no positions, {formats.listed(moved)} of a row’s weight to other "
            f"tokens ({self._averaged()})."
        )

    def _averaged(self) -> str:
        """Which rows are averaged. Rows without a choice, as a causal model's first, are the same under any scheme."""
        if len(self.rows) == self.read:
            return f"mean of all rows of {self.where}"
        rows = f"mean of the {len(self.rows)} rows" if len(self.rows) > 1 else "the one row"
        return f"{rows} of {self.where} with a choice"

    def _apart(self) -> str:
        """The pair of tokens whose weights differ most between A and B."""
        a, b = self.state.a, self.state.b
        if a == b or not {a, b} <= set(self.heads):
            return ""
        under_a, under_b = self.heads[a].weights, self.heads[b].weights
        most = places_of_largest(np.abs(under_a - under_b)[self.rows], size=float(max(under_a.max(), under_b.max())))
        row, key = divmod(most[0], under_a.shape[1])
        query = self.rows[row]
        return (
            f"A and B differ most where “{self.names[query]}” looks at “{self.names[key]}”{one_of_ties(len(most))}: "
            f"{formats.share(under_a[query, key])} under {a}, {formats.share(under_b[query, key])} under {b}. "
        )

    def laws(self) -> dict[str, bool]:
        """What the schemes have in common."""
        off = max(float(np.abs(head.weights[: self.read].sum(-1) - 1).max()) for head in self.heads.values())
        plain = self.model.varied(positional=PLAIN).config
        shared = {name: model_runs.shared_weights(replace(plain, positional=name), plain) for name in self.heads}
        total = next(iter(shared.values())).of
        added = [
            f"{name} adds {formats.plural(weights.added, 'tensor')}"
            for name, weights in shared.items()
            if weights.added
        ]
        fewest = min(weights.alike for weights in shared.values())
        same = f"all {total}" if fewest == total else f"{fewest} of {total}"
        return {
            f"{same} weight tensors of the model without positions are the same under each scheme, bit for bit"
            + (f" ({', '.join(added)})" if added else ""): fewest == total,
            f"each row sums to 1 under each scheme (largest error {formats.tiny(off)})": off < 1e-5,
        }

    def table(self) -> pd.DataFrame:
        """A row per pair of tokens, a column per scheme; what the mask forbids is left out."""
        return weight_table(self.heads, self.names[: self.read])

    def recipe(self) -> str:
        """A script that leaves `weights` and `scores`, scheme -> (query, key)."""
        sites = tuple(site_of(self.model, self.state.layer - 1, what) for what in ("weights", "scores"))
        return script(
            recipe.maps, **of_model(self.model), schemes=tuple(self.heads), sites=sites, head=self.state.model_head - 1
        )


@dataclass(frozen=True)
class Distances(Result):
    """The mean score of the same head at each distance."""

    maps: Maps

    def sentence(self) -> str:
        """How the mean score falls or rises with distance, under A and B."""
        heads = self.maps.heads
        first = next(iter(heads.values())).by_distance
        near = int(first.distance.abs().argmin())
        far = int(first.distance.abs().argmax())
        pairs = int(first.pairs.sum())
        if near == far:
            return f"{formats.plural(pairs, 'pair')}, at one distance alone: nothing to compare."
        said = []
        for name in (name for name in heads if name in self.maps.state.sides):
            mean = heads[name].by_distance.mean
            said.append(f"from {formats.number(mean[near].item())} to {formats.number(mean[far].item())} under {name}")
        return (
            f"From a distance of {_tokens(int(first.distance[near]))} to one of {_tokens(int(first.distance[far]))} "
            f"the mean score goes {formats.listed(said)}. Far distances have few pairs: {int(first.pairs[far])} at "
            f"{_tokens(int(first.distance[far]))}, of {formats.count(pairs)} in all."
        )

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        heads = self.maps.heads
        first = next(iter(heads.values())).by_distance
        columns = {f"mean score, {name}": head.by_distance.mean.numpy() for name, head in heads.items()}
        index = pd.Index(first.distance.numpy(), name="query − key")
        return pd.DataFrame({"pairs": first.pairs.numpy(), **columns}, index=index)

    def recipe(self) -> str:
        """A script that leaves `by_distance`, scheme -> what `mean_by_distance` gives."""
        model, state = self.maps.model, self.maps.state
        return script(
            recipe.distances,
            **of_model(model),
            schemes=tuple(self.maps.heads),
            site=site_of(model, state.layer - 1, "scores"),
            head=state.model_head - 1,
            read=self.maps.read,
            looks_back_only=model.looks_back_only and not model.is_encoder_decoder,
        )


def maps(model: ModelState, state: PositionsState) -> Maps:
    """The chosen head under each scheme that is run."""
    heads = {
        name: model_runs.one_head(model.varied(positional=name), state.layer - 1, state.model_head - 1)
        for name in run_schemes(model, state)
    }
    return Maps(model, state, heads)


def _tokens(distance: int) -> str:
    ahead = " ahead" if distance < 0 else ""
    return formats.plural(abs(distance), "token") + ahead
