"""A store with a spare one: while it does not answer, new values go into the spare one, so that no work is lost."""

from contextlib import suppress

from tfm_ui.store.store import Entry, KeyValueStore, Kind, StoreAway


class WithSpare:
    """A `KeyValueStore`. What is in the spare one stays there, and is found as long as the spare one lives.

    Args:
        main: where values belong.
        spare: where values are kept that come while `main` is away.
    """

    def __init__(self, main: KeyValueStore, spare: KeyValueStore) -> None:
        self.main, self.spare = main, spare

    def put(self, kind: Kind, key: str, value: bytes, owner: str = "") -> None:
        """Keep a value in place of an earlier one."""
        try:
            self.main.put(kind, key, value, owner)
        except StoreAway:
            self.spare.put(kind, key, value, owner)
        else:
            self._forget(kind, key)  # an earlier value

    def entry(self, kind: Kind, key: str) -> Entry | None:
        """What is known of a value. StoreAway is raised only for what the spare store does not have."""
        with suppress(StoreAway):
            if entry := self.spare.entry(kind, key):
                return entry
        return self.main.entry(kind, key)

    def get(self, kind: Kind, key: str) -> bytes | None:
        """A value. StoreAway is raised only for what the spare store does not have."""
        with suppress(StoreAway):
            if (value := self.spare.get(kind, key)) is not None:
                return value
        return self.main.get(kind, key)

    def keys(self, kind: Kind) -> list[str]:
        """All keys; of the spare store alone while the main one is away and the spare one has any."""
        spare: list[str] = []
        with suppress(StoreAway):
            spare = self.spare.keys(kind)
        try:
            main = self.main.keys(kind)
        except StoreAway:
            if not spare:
                raise
            return spare
        return [key for key in main if key not in spare] + spare

    def remove(self, kind: Kind, key: str) -> None:
        """Drop a value from both."""
        self._forget(kind, key)
        self.main.remove(kind, key)

    def ready(self) -> str:
        """Why the main store does not answer, in a sentence; "" if it does."""
        return self.main.ready()

    def _forget(self, kind: Kind, key: str) -> None:
        """Drop a value from the spare store, if that answers."""
        with suppress(StoreAway):
            self.spare.remove(kind, key)
