"""`check_transformer`: what holds of any right model from token ids to logits, whatever it is made of."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.checks.callables import CodeFailed, built, called, signature, tensors_in
from tfm_core.checks.drawing import device_of, drawn_parameters, in_one_thread
from tfm_core.checks.judging import dropped, failed
from tfm_core.checks.multi_head import SIZES as OF_LAYERS
from tfm_core.checks.report import Report
from tfm_core.checks.weights import projections, role_of
from tfm_core.study.mistakes import MISTAKES

CHECK = "check_transformer"
LONG, VOCAB, AT = 12, 24, 8  # tokens of a sentence; ids; the first token that is changed
SAME = 1e-4  # of the largest logit: what a shorter or another batch may round otherwise
SIZES: Mapping[str, Any] = {**OF_LAYERS, "context": 16, "num_layers": 2}
BATCHES = ("norm over the batch", "softmax over the batch")
LEAKS = (
    "mask forgotten",
    "norm over the tokens",
    "norm over tokens and width",
    "softmax over the queries",
    "mask after the softmax",
    "heads split without transpose",
    "heads merged without transpose",
)


@in_one_thread
def check_transformer(
    model_or_class: Any, *, causal: bool = True, pad_id: int | None = 0, hint: bool = False, seed: int = 0
) -> Report:
    """Check what holds of any right model: causality, sentences that do not know each other, order, padding, gradients.

    Args:
        model_or_class: a module, its class, or a function that returns it: token ids (batch, seq) -> logits
            (batch, seq, vocab), alone or with others.
        causal: whether no token may see a later one, as in a decoder; an encoder's tokens see all.
        pad_id: the id of padding, hidden in an encoder by itself or by a mask that it takes; None of a model without.
        hint: whether the report tells the symptom and the cure.
        seed: what parameters and ids are drawn from.

    Raises:
        ValueError: for what is no module and makes none.

    Examples:
        >>> from tfm_core import Transformer, TransformerConfig, check_transformer
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> bool(check_transformer(Transformer(config)))
        True
    """
    try:
        module = built(CHECK, model_or_class, SIZES)
        with drawn_parameters(module, seed), torch.no_grad():
            model = _Model(module, causal, pad_id, seed)
            for law in LAWS:
                broken = law(model)
                if broken is not None:
                    return broken.report(hint)
            return Report(True, "", "", model.largest, CHECK, tuple(model.notes), hint=hint)
    except NoLogits as error:
        return Report(False, "logits", "", math.nan, CHECK, (str(error),), hint=hint)
    except CodeFailed as error:
        return failed(CHECK, hint, "logits", error)


class NoLogits(CodeFailed):
    """The model gives no tensor (batch, seq, vocab); the text is what was expected, and what came."""


@dataclass(frozen=True)
class Broken:
    """A law that a model breaks.

    Attributes:
        step: where it shows.
        law: what should hold, and what does not, in a sentence.
        difference: the largest of logits that should be equal.
        mistake, equal: what explains it, and what else would; "" if the catalogue has nothing.
    """

    step: str
    law: str
    difference: float
    mistake: str = ""
    equal: tuple[str, ...] = ()

    def report(self, hint: bool) -> Report:
        """The broken law as a report."""
        return Report(False, self.step, self.mistake, self.difference, CHECK, (self.law,), self.equal, hint)


class _Model:
    """A model that is checked, and how it is called."""

    def __init__(self, module: nn.Module, causal: bool, pad_id: int | None, seed: int) -> None:
        self.module, self.causal, self.pad_id = module, causal, pad_id
        tables = [part.num_embeddings for part in module.modules() if isinstance(part, nn.Embedding)]
        self.vocab = tables[0] if tables else VOCAB
        generator = torch.Generator().manual_seed(seed)
        ids = torch.randint(1, self.vocab, (3, LONG), generator=generator)
        self.ids = ids if pad_id is None else ids.masked_fill(ids == pad_id, self.vocab - 1)
        self.notes: list[str] = []
        self.largest = 0.0
        self.shape = 0  # of the mask that is handed over

    def logits(self, ids: Tensor) -> Tensor:
        """The tensor of the logits' shape, float64.

        Raises:
            CodeFailed: where the model raises an exception.
            NoLogits: where it gives no such tensor.
        """
        takes = signature(self.module)
        there = {"ids": ids.to(device_of(self.module))}
        masks: dict[str, Tensor | None] = {}
        is_needed = bool(set(takes.masks) & takes.required) or self.shape > 0 or not self.causal
        if takes.masks and is_needed:
            masks = {takes.masks[0]: self._mask(ids).to(device_of(self.module))}
        tensors = [each.cpu() for each in tensors_in(called(self.module, there, masks))]
        fitting = [each for each in tensors if each.dim() == 3 and each.shape[:2] == ids.shape]
        if not fitting:
            shapes = ", ".join(str(tuple(each.shape)) for each in tensors) or "no tensor"
            raise NoLogits(f"Expected logits of shape {(*ids.shape, self.vocab)}; got {shapes}.")
        return next((each for each in fitting if each.shape[-1] == self.vocab), fitting[0]).double()

    def _mask(self, ids: Tensor) -> Tensor:
        batch, seq = ids.shape
        mask = torch.ones(batch, 1, seq, seq, dtype=torch.bool)
        if self.pad_id is not None:
            mask = mask & (ids != self.pad_id)[:, None, None]
        if self.causal:
            mask = mask.tril()
        others = (
            [mask, mask[:, 0], mask[0, 0]] if self.causal else [mask, mask[:, :, :1], mask[:, 0, :1], mask[:, 0, 0]]
        )
        return others[max(0, self.shape - 1) % len(others)]

    def differ(self, left: Tensor, right: Tensor) -> float:
        """The largest difference, infinite of NaN; 0 where it is rounding alone."""
        gap = float((left - right).abs().nan_to_num(math.inf).max())
        rounding = SAME * max(1.0, float(right.abs().nan_to_num(0.0).max()))
        if gap <= rounding:
            self.largest = max(self.largest, gap)
            return 0.0
        return gap


def _is_deterministic(model: _Model) -> Broken | None:
    """Dropout is off in evaluation."""
    first, second = model.logits(model.ids), model.logits(model.ids)
    report = dropped(CHECK, False, "logits", first, second)
    if report is None:
        return None
    law = "In evaluation, two calls with the same ids should give the same logits, and do not."
    return Broken("logits", law, report.largest_difference, report.mistake)


def _is_finite(model: _Model) -> Broken | None:
    """Logits are numbers."""
    logits = model.logits(model.ids)
    if bool(logits.isfinite().all()):
        return None
    place = int((~logits.isfinite()).any(-1)[0].int().argmax()) + 1
    mistake = "diagonal hidden" if model.causal and place == 1 else ""
    return Broken("weights", f"Logits should be numbers; at token {place} stands NaN or infinity.", math.inf, mistake)


def _is_no_probability(model: _Model) -> Broken | None:
    """Logits are neither in 0 to 1 nor sum to 1."""
    logits = model.logits(model.ids)
    if bool((logits >= 0).all()) and bool(((logits.sum(-1) - 1).abs() < 1e-4).all()):
        law = "Logits should be any numbers; these lie between 0 and 1, and each token’s sum to 1."
        return Broken("logits", law, math.nan, "probabilities for logits")
    if bool((logits.logsumexp(-1).abs() < 1e-4).all()):
        model.notes.append("It returns logarithms of probabilities.")
    return None


def _keeps_sentences_apart(model: _Model) -> Broken | None:
    """A sentence's logits do not depend on the others of its batch."""
    together = model.logits(model.ids)
    turned = model.logits(model.ids.flip(0)).flip(0)
    gap = model.differ(turned, together)
    if gap:
        law = "A sentence’s logits should not depend on its place in the batch, and do."
        return Broken("x", law, gap, "positions along the batch", ("first sentence’s padding for all",))
    first = model.ids[:1]
    alone = model.logits(first)
    gap = model.differ(alone[0], together[0])
    if not gap:
        return None
    # Statistics over a sentence and its copy are those over the sentence; a softmax over them gives halves.
    is_norm = model.differ(model.logits(first.repeat(2, 1))[0], alone[0]) < 0.2 * gap
    mistake, other = BATCHES if is_norm else BATCHES[::-1]
    law = "A sentence’s logits should not depend on the others of its batch, and do."
    return Broken("attention input" if is_norm else "weights", law, gap, mistake, (other,))


