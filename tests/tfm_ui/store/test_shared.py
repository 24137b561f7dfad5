"""Which store a server has: a folder that its processes find and that goes with it, or Redis with a spare one."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from redis import Redis

from tests.tfm_core.training.runs import of_seed, same_numbers, trained
from tests.tfm_ui.store.redis_server import free_port, redis_server
from tfm_core.training.folder import JSON, TENSORS, Folder
from tfm_core.training.shelf import Shelf
from tfm_core.training.store import RunStore
from tfm_ui.store import runs, shared
from tfm_ui.store.kinds import COMPARISONS, LOADED, RUNS
from tfm_ui.store.local import LocalStore
from tfm_ui.store.redis_store import RedisStore
from tfm_ui.store.runs import StorePlace, packed, unpacked
from tfm_ui.store.spare import WithSpare
from tfm_ui.store.store import Kind, StoreAway

ROOT = Path(__file__).parents[3]
KIND = Kind("kept", together=100_000)
SERVER = '''
import os, subprocess, sys
from tfm_ui.store import shared
from tfm_ui.store.store import Kind
kind = Kind("kept", together=100_000)
shared.begin()
shared.store().put(kind, "a", b"of the server")
child = """
from tfm_ui.store import shared
from tfm_ui.store.store import Kind
kind = Kind("kept", together=100_000)
print(shared.store().get(kind, "a").decode())
shared.store().put(kind, "b", b"of the child")
"""
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True).stdout.strip())
print(shared.store().get(kind, "b").decode())
print(os.environ[shared.VARIABLE], flush=True)
while sys.stdin.readline() == "again\\n":
    shared.store().put(kind, "a", b"of the server")
    print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True).stdout.strip())
    print(shared.store().get(kind, "b").decode(), flush=True)
'''


@pytest.fixture
def server(tmp_path):
    """A process that has begun as a server does; the folder for temporary files is the test's."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env={**os.environ, "TMPDIR": str(tmp_path), shared.VARIABLE: "/of/another/server"},
        )  # fmt: skip
        started.append(process)
        assert process.stdout.readline() == "of the server\n"
        assert process.stdout.readline() == "of the child\n"
        return process, Path(process.stdout.readline().strip())

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_processes_of_a_server_share_a_folder_that_only_its_user_can_read_and_that_goes_with_it(server, tmp_path):
    process, folder = server()
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    process.communicate("\n")
    assert process.returncode == 0
    assert not folder.exists()


def test_what_a_killed_server_has_left_behind_the_next_removes_and_nothing_of_one_that_runs(server):
    killed, left = server()
    _, running = server()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert left.exists()
    _, latest = server()
    assert [folder.exists() for folder in (left, running, latest)] == [False, True, True]


@pytest.mark.parametrize("removed", ["all of it", "the files in it"])
def test_a_folder_that_is_removed_while_the_server_runs_is_made_anew_for_all_its_processes(server, removed):
    process, folder = server()
    if removed == "all of it":
        shutil.rmtree(folder)
    else:
        for path in folder.iterdir():
            path.unlink()
    process.stdin.write("again\n")
    process.stdin.flush()
    assert process.stdout.readline() == "of the server\n"  # as its child reads it
    assert process.stdout.readline() == "of the child\n"
    assert folder.stat().st_mode & 0o777 == 0o700
    server()
    assert (folder / shared.LOCK).exists()  # the next server does not take it for what a killed one has left
    process.communicate("\n")
    assert not folder.exists()


def test_where_the_folder_cannot_be_made_anew_the_server_is_not_ready(monkeypatch, tmp_path):
    monkeypatch.setenv(shared.VARIABLE, str(tmp_path / "gone" / "attention-lab-x"))
    assert shared.problem() == "This server can keep nothing: no folder can be made (No such file or directory)."
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "attention-lab-x").symlink_to(tmp_path / "nowhere")
    assert "no folder can be made" in shared.problem()
    (tmp_path / "gone" / "attention-lab-x").unlink()
    assert shared.problem() == ""
    shared.store().put(KIND, "a", b"1")
    assert shared.store().get(KIND, "a") == b"1"
    shared._local.cache_clear()


def test_without_a_folder_it_is_a_sentence(monkeypatch):
    monkeypatch.delenv(shared.VARIABLE, raising=False)

    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shared, "mkdtemp", full)
    assert "no folder can be made" in shared.problem()
    with pytest.raises(StoreAway, match="No space left on device"):
        shared.store()


def test_a_file_that_is_no_store_is_a_sentence(tmp_path):
    (tmp_path / "kept.sqlite").write_text("nothing of ours, and long enough to be looked at" * 9)
    store = LocalStore(tmp_path)
    assert "file is not a database" in store.ready()
    with pytest.raises(StoreAway, match="cannot be read or written now"):
        store.get(KIND, "a")
    store.close()


