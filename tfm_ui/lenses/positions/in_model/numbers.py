"""The model of the sidebar under each scheme, all its other weights the same: maps of one head, scores by distance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import POSITIONAL, MultiHeadAttention, attention_scores, attention_weights
from tfm_core.model.initialization import fill_parameters
from tfm_core.study.analysis import mean_by_distance
from tfm_ui.lenses.positions import model_runs, readings
from tfm_ui.lenses.positions.readings import HeadSeen
from tfm_ui.lenses.positions.state import NOTHING, PositionsState
from tfm_ui.live import passes
from tfm_ui.live.origins import Heads, Origin
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words
from tfm_ui.text.tied import one_of, tied

SOURCES = (
    readings.read,
    readings.shared,
    MultiHeadAttention.forward,
    attention_scores,
    attention_weights,
    fill_parameters,
)
DISTANCE_SOURCES = (mean_by_distance, readings.see, Heads.with_scores, Origin.scores, attention_scores)
ALL_UP_TO = 2**23  # weights of a pass, up to which all schemes are run: they take a second or two together
PLAIN = "none"  # the scheme that the others are compared with


def sides(state: PositionsState) -> dict[str, str]:
    """Scheme -> "A" or "B"; nothing is both."""
    return ({} if state.b == NOTHING else {state.b: "B"}) | {state.a: "A"}


def title_of(name: str, state: PositionsState) -> str:
    """ "A: rope", or the name alone."""
    side = sides(state).get(name)
    return f"{side}: {name}" if side else name


def shown(model: ModelState, state: PositionsState) -> list[str]:
    """The schemes that are run, A and B first; of a model that takes long, these and what they are compared with."""
    first = sorted(sides(state), key=lambda name: sides(state)[name])
    rest = [name for name in POSITIONAL if name not in first]
    if model.num_layers * model.num_heads * model.seq_len**2 > ALL_UP_TO:
        rest = [name for name in rest if name == PLAIN]
    return [name for name in (*first, *rest) if not passes.too_large(replace(model, positional=name))]


def left_out(model: ModelState, state: PositionsState) -> str:
    """Which schemes are not run, in a sentence; "" if all are."""
    names = shown(model, state)
    left = [name for name in POSITIONAL if name not in names]
    if not left:
        return ""
    size = (
        f"{look.plural(model.num_layers, 'layer')} of {look.plural(model.num_heads, 'head')} on {model.seq_len} tokens"
    )
    run = f"run are {look.listed(names)}, left out {look.listed(left)}"
    return f"A pass through {size} takes long: {run}. Pin others as A and B."


@dataclass(frozen=True)
class InModel:
    """One head under each scheme.

    Attributes:
        model: the sidebar's.
        state: the lens's controls.
        heads: scheme -> what was seen, A and B first.
    """

    model: ModelState
    state: PositionsState
    heads: dict[str, HeadSeen]

    @cached_property
    def names(self) -> list[str]:
        """A label per token, padding included."""
        return words.labels(self.model.source_tokens)

    @property
    def titles(self) -> list[str]:
        """Of the schemes."""
        return [title_of(name, self.state) for name in self.heads]

    @property
    def where(self) -> str:
        """Which head it is."""
        of = " of the encoder" if self.model.is_encoder_decoder else ""
        return f"layer {self.state.layer}, head {self.state.model_head}{of}"

    @property
    def top(self) -> float:
        """The largest weight under any scheme."""
        return max(float(seen.weights.max()) for seen in self.heads.values())

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The rows that are tokens and have a choice."""
        seen = next(iter(self.heads.values()))
        read = len(self.model.source_tokens.pieces)
        return np.flatnonzero(seen.visible[:read].sum(-1) > 1)

    def elsewhere(self, name: str) -> float:
        """The share of a row's weight that stands elsewhere than without positions, averaged over `rows`."""
        if not len(self.rows):
            return 0.0
        apart = np.abs(self.heads[name].weights[self.rows] - self.heads[PLAIN].weights[self.rows])
        return float(apart.sum(-1).mean() / 2)

    def about_maps(self) -> str:
        """Where A and B differ most, and how far each scheme is from none at all."""
        now = f"Positions in the sidebar’s model: {self.model.positional}."
        if not len(self.rows):
            return f"{now} {words.NO_CHOICE}"
        moved = [f"{look.percent(self.elsewhere(name))} under {name}" for name in self.heads if name != PLAIN]
        if not moved:
            return f"{now} Nothing beside {PLAIN} is run, to be compared with it."
        return (
            f"{now} {self._apart()}Compared with no positions, {self._averaged()} has on average "
            f"{look.listed(moved)} of its weight elsewhere."
        )

    def _averaged(self) -> str:
        """Of which rows an average is: rows without a choice, as a causal model's first, are the same in any scheme."""
        left = len(self.model.source_tokens.pieces) - len(self.rows)
        if not left:
            return f"a row of {self.where}"
        which = f"one of the {len(self.rows)} rows" if len(self.rows) > 1 else "the one row"
        return f"{which} of {self.where} with a choice"

    def _apart(self) -> str:
        """The pair that A and B see most differently."""
        a, b = self.state.a, self.state.b
        if a == b or not {a, b} <= set(self.heads):
            return ""
        one, other = self.heads[a].weights, self.heads[b].weights
        most = tied(np.abs(one - other)[self.rows], size=float(max(one.max(), other.max())))
        row, key = divmod(most[0], one.shape[1])
        query = self.rows[row]
        return (
            f"A and B differ most where “{self.names[query]}” looks at “{self.names[key]}”{one_of(len(most))}: "
            f"{look.share(one[query, key])} under {a}, {look.share(other[query, key])} under {b}. "
        )

    def laws(self) -> dict[str, bool]:
        """What the schemes have in common."""
        read = len(self.model.source_tokens.pieces)
        off = max(float(np.abs(seen.weights[:read].sum(-1) - 1).max()) for seen in self.heads.values())
        plain = replace(self.model, positional=PLAIN).config
        found = {name: model_runs.shared(replace(plain, positional=name), plain) for name in self.heads}
        of = next(iter(found.values())).of
        added = [f"{name} adds {look.plural(own.added, 'tensor')}" for name, own in found.items() if own.added]
        all_of_them = all(own.alike == own.of for own in found.values())
        fewest = min(own.alike for own in found.values())
        same = f"all {of}" if all_of_them else f"{fewest} of {of}"
        return {
            f"{same} weight tensors of the model without positions are the same under each scheme, bit for bit"
            + (f" ({', '.join(added)})" if added else ""): all_of_them,
            f"each row sums to 1 under each scheme (largest error {look.tiny(off)})": off < 1e-5,
        }

    def about_distance(self) -> str:
        """How the mean score falls or rises with distance, under A and B."""
        some = next(iter(self.heads.values())).by_distance
        near = int(some.distance.abs().argmin())
        far = int(some.distance.abs().argmax())
        pairs = int(some.pairs.sum())
        if near == far:
            return f"{look.plural(pairs, 'pair')}, at one distance alone: nothing to compare."
        said = []
        for name in (name for name in self.heads if name in sides(self.state)):
            mean = self.heads[name].by_distance.mean
            said.append(f"from {look.number(mean[near].item())} to {look.number(mean[far].item())} under {name}")
        return (
            f"From a distance of {_tokens(int(some.distance[near]))} to one of {_tokens(int(some.distance[far]))} the "
            f"mean score goes {look.listed(said)}. Far distances have few pairs: {int(some.pairs[far])} at "
            f"{_tokens(int(some.distance[far]))}, of {look.count(pairs)} in all."
        )

    def maps_table(self) -> pd.DataFrame:
        """A row per pair of tokens, a column per scheme; what the mask forbids is left out."""
        some, read = next(iter(self.heads.values())), len(self.model.source_tokens.pieces)
        return pairs_table({name: seen.weights for name, seen in self.heads.items()}, some.visible, self.names[:read])

    def distance_table(self) -> pd.DataFrame:
        """A row per distance."""
        some = next(iter(self.heads.values())).by_distance
        columns = {f"mean score, {name}": seen.by_distance.mean.numpy() for name, seen in self.heads.items()}
        index = pd.Index(some.distance.numpy(), name="query − key")
        return pd.DataFrame({"pairs": some.pairs.numpy(), **columns}, index=index)


def pairs_table(
    weights: Mapping[str, NDArray[np.float32]], visible: NDArray[np.bool_], names: Sequence[str]
) -> pd.DataFrame:
    """A row per pair of tokens that may look, a column per map of weights; of half a million pairs, too.

    Args:
        weights: name -> (query, key).
        visible: boolean (query, key).
        names: of the tokens; what lies beyond them is padding.
    """
    queries, keys = np.nonzero(visible[: len(names), : len(names)])
    dtype = pd.CategoricalDtype(list(names))
    tokens = {what: pd.Categorical.from_codes(at, dtype=dtype) for what, at in (("query", queries), ("key", keys))}
    return pd.DataFrame({**tokens, **{f"weight, {name}": map_[queries, keys] for name, map_ in weights.items()}})


def _tokens(distance: int) -> str:
    ahead = " ahead" if distance < 0 else ""
    return look.plural(abs(distance), "token") + ahead


def view(model: ModelState, state: PositionsState) -> InModel:
    """The chosen head under each scheme that is shown."""
    heads = {
        name: model_runs.head_seen(replace(model, positional=name), state.layer - 1, state.model_head - 1)
        for name in shown(model, state)
    }
    return InModel(model, state, heads)
