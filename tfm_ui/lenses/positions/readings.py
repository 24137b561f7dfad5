"""A pass that is read in its self-attentions and at its end; and what models share.

Little of a pass is kept, whatever the number of heads, so that many schemes can be looked at side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import causal_mask, recording
from tfm_core.model.recording import Edit
from tfm_core.model.transformer import Stack
from tfm_core.study.analysis import ByDistance, mean_by_distance
from tfm_core.study.order import along_batch, along_sequence
from tfm_ui.live import origins
from tfm_ui.live.origins import Heads
from tfm_ui.state.model_state import ModelState

ALONG = {"sequence": along_sequence, "batch": along_batch}  # ways to add an encoding by hand


@dataclass(frozen=True)
class Reading:
    """What is kept of a pass.

    Attributes:
        attention: of each sentence; of a text in another order, whose output alone is looked at, none.
        output: (batch, seq, d_model), after the last layer and, where there is one, the final norm.
        added: (batch, seq, d_model), what `along` added to each sentence; None where the model added by itself.
    """

    attention: Sequence[Heads]
    output: Tensor
    added: Tensor | None


@dataclass(frozen=True)
class HeadReading:
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
    stack: Stack,
    state: ModelState,
    place: str,
    *,
    order: Sequence[int],
    batch: int,
    along: str,
) -> Reading:
    """Run the stack that reads the text, and nothing after it.

    Args:
        stack: all of an encoder or a decoder but its logits.
        state: the model that it is of.
        place: the recording's name of its self-attentions, with `{layer}` and `{what}` to be put in.
        order: the text's tokens in another order, see `tfm_core.study.order`; empty: as written. Padding stays.
        batch: how many copies of the text are side by side.
        along: which of `ALONG` adds the encoding to the embeddings, in place of the stack; the stack itself if "".

    Raises:
        ValueError: if it is to be added, and the scheme adds nothing.
    """
    start, scheme = place.partition("layers.")[0], stack.positional
    ids = list(state.source_tokens.ids)
    ids[: len(order)] = [ids[i] for i in order]
    edits: dict[str, Edit] = {}
    added = None
    if along:
        add, pe = ALONG[along], scheme.encode(state.config.max_len)
        if pe is None:
            raise ValueError(f"expected a scheme that is added to the embeddings, got {state.positional}")
        pe = pe.detach()
        edits = {f"{start}embedding": lambda x: add(x, pe), f"{start}position": torch.zeros_like}
        added = add(torch.zeros(batch, len(ids), pe.shape[1]), pe)
    masked = place.format(layer=0, what="mask")  # alike in all layers
    kept = [] if order else [*origins.sites(place), masked]
    # torch's kernel, which runs where nobody listens to weights, is the slower one where a bias is added.
    listeners = {f"{start}*.weights": _ignore} if "bias_at" in scheme.enters() else {}
    mask = causal_mask(state.length) if state.masks_the_future else None
    with torch.no_grad(), recording(kept, edits, listeners) as trace:
        output: Tensor = stack(torch.tensor([ids]).expand(batch, -1), mask)
    if order:
        return Reading((), output, added)
    visible = trace[masked].expand(batch, 1, len(ids), len(ids))[:, 0].contiguous().numpy()
    layers = len(stack.layers)
    attention = [Heads(origins.origins(trace, place, layers, scheme, i), visible[i]) for i in range(batch)]
    return Reading(attention, output, added)


def _ignore(_: str, __: Tensor) -> None: ...


def one_head(attention: Heads, layer: int, head: int, read: int) -> HeadReading:
    """A head of a pass.

    Args:
        attention: of its sentence.
        layer: from 0.
        head: from 0.
        read: how many of the rows are tokens; the rest is padding.
    """
    rows = torch.from_numpy(attention.visible).clone()
    rows[read:] = False
    weights, scores = attention.with_scores(layer, head)
    return HeadReading(weights, attention.visible, mean_by_distance(scores, rows))


@dataclass(frozen=True)
class SharedWeights:
    """A model's weight tensors beside those of the model without positions.

    Attributes:
        alike: of the latter, how many are in this one too, bit for bit.
        of: how many there are.
        added: how many this one has beside them.
    """

    alike: int
    of: int
    added: int


def shared_weights(ours: nn.Module, plain: nn.Module) -> SharedWeights:
    """Compare the weights of a model with those of the model without positions, tensor by tensor."""
    parameters, others = dict(ours.named_parameters()), dict(plain.named_parameters())
    alike = sum(name in parameters and torch.equal(parameters[name], other) for name, other in others.items())
    return SharedWeights(alike, len(others), len(parameters.keys() - others.keys()))