def _is_causal(model: _Model) -> Broken | None:
    """Later tokens do not change earlier logits."""
    if not model.causal:
        return None
    broken = None
    kinds = 4 if signature(model.module).masks else 1
    for shape in range(kinds):
        model.shape = shape
        try:
            its = _leak(model)
        except CodeFailed:
            if shape == 0:
                raise
            continue
        if its is None:
            if shape:
                model.notes.append("It is causal with a mask that is handed over.")
            return None
        broken = broken or its
    model.shape = 0
    return broken


def _leak(model: _Model) -> Broken | None:
    """The broken law of a model whose later tokens change earlier logits; None of a causal model."""
    gap, leaking = _leaking(model)
    if not leaking:
        return None
    law = f"Tokens from {AT + 1} on should not change the logits of earlier ones, and change those of token "
    law += f"{leaking[0] + 1}{f' to {leaking[-1] + 1}' if len(leaking) > 1 else ''}."
    with suppress(CodeFailed), first_block_alone(model.module):  # what a single layer lets through
        leaking = _leaking(model)[1] or leaking
    if leaking == [0]:
        return Broken("mask", law, gap, "diagonal hidden")
    if leaking[0] > 0:
        return Broken("mask", law, gap, "next token visible")
    early, logits = model.ids.clone(), model.logits(model.ids)
    early[:, 0] = (model.ids[:, 0] % (model.vocab - 2)) + 1
    if not model.differ(model.logits(early)[:, 1:], logits[:, 1:]):
        return Broken("mask", law, gap, "looks ahead instead of back", ("mask inverted",))
    return Broken("mask", law, gap, "causal mask forgotten", LEAKS)


