"""What a checkpoint's config.json says, read value by value: each is what it has to be, or an error names it."""

import math
from collections.abc import Mapping
from typing import Any

MOST = 2**24  # of any size: so that a false one is refused before anything is made of it


class Settings:
    """The values of a config.json.

    Args:
        values: as they stand there.
        name: of the file, for errors.
    """

    def __init__(self, values: Mapping[str, Any], name: str = "config.json") -> None:
        self.values, self.name = values, name

    def get(self, key: str, default: Any = None) -> Any:
        """The value as it is; the default where there is none, or null."""
        value = self.values.get(key)
        return default if value is None else value

    def whole(self, *keys: str, least: int = 1, default: int | None = None) -> int:
        """A whole number, by the first of these names that is there.

        Raises:
            ValueError: if there is none and no default, or it is something else.
        """
        for key in keys:
            if (value := self.get(key)) is not None:
                if type(value) is not int or not least <= value <= MOST:
                    raise self.wrong(key, f"a whole number from {least} to {MOST}", value)
                return value
        if default is None:
            raise ValueError(f"{self.name}: expected {' or '.join(keys)}, got none")
        return default

    def number(self, key: str, default: float) -> float:
        """A number above 0."""
        value = self.get(key, default)
        if type(value) not in (int, float) or not 0 < value < math.inf:
            raise self.wrong(key, "a number above 0", value)
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self.get(key, default)
        if type(value) is not bool:
            raise self.wrong(key, "true or false", value)
        return value

    def one_of(self, key: str, choices: Mapping[str, str], default: str) -> str:
        """What a name stands for."""
        value = self.get(key, default)
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(key, f"one of {', '.join(choices)}", value)
        return choices[value]

    def must_be(self, key: str, expected: Any, why: str, *, default: Any = None) -> None:
        """Refuse a model whose value is another than what our models do.

        Raises:
            ValueError: with the reason.
        """
        value = self.get(key, expected if default is None else default)
        if value != expected:
            raise self.wrong(key, f"{expected!r}, as {why}", value)

    def wrong(self, key: str, expected: str, got: object) -> ValueError:
        """The error that a value is not what it has to be."""
        return ValueError(f"{self.name}: {key}: expected {expected}; got {got!r:.80}")
