"""`check_positional`: the table of sines and cosines, and the module that adds it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core.checks.callables import (
    CodeFailed,
    built,
    by_place,
    check_callable,
    guarded,
    meaning,
    parameters,
    tensors_in,
)
from tfm_core.checks.drawing import device_of, drawn_parameters, in_one_thread
from tfm_core.checks.judging import Trial, dropped, failed, is_right, misshapen, searched
from tfm_core.checks.report import Report
from tfm_core.checks.weights import width_of
from tfm_core.study.exercise import BATCH, Exercise

CHECK = "check_positional"
STEP = "positional encoding"
SEQ, WIDTH, ODD = 12, 16, 15


@in_one_thread
def check_positional(f: Any, *, hint: bool = False, seed: int = 0) -> Report:
    """Check the sines and cosines of Vaswani et al. 2017, section 3.5.

    Args:
        f: f(seq_len, d_model) -> (seq, d_model) or (1, seq, d_model); or a module, or its class, whose forward adds
            the table to x (batch, seq, d_model), or that returns the table, or has it as a buffer.
        hint: whether the report tells the symptom and the cure.
        seed: what the numbers are drawn from.

    Raises:
        ValueError: for what cannot be called.

    Examples:
        >>> from tfm_core import check_positional, sinusoidal_encoding
        >>> bool(check_positional(sinusoidal_encoding))
        True
    """
    check_callable(CHECK, f, "a function f(seq_len, d_model), a module or its class")
    try:
        made: Any = f
        if isinstance(f, type):
            made = built(CHECK, f, {"d_model": WIDTH, "context": 64, "dropout": 0.1})
        if isinstance(made, nn.Module):
            with drawn_parameters(made, seed), torch.no_grad():
                return _checked_module(made, hint, seed)
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            return _checked_function(f, hint)
    except CodeFailed as error:
        return failed(CHECK, hint, STEP, error)


def _exercise(width: int, seed: int = 0) -> Exercise:
    return Exercise(d_model=width, num_heads=1, seq=SEQ, mask="none", seed=seed)


def _table(f: Callable[..., Any], width: int) -> list[Tensor]:
    """What a function gives for a length and a width, in the order of its names."""
    names = [each.name for each in by_place(parameters(f) or [])]
    is_width_first = bool(names) and meaning(names[0]) == "d_model"
    return tensors_in(guarded(f, *((width, SEQ) if is_width_first else (SEQ, width))))


def _checked_function(f: Callable[..., Any], hint: bool) -> Report:
    given_back = _table(f, WIDTH)
    if not given_back or given_back[0].squeeze().shape != (SEQ, WIDTH):
        return misshapen(CHECK, hint, STEP, (SEQ, WIDTH), [tuple(each.shape) for each in given_back])
    trial = Trial(_exercise(WIDTH), {}, {STEP: given_back[0].reshape(SEQ, WIDTH).float()})
    judgement = searched([trial])
    if not judgement.ok:
        return judgement.report(CHECK, hint)
    try:
        odd = _table(f, ODD)
    except CodeFailed:
        return judgement.report(CHECK, hint, ("An odd d_model is refused.",))
    if not odd or odd[0].squeeze().shape != (SEQ, ODD):
        return judgement.report(CHECK, hint, ("An odd d_model gives another shape.",))
    of_odd = searched([Trial(_exercise(ODD), {}, {STEP: odd[0].reshape(SEQ, ODD).float()})])
    if not of_odd.ok:
        return of_odd.report(CHECK, hint, ("It is right for an even d_model, and not for an odd one.",))
    return judgement.report(CHECK, hint)


def _checked_module(module: nn.Module, hint: bool, seed: int) -> Report:
    width = width_of(module) or next((b.shape[-1] for b in module.buffers() if b.dim() > 1), WIDTH)
    x = torch.randn(BATCH, SEQ, width, generator=torch.Generator().manual_seed(seed))
    try:
        outputs = _of_module(module, x)
    except CodeFailed:
        # what reads something else than vectors may have its table as a buffer
        tables = [each for each in module.buffers() if each.dim() > 1 and each.squeeze().dim() == 2]
        if not tables:
            raise
        return _judged_table(tables[0].squeeze()[:SEQ].cpu(), width, hint)
    again = _of_module(module, x)
    if not outputs:
        return misshapen(CHECK, hint, "x", tuple(x.shape), [])
    report = dropped(CHECK, hint, "x", outputs[0], again[0])
    if report is not None:
        return report
    output = outputs[0].float()
    of_zeros = _of_module(module, torch.zeros_like(x))[0].float()
    if output.shape == of_zeros.shape and torch.equal(output, of_zeros):  # the table alone
        if output.squeeze().shape == (SEQ, width):
            return _judged_table(output.squeeze(), width, hint)
        if output.shape == x.shape and torch.equal(output[0], output[-1]):
            return _judged_table(output[0], width, hint)
    if output.shape != x.shape:
        return misshapen(CHECK, hint, "x", tuple(x.shape), [tuple(each.shape) for each in outputs])
    trials = [
        Trial(_exercise(width, seed), {"scaled embedding": x}, {"x": output}),
        Trial(_exercise(width, seed), {"scaled embedding": x * width**0.5}, {"x": output}, (SCALES,)),
    ]
    judgement = searched(trials)
    notes: tuple[str, ...] = ()
    if "positions along the batch" in judgement.names and _is_right_seq_first(module, judgement.trial):
        notes = ("It would be right for x of the shape (seq, batch, d_model); handed over was (batch, seq, d_model).",)
    if not judgement.ok and not judgement.names:
        judgement = replace(judgement, trial=replace(judgement.trial, notes=()))
    return judgement.report(CHECK, hint, notes)


SCALES = "It multiplies x by √d_model before it adds."


def _of_module(module: nn.Module, x: Tensor) -> list[Tensor]:
    return [each.cpu() for each in tensors_in(guarded(module, x.clone().to(device_of(module))))]


def _judged_table(table: Tensor, width: int, hint: bool) -> Report:
    if tuple(table.shape) != (SEQ, width):
        return misshapen(CHECK, hint, STEP, (SEQ, width), [tuple(table.shape)])
    return searched([Trial(_exercise(width), {}, {STEP: table.float()})]).report(CHECK, hint)


def _is_right_seq_first(module: nn.Module, trial: Trial) -> bool:
    starts: Mapping[str, Tensor] = trial.starts
    x = starts["scaled embedding"]
    try:
        (output, *_) = _of_module(module, x.transpose(0, 1).contiguous())
    except CodeFailed:
        return False
    return is_right(replace(trial, results={"x": output.transpose(0, 1).float()}))
