"""Where runs are kept: shared, limited, and never in the way, whatever is corrupt, stray or full."""

import errno
import os
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.tfm_core.training.runs import names_in, of_seed, opened, same_numbers, small, to_the_end, trained
from tfm_core.training import files
from tfm_core.training import folder as folder_module
from tfm_core.training import store as store_module
from tfm_core.training.folder import ABANDONED, FOLDER, LOADED, PART, Folder, default_folder, write
from tfm_core.training.outcomes import Outcomes
from tfm_core.training.store import RunStore
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.train import train
from tfm_core.training.weights_file import as_file, from_file

RUN = trained()
PATIENCE = 20.0  # seconds that a thread is waited for


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "runs"


def test_two_stores_on_a_folder_see_each_others_runs(folder):
    first, second = opened(folder), opened(folder)
    assert first.find(RUN.config) is None
    assert names_in(folder) == set()
    second.keep(RUN)
    same_numbers(first.find(RUN.config), RUN)
    assert first.find(replace(RUN.config, seed=1)) is None
    assert (first.problem, second.problem) == ("", "")
    assert {Path(name).suffix for name in names_in(folder)} == {".json", ".safetensors"}


def test_what_another_process_has_trained_since_is_read_again(folder):
    first, second = opened(folder), opened(folder)
    part = next(train(RUN.config)).run
    first.keep(part)
    assert first.find(RUN.config) is part
    second.keep(RUN)
    assert first.find(RUN.config).done == RUN.done
    assert first.beginning(RUN.config).done == RUN.done
    assert first.find(RUN.config) is first.find(RUN.config)  # and then kept in memory


def test_a_run_that_others_remove_is_still_in_memory(folder):
    first = opened(folder)
    first.keep(RUN)
    shutil.rmtree(folder)
    assert first.find(RUN.config) is RUN
    assert opened(folder).find(RUN.config) is None


def test_readers_never_see_half_a_run_and_never_remove_one(folder):
    part = replace(to_the_end(small(steps=2)), config=RUN.config)
    writer, stopped, lengths = opened(folder), threading.Event(), set()
    writer.keep(RUN)

    def write():
        while not stopped.is_set():
            writer.keep(part)
            writer.keep(RUN)

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(60):
        run = opened(folder).find(RUN.config)
        lengths.add(run and run.done)
    stopped.set()
    thread.join()
    assert lengths <= {None, 2, RUN.done}
    assert opened(folder).find(RUN.config).done == RUN.done
    assert len(names_in(folder)) == 2


def test_what_another_process_is_writing_counts_as_missing_and_is_not_removed(folder, monkeypatch):
    """The reader has the JSON of the earlier run when the later one takes its place."""
    opened(folder).keep(replace(to_the_end(small(steps=2)), config=RUN.config))
    read_bytes = Path.read_bytes

    def late(path):
        if path.suffix == ".safetensors":
            opened(folder).keep(RUN)
        return read_bytes(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", late)
        assert opened(folder).find(RUN.config) is None
    assert opened(folder).find(RUN.config).done == RUN.done


def aged(folder, config, seconds):
    """Make a run look as if it had been written that many seconds ago."""
    for path in folder.glob(f"{store_module._stem(config)}.*"):
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - seconds))


def size_of(folder) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_the_oldest_are_out_first(folder):
    runs = [of_seed(seed) for seed in range(4)]
    opened(folder).keep(runs[0])
    limit = int(size_of(folder) * 3.5)
    for age, run in zip((40, 30, 20, 10), runs, strict=True):
        opened(folder, limit=limit).keep(run)
        aged(folder, run.config, age)
    there = [opened(folder).find(run.config) is not None for run in runs]
    assert there == [False, True, True, True]
    opened(folder, limit=limit).keep(replace(runs[1], seconds=1.0))  # is the newest now
    aged(folder, runs[1].config, 5)
    opened(folder, limit=limit).keep(runs[0])
    assert [opened(folder).find(run.config) is not None for run in runs] == [True, True, False, True]
    assert size_of(folder) <= limit


def test_the_newest_stays_even_if_it_is_too_large(folder):
    store = opened(folder, limit=10)
    store.keep(of_seed(1))
    store.keep(RUN)
    assert opened(folder).find(RUN.config)
    assert opened(folder).find(of_seed(1).config) is None
    assert store.find(of_seed(1).config)  # from memory


