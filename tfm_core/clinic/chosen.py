"""Which of several arrays by name is the mask: in an archive, in safetensors, or in an object of JSON or Python."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfm_core.study.attention_files import told

# What a mask is called, the likeliest first; then weights, and what pandas calls the cells of a table.
MASKS = (
    *("attention_mask", "attn_mask", "mask", "key_padding_mask", "padding_mask", "src_mask", "tgt_mask"),
    *(
        "causal_mask",
        "attn_bias",
        "attention_bias",
        "bias",
        "attentions",
        "attention",
        "attn",
        "weights",
        "attn_weights",
    ),
    *("data", "values", "matrix", "array"),
)
IDS = ("input_ids", "token_ids", "ids")
TOKENS = ("tokens", "labels", "words", "left_text", "columns", "index")
MOST_ROWS = 2**15
KEY = re.compile(r"""["']([^"'\\\n]{1,60})["']\s*:\s*""")
OPENS = re.compile(r"(?:[A-Za-z][\w.]{0,20}\(\s*)?\[")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'')
CLOSES = re.compile(r"(?:\s*,\s*\w+\s*=\s*[^(),{}\[\]]{0,60})*\s*\)")


def choose(axes: Mapping[str, int]) -> tuple[list[str], tuple[str, ...]]:
    """The array that is the mask, or those of all layers in order, and a note on what was left out.

    Args:
        axes: how many axes each array has, by its name.

    Raises:
        ValueError: if that is open, with the names.
    """
    names = [name for name in axes if name not in TOKENS]
    if len(names) == 1:
        return names, ()
    numbered = [name for name in names if re.search(r"layer", name, re.IGNORECASE) and re.search(r"\d", name)]
    if len({re.sub(r"\d+", "#", name) for name in numbered}) == 1 and len({axes[name] for name in numbered}) == 1:
        layers = sorted(numbered, key=lambda name: [int(digits[:9]) for digits in re.findall(r"\d+", name)])
        return layers, (f"“{told(layers[0])}” to “{told(layers[-1])}” are read, a layer each.",)
    name = _likeliest(axes, names)
    if not name:
        listed = ", ".join(f"“{told(name)}”" for name in sorted(names)[:6])
        raise ValueError(
            f"It holds {len(names):,} arrays ({listed}{', …' if len(names) > 6 else ''}): a single one was expected, "
            "or one called “mask”, “attn_mask” or “attention_mask”."
        )
    others = sorted(set(names) - {name})
    more = f" and {len(others) - 1:,} more are" if others[1:] else " is"
    return [name], (f"“{told(name)}” is read; “{told(others[0])}”{more} not.",)


def _likeliest(axes: Mapping[str, int], names: Sequence[str]) -> str:
    """The name of the array that is the mask; "" if that is open."""
    ends = {name: name.rpartition(".")[2] for name in names}  # of “layer.mask” mask
    tables = [name for name in names if axes[name] > 1]
    called = [name for known in MASKS for name in names if ends[name] == known and (axes[name] > 1 or "mask" in known)]
    like = [name for name in tables if "mask" in name.lower()]
    if called:
        return called[0]
    if len(like) == 1:
        return like[0]
    return tables[0] if len(tables) == 1 else ""


@dataclass(frozen=True)
class Picked:
    """An array's text, out of an object.

    Attributes:
        text: the array, with what stands around it.
        labels: the tokens beside it.
        notes: what was left out, in sentences.
    """

    text: str
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def picked(text: str) -> Picked | None:
    """The mask's array out of an object of JSON, a dict of Python, or records; None if the text is none of these.

    Raises:
        ValueError: if none of its entries is an array, or several may be the mask.
    """
    if re.match(r"\s*\[\s*\{", text):
        return _records(text)
    if not re.match(r"\s*(?:\w+\s*=\s*)?(?:\w+\()?\{\s*(?:[\"']|\})", text):
        return None
    places = {key[1]: key.end() for key in reversed([*KEY.finditer(text)]) if OPENS.match(text, key.end())}
    arrays = {name: part for name, at in places.items() if name not in TOKENS and (part := _balanced(text, at))}
    labels = next((_strings(text[places[name] :]) for name in TOKENS if name in places), ())
    if not arrays or not any(map(_has_cells, arrays.values())):
        return _columns(text)
    if len(arrays) > 1 and not set(arrays) & {*MASKS, *IDS} and len({len(part) for part in arrays.values()}) < 3:
        by_column = _columns(text, is_needed=False)
        if by_column:
            return by_column
    if set(arrays) <= {*IDS, "token_type_ids"} and len(arrays) > 1:
        arrays = {name: part for name, part in arrays.items() if name in IDS} or arrays
    (name, *_), notes = choose({name: 2 if re.match(r"[^\[]*\[\s*\[", part) else 1 for name, part in arrays.items()})
    return Picked(arrays[name], labels, notes)


def _has_cells(part: str) -> bool:
    return bool(re.search(r"\[\s*[^\s\]]", part))


def _balanced(text: str, start: int) -> str:
    """An array's text from its beginning to where its last bracket closes; "" if it does not."""
    signs = np.frombuffer(text[start:].encode("utf-32-le", "replace"), np.uint32)
    depth = np.cumsum((signs == ord("[")).astype(np.int32) - (signs == ord("]")))
    opened = text.index("[", start) - start
    ends = np.flatnonzero(depth[opened:] == 0)
    if not len(ends):
        return ""
    end = start + opened + int(ends[0]) + 1
    closing = CLOSES.match(text, end) if "(" in text[start : start + opened] else None
    return text[start : closing.end() if closing else end]


def _strings(text: str) -> tuple[str, ...]:
    """The strings in the list that a text begins with, as JSON or Python write them."""
    try:
        listed, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        quoted = QUOTED.findall(text[: text.find("]") + 1])
        return tuple(double or single for double, single in quoted)
    if isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], list):
        listed = listed[0]
    is_list = isinstance(listed, list) and all(isinstance(word, str) for word in listed)
    return tuple(listed) if is_list else ()


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _records(text: str) -> Picked | None:
    """A list of rows, each an object from the column's name to the cell, as pandas writes records."""
    if text.count("{") > MOST_ROWS:
        raise ValueError(f"It has more than {MOST_ROWS:,} records; rows of a mask were expected.")
    rows = _loaded(text)
    if isinstance(rows, list) and len(rows) == 1 and isinstance(rows[0], dict):
        return picked(json.dumps(rows[0]))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    return _table([str(name) for name in rows[0]], [[*row.values()] for row in rows])


def _columns(text: str, *, is_needed: bool = True) -> Picked | None:
    """An object of columns, each a list or an object from the row's name to the cell."""
    known = _loaded(text)
    if isinstance(known, dict) and known and all(isinstance(column, dict | list) for column in known.values()):
        columns = [[*column.values()] if isinstance(column, dict) else column for column in known.values()]
        is_flat = not any(isinstance(cell, dict | list) for column in columns for cell in column)
        if is_flat and len({len(column) for column in columns}) == 1:
            return _table([str(name) for name in known], [list(row) for row in zip(*columns, strict=True)])
    if is_needed:
        names = ", ".join(f"“{told(key[1])}”" for key in [*KEY.finditer(text[:4000])][:6]) or "nothing"
        raise ValueError(f"It is an object with {names}: an array called “mask” or “attention_mask” was expected.")
    return None


def _table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> Picked:
    is_counted = all(name.isdigit() for name in names)
    notes = ("Its column names are left out.",)
    return Picked(json.dumps(rows), () if is_counted else tuple(names), notes)
