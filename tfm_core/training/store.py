"""Where runs are kept: a folder that processes share, or what the app puts in its stead; those just used, in memory.

A run is kept as JSON and safetensors under the name `<family>-<steps>`; a family is all runs that differ in the number
of steps alone. What cannot be read as a run counts as missing, is removed, and will be trained anew.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from pathlib import Path

from torch import Tensor

from tfm_core.training import files
from tfm_core.training.config import TrainingConfig, read_name
from tfm_core.training.folder import JSON, LOADED, SHIPPED, TENSORS, Folder, Parts, Place, Stamp
from tfm_core.training.run import Run
from tfm_core.training.shelf import Shelf

RUNS = "Trained runs"  # as a sentence begins
IN_MEMORY = 32  # runs that are kept in memory as well
BYTES_IN_MEMORY = 32_000_000  # of all of them, but for the newest: a run of the largest network has 24 MB


class RunStore:
    """All methods may be called by any thread; none waits while another reads or writes, which may take seconds.

    Attributes:
        shelf: where runs are kept.
        shipped: a folder, whose runs are read and never removed.
    """

    def __init__(self, place: Place | None = None, *, shipped: Path = SHIPPED) -> None:
        """Open a store.

        Args:
            place: where runs are kept; by default the environment variable's folder, or one in the user's cache.
            shipped: a folder, whose runs are read and never removed.
        """
        self.shelf, self.shipped = Shelf(RUNS, place), shipped
        self._lock = threading.Lock()  # of the memory alone
        self._memory: OrderedDict[str, tuple[Run, Stamp | None]] = OrderedDict()

    def find(self, config: TrainingConfig) -> Run | None:
        """The run of this configuration, complete or not; None if there is none."""
        name = config.name
        stamp = self.shelf.stamp(_stem(config))
        with self._lock:
            known, read_at = self._memory.get(name, (None, None))
            if known is not None and stamp in (None, read_at):
                self._memory.move_to_end(name)
                return known
        # Not read yet, or another process has written it since.
        run = self._kept(config) or known or _run_in(Folder(self.shipped).read(_stem(config)), config)
        with self._lock:
            if run is not None and self._memory.get(name, (None, None))[0] is known:  # else another thread knows better
                self._remember(run, stamp)
        return run

    def beginning(self, config: TrainingConfig) -> Run | None:
        """The longest run that this one goes on from: it differs in the number of steps alone, and is shorter."""
        family = _family(config)
        steps = {name.rpartition("-")[2] for name in self.shelf.names(f"{family}-")}
        with self._lock:
            in_memory = [run.config for run, _ in self._memory.values()]
        steps |= {str(other.steps) for other in in_memory if _family(other) == family}
        runs = []
        for count in steps:
            with suppress(ValueError):  # somebody else's file
                runs.append(self.find(replace(config, steps=int(count))))
        usable = [run for run in runs if run and run.optimizer and not run.problem and run.done <= config.steps]
        return max(usable, key=lambda run: run.done, default=None)

    def keep(self, run: Run, *, optimizer: bool = True, owner: str = "") -> None:
        """Keep a run, in place of an earlier one of its configuration.

        Args:
            run: what is kept.
            optimizer: whether it can be continued later.
            owner: whose it is; of too much the owner's oldest goes first.
        """
        parts = {TENSORS: files.as_tensors(run, optimizer=optimizer), JSON: files.as_json(run).encode()}
        self.shelf.write(_stem(run.config), parts, owner)
        stamp = self.shelf.stamp(_stem(run.config))
        with self._lock:
            self._remember(run, stamp)

    def weights(self, name: str) -> Mapping[str, Tensor] | None:
        """The weights of the complete run with this name, or None if it is not here or diverged."""
        try:
            run = self.find(read_name(name))
        except ValueError:
            return None
        return run.weights if run and run.is_complete and not run.problem else None

    @property
    def problem(self) -> str:
        """Why runs are not kept where they should be, or cannot be read there, in a sentence; "" if all is well."""
        return self.shelf.problem or self.shelf.unreadable

    def _kept(self, config: TrainingConfig) -> Run | None:
        for parts in self.shelf.contents(_stem(config)):
            if run := _run_in(parts, config):
                return run
            if parts.keys() >= {JSON, TENSORS}:  # it is no run
                self.shelf.remove(_stem(config))
        return None

    def _remember(self, run: Run, stamp: Stamp | None) -> None:
        self._memory[run.config.name] = run, stamp
        self._memory.move_to_end(run.config.name)
        sizes = {name: kept.nbytes for name, (kept, _) in self._memory.items()}
        while len(sizes) > IN_MEMORY or (len(sizes) > 1 and sum(sizes.values()) > BYTES_IN_MEMORY):
            oldest, _ = self._memory.popitem(last=False)
            del sizes[oldest]


def _run_in(parts: Parts, config: TrainingConfig) -> Run | None:
    """The run that these parts are; None if they are none, or another."""
    with suppress(ValueError):
        if parts.keys() >= {JSON, TENSORS}:
            run = files.read(parts[TENSORS], parts[JSON].decode())
            return run if run.config == config else None
    return None


def _family(config: TrainingConfig) -> str:
    name = replace(config, steps=1).name
    return f"{LOADED if config.file else config.task}-{blake2b(name.encode(), digest_size=8).hexdigest()}"


def _stem(config: TrainingConfig) -> str:
    return f"{_family(config)}-{config.steps}"


def run_store() -> RunStore:
    """The store of this process, made when it is first asked for.

    Examples:
        >>> from tfm_core import TrainingConfig, run_store
        >>> run_store() is run_store()
        True
    """
    with _making:
        return _made()


@cache
def _made() -> RunStore:
    return RunStore()


_making = threading.Lock()  # two threads that ask at once get the same store


def source(name: str) -> Mapping[str, Tensor] | None:
    """Where models find trained weights (tfm_core/model/trained.py): in the store of this process."""
    return run_store().weights(name)
