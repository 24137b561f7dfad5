"""Memory of the process: how freed memory is kept, given back, and had in large pages.

All of it concerns Linux and glibc alone. Elsewhere nothing happens, and nothing is lost but time.
"""

import ctypes
import mmap
from functools import cache

import torch
from torch import Tensor

LARGE = 2**22  # bytes from which memory is asked for in large pages, as in NumPy


@cache
def configure() -> None:
    """Let this process keep what a pass frees for the next one; a second call does nothing.

    glibc hands back to the system whatever exceeds twice the largest block freed so far, counting blocks of up to 32
    MB. The block here is never written to, and so takes only addresses. A program that computes passes one after the
    other calls it at its start, as the app does; a library does not decide that for the program that imports it.
    """
    torch.empty(31 * 2**20, dtype=torch.uint8, device="cpu")


def give_back() -> None:
    """Return freed memory to the system: otherwise glibc keeps it for later."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # no glibc: what was kept stays kept
        return


def in_large_pages(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """torch.empty on the processor; from 4 MB on in large pages: the system has 512 times fewer of them to find.

    It calls madvise(2), which is advice: where it is not heeded, nothing is lost.
    """
    new = torch.empty(shape, dtype=dtype)
    if new.nbytes >= LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
        start = -(-new.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
        length = new.data_ptr() + new.nbytes - start
        _c_library().madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), mmap.MADV_HUGEPAGE)
    return new


@cache
def _c_library() -> ctypes.CDLL:
    """Looked up once: a layer asks for large pages in each pass, and the look-up takes longer than the advice."""
    return ctypes.CDLL(None)
