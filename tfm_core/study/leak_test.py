"""A test of leaks as plain values: a model, its mask and what it reads, for a process that has nothing else."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from tfm_core.masks.basic import padding_mask
from tfm_core.model.config import TransformerConfig
from tfm_core.model.recording import recording
from tfm_core.model.transformer import Stack, Transformer
from tfm_core.model.unfilled import copied
from tfm_core.study.leaks import Influence, influence_by_part


@dataclass(frozen=True)
class LeakTest:
    """All that `influence` of every token depends on.

    Attributes:
        config: the model's; it runs in float64.
        place: the attention that the mask is for: "self" of a single stack; "decoder" or "cross" of an encoder-decoder.
        source: token ids.
        target: token ids; of a single stack they are not read.
        mask: boolean (query, key), eight cells a byte, the first in the highest bit.
        shape: of the mask, (query, key).
        mask_site: the recording's name of the mask that is replaced.
        sites: the recording's names of the residual stream after each layer.
        vocab_size: replacements are ids below it.
        tries: how many replacements each token gets.
        at_once: how many tokens are changed in one batch.
    """

    config: TransformerConfig
    place: str
    source: tuple[int, ...]
    target: tuple[int, ...]
    mask: bytes
    shape: tuple[int, int]
    mask_site: str
    sites: tuple[str, ...]
    vocab_size: int
    tries: int
    at_once: int

    @property
    def changed(self) -> tuple[int, ...]:
        """The text whose tokens are changed, token ids."""
        return self.target if self.place == "decoder" else self.source

    @property
    def numbers(self) -> int:
        """How many numbers are measured: tokens x layers x outputs."""
        return len(self.changed) * len(self.sites) * self.shape[0]

    def parts(self) -> Iterator[Influence]:
        """What moved, (token, layer, output), for a few tokens after the other, until all have been changed."""
        source, target = torch.tensor([self.source]), torch.tensor([self.target])
        run = streams(
            in_float64(Transformer(self.config).eval()),
            self.place,
            source,
            target,
            mask=unpacked(self.mask, self.shape),
            mask_site=self.mask_site,
            sites=self.sites,
        )
        return influence_by_part(
            run,
            torch.tensor([self.changed]),
            vocab_size=self.vocab_size,
            tries=self.tries,
            at_once=self.at_once,
        )


def in_float64(model: Transformer) -> Transformer:
    """The same model, which computes in float64: a layer's parameters are widened while it runs, and no longer.

    What it gives is what `model.double()` gives, to the last digit; but a model whose weights are memory-mapped takes
    a layer more of memory, and not three times its own. Two threads must not run it at once.
    """
    # With a cache, so that a parameter that stands in two places is one parameter again.
    widened: Transformer = copied(model, cache(lambda each: nn.Parameter(each.detach(), each.requires_grad)))
    for stack in (part for part in widened.children() if isinstance(part, Stack)):
        stack.embedding.register_forward_hook(lambda _, inputs, output: output.double())
        if stack.token_types is not None:
            stack.token_types.register_forward_hook(lambda _, inputs, output: output.double())
        # What positions add becomes float64 where it is added.
        for part in (*stack.layers, *filter(None, (stack.final_norm, stack.embedding_norm))):
            _widen_while_it_runs(part)
    return widened


def _widen_while_it_runs(part: nn.Module) -> None:
    narrow: dict[nn.Parameter, Tensor] = {}

    def widen(*_: object) -> None:
        for parameter in part.parameters():
            narrow[parameter] = parameter.data
            parameter.data = parameter.data.double()

    def put_back(*_: object) -> None:
        for parameter, values in narrow.items():
            parameter.data = values
        narrow.clear()

    part.register_forward_pre_hook(widen)
    part.register_forward_hook(put_back, always_call=True)


def unpacked(cells: bytes, shape: tuple[int, int]) -> Tensor:
    """A mask, boolean of this shape, from eight cells a byte, the first in the highest bit."""
    packed = torch.frombuffer(bytearray(cells), dtype=torch.uint8)
    bits = packed[:, None] >> torch.arange(7, -1, -1, dtype=torch.uint8) & 1
    return bits.flatten()[: shape[0] * shape[1]].reshape(shape).bool()


def streams(
    model: Transformer,
    place: str,
    source: Tensor,
    target: Tensor,
    *,
    mask: Tensor,
    mask_site: str,
    sites: Sequence[str],
) -> Callable[[Tensor], Tensor]:
    """Token ids (batch, token) -> the residual stream after each layer, (batch, layer, output, d_model).

    All masks are those of the text as it is written, whatever ids come. What is after the last layer, above all the
    unembedding, which would take most of the time, is left out: it looks at each output by itself.

    Args:
        model: in the precision of the result.
        place: as in `LeakTest`.
        source: token ids, (1, token).
        target: token ids, (1, token); of a single stack they are not read.
        mask: boolean (query, key), instead of what the model hides by itself.
        mask_site: the recording's name of the mask that is replaced.
        sites: the recording's names of the residual stream after each layer.
    """
    exactly = {mask_site: lambda automatic: mask.expand_as(automatic)}
    padding = padding_mask(source)
    memory = model.encoder(source, padding).detach() if place == "decoder" else None

    def run(tokens: Tensor) -> Tensor:
        count = len(tokens)
        with torch.no_grad(), recording(sites, exactly) as trace:
            if memory is not None:
                model.decoder(tokens, mask, memory=memory.expand(count, -1, -1), memory_mask=padding)
            elif place == "cross":
                model.decoder(target.expand(count, -1), memory=model.encoder(tokens, padding), memory_mask=mask)
            else:
                model.stack(tokens, mask)
        return torch.stack([trace[site] for site in sites], 1)

    return run