def test_what_is_loaded_pushes_out_nothing_that_was_trained(folder):
    opened(folder).keep(RUN)
    loaded = [from_file(as_file(of_seed(seed))) for seed in range(3)]
    store = opened(folder, limit=2 * size_of(folder))
    for age, run in zip((30, 20, 10), loaded, strict=True):
        store.keep(run)
        aged(folder, run.config, age)
    assert opened(folder).find(RUN.config)
    assert len({Path(name).stem for name in names_in(folder) if name.startswith(LOADED)}) == 1
    same_numbers(opened(folder).find(loaded[-1].config), loaded[-1])


def test_memory_is_limited_too(folder, monkeypatch):
    monkeypatch.setattr(store_module, "IN_MEMORY", 2)
    folder.touch()
    store = opened(folder)
    for seed in (0, 1):
        store.keep(of_seed(seed))
    store.find(of_seed(0).config)
    store.keep(of_seed(2))
    assert [store.find(of_seed(seed).config) is not None for seed in range(3)] == [True, False, True]


def test_memory_is_limited_by_bytes_and_the_newest_stays(folder, monkeypatch):
    folder.touch()
    store = opened(folder)
    runs = [of_seed(seed) for seed in range(3)]
    monkeypatch.setattr(store_module, "BYTES_IN_MEMORY", 2 * runs[0].nbytes)
    for run in runs:
        store.keep(run)
    assert [store.find(run.config) is not None for run in runs] == [False, True, True]
    monkeypatch.setattr(store_module, "BYTES_IN_MEMORY", 10)
    store.keep(runs[0])
    assert [store.find(run.config) is not None for run in runs] == [True, False, False]
    assert runs[0].nbytes > 3 * sum(value.nbytes for value in runs[0].weights.values())  # AdamW remembers two of each


def test_a_beginning_is_the_longest_shorter_run(folder):
    store = opened(folder)
    assert store.beginning(RUN.config) is None
    runs = {steps: to_the_end(small(steps=steps)) for steps in (2, 5, 9, 14)}
    for run in (*runs.values(), trained("copy"), trained(seed=1, steps=7)):
        store.keep(run)
    for reader in (store, opened(folder)):
        lengths = [reader.beginning(small(steps=steps)) for steps in (1, 2, 4, 8, 9, 13, 400)]
        assert [run and run.done for run in lengths] == [None, 2, 2, 5, 9, 9, 14]
        assert reader.beginning(small(steps=9, dropout=0.1)) is None


def test_a_stopped_run_is_a_beginning_of_itself_and_of_others(folder):
    store = opened(folder)
    part = next(train(small(steps=400))).run
    store.keep(part)
    assert opened(folder).beginning(small(steps=400)).done == 1
    assert opened(folder).beginning(small(steps=5)).done == 1


def test_no_beginning_without_an_optimizer_or_of_a_run_that_diverged(folder):
    store = opened(folder)
    store.keep(replace(to_the_end(small(steps=5)), problem="It diverged."))
    opened(folder).keep(to_the_end(small(steps=4)), optimizer=False)
    assert store.beginning(small(steps=9)) is None
    assert opened(folder).find(small(steps=4)).optimizer == {}


def test_weights_are_those_of_complete_runs(folder):
    store = opened(folder)
    part = next(train(small(steps=400))).run
    for run in (RUN, part, replace(part, config=small(steps=300), problem="It diverged.")):
        store.keep(run)
    assert store.weights(RUN.config.name) is RUN.weights
    for name in (part.config.name, small(steps=300).name, "reverse,seed=77", "juggle", "", "reverse,seed=" + "9" * 400):
        assert store.weights(name) is None
    torch.testing.assert_close(dict(opened(folder).weights(RUN.config.name)), dict(RUN.weights))


