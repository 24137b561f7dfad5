"""The status as a page of HTML that needs no script."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Attention Lab: status</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif }
  body { max-width: 60rem; margin: 1rem auto; padding: 0 1rem }
  h2 { font-size: 1.1rem; margin: 1.5rem 0 .3rem }
  table { border-collapse: collapse }
  th, td { text-align: left; padding: .15rem 1.2rem .15rem 0; border-bottom: 1px solid #8884; font-weight: normal }
  td { font-variant-numeric: tabular-nums }
</style>
<h1>Attention Lab: status</h1>
"""


def page(status: Mapping[str, Any]) -> str:
    """A table for all single values, and a section for each value that has parts."""
    single = {name: value for name, value in status.items() if not _has_parts(value)}
    return HEAD + "\n".join([_pairs(single), *_sections(status), "</html>\n"])


def _sections(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, value in values.items():
        if not _has_parts(value):
            continue
        yield f"<h2>{_words(above + name)}</h2>"
        if isinstance(value, Mapping) and all(isinstance(row, Mapping) for row in value.values()):
            yield _rows([{"": key, **row} for key, row in value.items()])
        elif isinstance(value, Mapping):
            yield _pairs({key: part for key, part in value.items() if not _has_parts(part)})
            yield from _sections(value, f"{name}: ")
        else:
            yield _rows(value)


def _has_parts(value: Any) -> bool:
    return isinstance(value, Mapping | list) and bool(value)


def _pairs(values: Mapping[str, Any]) -> str:
    rows = (f"<tr><th>{_words(name)}<td>{_text(value)}" for name, value in values.items())
    return f"<table>{''.join(rows)}</table>"


def _rows(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{_words(name)}" for name in names)
    body = ("<tr>" + "".join(f"<td>{_text(row.get(name, ''))}" for name in names) for row in rows)
    return f"<table><tr>{head}{''.join(body)}</table>"


def _words(name: str) -> str:
    """A name of the JSON in words: names of settings stay as they are."""
    return escape(name if name.isupper() else name.replace("_mb", " (MB)").replace("_ms", " (ms)").replace("_", " "))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in ([], {}) else escape(str(value))
