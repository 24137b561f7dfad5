"""Change one token: which outputs move, beside what the mask promises through all layers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import (
    Influence,
    causal_mask,
    hops,
    influence,
    leaks,
    padding_mask,
    reach_by_layer,
    reachability,
    replacements,
    route,
)
from tfm_core.study.leaks import Hop
from tfm_core.study.ties import ties
from tfm_ui.lenses.masks import passes as compute_masks
from tfm_ui.lenses.masks.leaks import plan as leaks_plan
from tfm_ui.lenses.masks.leaks import way as leaks_way
from tfm_ui.lenses.masks.leaks.plan import CROSSES, Plan
from tfm_ui.lenses.masks.setting import Setting
from tfm_ui.lenses.masks.state import AS_COMPOSED, AS_PAINTED, MasksState, setting
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words
from tfm_ui.text.tied import one_of

SOURCES = (influence, replacements, compute_masks.streams, reachability, reach_by_layer, hops, leaks, route)


@dataclass(frozen=True)
class Leaks:
    """What moved, and what may move. Behind each layer; tokens are those that were changed, `plan.places`.

    Attributes:
        setting: the sentence and its mask.
        state: the lens's controls.
        plan: which tokens are changed, and how often.
        found: what was measured, (token, layer, output).
    """

    setting: Setting
    state: MasksState
    plan: Plan
    found: Influence

    @cached_property
    def moved(self) -> NDArray[np.float64]:
        """(layer, token, output)."""
        return np.asarray(self.found.moved.movedim(1, 0).numpy())

    @property
    def promise(self) -> Tensor:
        """The mask that is promised, boolean (query, key)."""
        named = {AS_COMPOSED: self.setting.composed, AS_PAINTED: self.setting.mask}
        return named[self.state.promise] if self.state.promise in named else self.setting.of(self.state.promise)

    def way(self, mask: Tensor) -> list[Hop]:
        """The hops of information under this mask."""
        state = self.setting.model
        if self.setting.place != "cross":
            return hops(mask, state.num_layers)
        queries, source = len(self.setting.queries.ids), padding_mask(state.source_tokens.batch)[0, 0]
        seen = source.expand(source.shape[-1], -1)
        return hops(causal_mask(queries), state.num_layers, cross=mask, encoder=seen)

    def _reach(self, mask: Tensor) -> NDArray[np.bool_]:
        return np.asarray(reach_by_layer(self.way(mask), self.plan.places).mT.numpy())

    @cached_property
    def promised(self) -> NDArray[np.bool_]:
        """(layer, token, output), what may move if the promise is kept."""
        return self._reach(self.promise)

    @cached_property
    def within(self) -> NDArray[np.bool_]:
        """(layer, token, output), what may move under the mask that the model got."""
        return self._reach(self.setting.mask)

    @cached_property
    def moves(self) -> NDArray[np.bool_]:
        """(layer, token, output), what moved by more than rounding."""
        return self.moved > self.found.tolerance

    @cached_property
    def leaking_behind(self) -> NDArray[np.bool_]:
        """(layer, token, output), what moved and was not promised to."""
        promised = torch.from_numpy(self.promised).mT
        return np.asarray(leaks(self.found.moved.movedim(1, 0), promised, self.found.tolerance).numpy())

    @property
    def leaking(self) -> NDArray[np.bool_]:
        """(token, output), behind the last layer."""
        return np.asarray(self.leaking_behind[-1])

    @cached_property
    def rows(self) -> list[str]:
        """A label per token that is changed."""
        names = words.labels(self.setting.keys)
        return [names[place] for place in self.plan.places]

    @cached_property
    def columns(self) -> list[str]:
        """A label per output."""
        return words.labels(self.setting.queries)

    @property
    def locked(self) -> tuple[int, int] | None:
        """The locked cell, row and column from 0; None if there is none."""
        token, output = self.state.changed - 1, self.state.moved - 1
        there = token in self.plan.places and 0 <= output < len(self.columns)
        return (self.plan.places.index(token), output) if there else None

    @property
    def worst(self) -> tuple[int, int] | None:
        """The cell of the largest leak, or of the first of those that tie."""
        return divmod(self.largest[0], self.leaking.shape[1]) if self.largest else None

    @cached_property
    def largest(self) -> list[int]:
        """The places of all leaks that are as large as the largest, to rounding."""
        leaking = torch.from_numpy(np.where(self.leaking, self.moved[-1], np.nan))
        found: list[int] = ties(leaking, self.found.tolerance).tolist()
        return found

    def token(self, row: int) -> str:
        """ "token 4 “on”"."""
        of = "source " if self.setting.place == "cross" else ""
        return f"{of}token {self.plan.places[row] + 1} “{self.rows[row]}”"

    def output(self, column: int) -> str:
        """ "output 3 “sat”"."""
        return f"output {column + 1} “{self.columns[column]}”"

    def sentence(self) -> str:
        """What was found, and the way of the locked cell, or of the largest leak."""
        cell = self.locked or self.worst
        return " ".join(filter(None, [self._verdict(), self._unmoved(), self._about(*cell) if cell else ""]))

    def _verdict(self) -> str:
        moved, promised = self.moved[-1], self.promised[-1]
        if self.worst:
            row, column = self.worst
            promise, count = f"“{self.state.promise}” does", int(self.leaking.sum())
            if self.state.promise == AS_COMPOSED:
                promise = "the masks as composed do"
            alike = one_of(len(self.largest))
            more = f"; {look.count(count)} leaks in all, this is the largest{alike}" if count > 1 else ", the only leak"
            more += f", and {look.count(CROSSES)} are crossed out" if count > CROSSES else ""
            return (
                f"Leak: {self.output(column)} moves by up to {look.number(moved[row, column])} when {self.token(row)} "
                f"changes, which {promise} not promise{more}."
            )
        count, of_them = int(promised.sum()), look.count(int((self.moves[-1] & promised).sum()))
        of = f"of {look.count(count)} promised pair{'s' * (count != 1)} {of_them} moved"
        if promised.all():
            return f"No leak is possible, as everything is promised: {of}."
        most, rest = moved[~promised].max(), int((~promised).sum())
        none = f"none by more than {look.number(most)}, which is rounding" if most else "none at all"
        return f"No leak: {of}; of {look.count(rest)} other{'s' * (rest != 1)} {none}."

    def _unmoved(self) -> str:
        """What was promised and did not move: why."""
        still = self.promised[-1] & ~self.moves[-1]
        if not still.any():
            return ""
        hidden = int((still & ~self.within[-1]).sum())
        faint = int(still.sum()) - hidden
        said = [f"{look.count(hidden)} because the mask is stricter than the promise"] * bool(hidden)
        said += [f"{look.count(faint)} because what arrives is too small to tell from rounding"] * bool(faint)
        return f"Promised, but not moved: {' and '.join(said)}."

    def _about(self, row: int, column: int) -> str:
        """One cell, and how the token came to the output."""
        token, output, way = self.token(row), self.output(column), self.way(self.setting.mask)
        places = route(way, self.plan.places[row], column)
        if not places:
            return f"Locked: {token} does not move {output}, as no way leads there." if self.locked else ""
        by = look.number(self.moved[-1, row, column])
        by = f"by {by}" if self.moves[-1, row, column] else f"by no more than rounding ({by})"
        said = f"Locked: {token} moves {output} {by}. " if self.locked else ""
        return said + leaks_way.told(way, self.way(self.promise), places, token, self._place)

    def _place(self, hop: Hop, place: int) -> str:
        """What a hop writes to."""
        if hop.where == "encoder":
            return f"encoder output {place + 1} “{words.labels(self.setting.keys)[place]}”"
        return self.output(place)

    def laws(self) -> dict[str, bool]:
        """What was measured of the promise, of the mask itself, and of padding; nothing of what is not there."""
        laws = {}
        if not self.promised[-1].all():
            count = int(self.leaking.sum())
            found = f" ({look.count(count)} leak{'s' * (count > 1)})" if count else ""
            laws[f"every output that moved was promised{found}"] = not count
        if not self.within.all():
            most = float(self.moved[~self.within].max())
            laws[
                "what the mask keeps apart moves by rounding alone, in every layer: at most "
                f"{look.tiny(most)} (more than {look.tiny(self.found.tolerance)} counts as moved)"
            ] = most <= self.found.tolerance
        return laws | self._of_padding()

    def _of_padding(self) -> dict[str, bool]:
        """What a padding mask is there for."""
        real = len(self.setting.queries.pieces)
        pads = [row for row, place in enumerate(self.plan.places) if place >= len(self.setting.keys.pieces)]
        if not pads:
            return {}
        most = float(self.moved[-1, pads, :real].max())
        change = look.number(most) if most else "0"
        law = f"another token in place of a PAD moves no output of a real token (largest change {change})"
        return {law: most <= self.found.tolerance}

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        rows, columns = np.indices(self.leaking.shape).reshape(2, -1)
        return pd.DataFrame(
            {
                "token": np.array(self.plan.places)[rows] + 1,
                "changed": np.array(self.rows)[rows],
                "output": columns + 1,
                "moved": np.array(self.columns)[columns],
                **{f"largest change after layer {i + 1}": layer.ravel() for i, layer in enumerate(self.moved)},
                "promised": self.promised[-1].ravel(),
                "leak": self.leaking.ravel(),
            }
        )


def plan_of(model: ModelState, state: MasksState) -> Plan:
    """What is run; quickly known."""
    return leaks_plan.plan(setting(leaks_plan.fitting(model), state), state.tries, model.seq_len)


def view(model: ModelState, state: MasksState) -> Leaks:
    """The measurement beside the promise."""
    under, plan = setting(leaks_plan.fitting(model), state), plan_of(model, state)
    return Leaks(under, state, plan, compute_masks.influences(under, plan.places, plan.tries))
