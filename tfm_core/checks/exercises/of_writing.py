"""Exercises of writing: temperature, cuts, greedy writing, and what a cache keeps."""

import math

import torch
from torch import Generator, Tensor, nn

from tfm_core.checks.exercises.beside import Beside, Call, Slip, randn
from tfm_core.checks.exercises.coding import Coding
from tfm_core.checks.exercises.fixed import Fixed
from tfm_core.generation.sampling import Sampling, draw


def with_temperature(logits: Tensor, temperature: float) -> Tensor:
    """The probabilities of the next token, (…, vocab), at a temperature."""
    # blank: the logits, divided by the temperature
    scaled = logits / temperature
    # blank: their softmax
    return scaled.softmax(-1)


def top_k(logits: Tensor, k: int) -> Tensor:
    """Logits (vocab) in which only the k largest stay, and those that equal the last of them; others become −∞."""
    # blank: the k-th largest logit
    lowest = logits.topk(k).values[-1]
    # blank: −∞ in place of all that are smaller
    return logits.masked_fill(logits < lowest, -math.inf)


def top_p(probabilities: Tensor, p: float) -> Tensor:
    """Probabilities (vocab) of which the fewest stay that have p together; they sum to 1 again, the others are 0."""
    ranked, order = probabilities.sort(descending=True)
    # blank: what the tokens before each one have together, in this order
    before = ranked.cumsum(-1) - ranked
    # blank: the probability of each token that stays, 0 of the others; a token stays while those before it lack p
    kept = torch.where(before < p, ranked, 0.0)
    final = torch.zeros_like(probabilities)
    final[order] = kept
    # blank: divided by their sum, so that it is 1 again
    return final / final.sum()


def write(model: nn.Module, ids: Tensor, max_new_tokens: int) -> Tensor:
    """Ids (batch, seq + max_new_tokens): always the likeliest token, one after the other; model(ids) gives logits."""
    for _ in range(max_new_tokens):
        # blank: the logits of the last place, (batch, vocab)
        logits = model(ids)[:, -1]
        # blank: the id of the largest, (batch, 1)
        likeliest = logits.argmax(-1, keepdim=True)
        # blank: the ids, and this token after them
        ids = torch.cat([ids, likeliest], dim=1)
    return ids


def cached_attention(
    query: Tensor, key: Tensor, value: Tensor, kept_keys: Tensor, kept_values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """What a new token gathers, and what is kept then: query, key and value (…, 1, d_k), kept (…, seq, d_k)."""
    # blank: the kept keys, and the new one after them
    keys = torch.cat([kept_keys, key], dim=-2)
    # blank: the kept values, and the new one after them
    values = torch.cat([kept_values, value], dim=-2)
    # blank: the new token’s weights, over all keys
    weights = (query @ keys.mT / math.sqrt(query.shape[-1])).softmax(-1)
    return weights @ values, keys, values


def _logits(generator: Generator) -> list[Call]:
    return [(randn(generator, 2, 7), 0.5), (randn(generator, 2, 7), 2.0)]


def _cut(generator: Generator) -> list[Call]:
    logits = randn(generator, 9)
    return [(logits, 3), (torch.tensor([1.0, 2.0, 0.0, 2.0, 1.0]), 3), (logits, 9)]


def _shares(generator: Generator) -> list[Call]:
    return [((randn(generator, 9) * 2).softmax(-1), p) for p in (0.9, 0.5, 1.0)]


def _nucleus(probabilities: Tensor, p: float) -> Tensor:
    drawn = draw(probabilities.log(), Sampling(top_k=0, top_p=p))
    return drawn.final.float()


def _too_few(probabilities: Tensor, p: float, *, is_sum_one: bool = True) -> Tensor:
    ranked, order = probabilities.sort(descending=True)
    kept = torch.where(ranked.cumsum(-1) <= p, ranked, 0.0)
    final = torch.zeros_like(probabilities)
    final[order] = kept
    return final / final.sum() if is_sum_one else final


def _not_renewed(probabilities: Tensor, p: float) -> Tensor:
    return torch.where(_nucleus(probabilities, p) > 0, probabilities, 0.0)


def _prompts(generator: Generator) -> list[Call]:
    table = randn(generator, 9, 9)
    return [(lambda ids: table[ids].cumsum(1), torch.tensor([[1, 5, 2], [7, 3, 3]]), count) for count in (4, 1)]


def _kept(generator: Generator) -> list[Call]:
    new = [randn(generator, 2, 3, 1, 4) for _ in range(3)]
    return [(*new, randn(generator, 2, 3, 5, 4), randn(generator, 2, 3, 5, 4))]


def _last_of_all(query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, ...]:
    keys, values = torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
    gathered: Tensor = nn.functional.scaled_dot_product_attention(query, keys, values)
    return gathered, keys, values


def _blind_to_itself(query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, ...]:
    gathered: Tensor = nn.functional.scaled_dot_product_attention(query, keys, values)
    return gathered, torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)


