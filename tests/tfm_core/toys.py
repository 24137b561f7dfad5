"""Models small enough to run by the hundred, and what is done to them in more than one test module."""

from functools import cache
from itertools import product

import torch

from tfm_core import Transformer, TransformerConfig

VOCAB = 23

# The bounds that hold for every comparison with code that is not ours.
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def tiny(**changes) -> TransformerConfig:
    return TransformerConfig(
        **{"vocab_size": VOCAB, "d_model": 16, "num_heads": 4, "d_ff": 20, "max_len": 48, "seed": 7, **changes}
    )


def build(**changes) -> Transformer:
    return Transformer(tiny(**changes)).eval()


@cache
def shared(**changes) -> Transformer:
    """The same as `build`, built once: for tests that run a model by the hundred and leave it as it is."""
    return build(**changes)


@torch.no_grad()
def scramble(module, dtype=torch.float32):
    """Random numbers in every parameter: fresh biases are 0 and fresh norms 1, which would hide a forgotten one."""
    for parameter in module.parameters():
        parameter.normal_(std=0.4)
    return module.to(dtype).eval()


def random_ids(*shape, seed=0):
    """Ids without padding."""
    return torch.randint(1, VOCAB, shape, generator=torch.Generator().manual_seed(seed))


def random_mask(seed, rows, columns=None, share=0.3):
    """Boolean (query, key), about that share of it True."""
    numbers = torch.Generator().manual_seed(seed)
    return torch.rand(rows, columns or rows, generator=numbers) < share


def broadcasting_to(*shape):
    """All shapes that broadcast to this one: with fewer axes, and with any axis of length 1."""
    return [each for begin in range(len(shape) + 1) for each in product(*({1, size} for size in shape[begin:]))]


def run(model, tokens, **keywords):
    """Logits of any architecture; an encoder-decoder reads the tokens on both sides."""
    both = (tokens, tokens) if model.config.architecture == "encoder-decoder" else (tokens,)
    return model(*both, **keywords)


def largest_error(got, expected):
    assert got.shape == expected.shape
    return (got - expected).abs().max().item()
