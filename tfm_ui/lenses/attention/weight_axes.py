"""The axes of a map of weights, and what a click on one of its cells sets."""

from collections.abc import Sequence

from tfm_ui.pictures.maps import Axis

ASKS = ("attention_query", "attention_key")


def queries_axis(names: Sequence[str]) -> Axis:
    """The axis of the rows."""
    return Axis(names, "query (row): looks", "query", "query")


def keys_axis(names: Sequence[str]) -> Axis:
    """The axis of the columns."""
    return Axis(names, "key (column): is looked at", "key", "key")
