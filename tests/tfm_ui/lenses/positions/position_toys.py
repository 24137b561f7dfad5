"""Small states of the Positions lens, and what their pictures hold, read back or computed cell by cell."""

import itertools
from dataclasses import replace

import numpy as np

from tfm_core import apply_rotary
from tfm_core.study.position_laws import drawn_pair
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import MEASURES, PositionsState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(seed=11)


def asks(a: str, b: str = "nothing", **more) -> PositionsState:
    return PositionsState(**{"a": a, "b": b, "view": "why", "length": 20, "max_len": 12, "width": 6, "heads": 3} | more)


def naive(name: str, state: PositionsState) -> np.ndarray:
    """The table position x position, cell by cell, in float64."""
    (scheme,) = schemes(MODEL, replace(state, a=name, b="nothing"))
    module, length = scheme.module, state.length
    if scheme.has("bias_at"):
        return module.bias(length, length)[state.head - 1].double().numpy()
    if scheme.has("encode"):
        known = min(length, state.max_len) if name == "learned" else length
        rows = others = module.encode(known).double()
    else:
        rows, others = (
            apply_rotary(x.double().expand(length, -1), base=state.base) for x in drawn_pair(scheme.width, 11)
        )
    table = np.full((length, length), np.nan)
    for m, n in itertools.product(range(len(rows)), repeat=2):
        dot, apart = rows[m] @ others[n], (rows[m] - others[n]).norm()
        table[m, n] = (dot if state.measure == MEASURES[0] else apart).item()
    return table
