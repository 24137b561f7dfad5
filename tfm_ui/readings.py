"""A pass that is read at two places: in the self-attention of one layer, and at its end.

Little of it is kept, whatever the number of layers and heads, so that many schemes can be looked at side by side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Positional, recording
from tfm_core.analysis import ByDistance, mean_by_distance
from tfm_core.order import along_batch
from tfm_core.recording import Edit
from tfm_ui.attention import Attention, Origin
from tfm_ui.model_state import ModelState

Forward = Callable[[ModelState, Tensor, Tensor], Tensor]  # the model, ids of the two texts -> logits


@dataclass(frozen=True)
class Reading:
    """What is kept of a pass.

    Attributes:
        attention: of each sentence; its one layer is the one that was asked for, and nothing is summarised.
        output: (batch, seq, d_model), behind the last layer and, where there is one, the final norm.
        added: (seq, d_model), or (batch, 1, d_model) if it is added along the batch; None where nothing is added.
    """

    attention: Sequence[Attention]
    output: Tensor
    added: Tensor | None


@dataclass(frozen=True)
class HeadSeen:
    """One head's numbers.

    Attributes:
        weights: float32 (query, key).
        visible: boolean (query, key), False where a mask forbids to look.
        by_distance: of its scores, over the rows that are tokens.
    """

    weights: NDArray[np.float32]
    visible: NDArray[np.bool_]
    by_distance: ByDistance


def read(
    forward: Forward,
    state: ModelState,
    at: str,
    scheme: Positional | None,
    *,
    order: Sequence[int],
    batch: int,
    wrong: bool,
) -> Reading:
    """Run the model.

    Args:
        forward: runs it.
        state: the model, and the texts that it reads.
        at: the recording's name of one self-attention of the text, with `{what}` to be put in.
        scheme: that acts there.
        order: the text's tokens in another order, see `tfm_core.order`; as they stand if it is empty. Padding stays.
        batch: so many copies of the text side by side.
        wrong: whether what the scheme adds to the embeddings is added along the batch, see `along_batch`.

    Raises:
        ValueError: if it is to be added along the batch, and the scheme adds nothing.
    """
    start = at.partition("layers.")[0]
    end = start + (
        "final_norm" if state.norm == "pre" else f"layers.{state.num_layers - 1}.feed_forward.residual_after"
    )
    ids = list(state.source_tokens.ids)
    ids[: len(order)] = [ids[i] for i in order]
    edits: dict[str, Edit] = {}
    added = scheme.encode(len(ids)) if scheme else None
    if wrong:
        pe = scheme.encode(state.config.max_len) if scheme else None
        if pe is None:
            raise ValueError(f"expected a scheme that is added to the embeddings, got {state.positional}")
        edits = {f"{start}embedding": lambda x: along_batch(x, pe), f"{start}position": torch.zeros_like}
        added = pe[:batch, None]
    wanted = [at.format(what=what) for what in ("*query", "*key", "mask")]
    # torch's kernel, which runs where nobody listens to weights, is the slower one where a bias is added.
    heard = {start + "*.self_attention.weights": _let_go} if scheme and "bias_at" in scheme.enters() else {}
    with torch.no_grad(), recording([*wanted, end], edits, heard) as trace:
        forward(state, torch.tensor([ids]).expand(batch, -1), state.target_tokens.batch.expand(batch, -1))
    query, key = (trace.get(at.format(what=f"rotated_{x}"), trace[at.format(what=x)]) for x in ("query", "key"))
    shape = (batch, 1, query.shape[-2], key.shape[-2])
    visible = trace[at.format(what="mask")].expand(shape)[:, 0].contiguous().numpy()
    tokens = len(state.source_tokens.pieces)
    attention = [
        Attention((), [Origin(query[i : i + 1], key[i : i + 1], scheme)], visible[i], tokens, block=1)
        for i in range(batch)
    ]
    return Reading(attention, trace[end], None if added is None else added.detach())


def _let_go(_: str, __: Tensor) -> None: ...


def see(attention: Attention, head: int) -> HeadSeen:
    """A head of an attention that was read; from 0."""
    rows = torch.from_numpy(attention.visible).clone()
    rows[attention.read :] = False  # of padding
    return HeadSeen(attention.exact(0, head), attention.visible, mean_by_distance(attention.scores(0, head), rows))
