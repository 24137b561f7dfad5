"""A place with a spare one: what cannot be written in the first is kept in the second, and sentences say why."""

from collections.abc import Iterator
from contextlib import suppress

from tfm_core.training.folder import Folder, Parts, Place, Stamp, default_folder


class Shelf:
    """Where something is kept.

    Attributes:
        place: where it is kept.
        spare: where that is kept which cannot be written there; None if there is no such place.
        problem: why that which was kept last is not in its place, in a sentence; "" if it is.
        unreadable: why a place could not be read when it was asked last, in a sentence; "" if it could.
    """

    def __init__(self, what: str, place: Place | None = None, spare: Place | None = None) -> None:
        """Name the places.

        Args:
            what: is kept, as a sentence begins: "Trained runs".
            place: where; by default the environment variable's folder, or one in the user's cache.
            spare: where else, if that cannot be written.
        """
        self.place: Place = place or Folder(default_folder())
        self.spare = spare
        self.problem = self.unreadable = ""
        self._what = what

    @property
    def places(self) -> list[Place]:
        """All of them, the first first."""
        return [self.place, *([self.spare] if self.spare else [])]

    def stamp(self, name: str) -> Stamp | None:
        """The stamp of what is kept, in any of the places; None also if they cannot be read."""
        self.unreadable = ""
        for place in self.places:
            try:
                if stamp := place.stamp(name):
                    return stamp
            except OSError as error:
                self.unreadable = str(error)
        return None

    def contents(self, name: str) -> Iterator[Parts]:
        """What is kept under a name, in one place after the other."""
        for place in self.places:
            try:
                parts = place.read(name)
            except OSError as error:
                self.unreadable = str(error)
            else:
                if parts:
                    yield parts

    def write(self, name: str, parts: Parts, owner: str = "") -> None:
        """Keep these parts in place of earlier ones; see `Place.write`."""
        try:
            self.place.write(name, parts, owner)
            self.problem = ""
        except OSError as error:
            self.problem = (
                f"{self._what} are kept in memory until the server ends: {self.place.where} cannot be written "
                f"({error.strerror or error})."
            )
            if self.spare:
                with suppress(OSError):
                    self.spare.write(name, parts, owner)

    def names(self, prefix: str) -> set[str]:
        """The names that begin like this, in any of the places."""
        names: set[str] = set()
        for place in self.places:
            with suppress(OSError):
                names |= set(place.names(prefix))
        return names

    def remove(self, name: str) -> None:
        """Remove it from all places that can be written."""
        for place in self.places:
            with suppress(OSError):
                place.remove(name)
