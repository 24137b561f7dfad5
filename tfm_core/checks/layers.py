"""`check_encoder_layer` and `check_decoder_layer`: pre-norm or post-norm, with the module’s weights in our steps."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core.checks.anatomy import Anatomy, anatomy
from tfm_core.checks.attention import mask_of
from tfm_core.checks.callables import CodeFailed, built, called, plain, signature, tensors_in
from tfm_core.checks.chain import MIXED, Chain, SubLayer, blamed, difference, is_near, worst
from tfm_core.checks.drawing import device_of, drawn_parameters, in_one_thread, is_lazy
from tfm_core.checks.judging import SEQ, dropped, failed, misshapen
from tfm_core.checks.multi_head import SIZES, ids_of
from tfm_core.checks.report import Report
from tfm_core.checks.weights import assignments, heads_of, is_norm, width_of
from tfm_core.study.exercise import BATCH, PAD_ID, Exercise
from tfm_core.study.mistakes import MISTAKES
from tfm_core.study.pieces import Pieces
from tfm_core.study.steps import Steps

MEMORY = SEQ - 2  # tokens of what a decoder's layer reads
STEP = "layer output"
TANH: Pieces = MISTAKES["GELU by tanh"].wrong
SELF_MASKS = ("tgt", "trg", "target", "causal", "lookahead", "self", "dec", "future")
Masks = Mapping[str, Tensor | None]
Chosen = Callable[[str, Tensor | None], Iterator[Chain]]


@in_one_thread
def check_encoder_layer(cls_or_instance: Any, *, hint: bool = False, seed: int = 0) -> Report:
    """Check a layer of an encoder, or of a decoder without memory: attention, feed-forward network, norms, residuals.

    Args:
        cls_or_instance: a module, batch first, its class (d_model, num_heads, d_ff, …), or a function that returns
            it; forward(x), forward(x, mask) or nn.TransformerEncoderLayer's. Pre-norm and post-norm are right, and so
            are ReLU and GELU. Its parameters are drawn anew for the check and restored after it.
        hint: whether the report tells the symptom and the cure.
        seed: what the numbers are drawn from.

    Raises:
        ValueError: for what is no module and makes none, or has other parts than such a layer.

    Examples:
        >>> import torch
        >>> from tfm_core import check_encoder_layer
        >>> layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        >>> bool(check_encoder_layer(layer))
        True
    """
    return _check("check_encoder_layer", cls_or_instance, hint, seed, has_memory=False)


@in_one_thread
def check_decoder_layer(cls_or_instance: Any, *, hint: bool = False, seed: int = 0) -> Report:
    """Check a layer of a decoder that reads a memory: causal attention, cross-attention, feed-forward network.

    Args:
        cls_or_instance: a module, batch first, its class (d_model, num_heads, d_ff, …), or a function that returns
            it; forward(x, memory), with masks whose names tell: src_mask or memory_mask, and tgt_mask.
        hint: whether the report tells the symptom and the cure.
        seed: what the numbers are drawn from.

    Raises:
        ValueError: for what is no module and makes none, or has other parts than such a layer.

    Examples:
        >>> import torch
        >>> from tfm_core import check_decoder_layer
        >>> layer = torch.nn.TransformerDecoderLayer(16, 2, 32, batch_first=True, norm_first=True)
        >>> bool(check_decoder_layer(layer))
        True
    """
    return _check("check_decoder_layer", cls_or_instance, hint, seed, has_memory=True)


@dataclass(frozen=True)
class _Layer:
    """A layer that is checked, and what it reads."""

    check: str
    module: nn.Module
    x: Tensor
    memory: Tensor | None
    seed: int

    def called(self, masks: Masks) -> list[Tensor]:
        """The tensors that the layer gives under some masks."""
        device = device_of(self.module)
        inputs = {"x": self.x.to(device)}
        if self.memory is not None:
            inputs["memory"] = self.memory.to(device)
        takes = signature(self.module)
        last = list(inputs.values())[-1]
        for name in [name for name in takes.inputs if name in takes.required][len(inputs) :]:
            inputs[f"again as {name}"] = last  # some take values, keys and queries apart
        there = {name: None if mask is None else mask.to(device) for name, mask in masks.items()}
        return [tensor.cpu() for tensor in tensors_in(called(self.module, inputs, there))]

    def output(self, masks: Masks) -> Tensor | None:
        """The output alone; None where no tensor has its shape."""
        shape = self.x.shape
        return next((each.float() for each in self.called(masks) if each.shape == shape), None)


def _check(check: str, f: Any, hint: bool, seed: int, *, has_memory: bool) -> Report:
    try:
        module = built(check, f, SIZES)
        width = width_of_norms(module) or width_of(module) or int(SIZES["d_model"])
        generator = torch.Generator().manual_seed(seed + 5)
        x = torch.randn(BATCH, SEQ, width, generator=generator) * 1.5 + 0.2
        memory = torch.randn(BATCH, MEMORY, width, generator=generator) if has_memory else None
        layer = _Layer(check, module, x, memory, seed)
        if is_lazy(module):
            with torch.random.fork_rng(devices=[]):
                layer.called({})
        parts = anatomy(check, module, width, 2 if has_memory else 1)
        with drawn_parameters(module, seed), torch.no_grad():
            parts = anatomy(check, module, width, 2 if has_memory else 1)
            return _checked(layer, parts, hint)
    except CodeFailed as error:
        return failed(check, hint, STEP, error)


def width_of_norms(module: nn.Module) -> int:
    """The width of the first norm; 0 if there is none."""
    return next((p.shape[-1] for part in module.modules() if is_norm(part) for p in part.parameters()), 0)


def _checked(layer: _Layer, parts: Anatomy, hint: bool) -> Report:
    takes = signature(layer.module)
    error: CodeFailed | None = None
    notes: tuple[str, ...] = ()
    chosen: Chosen = partial(_chains, layer, parts)
    largest = 0.0
    try:
        tensors, again = layer.called({}), layer.called({})
    except CodeFailed as raised:
        if not takes.masks:
            raise
        error = raised  # a mask may be needed
    else:
        output = next((each.float() for each in tensors if each.shape == layer.x.shape), None)
        if output is None:
            shapes = [tuple(each.shape) for each in tensors]
            return misshapen(layer.check, hint, STEP, tuple(layer.x.shape), shapes)
        report = dropped(layer.check, hint, "weights", tensors[0], again[0])
        if report is not None:
            return report
        kinds = ("none", "causal")
        right = _right(layer, output, [chain for kind in kinds for chain in chosen(kind, None)])
        if right is None:
            return _wrong(layer, output, [(kind, None) for kind in kinds], chosen, hint)
        largest, notes, chain = right
        is_causal = chain.parts[0].exercise.is_causal
        if is_causal:
            notes = (*notes, "It is causal by itself.")
        if not takes.masks or is_causal:
            return Report(True, "", "", largest, layer.check, notes)
    results = []
    for kind, cross, masks in _ways(layer, takes.masks):
        try:
            output = layer.output(masks)
        except CodeFailed as raised:
            error = error or raised
            continue
        if output is None:
            continue
        results.append((kind, cross, output, masks))
        right = _right(layer, output, list(chosen(kind, cross)))
        if right is not None:
            return Report(True, "", "", max(largest, right[0]), layer.check, right[1])
    if not results:
        return failed(layer.check, hint, "masked scores", error or "RuntimeError: no mask is taken as it is.")
    reports = [_wrong(layer, output, [(kind, cross)], chosen, hint) for kind, cross, output, _ in results[:2]]
    report = min(reports, key=lambda each: not each.mistake)
    if {"mask inverted", "mask added as 0 and 1"} & {report.mistake, *report.equal}:
        report = replace(report, notes=(*report.notes, *_other_convention(layer, results, chosen)))
    return report


def _right(layer: _Layer, output: Tensor, chains: list[Chain]) -> tuple[float, tuple[str, ...], Chain] | None:
    """The difference, the notes and the reading under which the layer is right; None if there is none."""
    for chain in chains:
        ours = chain.output(layer.x)
        if is_near(ours, output):
            return difference(ours, output), chain.notes, chain
        if chain.parts[0].exercise.activation == "gelu":
            ours = chain.output(layer.x, {len(chain.parts) - 1: TANH})
            if is_near(ours, output):
                return difference(ours, output), (*chain.notes, "GELU is computed by tanh."), chain
    return None


def _wrong(
    layer: _Layer,
    output: Tensor,
    calls: list[tuple[str, Tensor | None]],
    chosen: Chosen,
    hint: bool,
) -> Report:
    """The report on a layer that is not right, by the likeliest readings."""
    first = None
    for kind, cross in calls:
        for chain in _likely(list(chosen(kind, cross))):
            first = first or chain
            blames = blamed(chain, layer.x, output)
            if not blames:
                continue
            blame, *others = blames
            gap = difference(chain.output(layer.x), output)
            kinds = [note for note in chain.notes if note.startswith(("Pre", "Post"))]
            if not blame.name:
                return Report(False, blame.step, "", gap, layer.check, (MIXED,), hint=hint, advice=ADVICE)
            notes = (f"It is made in the {blame.where} alone.",) if blame.where else ()
            equal = tuple(dict.fromkeys(each.name for each in others if each.name not in (blame.name, "")))
            return Report(False, blame.step, blame.name, gap, layer.check, (*notes, *kinds), equal, hint)
    assert first is not None
    chains = _likely(list(chosen(*calls[0])))
    return Report(False, _first_step(layer, chains), "", worst(chains, layer.x, output), layer.check, hint=hint)


SOLID = ("query", "key", "value", "output", STEP)  # steps that are outputs of modules in most layers
ADVICE = "Put the norm at the same place in each sub-layer: x + Sublayer(norm(x)), or norm(x + Sublayer(x))."


def _likely(chains: list[Chain]) -> list[Chain]:
    """The first reading of each kind of norms and activation."""
    kinds: dict[tuple[str, str, int], Chain] = {}
    for chain in chains:
        exercise = chain.parts[0].exercise
        kinds.setdefault((exercise.norm, exercise.activation, exercise.num_heads), chain)
    return list(kinds.values())[:8]


def _first_step(layer: _Layer, chains: list[Chain]) -> str:
    """The first step of the self-attention that no part of the layer gives, of a layer that no mistake explains."""
    given_back: list[Tensor] = []

    def kept(_module: nn.Module, _args: Any, output: Any) -> None:
        given_back.extend(each.cpu().float() for each in tensors_in(output))

    handles = [part.register_forward_hook(kept) for part in layer.module.modules() if part is not layer.module]
    try:
        layer.called({})
    except CodeFailed:
        return STEP
    finally:
        for handle in handles:
            handle.remove()
    reached = [_reached(layer, chain, given_back) for chain in chains]
    return max(reached, key=SOLID.index)


def _reached(layer: _Layer, chain: Chain, given_back: list[Tensor]) -> str:
    """The first step of a reading that is not among some tensors."""
    first = chain.parts[0]
    steps = Steps(first.exercise, {**first.starts, "x": layer.x})
    for step in SOLID[:-1]:
        right = steps.value(step)
        if not any(each.shape == right.shape and is_near(right, each) for each in given_back):
            return step
    return SOLID[-1]


def _chains(layer: _Layer, parts: Anatomy, kind: str, cross: Tensor | None) -> Iterator[Chain]:
    """The readings of a layer, the likeliest first."""
    width = layer.x.shape[-1]
    is_swapped = (False, True) if len(parts.norms) == 2 else (False,)
    for heads, eps, norm, activation, swapped in product(
        heads_of(layer.module, width), parts.epsilons, ("pre", "post"), ("relu", "gelu"), is_swapped
    ):
        exercise = Exercise(
            d_model=width, num_heads=heads, seq=SEQ, mask=kind, norm=norm, activation=activation, seed=layer.seed,
            eps=eps,
        )  # fmt: skip
        norms = parts.norms[::-1] if swapped else parts.norms
        notes = (f"{norm.capitalize()}-norm.",)
        options = [list(islice(assignments(each, width, heads), 8)) for each in parts.attentions]
        for weights in product(*options):
            yield Chain(tuple(_sub_layers(layer, parts, exercise, weights, norms, cross)), notes)


def _sub_layers(
    layer: _Layer,
    parts: Anatomy,
    exercise: Exercise,
    weights: tuple[Mapping[str, Tensor], ...],
    norms: tuple[tuple[Tensor, Tensor], ...],
    cross: Tensor | None,
) -> Iterator[SubLayer]:
    gains = [{"gain_1": gain, "shift_1": shift} for gain, shift in norms]
    starts = {**weights[0], **gains[0], "ids": ids_of(layer.seed)}
    yield SubLayer("self-attention", exercise, starts, "x", "after attention")
    if layer.memory is not None:
        mask = torch.ones(BATCH, 1, SEQ, MEMORY, dtype=torch.bool) if cross is None else cross
        starts = {**weights[1], **gains[1], "mask": mask}
        yield SubLayer("cross-attention", exercise, starts, "x", "after attention", layer.memory)
    gain, shift = norms[-1]
    starts = {**parts.network, "gain_2": gain, "shift_2": shift}
    yield SubLayer("feed-forward network", exercise, starts, "after attention", STEP)


def _ways(layer: _Layer, names: tuple[str, ...]) -> Iterator[tuple[str, Tensor | None, dict[str, Tensor | None]]]:
    """The masks to hand over: (what is hidden, who may look at the memory, by name), the likeliest first."""
    ids = ids_of(layer.seed)
    padding, causal = ids != PAD_ID, mask_of("causal", ids)[0, 0]
    full = mask_of("causal and padding", ids)
    of_memory = torch.ones(BATCH, MEMORY, dtype=torch.bool)
    of_memory[-1, -2:] = False
    shown = of_memory[:, None, None].expand(BATCH, 1, SEQ, MEMORY)
    if layer.memory is None:
        if signature(layer.module).takes_lengths:
            yield "padding", None, {names[0]: padding.sum(-1)}
            return
        if {"src_mask", "src_key_padding_mask"} <= set(names):
            yield "causal and padding", None, {"src_mask": ~causal, "src_key_padding_mask": ~padding}
            return
        for dtype in (torch.bool, torch.float, torch.long):
            for kind, mask in (
                ("causal and padding", full), ("causal and padding", full[:, 0]), ("causal", causal),
                ("padding", padding[:, None, None]), ("padding", padding[:, None]), ("padding", padding),
            ):  # fmt: skip
                yield kind, None, {names[0]: mask.to(dtype)}
        return
    if {"tgt_mask", "memory_key_padding_mask"} <= set(names):
        masks = {"tgt_mask": ~causal, "tgt_key_padding_mask": ~padding, "memory_key_padding_mask": ~of_memory}
        yield "causal and padding", shown, dict(masks)
        return
    its_name = next((name for name in names if any(word in plain(name) for word in SELF_MASKS)), "")
    its_name = its_name or (names[0] if len(names) == 1 else names[1])
    other = next((name for name in names if name != its_name), "")
    for dtype in (torch.bool, torch.float, torch.long):
        for kind, mask, memory_mask in (
            ("causal and padding", full, shown[:, :, :1]), ("causal and padding", full[:, 0], shown[:, 0, :1]),
            ("causal", causal, of_memory), ("causal", causal, shown[:, :, :1]),
        ):  # fmt: skip
            both: dict[str, Tensor | None] = {its_name: mask.to(dtype)}
            if other:
                both[other] = memory_mask.to(dtype)
            yield kind, shown if other else None, both


def _other_convention(
    layer: _Layer,
    results: list[tuple[str, Tensor | None, Tensor, dict[str, Tensor | None]]],
    chosen: Chosen,
) -> tuple[str, ...]:
    """What is to be said where another convention of masks would make the layer right."""
    for kind, cross, _, masks in results[:3]:
        for said, turned in (
            (
                "masks in which True means “hidden”",
                {name: ~mask.bool() for name, mask in masks.items() if mask is not None},
            ),
            (
                "masks that are added, with 0 and −∞",
                {n: torch.zeros(m.shape).masked_fill(~m.bool(), -math.inf) for n, m in masks.items() if m is not None},
            ),
        ):
            try:
                output = layer.output(turned)
            except CodeFailed:
                continue
            if output is not None and _right(layer, output, list(chosen(kind, cross))):
                return (f"It would be right for {said}; handed over was True = may attend.",)
    return ()
