"""The answer to a question for pictures, as assets/pictures/ask.js reads it. Pure."""

import json
from collections.abc import Iterator


def split(answer: bytes, number: int) -> Iterator[bytes]:
    """The pictures of an answer: each is preceded by its length, in 4 bytes.

    Raises:
        ValueError: if the answer does not hold exactly this many.
    """
    at = 0
    for _ in range(number):
        end = at + 4 + int.from_bytes(answer[at : at + 4], "little")
        if end > len(answer) or end < at + 8:
            raise ValueError(f"expected {number} pictures, got {len(answer)} bytes that end within one of them")
        yield answer[at + 4 : end]
        at = end
    if at < len(answer):
        raise ValueError(f"expected {number} pictures, got {len(answer) - at} bytes more")


def header_of(picture: bytes) -> bytes:
    """The header of a picture, as JSON."""
    return picture[4 : 4 + int.from_bytes(picture[:4], "little")]


def problem_of(picture: bytes) -> str:
    """Why there are no numbers in a picture; "" if there are."""
    header = header_of(picture)
    # Most headers have no such word, and reading a large one takes a millisecond.
    return str(json.loads(header).get("problem", "")) if b'"problem"' in header else ""


def drawn_of(picture: bytes) -> tuple[str, bytes]:
    """What is drawn of a picture: its header without the query, in a fixed order, and its numbers."""
    header = header_of(picture)
    told = {key: value for key, value in json.loads(header).items() if key not in ("query", "skin")}
    return json.dumps(told, sort_keys=True), picture[4 + len(header) :]
