"""`check_generate`: a function that writes on, beside a model of a table, of which each next token is known."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core.checks.callables import CodeFailed, check_callable, guarded, parameters, plain, tensors_in
from tfm_core.checks.drawing import in_one_thread
from tfm_core.checks.judging import failed, misshapen
from tfm_core.checks.report import Report

CHECK = "check_generate"
VOCAB, CONTEXT, NEW = 11, 6, 5
COUNTS = frozenset("maxnewtokens newtokens steps n numtokens ntokens numnewtokens maxtokens count k length num".split())
LENGTHS = frozenset("maxlen maxlength totallength targetlength".split())  # with the prompt
CONTEXTS = frozenset("blocksize contextlength contextsize context maxseqlen ctxlen windowsize".split())
ENDS = frozenset("eostokenid eosid eos eostoken endid stopid stoptoken eosidx".split())
GREEDY: dict[str, Any] = {"dosample": False, "sample": False, "greedy": True}


class TableModel(nn.Module):
    """A model whose next token is a permutation of the token: logits (batch, seq, vocab) of ids (batch, seq).

    The logits depend on the last token alone, and not on others, so that what is written is known. It notes how it was
    called.

    Args:
        follows: the next token of each id.
    """

    def __init__(self, follows: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.nn.functional.one_hot(follows, len(follows)).float() * 2 - 1)
        self.block_size = self.context_length = self.max_seq_len = CONTEXT
        self.lengths: list[int] = []
        self.was_training = self.had_gradients = False

    def forward(self, ids: Tensor, *_: Any, **__: Any) -> Tensor:
        """The logits of each token's successor."""
        self.lengths.append(ids.shape[-1])
        self.was_training |= self.training
        self.had_gradients |= torch.is_grad_enabled()
        return self.table[ids]


@in_one_thread
def check_generate(f: Any, *, hint: bool = False, seed: int = 0) -> Report:
    """Check greedy writing: the prompt is kept, and the likeliest next token of the last place is added each time.

    Args:
        f: f(model, ids, max_new_tokens) -> ids (batch, seq + max_new_tokens), where model(ids) gives logits (batch,
            seq, vocab). Where it takes temperature, do_sample, eos_token_id or block_size, it gets them.
        hint: whether the report tells a cure.
        seed: what the model's table is drawn from.

    Raises:
        ValueError: for what cannot be called.

    Examples:
        >>> import torch
        >>> from tfm_core import check_generate
        >>> def my_generate(model, ids, max_new_tokens):
        ...     for _ in range(max_new_tokens):
        ...         ids = torch.cat([ids, model(ids)[:, -1].argmax(-1, keepdim=True)], dim=1)
        ...     return ids
        >>> bool(check_generate(my_generate))
        True
    """
    check_callable(CHECK, f, "a function f(model, ids, max_new_tokens)")
    generator = torch.Generator().manual_seed(seed)
    cycle = torch.randperm(VOCAB, generator=generator)
    follows = torch.empty_like(cycle)
    follows[cycle] = cycle.roll(-1)  # a single cycle: no token follows itself, and none comes back soon
    prompt = torch.stack([cycle[[0, 3, 1]], cycle[[5, 2, 8]]])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return _checked(f, follows, prompt, hint)
        except CodeFailed as error:
            return failed(CHECK, hint, "generation", error)


def _written(
    f: Callable[..., Any], model: nn.Module, ids: Tensor, cold: float, end: int | None = None
) -> Tensor | None:
    """What the code writes on; None where it returns no ids.

    Args:
        f: the code.
        model: what it asks.
        ids: the prompt.
        cold: the temperature, where there is no other way to say that the likeliest token is wanted.
        end: the id that ends a text, or None.
    """
    args: list[Any] = [model, ids.clone(), NEW]
    keywords: dict[str, Any] = {}
    params = (parameters(f) or [])[2:]
    has_switch = any(plain(each.name) in GREEDY for each in params)
    for each in params:
        short = plain(each.name)
        if short in COUNTS or short in LENGTHS:
            keywords[each.name] = NEW + (ids.shape[1] if short in LENGTHS else 0)
            args = args[:2]
        elif short in CONTEXTS:
            keywords[each.name] = CONTEXT
        elif short in ENDS and (end is not None or each.default is each.empty):
            keywords[each.name] = end
        elif short in GREEDY:
            keywords[each.name] = GREEDY[short]
        elif short == "temperature":
            keywords[each.name] = 1.0 if has_switch else cold
        elif short == "topk" and each.default is each.empty:
            keywords[each.name] = None
    output = guarded(f, *args, **keywords)
    tensors = [each for each in tensors_in(output) if each.dtype in (torch.long, torch.int)]
    return tensors[0] if tensors else None


