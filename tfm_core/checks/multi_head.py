"""`check_multi_head_attention`: a module of others, with its weights in ours, whatever they are called."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core.checks.attention import about_mask, mask_of, read, results_of
from tfm_core.checks.callables import CodeFailed, NoPlaceForMask, Signature, built, called, signature, tensors_in
from tfm_core.checks.drawing import device_of, drawn_parameters, in_one_thread, is_lazy
from tfm_core.checks.judging import (
    D_FF,
    D_MODEL,
    HEADS,
    SEQ,
    Judged,
    Trial,
    dropped,
    failed,
    is_right,
    judged,
    misshapen,
    searched,
)
from tfm_core.checks.report import Report
from tfm_core.checks.weights import Starts, assignments, heads_of, projections, width_of
from tfm_core.study.exercise import BATCH, PAD_ID, Exercise, given

CHECK = "check_multi_head_attention"
SIZES: Mapping[str, Any] = {
    "d_model": D_MODEL,
    "num_heads": HEADS,
    "d_k": D_MODEL // HEADS,
    "d_ff": D_FF,
    "expansion": 2,
    "dropout": 0.1,
    "context": SEQ,
    "bias": True,
    "batch_first": True,
    "vocab_size": 24,
    "num_layers": 1,
    "eps": 1e-5,
}


@in_one_thread
def check_multi_head_attention(cls_or_instance: Any, *, hint: bool = False, seed: int = 0) -> Report:
    """Check multi-head attention: projections, heads, scores, masks, and how the heads are joined.

    Args:
        cls_or_instance: a module, batch first, its class, or a function that returns it; forward(q, k, v, mask),
            forward(x, mask) or forward(x). Its parameters are drawn anew for the check and restored after it.
        hint: whether the report tells the symptom and the cure.
        seed: what the numbers are drawn from.

    Raises:
        ValueError: for what is no module and makes none, or where its width is not told.

    Examples:
        >>> import torch
        >>> from tfm_core import check_multi_head_attention
        >>> bool(check_multi_head_attention(torch.nn.MultiheadAttention(16, 2, batch_first=True)))
        True
    """
    try:
        module = built(CHECK, cls_or_instance, SIZES)
        if is_lazy(module):
            x = torch.zeros(BATCH, SEQ, D_MODEL)
            with torch.random.fork_rng(devices=[]):
                _called(module, x, x, {})
    except CodeFailed as error:
        return failed(CHECK, hint, "construction", error)
    d_model = width_of(module)
    if not d_model:
        raise ValueError(f"{CHECK}: expected a module with projections; got {type(module).__name__} without any.")
    with drawn_parameters(module, seed), torch.no_grad():
        return _checked(module, d_model, hint, seed)


def takes_memory(takes: Signature) -> bool:
    """Whether a module takes queries apart from keys and values."""
    return len([name for name in takes.inputs if name in takes.required]) >= 3


def _called(module: nn.Module, x: Tensor, memory: Tensor, masks: Mapping[str, Tensor | None]) -> list[Tensor]:
    """The tensors that attention gives, as many inputs as it takes."""
    takes = signature(module)
    needed = [name for name in takes.inputs if name in takes.required]
    if len(needed) >= 3 or (takes.open and not needed):
        inputs = {"query": x, "key": memory, "value": memory}
    elif len(needed) == 2:
        inputs = {"query": x, "memory": memory}
    else:
        inputs = {"x": x}
    device = device_of(module)
    there = {name: tensor.to(device) for name, tensor in inputs.items()}
    masks_there = {name: None if mask is None else mask.to(device) for name, mask in masks.items()}
    return [tensor.cpu() for tensor in tensors_in(called(module, there, masks_there))]


def _checked(module: nn.Module, d_model: int, hint: bool, seed: int) -> Report:
    generator = torch.Generator().manual_seed(seed + 1)
    x = torch.randn(BATCH, SEQ, d_model, generator=generator)
    expected = tuple(x.shape)
    takes = signature(module)
    reading = _Reading(module, x, seed, takes)
    step = "output"
    error: CodeFailed | None = None
    try:
        tensors, again = _called(module, x, x, {}), _called(module, x, x, {})
    except CodeFailed as raised:
        if not takes.masks:
            return failed(CHECK, hint, step, raised)
        tensors, again, error = [], [], raised  # a mask may be needed
    if tensors:
        report = dropped(CHECK, hint, "weights", tensors[0], again[0])
        if report is not None:
            return report
    plain = None
    if error is None:
        if not any(tuple(each.shape) == expected for each in tensors):
            return misshapen(CHECK, hint, step, expected, [tuple(each.shape) for each in tensors])
        kinds = ("none",) if takes.masks else ("none", "causal")
        plain = reading.judge([(kind, tensors) for kind in kinds])
        if not plain.ok and takes.masks:
            causal = reading.judge([("causal", tensors)])
            plain = causal if causal.ok or (causal.names and not plain.names) else plain
        if not plain.ok:
            return plain.report(CHECK, hint)
    masked = reading.masked(plain)
    if masked is None and error is not None:
        return failed(CHECK, hint, step, error)
    if masked is None:
        assert plain is not None
        causal_note = ("It is causal by itself.",) if plain.trial.exercise.is_causal else ("No mask is taken.",)
        crossed = _with_memory(module, plain, hint, causal_note)
        return plain.report(CHECK, hint, causal_note) if crossed is None else crossed
    if isinstance(masked, CodeFailed):
        return failed(CHECK, hint, "masked scores", masked)
    if not masked.ok:
        return masked.report(CHECK, hint, about_mask(masked, lambda kind: reading.right_for(masked, kind)))
    crossed = _with_memory(module, plain or masked, hint, ())
    return masked.report(CHECK, hint) if crossed is None else crossed


class _Reading:
    """The readings of a module: which weights are which, and which mask is handed over."""

    def __init__(self, module: nn.Module, x: Tensor, seed: int, takes: Signature) -> None:
        self.module, self.x, self.seed, self.takes = module, x, seed, takes
        self.d_model = x.shape[-1]
        self.options: list[tuple[int, Starts]] = [
            (heads, starts)
            for heads in heads_of(module, self.d_model)
            for starts in assignments(projections(module), self.d_model, heads)
        ]
        if not self.options:
            names = ", ".join(part.name for part in projections(module))
            raise ValueError(
                f"{CHECK}: expected projections for queries, keys, values and the output, {self.d_model} wide; got "
                f"{names or 'none'}."
            )

    def exercise(self, heads: int, mask: str) -> Exercise:
        """The exercise whose numbers are replaced by the module's."""
        return Exercise(d_model=self.d_model, num_heads=heads, seq=SEQ, mask=mask, seed=self.seed)

    def judge(self, called_with: list[tuple[str, list[Tensor]]]) -> Judged:
        """The judgement over all assignments, of some calls: (what is hidden, the tensors that came of it)."""
        trials = []
        for mask, tensors in called_with:
            for heads, starts in self.options:
                exercise = self.exercise(heads, mask)
                results = results_of(tensors, tuple(self.x.shape), (BATCH, heads, SEQ, SEQ), "output")
                if results:
                    read_from = {**starts, "attention input": self.x, "ids": ids_of(self.seed)}
                    trials += read(Trial(exercise, read_from, results))
        judgement = searched(trials)
        if judgement.ok:  # from now on this reading is meant
            right = judgement.trial
            self.options = [
                (heads, starts)
                for heads, starts in self.options
                if heads == right.exercise.num_heads and all(right.starts[name] is starts[name] for name in starts)
            ]
        return judgement

    def masked(self, plain: Judged | None) -> Judged | CodeFailed | None:
        """The best judgement over the kinds of masks; None where none is taken."""
        error, given_back = None, []
        for what, masks in self._ways(plain is not None and plain.trial.exercise.is_causal):
            try:
                tensors = _called(self.module, self.x, self.x, masks)
            except NoPlaceForMask:
                return None
            except CodeFailed as raised:
                error = error or raised
                continue
            if any(tuple(each.shape) == tuple(self.x.shape) for each in tensors):
                given_back.append((what, tensors))
                if self._is_right(what, tensors):
                    break
        if not given_back:
            return error
        right = given_back[-1]
        if self._is_right(*right):
            return self.judge([right])
        judgements = []
        for way in given_back[:4]:
            judgements.append(self.judge([way]))
            if judgements[-1].names:
                break
        return min(judgements, key=lambda each: (not each.names, len(each.names)))

    def _is_right(self, what: str, tensors: list[Tensor]) -> bool:
        output = next(each for each in tensors if tuple(each.shape) == tuple(self.x.shape))
        return any(
            is_right(Trial(self.exercise(heads, what), self._starts(starts), {"output": output}))
            for heads, starts in self.options
        )

    def _starts(self, starts: Starts) -> Mapping[str, Tensor]:
        return {**starts, "attention input": self.x, "ids": ids_of(self.seed)}

    def _ways(self, is_causal: bool) -> list[tuple[str, dict[str, Tensor | None]]]:
        """The masks to hand over, by the code's names for them, and what they hide, the likeliest first."""
        ids, names = ids_of(self.seed), self.takes.masks
        padding, causal = ids != PAD_ID, mask_of("causal", ids)[0, 0]
        full = mask_of("causal and padding", ids)
        if {"attn_mask", "key_padding_mask"} <= set(names):  # as nn.MultiheadAttention: True = hidden
            return [("causal and padding", {"attn_mask": ~causal, "key_padding_mask": ~padding})]
        name = next(iter(names), "")
        if self.takes.takes_lengths:
            return [("causal and padding" if is_causal else "padding", {name: padding.sum(-1)})]
        whole = "causal and padding" if is_causal else "padding"
        shapes = [
            ("causal and padding", full),
            ("causal and padding", full[:, 0]),
            ("causal", causal),
            (whole, padding[:, None, None]),
            (whole, padding[:, None]),
            (whole, padding),
        ]
        if "padding" in name:
            shapes = shapes[::-1]
        return [
            (what, {name: mask.to(dtype)}) for dtype in (torch.bool, torch.float, torch.long) for what, mask in shapes
        ]

    def right_for(self, judgement: Judged, kind: str) -> bool:
        """Whether the module is right for another convention of masks: "hidden" or "additive"."""
        for what, masks in self._ways(False):
            if what != judgement.trial.exercise.mask:
                continue
            turned: dict[str, Tensor | None] = {}
            for name, mask in masks.items():
                assert mask is not None
                shows = mask.bool()
                turned[name] = ~shows if kind == "hidden" else torch.zeros(mask.shape).masked_fill(~shows, -math.inf)
            try:
                tensors = _called(self.module, self.x, self.x, turned)
            except (CodeFailed, NoPlaceForMask):
                continue
            if any(tuple(each.shape) == tuple(self.x.shape) for each in tensors) and self._is_right(what, tensors):
                return True
        return False


