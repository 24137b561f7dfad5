"""What the exercise gives: in words, and as files to take along."""

import io
from functools import partial
from html import escape
from typing import Any

import numpy as np
import streamlit as st
from safetensors.torch import save
from torch import Tensor

from tfm_core.study.diagnosis import ASKED
from tfm_core.study.exercise import NORM_EPS, Exercise, given
from tfm_core.study.steps import STEPS, Steps
from tfm_ui.lenses.clinic.state import ClinicState
from tfm_ui.live.cache import cached, never
from tfm_ui.pictures.panel import Block
from tfm_ui.state.model_state import ModelState

DIGITS = 6  # of numbers in lines to paste


@cached(heavy=never)
def files(exercise: Exercise) -> dict[str, tuple[bytes, str]]:
    """The exercise as files: name -> (content, MIME type)."""
    tensors = taken(exercise)
    arrays = io.BytesIO()
    np.savez(arrays, allow_pickle=False, **{name: tensor.numpy() for name, tensor in tensors.items()})
    octets = "application/octet-stream"
    return {
        "exercise.npz": (arrays.getvalue(), octets),
        "exercise.safetensors": (save(tensors), octets),
        "exercise.py": (lines(exercise).encode(), "text/x-python"),
    }


def taken(exercise: Exercise) -> dict[str, Tensor]:
    """What the exercise gives: ids, weights, the layer's input x and the mask, by name."""
    steps = Steps(exercise)
    tensors = {name: tensor.contiguous() for name, tensor in given(exercise).items()}
    return {**tensors, "x": steps.value("x").float(), "mask": steps.value("mask").contiguous()}


def lines(exercise: Exercise) -> str:
    """The exercise as lines of Python, to paste."""
    said = [
        f"# {exercise}",
        f"# Weights are (out, in): y = x @ W.T + b. LayerNorm's eps is {NORM_EPS}.",
        "import torch",
        "",
    ]
    for name, tensor in taken(exercise).items():
        numbers = tensor.tolist() if not tensor.is_floating_point() else _rounded(tensor.tolist())
        said.append(f"{name} = torch.tensor({numbers})")
    return "\n".join(said) + "\n"


def _rounded(numbers: Any) -> Any:
    return [_rounded(each) for each in numbers] if isinstance(numbers, list) else float(f"{numbers:.{DIGITS}g}")


def what_is_given(model: ModelState, state: ClinicState) -> Block:
    """What the exercise is, and its files."""
    return partial(_draw_given, state.exercise)


def draw_files(exercise: Exercise) -> None:
    """The exercise to take along: buttons in a row."""
    for name, (content, mime) in files(exercise).items():
        ending = name.partition(".")[2]
        st.download_button(f".{ending}", content, name, mime, on_click="ignore", key=f"clinic_{ending}")
    menu = st.popover("Lines to paste", type="tertiary", on_change="rerun", key="clinic_lines")
    if menu.open:
        menu.code(lines(exercise), wrap_lines=True)


def _draw_given(exercise: Exercise) -> None:
    with st.container(border=True, key="clinic_given"):
        st.html(f'<div class="phead"><h2>The exercise</h2></div><p class="said">{escape(in_words(exercise))}</p>')
        steps = Steps(exercise)
        rows = [
            f'<tr><th scope="row">{escape(step)}</th><td data-label="shape"><div>'
            f"{' × '.join(map(str, steps.value(step).shape)) or 'a number'}</div></td>"
            f'<td data-label="what it is"><div>{escape(STEPS[step].about)}</div></td></tr>'
            for step in ASKED
            if STEPS[step].about
        ]
        head = "<thead><tr><th>What can be handed in</th><th>shape</th><th>what it is</th></tr></thead>"
        st.html(f'<table class="schemes">{head}<tbody>{"".join(rows)}</tbody></table>')


def in_words(exercise: Exercise) -> str:
    """The exercise in sentences."""
    positions = {
        "sines": "sines and cosines are added",
        "RoPE": "RoPE turns queries and keys, halves paired",
        "ALiBi": "ALiBi is added to the scores",
    }[exercise.positional]
    hidden = {
        "causal and padding": "No query may see a later token or padding.",
        "causal": "No query may see a later token.",
        "padding": "No query may see padding.",
        "none": "Nothing is hidden.",
    }[exercise.mask]
    where = "before each sub-layer, and after the last" if exercise.norm == "pre" else "after each residual connection"
    past = f" The first {exercise.cached} tokens are keys and values alone." if exercise.cached else ""
    activation = {"gelu": "GELU", "relu": "ReLU"}[exercise.activation]
    return (
        f"Two sentences of {exercise.seq} tokens (the second ends in padding, id 0, where padding is hidden); "
        f"embedding times √{exercise.d_model}; {positions}; a layer of d_model {exercise.d_model}, "
        f"{exercise.num_heads} heads, {activation}, LayerNorm {where}, ε = {NORM_EPS}. "
        f"{hidden}{past} Weights are (out, in): y = x @ W.T + b. The file has all weights, ids, the mask (True = may "
        "attend) and x, the layer’s input, so that you may begin at any step."
    )