def _coldest(f: Callable[..., Any], follows: Tensor, prompt: Tensor, expected: Tensor) -> float:
    """The temperature at which the code writes the likeliest tokens: 0, or nearly so where it divides by it."""
    if not _takes(f, frozenset({"temperature"})):
        return 0.0
    with suppress(CodeFailed):
        ids = _written(f, TableModel(follows).eval(), prompt, 0.0)
        if ids is not None and torch.equal(ids.cpu().long(), expected):
            return 0.0
    return 1e-4


def _checked(f: Callable[..., Any], follows: Tensor, prompt: Tensor, hint: bool) -> Report:
    model = TableModel(follows)
    model.eval()
    expected = written_on(follows, prompt, NEW)
    cold = _coldest(f, follows, prompt, expected)
    ids = _written(f, model, prompt, cold)
    if ids is None or ids.dim() != 2:
        return misshapen(CHECK, hint, "ids", tuple(expected.shape), [] if ids is None else [tuple(ids.shape)])
    ids = ids.cpu().long()
    wrong = _wrong(ids, expected, follows, prompt)
    if wrong:
        return _report(*wrong, hint)
    notes = []
    longest = max(model.lengths, default=0)
    if _takes(f, CONTEXTS) and longest > CONTEXT:
        said = f"The model’s context has {CONTEXT} tokens, and it was handed {longest}."
        return _report("context", said, "Hand over the last block_size tokens: ids[:, -block_size:].", hint)
    if model.had_gradients:
        notes.append("Gradients are kept while it writes, which takes memory: torch.no_grad is missing.")
    if _takes(f, ENDS):
        end = int(expected[0, prompt.shape[1] + 1])
        stopped = _written(f, TableModel(follows).eval(), prompt[:1], cold, end)
        right = expected[:1, : prompt.shape[1] + 2]
        if stopped is None or not any(torch.equal(stopped.cpu().long(), each) for each in (right, right[:, :-1])):
            said = f"It should stop at the token that ends a text, {end}, and does not."
            return _report("end", said, "Break where the new token is eos_token_id in all sentences.", hint)
    learner = TableModel(follows)
    learner.train()
    _written(f, learner, prompt, cold)
    if learner.was_training:
        notes.append("A model in training is not put into evaluation: dropout would be active.")
    return Report(True, "", "", 0.0, CHECK, tuple(notes), hint=hint)


def _takes(f: Callable[..., Any], names: frozenset[str]) -> bool:
    return any(plain(each.name) in names for each in parameters(f) or [])


def written_on(follows: Tensor, ids: Tensor, steps: int) -> Tensor:
    """The ids with the successors of their last token, (batch, seq + steps)."""
    for _ in range(steps):
        ids = torch.cat([ids, follows[ids[:, -1:]]], dim=1)
    return ids


def _wrong(ids: Tensor, expected: Tensor, follows: Tensor, prompt: Tensor) -> tuple[str, str, str] | None:
    """(where, what, the cure) of ids that are not the right ones; None of the right ones."""
    if torch.equal(ids, expected):
        return None
    start = prompt.shape[1]
    if torch.equal(ids, expected[:, start:]):
        return "prompt", "The new tokens are returned without the prompt.", "Return torch.cat([ids, new], dim=1)."
    if ids.shape[0] != expected.shape[0]:
        return "batch", f"Of {len(expected)} sentences, {len(ids)} are returned.", "Keep the batch axis: ids[:, -1:]."
    if not torch.equal(ids[:, :start], prompt):
        return "prompt", "The prompt is not kept.", "Add to the right end: torch.cat([ids, new], dim=1)."
    if ids.shape != expected.shape:
        said = f"{NEW} tokens should be added, and {ids.shape[1] - start} are."
        return "number of tokens", said, "Loop max_new_tokens times, with a single new token each time."
    new = ids[:, start:]
    first = follows[prompt[:, 0]]
    if torch.equal(new[:, 0], first):
        return "next token", "It is read from the first place, not from the last.", "logits[:, -1], the last place."
    if bool((new[0] == new[1]).all()):
        return "next token", "All sentences get the same token.", "logits[:, -1].argmax(-1): along the vocabulary."
    at = int((new != expected[:, start:]).any(0).int().argmax()) + 1
    if at == 1 and torch.equal(new[:, 0], follows[prompt[:, -2]]):
        return "next token", "It is read from the place before the last.", "logits[:, -1], the last place."
    said = f"New token {at} is not the likeliest one after the last token."
    return "next token", said, "logits[:, -1].argmax(-1, keepdim=True), of the ids with all that was added."


def _report(step: str, said: str, cure: str, hint: bool) -> Report:
    return Report(False, step, "", float("nan"), CHECK, (said,), hint=hint, advice=cure)
