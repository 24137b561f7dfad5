"""The record: a file with the content that each link showed, and the comparison with what it shows now."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from tests.record.page import Record
from tests.record.statistics import differences, without_rounding

FILE = Path(__file__).parent / "recorded.json.gz"

# What has another name since it was recorded: the name in the record -> the name now. A panel's or picture's name is
# its key on the page.
PANELS: dict[str, str] = {}
PICTURES: dict[str, str] = {}  # by key
DRAWN: dict[str, str] = {}  # what the page asks for: the picture's name in the registry
# Variables that recipes leave behind; of one panel alone as "panel key/name". An entry of a mapping is "name[key]".
RECIPE_NAMES: dict[str, str] = {
    f"{name}_{side}": f"{name}[{side}]"
    for name in ("values", "pairs", "distances", "left", "nearest", "norm", "alike", "scores", "waves")
    for side in ("A", "B")
} | {
    "position_waves/values_A": "waves[A]",
    "position_waves/values_B": "waves[B]",
    "positions_distance/found": "by_distance",
    "positions_shuffled/tokens": "ids",
    "conventions/found": "verified",
    "conventions/names": "conventions",
    "masks_empty_row/free": "mask",
    "masks_nan_spreads/free": "mask",
    "masks_nan_spreads/found": "output",
    "scale/found": "measured",
}


def read() -> dict[str, Record]:
    """Link -> the content that it showed."""
    return json.loads(gzip.decompress(FILE.read_bytes()))


def write(record: dict[str, Record]) -> None:
    """Write the record, in the order of the links. The same record gives the same bytes."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), indent=0)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


def changed(recorded: Record, now: Record) -> Iterator[str]:
    """A line for each field of the record that differs now. New content on the page is not a difference."""
    yield from _words(recorded["words"], now["words"], "page")
    yield from differences(recorded["controls"], now["controls"], "control")
    for key, picture in _present(recorded["pictures"], now["pictures"], PICTURES):
        shown = now["pictures"][PICTURES.get(key, key)]
        yield from differences(
            {**picture, "name": DRAWN.get(picture["name"], picture["name"])}, shown, f"picture {key}"
        )
    for key, panel in _present(recorded["panels"], now["panels"], PANELS):
        yield from _panel(panel, now["panels"][PANELS.get(key, key)], key)
    for kind, names in (("pictures", PICTURES), ("panels", PANELS)):
        if gone := [key for key in recorded[kind] if names.get(key, key) not in now[kind]]:
            yield f"{kind} that are gone: {', '.join(gone)}"
    order = [PANELS.get(key, key) for key in recorded["panels"]]
    if (kept := [key for key in now["panels"] if key in order]) != [key for key in order if key in kept]:
        yield f"panels were in the order {', '.join(order)}, are in the order {', '.join(kept)}"


def _present(recorded: Record, now: Record, names: dict[str, str]) -> Iterator[tuple[str, Record]]:
    return ((key, value) for key, value in recorded.items() if names.get(key, key) in now)


def _panel(recorded: Record, now: Record, key: str) -> Iterator[str]:
    where = f"panel {key}"
    kept = {name: value for name, value in recorded.items() if name not in ("words", "recipe", "tables")}
    yield from differences(kept, now, where)
    yield from _words(recorded["words"], now["words"], where)
    tables, tables_now = recorded.get("tables", []), now.get("tables", [])
    if len(tables) != len(tables_now):
        yield f"{where} / tables: were {len(tables)}, are {len(tables_now)}"
    for number, (table, table_now) in enumerate(zip(tables, tables_now, strict=False), 1):
        yield from differences(table, table_now, f"{where} / table {number}")
    if "recipe" in recorded:
        yield from _recipe(recorded["recipe"], now.get("recipe"), key)


def _recipe(recorded: Record, now: Record | None, key: str) -> Iterator[str]:
    """Names that a recipe no longer leaves behind are no difference, except the last one, which is what it is about."""
    where = f"panel {key} / recipe"
    if now is None or "measures" in recorded or "measures" in now:
        if now is None or recorded.get("measures") != now.get("measures"):
            yield f"{where}: {'is gone' if now is None else 'measures, or does no longer'}"
        return
    names = {name: RECIPE_NAMES.get(f"{key}/{name}", RECIPE_NAMES.get(name, name)) for name in recorded["left"]}
    if (last := names[recorded["last"]]) not in now["left"]:
        yield f"{where}: no longer leaves {last}; it leaves {', '.join(now['left'])}"
    for name, value in recorded["left"].items():
        if names[name] in now["left"]:
            yield from differences(value, now["left"][names[name]], f"{where} / {names[name]}")


def _words(recorded: list[str], now: list[str], where: str) -> Iterator[str]:
    said = set(map(without_rounding, now))
    for words in recorded:
        if without_rounding(words) not in said:
            yield f"{where} / words: gone is {words!r}; there is {[other for other in now if other not in recorded]!r}"
