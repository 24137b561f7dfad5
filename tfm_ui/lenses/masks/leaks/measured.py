"""Which outputs move when one token is changed, and which may: the measurement that all panels are about."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
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
    leaks,
    padding_mask,
    reach_by_layer,
)
from tfm_core.study.leaks import Hop
from tfm_core.study.ties import ties
from tfm_ui.jobs.exact import LEAKS
from tfm_ui.lenses.masks.leaks import recipe
from tfm_ui.lenses.masks.leaks.plan import Plan, everything, fitting, plan
from tfm_ui.lenses.masks.mask_code import mask_of
from tfm_ui.lenses.masks.masked_passes import AT_ONCE, at, in_full, influences, stream
from tfm_ui.lenses.masks.state import AS_COMPOSED, AS_PAINTED, MasksState, Setting, setting
from tfm_ui.live import passes
from tfm_ui.live.exact import MISSING, Exact
from tfm_ui.live.script import Code, of_model, script
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import KEPT_BY_GLIBC, NUMBER, weight_bytes
from tfm_ui.text import formats, token_labels

# Bytes for each number of a result that was computed in full: as it is kept and read, float64 in both orders of its
# axes, what moved, was allowed and leaked, and as two pictures.
OF_EACH = 48
RECIPES: dict[str, Callable[..., object]] = {
    "self": recipe.in_a_single_stack,
    "decoder": recipe.in_a_decoder,
    "cross": recipe.across,
}


@dataclass(frozen=True)
class Measurement:
    """What moved, and what may move. Behind each layer; tokens are those that were changed, `plan.places`.

    Attributes:
        setting: the sentence and its mask.
        state: the lens's controls.
        plan: which tokens are changed, and how often.
        influence: what was measured, (token, layer, output).
    """

    setting: Setting
    state: MasksState
    plan: Plan
    influence: Influence

    @property
    def is_part(self) -> bool:
        """Whether some tokens were not changed, so that nothing is known of them."""
        return len(self.plan.places) < len(self.setting.keys.ids)

    @property
    def of_part(self) -> str:
        """Which tokens a sentence is about, before it; "" if all of them."""
        many = formats.count(len(self.setting.keys.ids))
        source = "source " if self.setting.place == "cross" else ""
        return f"Of {many} {source}tokens {len(self.plan.places)} were changed." if self.is_part else ""

    @cached_property
    def moved(self) -> NDArray[np.float64]:
        """(layer, token, output)."""
        return np.asarray(self.influence.moved.movedim(1, 0).numpy())

    @property
    def layers(self) -> list[int]:
        """The numbers of the layers, from 1."""
        return list(range(1, len(self.moved) + 1))

    @property
    def promise(self) -> Tensor:
        """The mask that the test holds the model to, boolean (query, key)."""
        named = {AS_COMPOSED: self.setting.composed, AS_PAINTED: self.setting.mask}
        return named[self.state.promise] if self.state.promise in named else self.setting.of(self.state.promise)

    def way(self, mask: Tensor) -> list[Hop]:
        """The hops of information under this mask."""
        state = self.setting.model
        if self.setting.place != "cross":
            return hops(mask, state.num_layers)
        queries, source = len(self.setting.queries.ids), padding_mask(state.source_tokens.batch)[0, 0]
        return hops(causal_mask(queries), state.num_layers, cross=mask, encoder=source.expand(source.shape[-1], -1))

    def _reach(self, mask: Tensor) -> NDArray[np.bool_]:
        return np.asarray(reach_by_layer(self.way(mask), self.plan.places).mT.numpy())

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """(layer, token, output), what may move if nothing leaks."""
        return self._reach(self.promise)

    @cached_property
    def within(self) -> NDArray[np.bool_]:
        """(layer, token, output), what may move under the mask that the model got."""
        return self._reach(self.setting.mask)

    @cached_property
    def moves(self) -> NDArray[np.bool_]:
        """(layer, token, output), what moved by more than rounding."""
        return self.moved > self.influence.tolerance

    @cached_property
    def leaking_behind(self) -> NDArray[np.bool_]:
        """(layer, token, output), what moved and was not allowed to."""
        allowed = torch.from_numpy(self.allowed).mT
        return np.asarray(leaks(self.influence.moved.movedim(1, 0), allowed, self.influence.tolerance).numpy())

    @property
    def leaking(self) -> NDArray[np.bool_]:
        """(token, output), after the last layer."""
        return np.asarray(self.leaking_behind[-1])

    @cached_property
    def rows(self) -> list[str]:
        """A label per token that is changed."""
        names = token_labels.labels(self.setting.keys)
        return [names[place] for place in self.plan.places]

    @cached_property
    def columns(self) -> list[str]:
        """A label per output."""
        return token_labels.labels(self.setting.queries)

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
        places: list[int] = ties(leaking, self.influence.tolerance).tolist()
        return places

    def token(self, row: int) -> str:
        """A changed token by name: token 4 “on”."""
        of = "source " if self.setting.place == "cross" else ""
        return f"{of}token {self.plan.places[row] + 1} “{self.rows[row]}”"

    def output(self, column: int) -> str:
        """An output by name: output 3 “sat”."""
        return f"output {column + 1} “{self.columns[column]}”"

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        rows, columns = np.indices(self.leaking.shape).reshape(2, -1)
        changed, moved = (
            np.array(names, dtype=object) for names in (self.rows, self.columns)
        )  # each name is there once
        return pd.DataFrame(
            {
                "token": np.array(self.plan.places)[rows] + 1,
                "changed": pd.Series(changed[rows], dtype=object),
                "output": columns + 1,
                "moved": pd.Series(moved[columns], dtype=object),
                **{f"largest change after layer {i + 1}": layer.ravel() for i, layer in enumerate(self.moved)},
                "allowed": self.allowed[-1].ravel(),
                "leak": self.leaking.ravel(),
            }
        )

    def recipe(self) -> str:
        """A script that leaves `moved`, (token, layer, output); `allowed`, (output, token); `leaking`, as here."""
        under, model, places = self.setting, self.setting.model, self.plan.places
        promise = under.composition if self.state.promise == AS_COMPOSED else self.state.promise
        whole = places == tuple(range(len(places)))
        return script(
            RECIPES[under.place],
            **of_model(model) | {"mask": mask_of(under)},
            promise=Code("mask") if promise == AS_PAINTED else mask_of(under, promise),
            mask_site=at(under, "*", "mask"),
            sites=[stream(model, layer) for layer in range(model.num_layers)],
            places=range(len(places)) if whole else list(places),
            vocab_size=model.tokens_by.vocab_size,
            tries=self.plan.tries,
        )


def _run(model: ModelState, state: MasksState) -> tuple[Setting, Plan]:
    """What is run while the reader waits; quickly known."""
    asked = setting(model, state)
    fits, why = fitting(asked.model, asked.place)
    under = replace(asked, model=fits)
    return under, plan(under, state.tries, asked.model.longest, why)


def _run_in_full(model: ModelState, state: MasksState) -> tuple[Setting, Plan]:
    """All of what was asked for, as far as there is memory; quickly known."""
    asked = setting(model, state)
    fits, why = fitting(asked.model, asked.place, math.inf)
    under = replace(asked, model=fits)
    return under, everything(under, state.tries, asked.model.longest, why)


def all_of(model: ModelState, state: MasksState) -> Exact | None:
    """All of what is measured in part; None if nothing is left out."""
    (under, planned), (whole, everywhere) = _run(model, state), _run_in_full(model, state)
    if (planned.places, planned.tries, under.model) == (everywhere.places, everywhere.tries, whole.model):
        return None
    test, read, reads = in_full(whole, everywhere.tries), under.model.longest, whole.model.longest
    longer = f"{reads} in place of {read} wherever that stands, " if read != reads else ""
    places = f"range({len(everywhere.places)})"
    return Exact(
        job=LEAKS,
        argument=test,
        seconds=everywhere.seconds,
        numbers=test.numbers,
        needs=_bytes_of(whole, everywhere.tries)
        + 5 * 2 * NUMBER * test.numbers,  # and its copies on the way into the store
        by_hand=f"with {longer}places = {places} and tries = {everywhere.tries}",
    )


def plan_of(model: ModelState, state: MasksState) -> Plan:
    """Which tokens are changed, and how often, while the reader waits."""
    return _run(model, state)[1]


def measure_needs(model: ModelState, state: MasksState) -> int:
    """The bytes that the measurement takes: the model, also in float64; changed sentences side by side, whose streams
    after all layers are kept, and a layer's scores; or the pass of the page.
    """
    under, planned = _run(model, state)
    measured = _bytes_of(under, planned.tries)
    if state.whole and (exact := all_of(model, state)) and exact.is_named(state.whole):
        measured = max(measured, weight_bytes(model.config) + OF_EACH * exact.numbers)
    return max(passes.needs(model), measured)


def _bytes_of(setting: Setting, tries: int) -> int:
    """The bytes that it takes to run changed sentences, with the model."""
    fitted = setting.model
    config, tokens, double = fitted.config, fitted.longest, 2 * NUMBER
    rows = max(AT_ONCE, tries * tokens)
    streams = double * rows * ((2 * config.num_layers + 6) * config.d_model + 3 * fitted.hidden)
    of_encoder = 3 * tokens if fitted.is_encoder_decoder else 0
    scores = double * config.num_heads * tokens * (2 * rows + of_encoder)
    tables = 12 * NUMBER * tokens**2  # of all pairs: masks, and what is allowed after each layer
    of_sentences = streams + scores + tables
    kept = min(KEPT_BY_GLIBC, 2 * of_sentences)  # of those that have been run: more than the weights of a small model
    return max(3 * weight_bytes(config), kept) + of_sentences


def measure(model: ModelState, state: MasksState) -> Measurement:
    """The measurement beside what is allowed: all of it, if the link names it and the server has it."""
    exact = all_of(model, state) if state.whole else None
    if exact and (numbers := exact.shown(state.whole)):
        influence = Influence(numbers["moved"], float(numbers["largest"]))
        whole, everywhere = _run_in_full(model, state)
        return Measurement(whole, state, everywhere, influence)
    under, planned = _run(model, state)
    if exact and exact.is_named(state.whole):
        planned = replace(planned, aside=f"{MISSING} {planned.aside}")
    return Measurement(under, state, planned, influences(under, planned.places, planned.tries))
