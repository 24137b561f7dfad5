"""What has been written, step by step, and of which part of the text each step knew.

Where the context is full, its newer half is kept, and read anew as a text of its own (`context_begin`): positions and
what layers have gathered of dropped tokens are in each stored key, so a cache cannot be moved. Reading it anew for each
token would cost a whole pass a token; dropping half costs one every `context / 2` tokens, and never leaves less than
half. It is what llama.cpp does by its context shift.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from tfm_core.generation.sampling import Sampling
from tfm_core.model.cache import KeyValueCache
from tfm_core.model.config import TransformerConfig


@dataclass(frozen=True, eq=False)
class Step:
    """One token more.

    Attributes:
        number: of the step, from 0 on; the draw's position.
        begin: where the context begins in the whole text, prompt included: the pass saw the tokens from there on.
        token: the id that now ends the text.
        forced: whether it was put there, and not drawn.
        logits: (vocab), what it was drawn from.

    Examples:
        >>> from tfm_core import Transformer, TransformerConfig, generate
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> step = next(generate(Transformer(config).eval(), [5, 6], steps=1, forced={0: 9}))
        >>> step.token, step.forced, step.logits.shape
        (9, True, torch.Size([50]))
    """

    number: int
    begin: int
    token: int
    forced: bool
    logits: Tensor


@dataclass(frozen=True, eq=False)
class Course:
    """What one `generate` has written, to be kept, and gone on from. Nothing in it ever changes.

    Attributes:
        config: of the model.
        prompt: token ids.
        steps: as they were yielded.
        context: the longest text of a pass; None for any length.
        caches: where a context begins -> what was stored of the text from there on; empty without the cache.
        sampling: how its tokens were chosen; None if that is not known.

    Examples:
        >>> from tfm_core import Transformer, TransformerConfig, generate
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> model = Transformer(config).eval()
        >>> written = generate(model, [5, 6], steps=3)
        >>> _ = list(written)
        >>> course = written.course()
        >>> len(course.tokens), course.tokens[:2]
        (5, (5, 6))
        >>> [step.token for step in generate(model, [5, 6], steps=3, earlier=course)] == list(course.tokens[2:])
        True
    """

    config: TransformerConfig
    prompt: tuple[int, ...]
    steps: tuple[Step, ...]
    context: int | None
    caches: Mapping[int, KeyValueCache]
    sampling: Sampling | None = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """The whole text: the prompt, and what was written."""
        return (*self.prompt, *(step.token for step in self.steps))

    @property
    def nbytes(self) -> int:
        """Bytes of all logits and caches. Courses that share some count them, too."""
        logits = sum(step.logits.nbytes for step in self.steps)
        return logits + sum(cache.nbytes for cache in self.caches.values())


def context_begin(length: int, context: int | None) -> int:
    """Where the context of a text of `length` tokens begins: at 0, until it is full; then its newer half is left.

    A function of the length alone, so that a text is read the same, however it came about.
    """
    if context is None or length <= context:
        return 0
    dropped = context + 1 - max(1, context // 2)  # by the token that no longer fits
    return -(-(length - context) // dropped) * dropped
