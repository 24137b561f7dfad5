"""Decodes the bytes of a picture, as its script does."""

import json
from typing import Any


def decode(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header, and the numbers' bytes."""
    end = 4 + int.from_bytes(data[:4], "little")
    assert end % 4 == 0, "a Float32Array could not begin here"
    return json.loads(data[4:end]), data[end:]