def test_while_redis_is_away_it_is_a_sentence_and_then_it_is_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr("tfm_ui.store.redis_store.PAUSE", 0.0)
    port, spare = free_port(), LocalStore(tmp_path)
    redis = RedisStore(f"redis://127.0.0.1:{port}")
    store = WithSpare(redis, spare)
    away = "kept by Redis, and it does not answer"
    assert away in store.ready()
    for call in (store.get, store.entry):
        with pytest.raises(StoreAway, match="does not answer"):
            call(KIND, "a")
    with pytest.raises(StoreAway):
        store.keys(KIND)
    store.put(KIND, "meanwhile", b"1")  # no work is lost
    assert (store.get(KIND, "meanwhile"), store.keys(KIND)) == (b"1", ["meanwhile"])
    with redis_server(port):
        assert store.ready() == ""
        store.put(KIND, "a", b"2")
        assert (store.get(KIND, "a"), store.get(KIND, "meanwhile")) == (b"2", b"1")
        assert store.keys(KIND) == ["a", "meanwhile"]
        store.put(KIND, "meanwhile", b"3")
        assert spare.keys(KIND) == []
        assert redis.get(KIND, "meanwhile") == b"3"
    assert away in store.ready()
    with redis_server(port):  # with a connection that the first has closed
        assert store.get(KIND, "a") is None
    redis.close()
    spare.close()


def test_a_redis_that_is_away_is_asked_once_for_a_whole_page(monkeypatch):
    redis, asked = RedisStore("redis://127.0.0.1:1"), []
    monkeypatch.setattr(redis._redis, "ping", lambda: asked.append("ping"))
    with pytest.raises(StoreAway):
        redis.get(KIND, "a")
    assert "does not answer" in redis.ready()
    assert asked == []
    monkeypatch.setattr("tfm_ui.store.redis_store.PAUSE", 0.0)
    redis._tries_at = 0.0
    assert redis.ready() == ""
    redis.close()


def test_where_redis_is_stands_in_the_log_once_and_in_no_sentence_and_its_password_nowhere(caplog):
    redis = RedisStore("redis://user:secret@127.0.0.1:1/0")
    told = [redis.ready()]
    redis._tries_at = 0.0
    told.append(redis.ready())
    assert "127.0.0.1" not in "".join(told)
    assert [record.getMessage()[:24] for record in caplog.records] == ["Redis at 127.0.0.1:1: Er"]
    assert "secret" not in "".join(told) + repr(redis) + caplog.text
    redis.close()


def test_parts_come_back():
    for parts in ({JSON: b"{}", TENSORS: bytes(range(256))}, {JSON: b"{}"}):
        assert unpacked(packed(parts)) == parts


@pytest.mark.parametrize("value", [b"\xff\xff\xff\xff{}", b"\0\0\0\3{}", b"\0\0", b""])
def test_a_length_that_goes_beyond_the_value_is_not_believed(value):
    assert unpacked(value) == {}


@pytest.fixture
def replicas(store, monkeypatch):
    """Two servers that share a store, as each sees its runs."""
    monkeypatch.setattr(runs, "store", lambda: store)
    return [RunStore(StorePlace(), shipped=Path("/no/such/folder")) for _ in range(2)]


def test_a_run_of_a_server_is_found_by_another_to_the_last_digit(replicas, store):
    here, there = replicas
    run = trained()
    here.keep(run)
    assert (here.problem, store.keys(LOADED), store.keys(COMPARISONS)) == ("", [], [])
    assert len(store.keys(RUNS)) == 1
    same_numbers(there.find(run.config), run)
    assert there.find(run.config) is there.find(run.config)  # fetched once
    longer = trained(steps=20)
    here.keep(longer)
    assert there.beginning(trained(steps=30).config).done == 20
    torch.testing.assert_close(dict(there.weights(run.config.name)), dict(run.weights))


def test_what_is_no_run_counts_as_missing_and_is_removed(replicas, store):
    here, there = replicas
    here.keep(trained())
    (key,) = store.keys(RUNS)
    store.put(RUNS, key, b"\x80\x04N.")
    assert there.find(trained().config) is None
    store.put(RUNS, key, packed({JSON: b"{}", TENSORS: b"\x80\x04N."}))
    assert there.find(trained().config) is None
    assert store.keys(RUNS) == []


