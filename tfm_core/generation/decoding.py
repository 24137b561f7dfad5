"""Writing with a decoder, token after token: `generate`, which can stop, be led, and go on from an earlier course.

A step is a pass and a draw: the logits of the next token, and a token drawn from them, or one that is put there. With
the cache, a pass reads the tokens alone that no pass has read before; with a `Course`, the result of an earlier run,
not even these, as long as the texts agree. All it returns is immutable, and has a size in bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor

from tfm_core.generation.course import Course, Step, context_begin
from tfm_core.generation.lean import LeanDecoder
from tfm_core.generation.sampling import Sampling, next_token
from tfm_core.model.cache import KeyValueCache
from tfm_core.model.transformer import Transformer
from tfm_core.positional.schemes import POSITIONAL

WHEN_FULL = ("window", "stop")
NOTHING: Mapping[int, int] = MappingProxyType({})


class Generation(Iterator[Step]):
    """A course on its way: each `next` is a step, and `course()` is what there is by now. See `generate`.

    Examples:
        >>> from tfm_core import Transformer, TransformerConfig, generate
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> written = generate(Transformer(config).eval(), [5, 6], steps=10)
        >>> first, second = next(written), next(written)
        >>> len(written.course().steps)  # what there is by now
        2
    """

    def __init__(
        self,
        model: Transformer,
        prompt: Sequence[int],
        sampling: Sampling,
        *,
        steps: int,
        forced: Mapping[int, int],
        end_id: int | None,
        use_cache: bool,
        context: int | None,
        when_full: str,
        earlier: Course | None,
    ) -> None:
        self.model, self.sampling, self.steps = model, sampling, steps
        self.forced, self.end_id, self.use_cache = dict(forced), end_id, use_cache
        self.context, self.when_full, self.earlier = context, when_full, earlier
        self._prompt, self._ids = tuple(prompt), list(prompt)
        self._steps: list[Step] = []
        self._caches: dict[int, KeyValueCache] = {}
        self._known = earlier.tokens if earlier else ()
        self._agree = 0  # how many ids at the beginning of the text are also the earlier course's
        self._compare()
        self._lean = LeanDecoder(model) if use_cache else None

    def __next__(self) -> Step:
        number = len(self._steps)
        if number == self.steps or self._is_over():
            raise StopIteration
        begin = context_begin(len(self._ids), self.context)
        logits = self._logits(begin)
        token, forced = self.forced.get(number), number in self.forced
        if token is None:
            token = self._drawn_before(number)
        if token is None:
            token = next_token(logits, self.sampling, number)
        step = Step(number, begin, token, forced, logits)
        self._steps.append(step)
        self._ids.append(token)
        self._compare()
        return step

    def course(self) -> Course:
        """What has been written by now. The steps after it do not change it."""
        caches = {begin: cache.copy() for begin, cache in self._caches.items()}
        for begin in self.earlier.caches if self.earlier else ():
            if begin not in caches and self._agree > begin:
                caches[begin] = self._earlier_cache(begin, self._agree)
        steps = tuple(self._steps)
        return Course(self.model.config, self._prompt, steps, self.context, MappingProxyType(caches), self.sampling)

    def _is_over(self) -> bool:
        if self._steps and self._steps[-1].token == self.end_id:
            return True
        return self.when_full == "stop" and self.context is not None and len(self._ids) > self.context

    def _compare(self) -> None:
        """Follow the earlier course as far as the text is the same."""
        both = min(len(self._ids), len(self._known))
        while self._agree < both and self._ids[self._agree] == self._known[self._agree]:
            self._agree += 1

    def _drawn_before(self, number: int) -> int | None:
        """What the earlier course has drawn at this step in the same way from the same text; None if it has not."""
        earlier = self.earlier
        if earlier is None or (earlier.sampling, earlier.prompt) != (self.sampling, self._prompt):
            return None
        if self._agree < len(self._ids) or number >= len(earlier.steps) or earlier.steps[number].forced:
            return None
        return earlier.steps[number].token

    @torch.no_grad()
    def _logits(self, begin: int) -> Tensor:
        """The logits of the token after the text so far, (vocab): the earlier course's, or those of a pass."""
        ids = self._ids
        if self.earlier and self._agree == len(ids):
            number = len(ids) - len(self.earlier.prompt)
            if 0 <= number < len(self.earlier.steps):
                return self.earlier.steps[number].logits
        if not self.use_cache:
            return self._pass(ids[begin:], None)
        if begin not in self._caches:
            self._caches[begin] = self._earlier_cache(begin, min(self._agree, len(ids) - 1))
        cache = self._caches[begin]
        return self._pass(ids[begin + cache.length :], cache)

    def _pass(self, ids: Sequence[int], cache: KeyValueCache | None) -> Tensor:
        device = self.model.unembedding.weight.device
        if self._lean and cache is not None and len(ids) == 1 and self._lean.can(ids[0], cache):
            return self._lean(ids[0], cache)
        logits: Tensor = self.model(torch.tensor([ids], device=device), cache=cache)[0, -1]
        return logits.clone()  # without the rows of the other tokens

    def _earlier_cache(self, begin: int, end: int) -> KeyValueCache:
        """What the earlier course has stored of the text from `begin` to `end`; else nothing."""
        cache = self.earlier.caches.get(begin) if self.earlier else None
        return cache.cut(max(0, min(end - begin, cache.length))) if cache else KeyValueCache(self.model.config)


