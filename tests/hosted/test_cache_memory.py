"""The size that the cache reports is the memory that its process really uses; in a new process, on Linux with glibc."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tfm_ui.server.pool_member import FEW_THREADS
from tfm_ui.visitors.workers import EACH_CACHE

ROOT = Path(__file__).parents[2]
PROGRAM = """
import ctypes, gc, json, logging
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from urllib.parse import urlencode
logging.disable(logging.WARNING)
import torch
torch.set_num_threads(1)
from tfm_core.allocator import configure, give_back
from tfm_ui.live import cache
from tfm_ui.lenses import lenses
from tfm_ui.pictures.registry import made
lenses()
configure()

class InUse(ctypes.Structure):  # mallinfo2(3)
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

C = ctypes.CDLL(None)
C.mallinfo2.restype = InUse

def held():  # bytes that something of the program owns; and pages, with what lies free between these
    gc.collect()
    give_back()
    in_use = C.mallinfo2()
    pages = int(open("/proc/self/statm").read().split()[1])
    return in_use.uordblks + in_use.hblkhd, pages * 4096

NAMES = "heads", "steps", "contribution", "change_weights", "arcs", "positions_maps", "masks_see", "positions_pairs"
LARGE = {"text": "@alice", "seq_len": 200, "num_heads": 16, "num_layers": 8, "d_model": 256, "positional": "alibi"}
LARGE |= {"positions_a": "learned", "positions_length": 1024, "positions_width": 256}
with ThreadPoolExecutor(4) as threads:  # as on the server
    def ask(name, seed):
        return made(name, urlencode(LARGE | {"seed": seed}))
    together = Barrier(4)
    def ask_all(seed):  # in one thread, while each other thread asks for all of another model
        together.wait()
        for name in NAMES:
            ask(name, seed)
    list(threads.map(ask_all, range(95, 99)))  # what the program itself loads, and each of its threads keeps
    cache.clear()
    begin, rows = held(), []
    for seed in range(3):
        list(threads.map(lambda name: ask(name, seed), NAMES))
        rows.append((cache.CACHE.currsize, *(now - then for now, then in zip(held(), begin))))
print(json.dumps(rows))
"""


def test_the_cache_holds_what_it_says_and_no_more_than_its_budget():
    as_a_worker = os.environ | FEW_THREADS
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=as_a_worker, capture_output=True, text=True, check=True
    )
    rows = json.loads(answer.stdout)
    budget = EACH_CACHE
    assert rows[-1][0] > budget / 2, "too little to tell anything"
    for said, owned, resident in rows:
        assert said <= budget
        assert abs(owned - said) < 0.1 * budget, (said, owned)
        assert resident - said < 0.1 * budget, (said, resident)
