"""What is computed in a new thread has the same last digits as elsewhere: a page says what its pictures show."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch.nn.functional import linear

ROOT = Path(__file__).parents[3]
OF_THE_APP = """
import tfm_ui.lenses
from tests.tfm_ui.server.test_threads import in_a_new_thread, projected
import torch
assert torch.equal(in_a_new_thread(), projected())
assert torch.get_num_threads() == 1
torch.set_num_threads(2)  # what measurements of more threads do, in a process of their own
assert torch.get_num_threads() == 2
"""


def projected() -> torch.Tensor:
    """What two threads compute with other last digits than one."""
    numbers = torch.Generator().manual_seed(0)
    return linear(*(torch.randn(*shape, generator=numbers) for shape in ((10, 32), (128, 32), (128,))))


def in_a_new_thread() -> torch.Tensor:
    """The same in a thread that has computed nothing yet."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(projected).result()


def test_a_new_thread_computes_the_same_digits_in_tests():
    assert torch.get_num_threads() == 1
    assert torch.equal(in_a_new_thread(), projected())


def test_a_new_thread_computes_the_same_digits_in_the_app():
    subprocess.run([sys.executable, "-c", OF_THE_APP], cwd=ROOT, check=True, timeout=120)
