"""Memory that is given back, and memory in large pages: the same tensors on every system."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tfm_core import allocator
from tfm_core.allocator import LARGE, give_back, in_large_pages

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("numbers", [LARGE // 4 - 1, LARGE // 4, 3 * LARGE // 4 + 1])
@pytest.mark.parametrize("advises", [True, False])
def test_memory_in_large_pages_is_a_tensor_like_any_other(monkeypatch, numbers, advises):
    if not advises:
        monkeypatch.delattr(allocator.mmap, "MADV_HUGEPAGE", raising=False)
    new = in_large_pages((1, numbers), torch.float32)
    assert (new.shape, new.dtype, new.device.type) == ((1, numbers), torch.float32, "cpu")
    assert (new.fill_(2.0) == 2).all()


def test_a_program_configures_once_what_a_library_does_not():
    asked = "import tfm_core.allocator as a; print(a.configure.cache_info().currsize); a.configure(); a.configure()"
    told = "print(*a.configure.cache_info()[:2])"
    done = subprocess.run([sys.executable, "-c", f"{asked}; {told}"], cwd=ROOT, capture_output=True, text=True)
    # The import has called nothing; then there were two calls, of which the second did nothing.
    assert done.stdout.split() == ["0", "1", "1"], done.stderr


def test_where_there_is_no_glibc_nothing_is_given_back_and_nothing_fails(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    give_back()


def test_what_was_freed_is_given_back():
    small = [torch.ones(2**14) for _ in range(1000)]  # 64 kB each, between which nothing is mapped on its own
    kept = small[::100]
    del small
    before = resident()
    give_back()
    assert before - resident() > 30e6
    assert all(tensor.sum() == 2**14 for tensor in kept)


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
