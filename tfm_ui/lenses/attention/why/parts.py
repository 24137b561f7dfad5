"""Scores, written vectors and logits of the sidebar's model in parts: which sources are named, what has been opened."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_core.study.attribution.logits import LogitParts, last_place, logit_direction, logit_parts
from tfm_core.study.attribution.scores import ScoreParts, key_direction, query_direction, score_parts, value_direction
from tfm_core.study.attribution.sources import CROSS, Source
from tfm_core.study.attribution.streams import Place, place_of
from tfm_core.study.attribution.values import WrittenParts, written_parts
from tfm_ui.lenses.attention.trail import At
from tfm_ui.lenses.attention.why.streams import ranked, streams
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState

NAMED = 8  # sources of a side that have a row or a column for themselves


@dataclass(frozen=True)
class Named:
    """Which sources of a side are named, and which are summed.

    Attributes:
        sources: those that have a name on screen, in the order of the model.
        at: their numbers among all.
        rest: the numbers of the others.
    """

    sources: tuple[Source, ...]
    at: list[int]
    rest: list[int]

    @property
    def names(self) -> list[str]:
        """What rows or columns are called: the others have one together, if there are any."""
        return [source.name for source in self.sources] + [f"the other {len(self.rest)}, summed"] * bool(self.rest)

    @property
    def shorts(self) -> list[str]:
        """The same in short."""
        return [source.short for source in self.sources] + [f"{len(self.rest)} others"] * bool(self.rest)

    @property
    def codes(self) -> list[str]:
        """What a click on each writes into the link; the others together cannot be chosen."""
        return [source.code for source in self.sources] + [""] * bool(self.rest)

    def summed(self, values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        """The values of the named sources along an axis, and then the sum of the others, if there are any."""
        named = np.take(values, self.at, axis)
        if not self.rest:
            return named
        others = np.take(values, self.rest, axis).sum(axis, keepdims=True)
        return np.concatenate([named, others], axis)


def named(sources: Sequence[Source], sizes: NDArray[np.float64], most: int = NAMED) -> Named:
    """The sources of the largest sizes, as many as have room, in the order of the model; the others become a sum."""
    count = len(sources) if len(sources) <= most + 1 else most
    at = sorted(np.argsort(-sizes, kind="stable")[:count].tolist())
    chosen = set(at)
    return Named(tuple(sources[i] for i in at), at, [i for i in range(len(sources)) if i not in chosen])


@cached()
def parts_of(model: ModelState, kind: str, layer: int, head: int, query: int, key: int) -> ScoreParts:
    """One score of the sidebar's model in parts; all numbers from 0. Shared: never write into it."""
    recorded = streams(model)
    return score_parts(recorded, place_of(recorded.model, kind, layer), head=head, query=query, key=key)


@cached()
def written_of(model: ModelState, kind: str, layer: int, head: int, query: int) -> WrittenParts:
    """What a head wrote at a query, by key and source; all numbers from 0. Shared: never write into it."""
    recorded = streams(model)
    weights = torch.from_numpy(passes.run(model).attention[kind].exact(layer, head)[query].copy())
    return written_parts(recorded, place_of(recorded.model, kind, layer), head=head, weights=weights)