def _leaking(model: _Model) -> tuple[float, list[int]]:
    """The largest change of earlier logits by later tokens, and the places of those that change."""
    logits = model.logits(model.ids)
    changed = model.ids.clone()
    changed[:, AT:] = model.ids[:, AT:].flip(1)
    changed[:, AT] = (model.ids[:, AT] % (model.vocab - 2)) + 1
    after = model.logits(changed)
    gap = model.differ(after[:, :AT], logits[:, :AT])
    rounding = SAME * max(1.0, float(logits.abs().max()))
    places = ((after - logits)[:, :AT].abs().amax((0, 2)) > rounding).nonzero().flatten().tolist() if gap else []
    return gap, places


def _knows_order(model: _Model) -> Broken | None:
    """The order of the tokens matters, in the first layer already."""
    ids = model.ids[:1].clone()
    ids[0, :2] = torch.tensor([1, 2]) if model.pad_id not in (1, 2) else torch.tensor([3, 4])
    swapped = ids.clone()
    swapped[0, :2] = ids[0, :2].flip(0)
    try:
        with first_block_alone(model.module):
            gap = model.differ(model.logits(swapped)[:, 2:], model.logits(ids)[:, 2:])
    except CodeFailed:
        model.notes.append("Its knowledge of order was not checked: its layers cannot be taken apart.")
        return None
    if gap:
        return None
    law = "The first two tokens in the other order should change the later logits, and do not."
    return Broken("x", law, math.nan, "no positions")