def _in_front(query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, ...]:
    gathered, _, _ = _last_of_all(query, key, value, keys, values)
    return gathered, torch.cat([key, keys], dim=-2), torch.cat([value, values], dim=-2)


OF_WRITING = {
    "temperature": Coding(
        title="Temperature",
        task="Write the probabilities of the next token at a temperature.",
        solution=with_temperature,
        check=Beside(
            name="with_temperature",
            right=lambda logits, temperature: torch.softmax(logits / temperature, -1),
            calls=_logits,
            slips=[
                Slip(
                    lambda logits, temperature: (logits * temperature).softmax(-1),
                    "The logits are multiplied: a low temperature makes the choice more even.",
                    "Divide by the temperature.",
                ),
                Slip(
                    lambda logits, temperature: logits.softmax(-1) / temperature,
                    "The probabilities are divided, and no longer sum to 1.",
                    "Divide the logits, before the softmax.",
                ),
                Slip(
                    lambda logits, temperature: logits.softmax(-1),
                    "The temperature is not used.",
                    "Divide the logits by it.",
                ),
            ],
        ),
    ),
    "top-k": Coding(
        title="The k likeliest",
        task="Write the cut that leaves the k largest logits.",
        solution=top_k,
        check=Beside(
            name="top_k",
            right=lambda logits, k: torch.where((logits > logits[:, None]).sum(1) < k, logits, -math.inf),
            calls=_cut,
            slips=[
                Slip(
                    lambda logits, k: torch.where((logits > logits[:, None]).sum(1) < k, logits, 0.0),
                    "0 stands in place of −∞: the softmax makes a weight of e⁰ = 1 of it.",
                    "A logit that is cut is −∞.",
                ),
                Slip(
                    lambda logits, k: torch.where((logits < logits[:, None]).sum(1) < k, logits, -math.inf),
                    "The k smallest are left.",
                    "topk takes the largest unless told otherwise; cut those that are smaller than the k-th.",
                ),
            ],
        ),
    ),
    "top-p": Coding(
        title="A cut that adapts",
        task="Write the cut that leaves the fewest tokens that have probability p together.",
        solution=top_p,
        check=Beside(
            name="top_p",
            right=_nucleus,
            calls=_shares,
            slips=[
                Slip(
                    _too_few,
                    "The token with which p is reached is cut: what is left has less than p.",
                    "A token stays while those before it have less than p.",
                ),
                Slip(
                    _not_renewed,
                    "What is left does not sum to 1.",
                    "Divide by the sum of what is left.",
                ),
            ],
        ),
    ),
    "generate": Coding(
        title="Write, token by token",
        task="Write the loop of greedy writing: the likeliest token is added to the text, which is read again.",
        solution=write,
        check="check_generate",
        fixed=Fixed(
            asks="The task asks for write(model, ids, max_new_tokens), which returns the prompt and as many tokens "
            "more.",
            calls=_prompts,
        ),
    ),
    "kv-cache": Coding(
        title="What is kept",
        task="Write the attention of one new token with kept keys and values. It must give what a pass over all gives.",
        solution=cached_attention,
        check=Beside(
            name="cached_attention",
            right=_last_of_all,
            calls=_kept,
            slips=[
                Slip(
                    _blind_to_itself,
                    "The new token does not see itself: its key and value are missing when it gathers.",
                    "Put the new key and value after the kept ones first.",
                ),
                Slip(
                    _in_front,
                    "The new key stands before the kept ones. Here the output is the same, but not with positions.",
                    "torch.cat([kept_keys, key]): the newest comes last.",
                ),
            ],
        ),
    ),
}