@dataclass(frozen=True)
class Opening:
    """A source on one side of a cell, and where it leads: what a head gave is split into what it got.

    Attributes:
        trail: the cells that were opened one after another; the last is that of the head that reads, and says on which
            side. All its numbers count from 1.
        source: what is read there.
    """

    trail: tuple[At, ...]
    source: Source

    @property
    def cell(self) -> At:
        """The cell of the head that reads."""
        return self.trail[-1]

    @property
    def position(self) -> int:
        """The token at which the source wrote, from 0."""
        return (self.cell.query if self.cell.side in "ql" else self.cell.key) - 1

    @property
    def kind(self) -> str:
        """The kind of attention of the source's head, as in the lens's state."""
        if self.source.kind == CROSS:
            return "cross"
        return self.source.stack or "encoder"

    def direction(self, model: ModelState) -> torch.Tensor:
        """What the reading head asks of what the source wrote, float64 (d_model): for its score, or for its output."""
        recorded, cell = streams(model), self.cell
        if cell.side == "l":
            return logit_asks(model, self.source, cell)
        kind = kind_in(model, cell.kind)
        place = place_of(recorded.model, kind, cell.layer - 1)
        layer, head, query, key = cell.numbers
        if cell.side == "v":
            asked = asked_of_output(model, self.trail[:-1], cell)
            weight = float(passes.run(model).attention[kind].exact(layer, head)[query, key])
            direction = weight * value_direction(recorded, place, head, key, asked)
        else:
            asks = query_direction if cell.side == "k" else key_direction
            direction = asks(recorded, place, head, query, key)
        read: Place = place if cell.side == "q" else recorded.read_by_keys(place)
        return recorded.asked_of(self.source, read, self.position, direction)

    def given(self, model: ModelState) -> NDArray[np.float64]:
        """What the source's head gave of it, by key and by source: float64 (key, source)."""
        source = self.source
        parts = written_of(model, kind_in(model, self.kind), source.layer, source.head, self.position)
        return parts.along(self.direction(model)).numpy()

    def opened(self, model: ModelState) -> At:
        """The cell of the source's head in which it got most of what it gave."""
        by_key = np.abs(self.given(model).sum(1))
        return At(self.kind, self.source.layer + 1, self.source.head + 1, self.position + 1, int(by_key.argmax()) + 1)


def logit_asks(model: ModelState, source: Source, cell: At) -> torch.Tensor:
    """What the logit of a trail asks of what a source wrote at its token, float64 (d_model)."""
    recorded, position = streams(model), cell.query - 1
    token, minus = tokens_by_rank(model, position, cell.layer, cell.head)
    end = last_place(recorded.model)
    norm = recorded.norm_before(end, [position])
    asked = logit_direction(recorded.model, token, minus)
    return recorded.asked_of(source, end, position, asked if norm is None else norm.pulled(asked[None])[0])


@cached()
def logit_of(model: ModelState, position: int, rank: int, against: int) -> LogitParts:
    """A logit by rank, minus that of another, in parts. Shared: never write into it."""
    token, minus = tokens_by_rank(model, position, rank, against)
    return logit_parts(streams(model), position=position, token=token, minus=minus)


def tokens_by_rank(model: ModelState, position: int, rank: int, against: int) -> tuple[int, int | None]:
    """The id of the next token of a rank, and that of the one whose logit is subtracted; None if there is none."""
    ids, _ = ranked(model, position)
    token = ids[min(rank, len(ids)) - 1]
    minus = ids[against - 1] if 0 < against <= len(ids) else token
    return token, None if minus == token else minus


def sources_at(model: ModelState, cell: At) -> Sequence[Source]:
    """The sources that can be opened on the side of a trail's cell."""
    if cell.side == "l":
        return logit_of(model, cell.query - 1, cell.layer, cell.head).sources
    parts = parts_of(model, kind_in(model, cell.kind), *cell.numbers)
    return parts.query_side if cell.side == "q" else parts.key_side


def opened_from(model: ModelState, trail: Sequence[At], cell: At) -> Opening | None:
    """The opening that led to a cell; None if the last cell of the trail does not read what this head wrote here."""
    if not trail:
        return None
    for source in sources_at(model, trail[-1]):
        opening = Opening(tuple(trail), source)
        wrote = opening.kind, source.layer + 1, source.head + 1, opening.position + 1
        if source.is_head and wrote == cell[:4]:
            return opening
    return None


def asked_of_output(model: ModelState, trail: Sequence[At], cell: At) -> torch.Tensor:
    """Along which direction, float64 (d_model), a head's output is read at a cell: what the cell from which it was
    opened asked for; otherwise that of the whole output, as a unit vector.
    """
    if opening := opened_from(model, trail, cell):
        return opening.direction(model)
    layer, head, query, _ = cell.numbers
    written = written_of(model, kind_in(model, cell.kind), layer, head, query).written
    length = written.norm()
    return written / length if length > 0 else written


def why_no_logit(model: ModelState) -> str:
    """Why no logit of this model can be split; "" if it can."""
    if not model.gives_logits:
        return model.no_logits
    if model.config.head != "logits":
        return (
            "A dense layer with an activation stands between the last vectors of this model and its logits: through "
            "it, a logit is no sum over sources."
        )
    return ""


def kind_in(model: ModelState, kind: str) -> str:
    """The kind of attention as the library calls it: in a single stack it is "self"."""
    return kind if model.is_encoder_decoder else "self"