def test_the_folder_is_a_setting(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path / "set"))
    assert default_folder() == Path(RunStore().shelf.place.where) == tmp_path / "set"
    monkeypatch.setenv(FOLDER, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "attention-lab" / "runs"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_folder() == tmp_path / "home" / ".cache" / "attention-lab" / "runs"


def test_a_user_without_a_home_has_a_folder_too(monkeypatch):
    def no_home(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", no_home)
    assert default_folder().parts[-2:] == ("attention-lab", "runs")


def kept_of(folder, seeds) -> list[int]:
    """The seeds of the runs that are kept."""
    return [seed for seed in seeds if opened(folder).find(of_seed(seed).config)]


def test_nobody_can_push_out_what_others_have(folder):
    opened(folder).keep(of_seed(1), owner="Ada")
    size = sum(path.stat().st_size for path in folder.iterdir())
    place = Folder(folder, limit=7 * size + size // 2, each=3 * size + size // 2)
    mine = RunStore(place, shipped=Path("/no/such/folder"))
    for seed in range(2, 9):
        mine.keep(of_seed(seed), owner="Bob")
    assert kept_of(folder, range(1, 9)) == [1, 6, 7, 8]  # the owner's oldest went first
    mine.keep(of_seed(6), owner="Ada")  # who had it trained again
    mine.keep(of_seed(9), owner="Bob")
    assert kept_of(folder, range(1, 10)) == [1, 6, 7, 8, 9]
    for seed in range(10, 16):
        mine.keep(of_seed(seed), owner=f"visitor {seed}")
    assert kept_of(folder, range(1, 16)) == [9, 10, 11, 12, 13, 14, 15]  # of all the oldest went
    assert {path.suffix for path in folder.iterdir()} == {".json", ".safetensors", ".owner"}
    assert not any(b"Ada" in path.read_bytes() for path in folder.glob("*.owner"))


def test_what_a_killed_process_left_half_written_is_removed_and_what_is_being_written_stays(folder):
    opened(folder).keep(RUN)
    left, fresh = (folder / f"{PART}{name}" for name in ("left", "fresh"))
    for path in (left, fresh):
        path.write_bytes(bytes(1000))
    old = time.time() - ABANDONED - 1
    os.utime(left, (old, old))
    opened(folder).keep(RUN)
    assert not left.exists()
    assert fresh.exists()


class Slow(Folder):
    """A folder that answers when two threads have asked it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked = threading.Barrier(2)

    def stamp(self, name):
        self.asked.wait(timeout=60)
        return super().stamp(name)


@pytest.mark.parametrize(("kept", "wanted"), [(RunStore, RUN.config), (Outcomes, next(iter(TASKS)))])
def test_nobody_waits_while_another_looks_into_a_place(folder, kept, wanted):
    """A place may be a Redis server that is slow; pages ask for the weights of runs."""
    place = kept(Slow(folder))
    with ThreadPoolExecutor(2) as threads:
        looks = [threads.submit(place.find, wanted) for _ in range(2)]
        first, second = (each.result() for each in looks)
    assert (first is None) == (second is None)


class SlowForOne(Folder):
    """A place that does not answer for one name until it is told to."""

    def __init__(self, path, name: str) -> None:
        super().__init__(path)
        self.name, self.asked, self.answers = name, threading.Event(), threading.Event()

    def stamp(self, name):
        if name == self.name:
            self.asked.set()
            assert self.answers.wait(PATIENCE)
        return super().stamp(name)


def test_nobody_waits_for_another_whose_place_does_not_answer(folder):
    other = of_seed(1)
    opened(folder).keep(RUN)
    place = SlowForOne(folder, store_module._stem(RUN.config))
    store = RunStore(place, shipped=Path("/no/such/folder"))
    waiting = threading.Thread(target=store.find, args=(RUN.config,), daemon=True)
    waiting.start()
    assert place.asked.wait(PATIENCE)
    for work in (lambda: store.keep(other), lambda: store.find(other.config)):
        beside = threading.Thread(target=work, daemon=True)
        beside.start()
        beside.join(PATIENCE / 2)
        assert not beside.is_alive()
    assert waiting.is_alive()
    place.answers.set()
    waiting.join(PATIENCE)
    same_numbers(store.find(RUN.config), RUN)


def test_what_was_kept_while_an_older_run_was_read_stays(folder):
    """The reader does not put the older one in its place, also where nothing can be written."""
    folder.touch()  # so that the memory alone knows
    store, newer = opened(folder), RUN
    older = next(train(RUN.config)).run
    store.keep(older)
    contents = store.shelf.contents

    def slow(name):
        store.keep(newer)
        return contents(name)

    store.shelf.contents = slow
    store.shelf.stamp = lambda name: "another"
    store.find(RUN.config)
    store.shelf.stamp = lambda name: None
    assert store.find(RUN.config) is newer


# files that are corrupt or stray, a folder that cannot be written, a full disk


TENSORS, TEXT = files.as_tensors(RUN), files.as_json(RUN)
OTHER = files.as_json(trained(seed=1))


@pytest.mark.parametrize(
    ("tensors", "text"),
    [
        (TENSORS[:-9], TEXT),
        (b"", TEXT),
        (TENSORS, ""),
        (TENSORS, TEXT[:-9]),
        (TENSORS, "[" * 100_000),
        (TENSORS, "\udcff"),
        (TENSORS, OTHER),
        (TENSORS, TEXT.replace('"seed": 0', '"seed": ' + "9" * 400)),
        (files.as_tensors(trained(steps=5)), TEXT),
    ],
)
def test_what_is_corrupt_counts_as_missing_and_is_removed(folder, tensors, text):
    opened(folder).keep(RUN)
    stem = store_module._stem(RUN.config)
    (folder / f"{stem}.safetensors").write_bytes(tensors)
    (folder / f"{stem}.json").write_text(text, errors="surrogateescape")
    store = opened(folder)
    assert store.find(RUN.config) is None
    assert store.beginning(RUN.config) is None
    assert store.weights(RUN.config.name) is None
    assert names_in(folder) == set()
    store.keep(RUN)
    same_numbers(opened(folder).find(RUN.config), RUN)


@pytest.mark.parametrize("ending", ["json", "safetensors"])
def test_half_a_run_counts_as_missing(folder, ending):
    opened(folder).keep(RUN)
    (folder / f"{store_module._stem(RUN.config)}.{ending}").unlink()
    assert opened(folder).find(RUN.config) is None
    assert opened(folder).beginning(RUN.config) is None


def test_stray_files_do_no_harm(folder):
    store = opened(folder)
    store.keep(RUN)
    family = store_module._family(RUN.config)
    for end in ("x", "", "-1", "1e3", "999999999", "9" * 200, "٣", "07"):
        (folder / f"{family}-{end}.json").write_text("{}")
    (folder / "README").write_text("by hand")
    (folder / "folder-1.json").mkdir()
    store.keep(RUN)
    assert opened(folder).beginning(replace(RUN.config, steps=12)).done == RUN.done
    assert "README" in names_in(folder)


def test_with_a_file_in_the_place_of_the_folder_runs_live_in_memory(folder):
    folder.touch()
    store = opened(folder)
    assert store.find(RUN.config) is None
    assert store.beginning(RUN.config) is None
    store.keep(RUN)
    assert store.problem.startswith("Trained runs are kept in memory until the server ends: ")
    assert str(folder) in store.problem
    assert "File exists" in store.problem
    assert store.find(RUN.config) is RUN
    assert store.beginning(replace(RUN.config, steps=12)) is RUN
    assert store.weights(RUN.config.name) is RUN.weights
    folder.unlink()
    store.keep(RUN)
    assert store.problem == ""
    same_numbers(opened(folder).find(RUN.config), RUN)


def test_a_full_disk_is_a_sentence_and_leaves_nothing_half(folder, monkeypatch):
    store = opened(folder)
    store.keep(trained(seed=1))
    before = names_in(folder)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    for call in ("replace", "chmod"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, full)
            store.keep(RUN)
        assert "cannot be written (No space left on device)." in store.problem
        assert store.find(RUN.config) is RUN
        assert names_in(folder) == before
        assert opened(folder).find(RUN.config) is None
    store.keep(RUN)
    assert store.problem == ""


def test_after_a_full_disk_the_newer_run_counts(folder, monkeypatch):
    """The older one on disk could not even be removed."""
    opened(folder).keep(next(train(RUN.config)).run)
    store = opened(folder)
    for call in ("replace", "unlink"):
        monkeypatch.setattr(os, call, lambda *_, **__: (_ for _ in ()).throw(OSError(errno.EROFS, "Read-only")))
    store.keep(RUN)
    assert store.find(RUN.config) is RUN
    assert "(Read-only)" in store.problem


class Killed(BaseException):
    """What no handler of errors catches."""


def test_a_process_that_is_killed_while_it_writes_leaves_no_half_run(folder, monkeypatch):
    """Its JSON is written last: without it there is no run, not even of new weights with the old curve."""

    def killed(path, content):
        write(path, content)
        raise Killed

    opened(folder).keep(next(train(RUN.config)).run)
    with monkeypatch.context() as patch:
        patch.setattr(folder_module, "write", killed)
        with pytest.raises(Killed):
            opened(folder).keep(RUN)
    assert opened(folder).find(RUN.config) is None
    opened(folder).keep(RUN)
    same_numbers(opened(folder).find(RUN.config), RUN)
