"""`check_layer_norm`: mean, variance, epsilon, gain and shift of a layer normalization."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core.checks.callables import CodeFailed, built, check_callable, guarded, meaning, parameters, plain, tensors_in
from tfm_core.checks.drawing import device_of, drawn_parameters, in_one_thread
from tfm_core.checks.judging import SEQ, Trial, dropped, failed, is_right, misshapen, searched
from tfm_core.checks.report import Report
from tfm_core.study.exercise import BATCH, Exercise
from tfm_core.study.mistakes import MISTAKES

CHECK = "check_layer_norm"
STEP = "attention input"  # of a pre-norm layer: LayerNorm(x)
WIDTH = 16
EPSILONS = (
    1e-5,
    1e-6,
    1e-12,
    1e-3,
    1e-8,
    torch.finfo(torch.float32).eps,
)  # the usual ones, where code does not tell its
GAINS = frozenset("a2 gamma weight gain g scale alpha w a".split())
SHIFTS = frozenset("b2 beta bias shift b offset".split())
NO_NORMS = frozenset(name for name, mistake in MISTAKES.items() if mistake.about == "layer")


@in_one_thread
def check_layer_norm(f: Any, *, hint: bool = False, seed: int = 0) -> Report:
    """Check (x − mean) / √(variance + ε) × gain + shift, over the last axis of x (batch, seq, d_model).

    Args:
        f: f(x), f(x, gain, shift, eps), a module or its class. Epsilon is read from the module's eps, epsilon or
            variance_epsilon, or handed over, or the usual one under which the code is right.
        hint: whether the report tells the symptom and the cure.
        seed: what the numbers are drawn from.

    Raises:
        ValueError: for what cannot be called.

    Examples:
        >>> import torch
        >>> from tfm_core import check_layer_norm
        >>> bool(check_layer_norm(torch.nn.LayerNorm(16)))
        True
    """
    check_callable(CHECK, f, "a function f(x), a module or its class")
    try:
        if isinstance(f, (nn.Module, type)):
            module = built(CHECK, f, {"d_model": WIDTH, "eps": 1e-5, "dropout": 0.0, "context": SEQ})
            with drawn_parameters(module, seed), torch.no_grad():
                return _checked_module(module, hint, seed)
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed)
            return _checked_function(f, hint, seed)
    except CodeFailed as error:
        return failed(CHECK, hint, STEP, error)


def gain_and_shift(norm: nn.Module, width: int) -> tuple[Tensor, Tensor]:
    """The gain and the shift of a norm, by their names, else by their order; 1 and 0 where it has none."""
    gain, shift = torch.ones(width), torch.zeros(width)
    unnamed = []
    for name, p in norm.named_parameters():
        short = plain(name.rpartition(".")[2])
        if short in GAINS:
            gain = p.detach().cpu()
        elif short in SHIFTS:
            shift = p.detach().cpu()
        else:
            unnamed.append(p.detach().cpu())
    if len(unnamed) == 2:
        gain, shift = unnamed
    return gain, shift


def epsilons_of(norm: nn.Module) -> tuple[float, ...]:
    """The epsilon that a norm says it has; the usual ones where it says nothing."""
    for name, value in vars(norm).items():
        if meaning(name) == "eps" and isinstance(value, float):
            return (value,)
    return EPSILONS


def _checked_module(module: nn.Module, hint: bool, seed: int) -> Report:
    width = int(next((p.shape[-1] for p in module.parameters()), WIDTH))
    gain, shift = gain_and_shift(module, width)
    return _judged(
        lambda x: guarded(module, x.to(device_of(module))), width, gain, shift, epsilons_of(module), hint, seed
    )


def _checked_function(f: Callable[..., Any], hint: bool, seed: int) -> Report:
    generator = torch.Generator().manual_seed(seed + 3)
    gain, shift = torch.randn(WIDTH, generator=generator) * 0.3 + 1, torch.randn(WIDTH, generator=generator) * 0.3
    epsilons: tuple[float, ...] = EPSILONS
    keywords: dict[str, Any] = {}
    params = [each for each in (parameters(f) or []) if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)][
        1:
    ]
    for at, each in enumerate(params):
        short = plain(each.name)
        if short in ("normalizedshape", "shape"):
            keywords[each.name] = (WIDTH,)
        elif meaning(each.name) == "eps" or (at == 2 and each.default is each.empty):
            keywords[each.name], epsilons = 1e-3, (1e-3,)
        elif short in GAINS or (at == 0 and each.default is each.empty):
            keywords[each.name] = gain
        elif short in SHIFTS or (at == 1 and each.default is each.empty):
            keywords[each.name] = shift
    handed = [value for value in keywords.values() if isinstance(value, Tensor)]
    if not any(value is gain for value in handed):
        gain = torch.ones(WIDTH)
    if not any(value is shift for value in handed):
        shift = torch.zeros(WIDTH)
    return _judged(lambda x: guarded(f, x, **keywords), WIDTH, gain, shift, epsilons, hint, seed)


def _judged(
    normed: Callable[[Tensor], Any],
    width: int,
    gain: Tensor,
    shift: Tensor,
    epsilons: tuple[float, ...],
    hint: bool,
    seed: int,
) -> Report:
    generator = torch.Generator().manual_seed(seed)
    # Of tokens that are as small as epsilon's root, each place of epsilon gives other numbers.
    spread = torch.tensor([1.0, epsilons[0] ** 0.5, 3.0, 2 * epsilons[0] ** 0.5, 0.5, 0.7 * epsilons[0] ** 0.5, 2.0])
    x = torch.randn(BATCH, SEQ, width, generator=generator) + torch.randn(BATCH, SEQ, 1, generator=generator)
    x = x * spread[:, None]
    outputs, again = tensors_in(normed(x.clone())), tensors_in(normed(x.clone()))
    expected = tuple(x.shape)
    output = next((each.cpu().float() for each in outputs if tuple(each.shape) == expected), None)
    if output is None:
        return misshapen(CHECK, hint, STEP, expected, [tuple(each.shape) for each in outputs])
    report = dropped(CHECK, hint, STEP, outputs[0], again[0])
    if report is not None:
        return report

    def trial(eps: float) -> Trial:
        exercise = Exercise(d_model=width, num_heads=1, seq=SEQ, mask="none", seed=seed, eps=eps)
        return Trial(exercise, {"x": x, "gain_1": gain, "shift_1": shift}, {STEP: output})

    report = searched([trial(eps) for eps in epsilons], without=NO_NORMS).report(CHECK, hint)
    other = [eps for eps in EPSILONS if not report.ok and eps not in epsilons and is_right(trial(eps))]
    if other:
        report = replace(report, mistake="", notes=(f"Its epsilon is {other[0]:g}, and it says {epsilons[0]:g}.",))
    return report if report.ok else replace(report, step="norm")
