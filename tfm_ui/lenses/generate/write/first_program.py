"""What a first program that writes does, where this one does something else: three mistakes, each of them made here.

- It never calls model.eval(): dropout acts while it writes, so that one prompt gives other texts.
- It reads on past the context: a learned table has no row there, and other schemes give what training never showed.
- It calls torch.topk with a k above the vocabulary.

What torch says is what torch raises when it is called.
"""

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core import POSITIONAL, TransformerConfig, generate, recording
from tfm_ui.lenses.generate.courses import Settings, course_of, prompt_of, settings_of, why_not_write
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState

DROPOUT = 0.1  # with which Lab GPT was trained
MOST = 30  # tokens of a text with dropout: each is a pass over all before it


def dropping(seed: int) -> Mapping[str, Callable[[Tensor], Tensor]]:
    """Edits of a recording that drop a share of what each sub-layer adds, as `model.train()` does.

    The draw is from a generator of its own: the global one belongs to all threads.
    """
    drawn = torch.Generator().manual_seed(seed)

    def drop(x: Tensor) -> Tensor:
        return x * torch.empty_like(x).bernoulli_(1 - DROPOUT, generator=drawn) / (1 - DROPOUT)

    return {f"*layers.*.{sub_layer}.output": drop for sub_layer in ("self_attention", "feed_forward")}


@cached(heavy=lambda *_: True)
def _with_dropout(model: ModelState, settings: Settings, seed: int) -> list[int]:
    """The tokens that are written in training mode, by one draw of the dropout; without the cache, as drawn anew."""
    writing = generate(
        transformer(model.config),
        prompt_of(model, settings.chat),
        settings.sampling,
        steps=min(settings.steps, MOST),
        use_cache=False,
        context=model.most_tokens,
    )
    with torch.no_grad(), recording((), dropping(seed)):
        return [step.token for step in writing]


def texts_in_training_mode(model: ModelState, state: GenerateState) -> tuple[list[int], list[int]]:
    """The same prompt, written twice with dropout: the tokens of either text; empty of a model that writes nothing."""
    if why_not_write(model):
        return [], []
    settings = settings_of(model, state)
    first, second = (_with_dropout(model, settings, seed) for seed in (1, 2))
    return first, second


def parts_at(model: ModelState, state: GenerateState) -> int:
    """The first step, from 1, at which two runs in training mode write different tokens; 0 if there is none."""
    pairs = zip(*texts_in_training_mode(model, state), strict=True)
    return next((step for step, (a, b) in enumerate(pairs, 1) if a != b), 0)


def topk_error(model: ModelState, state: GenerateState) -> str:
    """What torch.topk raises for this k and as many logits as the vocabulary has; "" if nothing."""
    if why_not_write(model):
        return ""
    try:
        torch.topk(torch.zeros(model.config.vocab_size), state.top_k)
    except RuntimeError as error:
        return str(error)
    return ""


def past_table_error(model: ModelState, state: GenerateState) -> str:
    """What a learned table of positions raises at the first position past the context."""
    if why_not_write(model):
        return ""
    try:
        F.embedding(torch.tensor([model.most_tokens]), torch.zeros(model.most_tokens, 1))
    except IndexError as error:
        return str(error)
    return ""


def ends_with_an_error(config: TransformerConfig) -> bool:
    """Whether this model's positions are not defined past its context."""
    return POSITIONAL[config.positional].ends_at_max_len()


@cached()
def past_context(model: ModelState, settings: Settings) -> tuple[float, float]:
    """The mean of −ln p of the tokens that were written after the context was full: as this program reads, its newer
    half; and as a program reads that goes on past the end. 0 and 0 where no token was, or the model cannot.
    """
    if why_not_write(model) or ends_with_an_error(model.config):
        return 0.0, 0.0
    course = course_of(model, settings)
    late = [step for step in course.steps if step.begin]
    if not late:
        return 0.0, 0.0
    tokens = (*course.prompt, *(step.token for step in course.steps))
    with torch.no_grad():
        logits = transformer(model.config)(torch.tensor([tokens[:-1]]))[0]
    written = torch.tensor([step.token for step in late])
    here = torch.stack([step.logits for step in late])
    return float(F.cross_entropy(here, written)), float(F.cross_entropy(logits[-len(late) :], written))
