"""The machine that measures, and what it can do at best: a large matrix product, a large copy."""

import math
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils.benchmark import timer

from tfm_core.profiling.report import Blocks, Machine
from tfm_core.profiling.setup import Setup

CPUINFO = Path("/proc/cpuinfo")
PRODUCT_SIDE = {"cpu": 1024, "cuda": 8192}  # three matrices that no cache next to a core holds
SMALL_SIDE = 256  # and up from there: slow are float16 on most processors, float64 on most GPUs
MOST_SECONDS = 0.2  # of a product
COPY_BYTES = {"cpu": 2**27, "cuda": 2**30}  # twice what the last cache of a desktop's or a rented processor holds


@dataclass
class Peak:
    """One limit of the machine: what is called, how much work a call is, and its blocks by now.

    Attributes:
        limit: the field of `Machine`, that it fills.
        call: does the work once.
        work: floating point operations, or bytes read and written, of one call.
        blocks: like a row's.
    """

    limit: str
    call: Callable[[], object]
    work: float
    blocks: Blocks = field(default_factory=Blocks)

    @property
    def rate(self) -> float:
        """Work a second in the fastest block, as a limit is what was reached once; NaN where there are too few."""
        return self.work / self.blocks.minimum if self.blocks.sample else math.nan


def describe(setup: Setup) -> Machine:
    """The names of processor, device and system; nothing is measured."""
    name = processor()
    gpu = setup.device == "cuda" and torch.cuda.is_available()
    return Machine(
        device=torch.cuda.get_device_name() if gpu else name if setup.device == "cpu" else "no CUDA device",
        processor=name,
        cores=cores(),
        system=f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        torch=torch.__version__,
    )


def peaks(setup: Setup) -> list[Peak]:
    """The limits of the roofline, in this dtype, on this device and these threads; ready to be called.

    Raises:
        RuntimeError: where the device cannot do it.
    """
    kind: dict[str, Any] = {"device": setup.device, "dtype": getattr(torch, setup.dtype)}
    side = min(SMALL_SIDE, PRODUCT_SIDE[setup.device])
    while side < PRODUCT_SIDE[setup.device] and 8 * _product_seconds(side, kind) < MOST_SECONDS:
        side *= 2
    a, b, product = (_drawn(side, kind) for _ in range(3))
    source = torch.ones(COPY_BYTES[setup.device], dtype=torch.uint8, device=setup.device)
    target = torch.empty_like(source)
    return [
        Peak("flops_per_second", lambda: torch.mm(a, b, out=product), 2 * side**3),
        Peak("bytes_per_second", lambda: target.copy_(source), 2 * source.nbytes),
    ]


def _product_seconds(side: int, kind: dict[str, Any]) -> float:
    """Roughly: the fastest of a few, as the first sets things up and others may be disturbed."""
    a, times = _drawn(side, kind), []
    for _ in range(3):
        begin = timer()
        torch.mm(a, a)
        times.append(timer() - begin)
    return min(times)


def _drawn(side: int, kind: dict[str, Any]) -> torch.Tensor:
    """A square matrix, without a mark on the random numbers of anybody else."""
    return torch.rand(side, side, generator=torch.Generator(kind["device"]).manual_seed(0), **kind)


def processor(cpuinfo: Path = CPUINFO) -> str:
    """The processor's name: Linux's, else what Python knows."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine() or "unknown"


def cores() -> int:
    """How many this process may use, which can be fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
