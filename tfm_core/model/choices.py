"""What a field of a configuration may hold: one of the names in a table, or a whole number; else one error says so."""

from collections.abc import Collection, Mapping


def check_choice(what: str, name: object, choices: Collection[str]) -> None:
    """Raise a ValueError that lists the choices if the name is none of them."""
    if not isinstance(name, str) or name not in choices:
        raise ValueError(f"{what}: expected one of {', '.join(choices)}; got {name!r}")


def check_whole_numbers(described: object, lowest: Mapping[str, int]) -> None:
    """Raise a ValueError if one of these fields is no whole number, or is below the lowest that makes sense."""
    for field, least in lowest.items():
        value = getattr(described, field)
        if type(value) is not int or value < least:
            raise ValueError(f"{field}: expected a whole number of at least {least}, got {value!r}")
