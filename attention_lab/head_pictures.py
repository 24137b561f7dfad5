"""All heads as thumbnails, and one of them large."""

import json
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

from attention_lab.given import GIVEN, Given, Named, read
from attention_lab.picture import Answers, NotThereError, Picture, told
from tfm_ui.pictures import head_grid, head_map
from tfm_ui.pictures.canvas import Content, encode
from tfm_ui.pictures.head_grid import GRID
from tfm_ui.pictures.head_map import MAP

LARGEST_PAGE = 8_000_000  # bytes of all heads in a page of its own, up to which a click shows any of them
SCALES = ("largest", "choice", "own")


class Heads(Picture):
    """All heads of all layers on one scale; a click locks one, which is drawn large, with its exact weights.

    Attributes:
        head: layer and head of the locked one, from 0: `attentions[layer][batch, head]`. A click sets it, and so can
            Python; `traitlets.link((one, "head"), (other, "head"))` locks two widgets together.
        scale: where the colours end: "largest", the largest weight of all heads; "choice", the largest in rows that may
            see more than one key; "own", each head's largest.

    Examples:
        >>> import torch
        >>> import traitlets
        >>> import attention_lab
        >>> weights = torch.rand(2, 4, 3, 3).softmax(-1)  # (layer, head, query, key)
        >>> before, after = attention_lab.heads(weights), attention_lab.heads(weights.square())
        >>> link = traitlets.link((before, "head"), (after, "head"))
        >>> before.head = (1, 2)
        >>> after.head
        (1, 2)
    """

    canvases = (GRID, MAP)
    choices = ("head", "scale")

    head: Any = traitlets.Tuple(traitlets.Int(), traitlets.Int(), default_value=(0, 0)).tag(sync=True)
    scale = traitlets.Enum(SCALES, default_value="largest").tag(sync=True)

    def __init__(self, given: Given, **traits: Any) -> None:
        self._given, self._scaled = given, ""
        super().__init__(notes=list(given.notes), **traits)

    @property
    def weights(self) -> NDArray[np.float32]:
        """The locked head's weights, float32 (query, key)."""
        return self._given.weights(*self.head)

    @traitlets.validate("head")
    def _check_head(self, proposal: Any) -> tuple[int, int]:
        layers, heads = self._given.heads.kept.largest.shape
        layer, head = map(int, proposal["value"])
        if not (0 <= layer < layers and 0 <= head < heads):
            raise NotThereError(
                f"expected a layer of 0 to {layers - 1} and a head of 0 to {heads - 1}, got {layer, head}"
            )
        return layer, head

    def draw(self) -> None:
        """The grid with a ring around the locked head, and this head."""
        heads, grid, locked = self._given.heads, *self._parts_of(*self.head)
        is_new, self._scaled = self._scaled != self.scale, self.scale
        self.show(0, head_grid.content(heads, heads.top(self.scale), self.head) if is_new else None, **grid)
        self.show(1, self._content_of(*self.head), **locked)

    def answers(self) -> Answers:
        """Each head's map, to a click on it; {} where all of them would make the page too large."""
        sizes = self._given.heads.kept.largest.size * self.weights.nbytes
        if sizes > LARGEST_PAGE:
            return {}
        drawn = {
            json.dumps(at, separators=(",", ":")): {
                "parts": [told(**part) for part in self._parts_of(*at)],
                "second": encode(*self._content_of(*at)),
            }
            for at in self._given.heads.places
        }
        return {"head": drawn}

    def _content_of(self, layer: int, head: int) -> Content:
        """The large map of a head."""
        heads = self._given.heads
        return head_map.content(
            self._given.weights(layer, head),
            heads.attention.visible,
            heads.queries,
            heads.keys,
            read=heads.read,
            top=heads.top(self.scale)[layer, head].item(),
            formula=GIVEN,
        )

    def _parts_of(self, layer: int, head: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is said of the grid and of the large map while this head is locked."""
        heads = self._given.heads
        count, sides = heads.kept.largest.size, (len(heads.queries), len(heads.keys))
        grid = {
            "title": f"All {count} heads" if count > 1 else "The only head",
            "sentence": heads.sentence(),
            "shape": f"(layer, head, query, key) = {(*heads.kept.largest.shape, *sides)}",
            "header": {"picked": (layer, head)},
            "sets": {"picked": "head"},
        }
        locked = {
            "title": f"Layer {layer + 1}, head {head + 1}",
            "sentence": heads.sentence_of(layer, head),
            "shape": f"(query, key) = {sides}",
        }
        return grid, locked


def heads(
    attentions: Any,
    tokens: Named = (),
    *,
    keys: Named | None = None,
    batch: int = 0,
    head: tuple[int, int] = (0, 0),
    kind: str = "",
    padding: Any = None,
    scale: str = "largest",
    mode: str = "auto",
) -> Heads:
    """All heads as thumbnails, and the locked one large, live in a notebook.

    Args:
        attentions: a tuple of tensors (batch, head, query, key), one per layer, as transformers gives them with
            `output_attentions=True`, or the output that holds it; one array of 2 to 5 axes, up to (layer, batch, head,
            query, key); or a recording of `tfm_core.recording("*.weights")`.
        tokens: of the one sentence, or for each sentence of the batch, or `tfm_core.Tokens`; by default tokens are
            numbered. Of cross-attention they are the queries'.
        keys: of cross-attention the tokens of the keys, likewise.
        batch: which sentence of the batch, from 0.
        head: layer and head that are locked first, from 0.
        kind: of a recording or an output of an encoder-decoder "encoder", "decoder" or "cross".
        padding: of the keys, (batch, seq) or (seq,), True for a token and False for padding, as transformers'
            `attention_mask`.
        scale: "largest", "choice" or "own", see `Heads.scale`.
        mode: "light", "dark", or "auto", which follows the notebook.

    Raises:
        ValueError: if these are no weights; the message says what was expected and what came.

    Examples:
        >>> import torch
        >>> import attention_lab
        >>> weights = torch.rand(2, 4, 3, 3).softmax(-1)  # (layer, head, query, key)
        >>> picture = attention_lab.heads(weights, ["the", "cat", "sat"])
        >>> picture.head = (1, 2)
        >>> picture.weights.shape
        (3, 3)
    """
    given = read(attentions, tokens, keys=keys, batch=batch, kind=kind, padding=padding)
    return Heads(given, head=head, scale=scale, mode=mode)
