"""Where runs are kept: a folder of limited size, the oldest out first; in memory where no folder can be written.

A run is two files, `<family>-<steps>.safetensors` and `.json`; a family is all runs that differ in the number of steps
alone. Several processes may share the folder: a file appears at once and whole, and while a run is written its JSON is
not there. What cannot be read counts as missing, is removed, and will be trained anew.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from torch import Tensor

from tfm_core.model import trained
from tfm_core.training import files
from tfm_core.training.config import TrainingConfig, read_name
from tfm_core.training.folder import SHIPPED, Stamp, default_folder, stamp_of, write
from tfm_core.training.run import Run

LIMIT = 100_000_000  # bytes of all files in it
LOADED = "loaded"  # begins the files of weights that were not trained here
IN_MEMORY = 32  # runs that are kept in memory as well


class Store:
    """All methods may be called by any thread."""

    def __init__(self, folder: Path | None = None, *, limit: int = LIMIT, shipped: Path = SHIPPED) -> None:
        """Open a store; the folder is made when the first run is kept.

        Args:
            folder: where the files are; the environment variable's, or the user's cache, by default.
            limit: bytes of all files.
            shipped: a second folder, whose runs are read and never removed.
        """
        self.folder, self.limit, self.shipped = folder or default_folder(), limit, shipped
        self.problem = ""  # why runs live in memory alone, in a sentence; "" if they are on disk
        self._lock = threading.RLock()
        self._memory: OrderedDict[str, tuple[Run, Stamp | None]] = OrderedDict()

    def find(self, config: TrainingConfig) -> Run | None:
        """The run of this configuration, complete or not; None if there is none."""
        name = config.name
        with self._lock:
            stamp = self._stamp(config)
            known, read_at = self._memory.get(name, (None, None))
            if known is not None and stamp in (None, read_at):
                self._memory.move_to_end(name)
                return known
            # Not read yet, or another process has written it since.
            run = self._read(self.folder, config) or known or self._read(self.shipped, config)
            if run is not None:
                self._remember(run, stamp)
            return run

    def beginning(self, config: TrainingConfig) -> Run | None:
        """The longest run that this one goes on from: it differs in the number of steps alone, and is shorter."""
        with self._lock:
            family = _family(config)
            steps = {path.stem.rpartition("-")[2] for path in self._files(f"{family}-*.json")}
            steps |= {str(run.config.steps) for run, _ in self._memory.values() if _family(run.config) == family}
            runs = []
            for count in steps:
                with suppress(ValueError):  # somebody else's file
                    runs.append(self.find(replace(config, steps=int(count))))
        usable = [run for run in runs if run and run.optimizer and not run.problem and run.done <= config.steps]
        return max(usable, key=lambda run: run.done, default=None)

    def keep(self, run: Run, *, optimizer: bool = True) -> None:
        """Keep a run, in place of an earlier one of its configuration.

        Args:
            run: what is kept.
            optimizer: whether it can be continued later.
        """
        with self._lock:
            stem = _stem(run.config)
            tensors, text = files.as_tensors(run, optimizer=optimizer), files.as_json(run).encode()
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                (self.folder / f"{stem}.json").unlink(missing_ok=True)
                write(self.folder / f"{stem}.safetensors", tensors)
                write(self.folder / f"{stem}.json", text)
                self._make_room(stem)
                self.problem = ""
            except OSError as error:
                self._remove(stem)
                self.problem = (
                    f"Trained runs are kept in memory until the server ends: {self.folder} cannot be written "
                    f"({error.strerror or error})."
                )
            self._remember(run, self._stamp(run.config))

    def weights(self, name: str) -> Mapping[str, Tensor] | None:
        """The weights of the complete run with this name, or None if it is not here."""
        try:
            run = self.find(read_name(name))
        except ValueError:
            return None
        return run.weights if run and run.is_complete else None

    def _read(self, folder: Path, config: TrainingConfig) -> Run | None:
        stem = folder / _stem(config)
        try:
            text = stem.with_suffix(".json").read_text(encoding="utf-8")
            tensors = stem.with_suffix(".safetensors").read_bytes()
            if stem.with_suffix(".json").read_text(encoding="utf-8") != text:
                return None  # another process is writing it: these two files may belong to different runs
            run = files.read(tensors, text)
        except OSError:
            return None
        except ValueError:
            run = None
        if run is None or run.config != config:
            if folder == self.folder:
                self._remove(stem.name)
            return None
        return run

    def _stamp(self, config: TrainingConfig) -> Stamp | None:
        return stamp_of(self.folder / f"{_stem(config)}.json")

    def _remember(self, run: Run, stamp: Stamp | None) -> None:
        self._memory[run.config.name] = run, stamp
        self._memory.move_to_end(run.config.name)
        while len(self._memory) > IN_MEMORY:
            self._memory.popitem(last=False)

    def _files(self, pattern: str) -> Iterator[Path]:
        with suppress(OSError):
            yield from self.folder.glob(pattern)

    def _make_room(self, newest: str) -> None:
        """Remove the oldest runs until all files fit; the newest stays.

        What visitors have loaded has a fifth of the room to itself, so that nobody can push out what was trained.
        """
        is_loaded = newest.startswith(LOADED)
        limit = self.limit // 5 if is_loaded else self.limit
        sizes: dict[str, int] = {}
        ages: dict[str, float] = {}
        for path in self._files("*-*.*"):
            with suppress(OSError):
                if path.name.startswith(LOADED) != is_loaded:
                    continue
                known = path.stat()
                sizes[path.stem] = sizes.get(path.stem, 0) + known.st_size
                ages[path.stem] = max(ages.get(path.stem, 0.0), known.st_mtime)
        for stem in sorted(ages, key=lambda stem: (stem == newest, ages[stem])):
            if sum(sizes.values()) <= limit or stem == newest:
                break
            self._remove(stem)
            del sizes[stem]

    def _remove(self, stem: str) -> None:
        for ending in ("json", "safetensors"):
            with suppress(OSError):
                (self.folder / f"{stem}.{ending}").unlink()


def _family(config: TrainingConfig) -> str:
    name = replace(config, steps=1).name
    return f"{LOADED if config.file else config.task}-{blake2b(name.encode(), digest_size=8).hexdigest()}"


def _stem(config: TrainingConfig) -> str:
    return f"{_family(config)}-{config.steps}"


STORE = Store()
trained.add_source(STORE.weights)
