"""Choices by name: the tables at the foot of each part's file, and the one error for a name that is in none."""

from collections.abc import Collection


def check_choice(what: str, name: object, choices: Collection[str]) -> None:
    """Raise a ValueError that lists the choices if the name is none of them."""
    if not isinstance(name, str) or name not in choices:
        raise ValueError(f"{what}: expected one of {', '.join(choices)}; got {name!r}")
