"""The files of the record: JSON whose keys are sorted, and in which what fits stands on one line."""

import json
from collections.abc import Iterator
from typing import Any

from tests.record.addresses import FOLDER, Link, recorded_links
from tests.record.differences import differences

WIDTH = 200  # characters of a line that holds several entries

Record = dict[str, Any]


def read(link: Link) -> Record:
    """What is recorded of a link."""
    return json.loads(link.file.read_text(encoding="utf-8"))


def write(link: Link, content: Record) -> None:
    """Record this of a link. The same content gives the same bytes."""
    link.file.parent.mkdir(parents=True, exist_ok=True)
    link.file.write_text(written(content), encoding="utf-8", newline="\n")


def written(content: Record) -> str:
    """The text of a file."""
    return "".join(_lines(content, "")) + "\n"


def _lines(value: Any, indent: str) -> Iterator[str]:
    line = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    if not value or not isinstance(value, dict | list) or (indent and len(indent) + len(line) <= WIDTH):
        yield line
        return
    entries = [("", entry) for entry in value] if isinstance(value, list) else sorted(value.items())
    yield "{" if isinstance(value, dict) else "["
    for number, (name, entry) in enumerate(entries):
        key = f"{json.dumps(name, ensure_ascii=False)}: " if isinstance(value, dict) else ""
        yield f"{',' * bool(number)}\n{indent} {key}"
        yield from _lines(entry, indent + " ")
    yield f"\n{indent}{'}' if isinstance(value, dict) else ']'}"


def changed(link: Link, now: Record) -> list[str]:
    """A line for each difference between the record of a link and what it shows now."""
    if not link.file.exists():
        return ["is not recorded yet"]
    recorded = read(link)
    return [line.removeprefix(" / ") for line in differences(recorded, now, "")]


def orphans() -> list[str]:
    """Files of no link, as they stand below the folder of the record."""
    wanted = {link.file for link in recorded_links()}
    return sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file() and path not in wanted)