def test_where_no_folder_can_be_written_another_process_finds_the_run_in_the_store(store, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "store", lambda: store)
    (tmp_path / "file").touch()
    here, there = (RunStore(Folder(tmp_path / "file"), shipped=Path("/no/such/folder")) for _ in range(2))
    here.shelf.spare = there.shelf.spare = StorePlace()
    here.keep(trained())
    assert here.problem.startswith("Trained runs are kept in memory until the server ends: ")
    same_numbers(there.find(trained().config), trained())


def test_runs_that_cannot_be_looked_up_are_a_sentence_and_those_in_memory_stay(replicas, monkeypatch):
    here, there = replicas
    here.keep(trained())

    def away():
        raise StoreAway("Redis is away.")

    monkeypatch.setattr(runs, "store", away)
    same_numbers(here.find(trained().config), trained())
    assert here.weights(trained().config.name)
    assert there.find(trained().config) is None
    assert there.problem == "Redis is away."
    there.keep(of_seed(1))
    assert there.find(of_seed(1).config)
    assert "(Redis is away.)" in there.problem


def test_the_log_is_told_when_the_server_starts_that_redis_drops_what_is_kept(empty_redis, monkeypatch, caplog):
    with Redis.from_url(empty_redis) as client:
        client.config_set("maxmemory-policy", "volatile-lru")
        monkeypatch.setattr(shared, "_redis", lambda: RedisStore(empty_redis))
        shared.warn()
        assert caplog.records == []  # this server has no Redis
        monkeypatch.setattr(shared, "SETTINGS", replace(shared.SETTINGS, store=empty_redis))
        shared.warn()
        client.config_set("maxmemory-policy", "noeviction")
    assert [record.getMessage() for record in caplog.records] == [
        "Redis drops what is kept: its maxmemory-policy is volatile-lru, and should be noeviction."
    ]
    assert shared.advice() == ""


def test_of_too_many_runs_an_owners_oldest_goes_and_nobody_elses(replicas, store, monkeypatch):
    here, _ = replicas
    here.keep(of_seed(1), owner="Ada")
    size = len(store.get(RUNS, store.keys(RUNS)[0])) + 1024
    monkeypatch.setattr(runs.kinds, "RUNS", replace(RUNS, together=7 * size, each=3 * size + size // 2))
    for seed in range(2, 9):
        here.keep(of_seed(seed), owner="Bob")
    assert len(store.keys(RUNS)) == 4
    assert store.entry(RUNS, store.keys(RUNS)[0]).owner == "Ada"


def test_visitors_read_no_path_of_the_server(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "file"))

    shelf = Shelf("Trained runs")
    monkeypatch.setattr(runs.run_store(), "shelf", shelf)
    monkeypatch.setattr(runs.outcome_store(), "shelf", Shelf("Comparisons"))
    runs.connect()
    shelf.write("run-1", {JSON: b"{}"})
    assert shelf.problem == (
        "Trained runs are kept in memory until the server ends: the server's folder for them (ATTENTION_LAB_RUNS) "
        "cannot be written (File exists)."
    )


def test_while_the_spare_store_is_away_redis_alone_is_used(empty_redis, tmp_path, monkeypatch):
    redis, spare = RedisStore(empty_redis), LocalStore(tmp_path / "no folder")
    assert "cannot be read or written now" in spare.ready()
    store = WithSpare(redis, spare)
    store.put(KIND, "a", b"1", "Ada")
    assert (store.get(KIND, "a"), store.entry(KIND, "a").owner, store.keys(KIND)) == (b"1", "Ada", ["a"])
    store.remove(KIND, "a")
    assert store.keys(KIND) == []
    monkeypatch.setattr(shared, "_redis", lambda: redis)
    monkeypatch.setattr(shared, "SETTINGS", replace(shared.SETTINGS, store=empty_redis))
    monkeypatch.setenv(shared.VARIABLE, str(tmp_path / "no" / "folder"))
    assert shared.store() is redis
    assert shared.problem() == ""
    redis.close()


def test_who_reads_does_not_wait_for_a_thread_that_waits_for_another_process(tmp_path):
    store = LocalStore(tmp_path)
    kind = Kind("letters", together=10_000)
    store.put(kind, "a", b"first")
    other = sqlite3.connect(tmp_path / "kept.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # as another process does while it writes
    with ThreadPoolExecutor(1) as thread:
        written = thread.submit(store.put, kind, "a", b"second")
        while store._file._idle and not written.done():  # until it has a connection
            time.sleep(0.001)
        assert store.get(kind, "a") == b"first"
        assert not written.done()
        other.execute("COMMIT")
        written.result()
    assert store.get(kind, "a") == b"second"
    other.close()
    store.close()


def test_nobody_waits_while_another_makes_the_folder_anew():
    shared.store()
    with ThreadPoolExecutor(1) as thread, shared._lock:
        assert isinstance(thread.submit(shared.store).result(timeout=10), LocalStore)
