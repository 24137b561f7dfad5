"""Where it is measured, and what that machine can do at best: a large matrix product, a large copy."""

import math
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils.benchmark import timer

from tfm_core.profiling.plan import Setup
from tfm_core.profiling.report import Blocks, Machine

CPUINFO = Path("/proc/cpuinfo")
PRODUCT_SIDE = {"cpu": 1024, "cuda": 8192}  # three matrices that no cache next to a core holds
SLOW_SIDE = 256  # for a dtype in which the device is slow, float16 on most processors
SLOW_FLOPS = 10e9  # a second
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
        """Work a second in the fastest clean block, as a limit is what was reached once; NaN where there is none."""
        return self.work / self.blocks.minimum if self.blocks.seconds else math.nan


def describe(setup: Setup) -> Machine:
    """Its names; nothing is measured."""
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
    side = PRODUCT_SIDE[setup.device]
    if _flops_of(SLOW_SIDE, kind) < SLOW_FLOPS:
        side = SLOW_SIDE
    a, b, product = (_drawn(side, kind) for _ in range(3))
    source = torch.ones(COPY_BYTES[setup.device], dtype=torch.uint8, device=setup.device)
    target = torch.empty_like(source)
    return [
        Peak("flops_per_second", lambda: torch.mm(a, b, out=product), 2 * side**3),
        Peak("bytes_per_second", lambda: target.copy_(source), 2 * source.nbytes),
    ]


def _flops_of(side: int, kind: dict[str, Any]) -> float:
    """Floating point operations a second, roughly: of a second product, as the first sets things up."""
    a = _drawn(side, kind)
    torch.mm(a, a)
    begin = timer()
    torch.mm(a, a)
    return 2 * side**3 / (timer() - begin)


def _drawn(side: int, kind: dict[str, Any]) -> torch.Tensor:
    """A square matrix, without a mark on the random numbers of anybody else."""
    return torch.rand(side, side, generator=torch.Generator(kind["device"]).manual_seed(0), **kind)


def processor(cpuinfo: Path = CPUINFO) -> str:
    """Its name: Linux's, else what Python knows."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine() or "unknown"


def cores() -> int:
    """How many this process may use, which can be fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
