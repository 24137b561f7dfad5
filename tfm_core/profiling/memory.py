"""The most memory that one call takes, beyond what lay there before it."""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from tfm_core.allocator import give_back
from tfm_core.profiling.report import Memory

PROCESS = Path("/proc/self")


def measure(call: Callable[[], object], device: str) -> Memory:
    """Measure a call that has been made before, so that nothing is set up for the first time.

    On the processor it is called twice: once counting what torch allocates, once watching what the system gives.
    """
    if device == "cuda":
        return Memory(allocated=_on_cuda(call))
    return Memory(allocated=allocated(call), system=system(call))


def installed(device: str) -> float:
    """Bytes that the device has in all; infinite where the system does not tell."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[1]
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf


def allocated(call: Callable[[], object]) -> int | None:
    """Bytes at the peak of the allocation curve of torch.profiler: the same at each run, buffers in kernels too.

    None where the profiler has no curve.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        call()
    kineto = profiled.profiler.kineto_results if profiled.profiler else None
    if kineto is None:
        return None
    changes = sorted(
        (event.start_time_ns, event.typed[1].alloc_size)
        for event in _walk(kineto.experimental_event_tree())
        if event.name == "[memory]"
    )
    return max(accumulate(size for _, size in changes), default=0)


def system(call: Callable[[], object], process: Path = PROCESS) -> int | None:
    """Bytes by which the resident memory of this process grew, at its peak; None where Linux does not tell.

    Memory that earlier calls freed and the process kept would be found again and not count: it is given back first,
    where the C library is glibc. Pages that are merely reserved do not count, whole pages do.
    """
    try:
        give_back()
        (process / "clear_refs").write_text("5")  # the peak starts anew: Linux, Documentation/filesystems/proc.rst
        before = _status(process, "VmRSS")
        call()
        return max(0, _status(process, "VmHWM") - before)
    except (OSError, ValueError):
        return None


def _on_cuda(call: Callable[[], object]) -> int:
    """Bytes at the peak, by the statistics of torch's CUDA allocator."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)


def _walk(events: Iterable[Any]) -> Iterator[Any]:
    """All events of a tree."""
    for event in events:
        yield event
        yield from _walk(event.children)


def _status(process: Path, field: str) -> int:
    """A field of /proc/self/status, in bytes."""
    for line in (process / "status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"expected a line {field}, got none")
