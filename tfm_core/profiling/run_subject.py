"""A row as something that runs: the module and its input, in the mode of a direction."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

import torch
from torch.utils.benchmark.utils.common import set_torch_threads

from tfm_core.profiling.plan import Row
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.targets import TARGETS

KEPT_BYTES = {"cpu": 2**28, "cuda": 2**33}


class Subject:
    """A row, built: the same weights and input each time, by the setup's seed.

    Attributes:
        module: on its device, in its dtype.
        x: (batch, seq, d_model), which asks for a gradient, as the embedding below a stack does; with an embedding,
            token ids (batch, seq), none of them PAD.
    """

    def __init__(self, row: Row, setup: Setup) -> None:
        self.setup, size = setup, row.size
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(setup.seed)
            self.module = TARGETS[row.target].build(size, setup.seed)
            if size.embeds:
                x = torch.randint(1, size.vocab_size, (size.batch, size.seq_len))
            else:
                x = torch.randn(size.batch, size.seq_len, size.d_model)
        dtype = getattr(torch, setup.dtype)
        self.module.to(setup.device, dtype)
        self.x = x.to(setup.device) if size.embeds else x.to(setup.device, dtype).requires_grad_()

    @property
    def bytes(self) -> int:
        """The size of the weights and the input, in bytes."""
        return sum(tensor.nbytes for tensor in chain(self.module.parameters(), self.module.buffers(), [self.x]))

    def call(self, direction: str) -> Callable[[], object]:
        """What is measured, "forward" or "training"."""
        return (lambda: self.module(self.x)) if direction == "forward" else self._forward_and_backward

    @contextmanager
    def mode(self, direction: str) -> Iterator[None]:
        """Evaluation and inference mode for the forward, training mode for both; torch's threads as in the setup."""
        self.module.train(direction == "training")
        inference = direction == "forward"
        threads = set_torch_threads(self.setup.threads)
        with threads, torch.inference_mode(inference), torch.set_grad_enabled(not inference):
            yield

    def _forward_and_backward(self) -> None:
        """The loss is the sum of the output. Gradients are dropped within the time that is taken: microseconds."""
        try:
            self.module(self.x).sum().backward()
        finally:  # even where memory ran out half-way: the next forward pass runs without them
            self.module.zero_grad(set_to_none=True)
            self.x.grad = None


class Bench:
    """The subjects of a plan. Some stay built, as far as memory goes; the others are built again for each turn."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._kept: dict[int, Subject] = {}

    def subject(self, number: int, row: Row) -> Subject:
        """The row's, which has this number in the plan.

        Raises:
            RuntimeError, MemoryError: if the device lacks the memory, or cannot do it.
        """
        if number in self._kept:
            return self._kept[number]
        subject = Subject(row, self.setup)
        if sum(kept.bytes for kept in self._kept.values()) + subject.bytes <= KEPT_BYTES[self.setup.device]:
            self._kept[number] = subject
        return subject

    def drop(self, number: int) -> None:
        """Forget one, as it is not to be measured any more."""
        self._kept.pop(number, None)
        if self.setup.device == "cuda":
            torch.cuda.empty_cache()


def refusal(row: Row, setup: Setup) -> str:
    """Why a row cannot run in this setting, before anything is built; "" if it can."""
    if row.target not in TARGETS:
        return f"expected one of {', '.join(TARGETS)}; got {row.target}"
    if setup.device == "cuda" and not torch.cuda.is_available():
        return "torch finds no CUDA device here"
    return TARGETS[row.target].cannot(row.size, setup).removesuffix(".")


def problem(error: Exception) -> str:
    """Why there is no measurement, in a line."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    words = ("can't allocate", "cannot allocate", "out of memory", "not enough memory")
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or any(word in str(error).lower() for word in words):
        return f"out of memory: {first}" if first else "out of memory"
    return f"{type(error).__name__}: {first}"