def generate(
    model: Transformer,
    prompt_ids: Sequence[int],
    sampling: Sampling | None = None,
    *,
    steps: int,
    forced: Mapping[int, int] = NOTHING,
    end_id: int | None = None,
    use_cache: bool = True,
    context: int | None = None,
    when_full: str = "window",
    earlier: Course | None = None,
) -> Generation:
    """Write on from a prompt: an iterator of steps, from which one may take as few as one likes.

        written = generate(model, prompt, Sampling(temperature=0.8, seed=3), steps=100)
        for step in written:
            ...
        course = written.course()  # to go on from: generate(model, prompt, other, steps=100, earlier=course)

    Args:
        model: a decoder in evaluation mode.
        prompt_ids: at least one token id.
        sampling: how tokens are chosen.
        steps: how many at most.
        forced: the number of a step -> the token id that is put there, whatever would have been drawn.
        end_id: the token after which nothing is written; it is written itself.
        use_cache: read each token once; without it, each step reads the whole context.
        context: the longest text of a pass; positions that end at max_len know so many, and all others any length.
        when_full: what is done with a text that is longer than that: "window" goes on with the newer half of the
            context, "stop" ends with the first token that does not fit.
        earlier: what the same model, unedited, wrote before. As long as the text is the same, nothing is computed
            anew; where they part, the earlier cache is cut.

    Raises:
        ValueError: naming what was expected and what came.

    Examples:
        >>> from tfm_core import Sampling, Transformer, TransformerConfig, generate
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> model, sampling = Transformer(config).eval(), Sampling(temperature=0.8, seed=3)
        >>> once, again = ([step.token for step in generate(model, [5, 6], sampling, steps=4)] for _ in range(2))
        >>> len(once), once == again
        (4, True)
    """
    config, prompt = model.config, [int(token) for token in prompt_ids]
    if config.architecture != "decoder":
        raise ValueError(f"generate: expected a decoder, got {config.architecture!r}")
    if when_full not in WHEN_FULL:
        raise ValueError(f"when_full: expected one of {', '.join(WHEN_FULL)}; got {when_full!r}")
    if POSITIONAL[config.positional].ends_at_max_len():
        context = config.max_len if context is None else context
        if context > config.max_len:
            raise ValueError(
                f"context: expected at most max_len={config.max_len} {config.positional} positions, got {context}"
            )
    if steps < 0 or (context is not None and context < 1):
        raise ValueError(f"expected steps of at least 0 and a context of at least 1, got {steps} and {context}")
    _check_ids("prompt_ids", prompt, config.vocab_size)
    _check_ids("forced", list(forced.values()), config.vocab_size)
    if not prompt:
        raise ValueError("prompt_ids: expected at least one token id, got none")
    if when_full == "stop" and context is not None and len(prompt) > context:
        raise ValueError(f"prompt_ids: expected at most context={context} tokens, got {len(prompt)}")
    if use_cache:
        KeyValueCache(config)  # an error now, and not at the first step
    if earlier and (earlier.config, earlier.context) != (config, context):
        raise ValueError(
            f"earlier: expected a course of {config} with context={context}; "
            f"got one of {earlier.config} with context={earlier.context}"
        )
    return Generation(
        model,
        prompt,
        Sampling() if sampling is None else sampling,
        steps=steps,
        forced=forced,
        end_id=end_id,
        use_cache=use_cache,
        context=context,
        when_full=when_full,
        earlier=earlier,
    )


def _check_ids(name: str, ids: Sequence[int], vocab_size: int) -> None:
    if wrong := [token for token in ids if not 0 <= token < vocab_size]:
        raise ValueError(f"{name}: expected ids below vocab_size={vocab_size}, from 0 on; got {wrong[0]}")
