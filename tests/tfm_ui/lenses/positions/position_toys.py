"""Small states of the Positions lens, and what their pictures hold, read back or computed cell by cell."""

import itertools
from dataclasses import replace

import numpy as np

from tests.tfm_ui.payloads import decode
from tfm_core import apply_rotary
from tfm_core.study.position_laws import drawn_pair
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import MEASURES, PREFIX, PositionsState
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(seed=11)


def asks(a: str, b: str = "nothing", **more) -> PositionsState:
    return PositionsState(**{"a": a, "b": b, "view": "why", "length": 20, "max_len": 12, "width": 6, "heads": 3} | more)


def alone(a: str, **more) -> PositionsState:
    """A alone, in the sizes that the lens opens with."""
    return PositionsState(a=a, b="nothing", **more)


def drawn(name: str, state: PositionsState) -> tuple[dict, bytes]:
    """A picture as the browser gets it."""
    return decode(made(f"positions_{name}", query_of(((MODEL, ""), (state, PREFIX)))))


def cells(name: str, state: PositionsState) -> tuple[dict, np.ndarray]:
    header, numbers = drawn(name, state)
    values = np.frombuffer(numbers, np.float32)
    return header, values.reshape(-1, len(header["rows"]["names"]), len(header["columns"]["names"]))


def left_by(script: str) -> dict:
    scope: dict = {}
    exec(script, scope)
    return scope


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
