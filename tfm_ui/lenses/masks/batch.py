"""The sentences of a batch as rows of tokens, padding hatched; one of them is chosen."""

from collections.abc import Sequence

import numpy as np

from tfm_core import Tokens
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.text import formats, token_labels

BATCH = Canvas(
    "lenses/masks/batch", '<div class="batch" data-picture role="group" aria-label="Sentences of the batch"></div>'
)
SHOWN, PADS = 24, 12  # tokens of a row, and PADs beside them


def content(texts: Sequence[Tokens], *, chosen: int, parameter: str, left: bool = False) -> Content:
    """What batch.js draws.

    Args:
        texts: the sentences, of one length.
        chosen: the one that is looked at, from 1.
        parameter: of the link, that a click sets to a sentence's number.
        left: whether padding stands before the tokens.
    """
    rows = []
    for i, tokens in enumerate(texts):
        count = len(tokens.pieces)
        pads = min(tokens.padding, PADS)
        rows.append(
            {
                "tokens": token_labels.labels(tokens)[: min(count, SHOWN)],
                "more": f"{formats.count(count - SHOWN)} more" if count > SHOWN else "",
                "pads": pads,
                "morePads": f"{formats.count(tokens.padding - pads)} more" if tokens.padding > pads else "",
                "name": f"Sentence {i + 1}: {formats.plural(count, 'token')}, {tokens.padding} of padding",
            }
        )
    return {"rows": rows, "chosen": chosen, "parameter": parameter, "left": left}, np.zeros(0, np.float32)
