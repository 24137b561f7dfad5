"""Trained runs and comparisons in the store: with Redis always, otherwise where no folder can be written."""

from tfm_core.training.folder import FOLDER, JSON, LOADED, TENSORS, Folder, Parts, Place, Stamp, default_folder
from tfm_core.training.outcomes import PREFIX, outcome_store
from tfm_core.training.store import run_store
from tfm_ui.settings import SETTINGS
from tfm_ui.store import kinds
from tfm_ui.store.shared import store
from tfm_ui.store.store import Kind

WHERE = f"the server's folder for them ({FOLDER})"  # visitors have no business with its path
SIZE = 4  # bytes that say how long the JSON is


class StorePlace:
    """A `Place`: the parts of a run are one value, so that nobody reads half of it."""

    where = "the server's store"

    def stamp(self, name: str) -> Stamp | None:
        """The digest of all parts."""
        entry = store().entry(_kind(name), name)
        return entry.digest if entry else None

    def read(self, name: str) -> Parts:
        """All parts of one content; none if there is none."""
        value = store().get(_kind(name), name)
        return unpacked(value) if value else {}

    def write(self, name: str, parts: Parts, owner: str = "") -> None:
        """Keep these parts in place of earlier ones.

        Raises:
            OSError: if the store does not answer, or if they are larger than it allows.
        """
        try:
            store().put(_kind(name), name, packed(parts), owner)
        except ValueError as problem:
            raise OSError(str(problem)) from problem

    def names(self, prefix: str) -> list[str]:
        """The names that begin like this."""
        return [key for key in store().keys(_kind(prefix)) if key.startswith(prefix)]

    def remove(self, name: str) -> None:
        """Remove all parts, if there are any."""
        store().remove(_kind(name), name)


def connect() -> None:
    """Let this process find and keep runs where the settings say. It opens nothing: a process may fork after it."""
    folder: Place = Folder(default_folder(), kinds.RUNS.together, each=kinds.RUNS.each, where=WHERE)
    for shelf in (run_store().shelf, outcome_store().shelf):
        shelf.place, shelf.spare = (StorePlace(), None) if SETTINGS.store else (folder, StorePlace())


def packed(parts: Parts) -> bytes:
    """The parts one after the other: the JSON after its length, then the tensors, if there are any."""
    return len(parts[JSON]).to_bytes(SIZE) + parts[JSON] + parts.get(TENSORS, b"")


def unpacked(value: bytes) -> Parts:
    """The parts that `packed` has put together; none of what is something else."""
    end = SIZE + int.from_bytes(value[:SIZE])
    if end > len(value):
        return {}
    parts = {JSON: value[SIZE:end], TENSORS: value[end:]}
    return {ending: part for ending, part in parts.items() if part}


def _kind(name: str) -> Kind:
    starts = {LOADED: kinds.LOADED, PREFIX: kinds.COMPARISONS}
    return starts.get(name.partition("-")[0], kinds.RUNS)
