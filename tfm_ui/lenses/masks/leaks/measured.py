"""Which outputs move when one token is changed, and which may: the measurement that all panels are about."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import (
    Influence,
    Tokens,
    Transformer,
    TransformerConfig,
    causal_mask,
    hops,
    influence,
    leaks,
    padding_mask,
    reach_by_layer,
)
from tfm_core.study.leak_test import streams
from tfm_core.study.leaks import Hop, influence_by_part
from tfm_core.study.ties import ties
from tfm_ui.jobs.exact import LEAKS
from tfm_ui.lenses.masks.leaks.plan import Plan, everything, fitting, plan
from tfm_ui.lenses.masks.mask_code import mask_of, of_sentence
from tfm_ui.lenses.masks.masked_passes import AT_ONCE, MasksPanel, at, attention_under, in_full, influences, stream
from tfm_ui.lenses.masks.state import AS_COMPOSED, AS_PAINTED, PREFIX, MasksState, Setting, setting
from tfm_ui.live import passes
from tfm_ui.live.exact import MISSING, Exact
from tfm_ui.live.script import Code, script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import Scale, powers_of_ten
from tfm_ui.pictures.maps import ABSENT, MAPS, MASKED, Axis, Map
from tfm_ui.pictures.panel import Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import KEPT_BY_GLIBC, NUMBER, is_mapped, weight_bytes
from tfm_ui.text import formats

# Bytes for each number of a result that was computed in full: as it is kept and read, float64 in both orders of its
# axes, what moved, was allowed and leaked, and as two pictures.
OF_EACH = 48


def _run(model: ModelState, state: MasksState, *, whole: bool = False) -> tuple[Setting, Plan]:
    """What is run while the reader waits, or all of what was asked for, as far as there is memory; quickly known."""
    asked = setting(model, state)
    fits, why = fitting(asked.model, asked.place, *[math.inf] * whole)
    under = replace(asked, model=fits)
    return under, (everything if whole else plan)(under, state.tries, asked.model.longest, why)


def all_of(model: ModelState, state: MasksState) -> Exact | None:
    """All of what is measured in part; None if nothing is left out."""
    (under, planned), (whole, everywhere) = _run(model, state), _run(model, state, whole=True)
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
    # A model in a file is widened layer by layer, see `in_float64`.
    widened = double * (4 * config.d_model + 3 * fitted.hidden) * config.d_model if is_mapped(config) else 0
    return max(3 * weight_bytes(config), kept) + widened + of_sentences


def measured_of(model: ModelState, state: MasksState) -> tuple[Setting, Plan, Influence | None]:
    """The sentence, what is run of it, and the result if it is kept: all of it, if the link names it."""
    exact = all_of(model, state) if state.whole else None
    if exact and (numbers := exact.shown(state.whole)):
        return *_run(model, state, whole=True), Influence(numbers["moved"], float(numbers["largest"]))
    under, planned = _run(model, state)
    if exact and exact.is_named(state.whole):
        planned = replace(planned, aside=f"{MISSING} {planned.aside}")
    return under, planned, None


def way_under(place: str, mask: Tensor, layers: int, source: Tensor) -> list[Hop]:
    """The hops of information under this mask; from the token ids of a source text first through its encoder."""
    if place != "cross":
        return hops(mask, layers)
    padding = padding_mask(source)[0, 0]  # in the encoder all tokens look at all that are no padding
    return hops(causal_mask(len(mask)), layers, cross=mask, encoder=padding.expand(padding.shape[-1], -1))


def outputs_moved(
    *,
    config: TransformerConfig,
    place: str,
    source: Tokens,
    target: Tokens,
    mask: Tensor,
    promise: Tensor,
    mask_site: str,
    sites: Sequence[str],
    places: Sequence[int],
    vocab_size: int,
    tries: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """How far outputs moved, (token, layer, output); which may, (output, token); the leaks, (token, output)."""
    model = Transformer(config).eval().double()  # in float64 effects of 1e-9 are more than rounding
    run = streams(model, place, source.batch, target.batch, mask=mask, mask_site=mask_site, sites=sites)
    text = target if place == "decoder" else source  # whose tokens are changed
    measured = influence(run, text.batch, vocab_size=vocab_size, tries=tries, places=places)
    moved = measured.moved  # (token, layer, output)
    allowed = reach_by_layer(way_under(place, promise, len(sites), source.batch), places)[-1]
    leaking = leaks(moved[:, -1], allowed, measured.tolerance)  # (token, output)
    return moved, allowed, leaking


class LeaksPanel(MasksPanel):
    """What moved, and what may move. Behind each layer; tokens are those that were changed, `plan.places`."""

    sources: Sequence[Source] = (influence_by_part, streams, hops, reach_by_layer)
    canvas = MAPS
    needs = measure_needs
    most_marked: ClassVar[int] = 4096
    """How many leaks a picture marks, of more those that move most."""

    @cached_property
    def _measured(self) -> tuple[Setting, Plan, Influence | None]:
        return measured_of(self.model, self.state)

    def aside(self) -> str:
        return self.plan.aside

    @cached_property
    def setting(self) -> Setting:
        """The sentence as far as it is read, and its mask."""
        return self._measured[0]

    @property
    def plan(self) -> Plan:
        """Which tokens are changed, and how often."""
        return self._measured[1]

    @cached_property
    def influence(self) -> Influence:
        """What was measured, (token, layer, output)."""
        return self._measured[2] or influences(self.setting, self.plan.places, self.plan.tries)

    @property
    def slow(self) -> bool:
        return self.plan.slow

    @property
    def tensors(self) -> Step:
        axes = ("layer", "changed token", "output")
        about = "how far each output moves at most when a token is changed, measured in float64"
        note = "What moved was measured, in passes with other tokens, and is taken as it is."
        may = "what may move, if nothing leaks"
        return attention_under(self.setting, self.layer).also(
            held("moved", axes, self.moved, about), held("allowed", axes, self.allowed, may), note=note
        )

    @property
    def is_part(self) -> bool:
        """Whether some tokens were not changed, so that nothing is known of them."""
        return len(self.plan.places) < len(self.setting.keys.ids)

    @property
    def of_part(self) -> str:
        """Which tokens a sentence is about, before it; "" if all of them."""
        many = formats.count(len(self.setting.keys.ids))
        return f"Of {many} {self.of_source}tokens {len(self.plan.places)} were changed." if self.is_part else ""

    @property
    def of_source(self) -> str:
        """What stands before "token" where those that are changed are another text's."""
        return "source " if self.setting.place == "cross" else ""

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
        model = self.setting.model
        return way_under(self.setting.place, mask, model.num_layers, model.source_tokens.batch)

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
        return [self.names[1][place] for place in self.plan.places]

    @cached_property
    def columns(self) -> list[str]:
        """A label per output."""
        return self.names[0]

    @property
    def locked_cell(self) -> tuple[int, int] | None:
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
        return f"{self.of_source}token {self.plan.places[row] + 1} “{self.rows[row]}”"

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

    def cells(self, layer: int) -> NDArray[np.float32]:
        """The changes after a layer: hatched where nothing was allowed and nothing moved, a frame where it was."""
        still = np.where(self.allowed[layer], ABSENT, MASKED)
        return np.where(self.moves[layer], self.moved[layer], still).astype(np.float32)

    @property
    def scale(self) -> Scale:
        """Powers of ten around all that moved, in any layer."""
        moved = self.moved[self.moves]
        low, top = (math.log10(number) for number in (moved.min(initial=1), moved.max(initial=0) or 1))
        return powers_of_ten(10.0 ** min(math.floor(low), math.ceil(top) - 1), 10.0 ** math.ceil(top))

    def crossed_out(self, layer: int, most: int) -> list[tuple[int, int]]:
        """The leaks after a layer that are crossed out, (token, output); of too many, those that moved most."""
        moved = self.moved[layer]
        rows, columns = np.nonzero(self.leaking_behind[layer])
        first = np.argsort(-moved[rows, columns])[:most]
        return list(zip(rows[first].tolist(), columns[first].tolist(), strict=True))

    def maps(self, drawn: Sequence[Map], crosses: Sequence[tuple[int, int, int]]) -> Content:
        """Maps of tokens and outputs, beside each other, with their crosses: (map, token, output)."""
        return maps.content(
            drawn,
            rows=Axis(self.rows, f"{self.of_source}token changed (row)", "token", "key"),
            columns=Axis(self.columns, "output moved (column)", "output", "result"),
            places=([place + 1 for place in self.plan.places], list(range(1, len(self.columns) + 1))),
            picked=self.locked_cell,
            asks=(f"{PREFIX}changed", f"{PREFIX}moved"),
            crosses=crosses,
            square=len(self.rows) == len(self.columns),
            blank="forbidden",
            absent="allowed, did not move",
            crossed="leak: forbidden",
        )

    def recipe(self) -> str:
        """A script that leaves `moved`, (token, layer, output); `allowed`, (output, token); `leaking`, as here."""
        under, model, places = self.setting, self.setting.model, self.plan.places
        promise = under.composition if self.state.promise == AS_COMPOSED else self.state.promise
        whole = places == tuple(range(len(places)))
        texts: dict[str, Any] = of_sentence(model)
        return script(
            outputs_moved,
            **texts | {"place": under.place, "mask": mask_of(under)},
            **{} if "target" in texts else {"target": Code("source  # a single stack reads no other text")},
            promise=Code("mask") if promise == AS_PAINTED else mask_of(under, promise),
            mask_site=at(under, "*", "mask"),
            sites=[stream(model, layer) for layer in range(model.num_layers)],
            places=range(len(places)) if whole else list(places),
            vocab_size=model.tokens_by.vocab_size,
            tries=self.plan.tries,
        )
