"""Beam search: the `width` likeliest texts are followed side by side, and the tree of those that were followed.

At each step every beam is continued by every token; the best continuations by the sum of log probabilities are the next
beams. A continuation that ends is set aside with sum / length^penalty, as in Wu et al. 2016, section 7, without their
constants; the search is over when no beam, if it ended now, would enter the best `width` of these, or all steps are
done, when the beams themselves count as ended. So does transformers' generate(num_beams=width).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.cache import KeyValueCache, can_cache
from tfm_core.model.transformer import Transformer

WIDEST = 8


@dataclass(frozen=True)
class Beam:
    """A continuation that was kept.

    Attributes:
        token: the id that it ends in.
        parent: which beam of the step before it goes on from, 0 the best; in the first step, 0 for the prompt.
        log_probability: of its token after its parent, in nats.
        score: the sum of the log probabilities of all its new tokens, in nats.

    Examples:
        >>> from tfm_core import Beam
        >>> Beam(token=7, parent=0, log_probability=-0.5, score=-1.25).score
        -1.25
    """

    token: int
    parent: int
    log_probability: float
    score: float


@dataclass(frozen=True)
class BeamStep:
    """What a step kept.

    Attributes:
        beams: those that are followed further, the best first.
        ended: those that were set aside, as they end here, the best first; their parents are beams of the step before.

    Examples:
        >>> from tfm_core import Beam, BeamStep
        >>> step = BeamStep(beams=(Beam(7, 0, -0.5, -1.25),), ended=())
        >>> step.beams[0].token
        7
    """

    beams: tuple[Beam, ...]
    ended: tuple[Beam, ...]


@dataclass(frozen=True)
class Written:
    """A text of the search.

    Attributes:
        tokens: the new ones, with the end if it has one.
        score: the sum of their log probabilities.
        rating: score / length^penalty, by which texts of different lengths are compared.
    """

    tokens: tuple[int, ...]
    score: float
    rating: float


@dataclass(frozen=True)
class Beams:
    """A whole search.

    Attributes:
        prompt: token ids.
        steps: what each step kept.
        texts: the best `width` that came out, by falling rating.

    Examples:
        >>> from tfm_core import Transformer, TransformerConfig, beam_search
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> beams = beam_search(Transformer(config).eval(), [5, 6], width=2, steps=3)
        >>> len(beams.steps), len(beams.texts), len(beams.tokens_of(2, 0))
        (3, 2, 3)
    """

    prompt: tuple[int, ...]
    steps: tuple[BeamStep, ...]
    texts: tuple[Written, ...]

    def tokens_of(self, step: int, beam: int) -> tuple[int, ...]:
        """The new tokens of a beam that was followed after this step."""
        return _tokens(self.steps[:step], self.steps[step].beams[beam])


@torch.no_grad()
def beam_search(
    model: Transformer,
    prompt_ids: Sequence[int],
    *,
    width: int,
    steps: int,
    end_id: int | None = None,
    length_penalty: float = 1.0,
) -> Beams:
    """Look for the likeliest text after a prompt, without certainty to find it.

    Args:
        model: a decoder in evaluation mode.
        prompt_ids: at least one token id.
        width: how many texts are followed, 1 to 8; 1 is greedy.
        steps: how many tokens are written at most.
        end_id: the token that ends a text; None if none does.
        length_penalty: above 0, long texts are preferred to short ones of the same score, below 0 short ones.

    Raises:
        ValueError: naming what was expected and what came.

    Examples:
        >>> from tfm_core import Transformer, TransformerConfig, beam_search
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> best, second = beam_search(Transformer(config).eval(), [5, 6], width=2, steps=3).texts
        >>> best.rating >= second.rating, len(best.tokens)
        (True, 3)
    """
    config, prompt = model.config, tuple(int(token) for token in prompt_ids)
    if config.architecture != "decoder":
        raise ValueError(f"beam_search: expected a decoder, got {config.architecture!r}")
    if not 1 <= width <= WIDEST or steps < 1 or not prompt:
        raise ValueError(
            f"beam_search: expected a width from 1 to {WIDEST}, at least 1 step and 1 token of a prompt; "
            f"got {width}, {steps} and {len(prompt)}"
        )
    texts = torch.tensor([prompt], device=model.unembedding.weight.device)  # (beam, seq)
    scores = torch.zeros(1, dtype=torch.float64, device=texts.device)  # (beam)
    cache = KeyValueCache(config) if can_cache(config) else None
    done, ended = list[BeamStep](), list[Written]()
    for number in range(steps):
        new = texts if cache is None or not number else texts[:, -1:]
        logs = model(new, cache=cache)[:, -1].double().log_softmax(-1)  # (beam, vocab)
        parents, tokens, sums = _best(logs + scores[:, None], 2 * width)
        ends = tokens == end_id if end_id is not None else torch.zeros_like(tokens, dtype=torch.bool)
        last, goes_on = ends[:width].nonzero()[:, 0], (~ends).nonzero()[:width, 0]
        step = BeamStep(*(_beams(parents[kept], tokens[kept], sums[kept], logs) for kept in (goes_on, last)))
        finished = step.ended if number + 1 < steps else (*step.ended, *step.beams)
        ended += [_written(_tokens(done, beam), beam.score, length_penalty) for beam in finished]
        ended = sorted(ended, key=lambda text: -text.rating)[:width]
        done.append(step)
        if not step.beams or _is_over(ended, step.beams[0], number + 1, width, length_penalty):
            break
        rows, scores = parents[goes_on], sums[goes_on]
        texts = torch.cat([texts[rows], tokens[goes_on, None]], 1)
        cache = cache.select(rows) if cache else None
    return Beams(prompt, tuple(done), tuple(ended))


def _best(sums: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of all, (beam, vocab) -> their beams, tokens and sums; equal ones by beam and id."""
    flat = sums.flatten()
    least = flat.topk(min(count, len(flat))).values[-1]
    places = (flat >= least).nonzero()[:, 0]  # by beam and id, also those that are as good as the last
    values, order = flat[places].sort(descending=True, stable=True)
    best = places[order[:count]]
    return best // sums.shape[1], best % sums.shape[1], values[:count]


def _beams(parents: Tensor, tokens: Tensor, sums: Tensor, logs: Tensor) -> tuple[Beam, ...]:
    table = zip(tokens.tolist(), parents.tolist(), logs[parents, tokens].tolist(), sums.tolist(), strict=True)
    return tuple(Beam(*row) for row in table)


def _tokens(steps: Sequence[BeamStep], beam: Beam) -> tuple[int, ...]:
    """The new tokens of a beam, back through its parents in these steps."""
    tokens = [beam.token]
    for step in reversed(steps):
        beam = step.beams[beam.parent]
        tokens.append(beam.token)
    return tuple(reversed(tokens))


def _written(tokens: tuple[int, ...], score: float, penalty: float) -> Written:
    return Written(tokens, score, score / len(tokens) ** penalty)


def _is_over(ended: Sequence[Written], best: Beam, length: int, width: int, penalty: float) -> bool:
    """Whether enough texts have ended, and the best beam, if it ended now, would not be among them."""
    return len(ended) == width and best.score / length**penalty <= ended[-1].rating