@contextmanager
def first_block_alone(module: nn.Module) -> Iterator[None]:
    """The module with the first of its layers alone: two causal layers know of order without positions."""
    lists = [
        part
        for part in module.modules()
        if isinstance(part, (nn.ModuleList, nn.Sequential))
        and len(part) > 1
        and len({type(child) for child in part}) == 1
        and len(projections(part[0])) > 1
    ]
    longest = max(lists, key=lambda each: len(projections(each)), default=None)
    if longest is None:
        yield
        return
    kept = dict(longest._modules)
    try:
        for name in list(kept)[1:]:
            del longest._modules[name]
        yield
    finally:
        longest._modules.clear()
        longest._modules.update(kept)


def _ignores_padding(model: _Model) -> Broken | None:
    """Padding after a sentence does not change its logits."""
    if model.pad_id is None:
        return None
    short = model.ids[:, :AT]
    padded = F.pad(short, (0, LONG - AT), value=model.pad_id)
    shapes = range(5) if not model.causal and signature(model.module).masks else (model.shape,)
    gap: float = math.inf
    for model.shape in shapes:
        try:
            with_padding = model.logits(padded)[:, :AT]
            gap = model.differ(with_padding, model.logits(short))
        except CodeFailed:
            continue
        if not gap:
            return None
    law = f"Padding (id {model.pad_id}) should not change the logits of the tokens before it, and does."
    if math.isinf(gap):
        return Broken("weights", law, gap, "padding on the query axis", ("padding mask forgotten",))
    return Broken("mask", law, gap, "padding mask forgotten", ("padding on the query axis",))


def _learns_everywhere(model: _Model) -> Broken | None:
    """Each parameter gets a gradient."""
    module = model.module
    with torch.enable_grad():
        for p in module.parameters():
            p.grad = None
        takes = signature(module)
        there = {"ids": model.ids.clone().to(device_of(module))}
        masks = {takes.masks[0]: model._mask(model.ids)} if takes.masks and (model.shape or not model.causal) else {}
        loss = _loss_of(module, there, masks, model)
        loss.backward()  # type: ignore[no-untyped-call]
    idle = [
        name
        for name, p in module.named_parameters()
        if p.requires_grad and (p.grad is None or (p.dim() > 1 and not bool(p.grad.any())))
    ]
    if not idle:
        return None
    roles = {role_of(name.removesuffix(".weight").removesuffix(".bias")) for name in idle}
    law = f"Each parameter should get a gradient; none gets to {', '.join(idle[:4])}{', …' if len(idle) > 4 else ''}."
    if "V" in roles and not roles & {"Q", "K"}:
        return Broken("value of each head", law, math.nan, "values from the queries", ("values from the keys",))
    if "K" in roles and not roles & {"Q", "V"}:
        return Broken("key of each head", law, math.nan, "keys from the queries")
    return Broken("gradient", law, math.nan)


def _loss_of(module: nn.Module, there: Mapping[str, Tensor], masks: Mapping[str, Tensor], model: _Model) -> Tensor:
    try:
        output = module(*there.values(), **masks)
    except Exception as error:
        raise CodeFailed(f"{type(error).__name__}: {error}") from error
    logits = output if isinstance(output, Tensor) else next(_graph_tensors(output, model.ids))
    weights = torch.linspace(-1, 1, logits.numel(), device=logits.device).reshape(logits.shape).sin()
    return (logits * weights).sum() + F.cross_entropy(
        logits[:, :-1].flatten(0, 1), model.ids[:, 1:].flatten().to(logits.device)
    )


def _graph_tensors(output: Any, ids: Tensor) -> Iterator[Tensor]:
    values = output.values() if isinstance(output, Mapping) else output if isinstance(output, (tuple, list)) else ()
    values = values or [each for each in vars(output).values() if isinstance(each, Tensor)]
    yield from (each for each in values if isinstance(each, Tensor) and each.shape[:2] == ids.shape and each.dim() == 3)


LAWS = (
    _is_finite,
    _is_deterministic,
    _is_no_probability,
    _keeps_sentences_apart,
    _is_causal,
    _knows_order,
    _ignores_padding,
    _learns_everywhere,
)
assert set(LEAKS) <= set(MISTAKES)
