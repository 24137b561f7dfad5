"""Files that are corrupt or stray, a folder that cannot be written, a full disk: sentences, and never in the way."""

import errno
import os
from dataclasses import replace

import pytest

from tests.tfm_core.training.runs import names_in, opened, same_numbers, trained
from tfm_core.training import files
from tfm_core.training import folder as folder_module
from tfm_core.training import store as store_module
from tfm_core.training.folder import write
from tfm_core.training.train import train

RUN = trained()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "runs"


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