def ids_of(seed: int) -> Tensor:
    """Two sentences of which the second ends in padding."""
    return given(Exercise(seq=SEQ, seed=seed))["ids"]


def _with_memory(module: nn.Module, plain: Judged, hint: bool, notes: tuple[str, ...]) -> Report | None:
    """The report on attention whose keys and values are of another sequence; None where that is not taken, or right."""
    if not takes_memory(signature(module)) or not plain.ok or plain.trial.exercise.is_causal:
        return None
    trial = plain.trial
    x = trial.starts["attention input"]
    generator = torch.Generator().manual_seed(trial.exercise.seed + 2)
    for length in (SEQ, SEQ - 2):
        memory = torch.randn(BATCH, length, x.shape[-1], generator=generator)
        try:
            tensors = _called(module, x, memory, {})
        except CodeFailed as error:
            if signature(module).masks and signature(module).required & set(signature(module).masks):
                return None
            return failed(CHECK, hint, "key", error)
        starts = with_memory(trial.starts, x, memory)
        results = results_of(tensors, tuple(x.shape), (BATCH, trial.exercise.num_heads, SEQ, length), "output")
        if not results:
            return misshapen(CHECK, hint, "output", tuple(x.shape), [tuple(each.shape) for each in tensors])
        results = {"output": results["output"]}
        crossed = Trial(replace(trial.exercise, mask="none"), starts, results)
        if is_right(crossed):
            continue
        for said, keys, values in (("keys", x, memory), ("values", memory, x), ("keys and values", x, x)):
            if length == SEQ and is_right(
                replace(crossed, starts={**starts, **projected(trial.starts, keys, "key"), **_values(trial, values)})
            ):
                what = f"The {said} are made of what the queries are made of, not of the other sequence."
                judgement = replace(judged(crossed), names=(), equal=())
                return replace(judgement.report(CHECK, hint, (what, *notes)), step="key" if "keys" in said else "value")
        where = "It is right where keys and values are of the same sequence, and not where they are of another."
        return searched([crossed]).report(CHECK, hint, (where, *notes))
    return None


def _values(trial: Trial, x: Tensor) -> Starts:
    return projected(trial.starts, x, "value")


def projected(starts: Mapping[str, Tensor], x: Tensor, step: str) -> Starts:
    """Queries, keys or values of other tokens, by the weights of these."""
    letter = step[0].upper()
    return {step: torch.nn.functional.linear(x, starts[f"W_{letter}"], starts[f"b_{letter}"]).detach()}


def with_memory(starts: Mapping[str, Tensor], x: Tensor, memory: Tensor) -> Starts:
    """Starts in which keys and values are those of a memory, all of which may be attended to."""
    mask = torch.ones(len(x), 1, x.shape[1], memory.shape[1], dtype=torch.bool)
    return {**starts, **projected(starts, memory, "key"), **projected(starts, memory, "value"), "mask": mask}
