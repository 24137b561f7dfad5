"""Several processes and threads that write at the same time: no limit is overrun, and nothing is read half."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tfm_ui.store.local import LocalStore
from tfm_ui.store.redis_store import RedisStore
from tfm_ui.store.store import EXTRA, Kind

ROOT = Path(__file__).parents[3]
KIND = Kind("crowded", together=20 * (EXTRA + 5000), each=7 * (EXTRA + 5000), reading_renews=True)
# Each value is the same byte 5,000 times: of half a value, or of two mixed ones, that is not so.
WRITER = """
import sys
from pathlib import Path
from tests.tfm_ui.store.test_at_once import KIND, opened
store, name = opened(*sys.argv[1:3]), sys.argv[3]
print("ready", flush=True)
sys.stdin.readline()
for number in range(150):
    store.put(KIND, f"{name}{number % 12}", bytes([number]) * 5000, name)
    store.put(KIND, "shared", name.encode() * 5000, "all")
"""


def opened(sort, where):
    return LocalStore(Path(where)) if sort == "local" else RedisStore(where)


@pytest.mark.parametrize("sort", ["local", "redis"])
def test_processes_that_write_at_once_overrun_no_limit_and_show_nothing_half(sort, request, tmp_path):
    where = str(tmp_path) if sort == "local" else request.getfixturevalue("empty_redis")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, sort, where, name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True,
        )
        for name in "ABC"
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    store, looks = opened(sort, where), 0
    while any(writer.poll() is None for writer in writers):
        keys = store.keys(KIND)
        assert len(keys) <= 20
        assert all(sum(key.startswith(name) for key in keys) <= 7 for name in "ABC")
        for key in (*keys[-3:], "shared"):
            value = store.get(KIND, key)
            assert value is None or (len(value) == 5000 and len(set(value)) == 1)
        looks += 1
    for writer in writers:
        writer.communicate()
    assert looks > 3
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    keys = store.keys(KIND)
    assert len(keys) == len(set(keys)) <= 20
    assert "shared" in keys
    store.close()


def test_threads_of_a_process_may_all_use_it(store):
    problems = []

    def work(name):
        try:
            for number in range(60):
                store.put(KIND, f"{name}{number % 9}", bytes([number]) * 5000, name)
                value = store.get(KIND, f"{name}{number % 9}")
                assert value is None or len(set(value)) == 1
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(name,)) for name in "ABCDEF"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(store.keys(KIND)) <= 20
