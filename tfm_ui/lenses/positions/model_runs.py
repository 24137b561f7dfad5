"""Passes of the sidebar's model under other schemes, read in their self-attentions and at their ends.

Little of a pass is kept, whatever the number of heads, so that many schemes can be looked at side by side. Results are
shared by tfm_ui/live/cache.py: never write.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import POSITIONAL, Transformer, TransformerConfig, causal_mask, recording
from tfm_core.model.recording import Edit
from tfm_core.positional.schemes import PLAIN
from tfm_core.study.analysis import ByDistance, mean_by_distance
from tfm_core.study.order import along_batch, along_sequence
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import origins, passes, places
from tfm_ui.live.cache import cached
from tfm_ui.live.never_trained import never_trained
from tfm_ui.live.origins import Heads
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

ALL_UP_TO = 2**23  # weights of a pass, up to which all schemes are run: they take a second or two together
ROUNDING = 1e-5  # what moves by less than this share of its length has moved by rounding alone
ALONG = {"sequence": along_sequence, "batch": along_batch}  # ways to add an encoding by hand


@dataclass(frozen=True)
class Reading:
    """What is kept of a pass."""

    attention: Sequence[Heads]
    """The attention of each sentence; of a text in another order, whose output alone is looked at, none."""
    output: Tensor
    """(batch, seq, d_model), after the last layer and, where there is one, the final norm."""
    added: Tensor | None
    """(batch, seq, d_model), what `along` added to each sentence; None where the model added by itself."""


@dataclass(frozen=True)
class HeadReading:
    """One head's numbers."""

    weights: NDArray[np.float32]
    """(query, key)"""
    visible: NDArray[np.bool_]
    """(query, key), False where a mask forbids to look."""
    by_distance: ByDistance
    """Its scores by distance, over the rows that are tokens."""


@cached()
def reading(
    state: ModelState, *, order: tuple[int, ...] = (), batch: int = 1, along: str = "", pairing: str = ""
) -> Reading:
    """Run the stack that reads the text, a single one or an encoder, and nothing after it.

    Args:
        state: the model.
        order: the text's tokens in another order, see `tfm_core.study.order`; empty: as written. Padding stays.
        batch: how many copies of the text are side by side.
        pairing: which dimensions turn together, one of `PAIRINGS`, whatever the weights were made for; "" as they were.
        along: which of `ALONG` adds the encoding to the embeddings, in place of the stack; the stack itself if "".

    Raises:
        ValueError: if it is to be added, and the scheme adds nothing.
    """
    model = passes.transformer(replace(state.config, rope_pairing=pairing) if pairing else state.config)
    stack = model.encoder if state.is_encoder_decoder else model.stack
    place = places.place(state, "encoder" if state.is_encoder_decoder else "self")
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


def head_reading(attention: Heads, layer: int, head: int, read: int) -> HeadReading:
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


@cached()
def one_head(state: ModelState, layer: int, head: int) -> HeadReading:
    """A head of the pass of the text as written; layer and head from 0."""
    as_written = reading(state, order=())  # with `order`, as model/shuffle.py calls it: the same entry of the cache
    return head_reading(as_written.attention[0], layer, head, len(state.source_tokens.pieces))


@dataclass(frozen=True)
class SharedWeights:
    """A model's weight tensors beside those of the model without positions."""

    alike: int
    """How many of the latter are in this one too, bit for bit."""
    of: int
    """How many there are."""
    added: int
    """How many this one has beside them."""


def compared_weights(ours: nn.Module, plain: nn.Module) -> SharedWeights:
    """Compare the weights of a model with those of the model without positions, tensor by tensor."""
    parameters, others = dict(ours.named_parameters()), dict(plain.named_parameters())
    alike = sum(name in parameters and _equal(parameters[name], other) for name, other in others.items())
    return SharedWeights(alike, len(others), len(parameters.keys() - others.keys()))


def _equal(first: Tensor, second: Tensor) -> bool:
    """Bit for bit; those of a file, which both models have mapped, are not read for that."""
    is_one = first.data_ptr() == second.data_ptr() and first.shape == second.shape
    return is_one or torch.equal(first, second)


@cached()
def shared_weights(config: TransformerConfig, plain: TransformerConfig) -> SharedWeights:
    """Which weights the models of these two have in common: with large ones side by side, that takes a while."""
    return compared_weights(passes.transformer(config), passes.transformer(plain))


def run_schemes(model: ModelState, state: PositionsState) -> list[str]:
    """The schemes that are run, A and B first; of a model that takes long, these and what they are compared with."""
    pinned = list(state.sides)
    rest = [name for name in POSITIONAL if name not in pinned]
    if model.num_layers * model.num_heads * model.length**2 > ALL_UP_TO:
        rest = [name for name in rest if name == PLAIN]
    return [name for name in (*pinned, *rest) if not passes.too_large(model.varied(positional=name))]


def other_positions(model: ModelState, state: PositionsState) -> str:
    """A sentence that names those of the schemes here with which trained weights were never trained."""
    return never_trained(model, [model.varied(positional=name).config for name in run_schemes(model, state)])


def left_out(model: ModelState, state: PositionsState) -> str:
    """Which schemes are not run, in a sentence; "" if all are."""
    names = run_schemes(model, state)
    left = [name for name in POSITIONAL if name not in names]
    if not left:
        return ""
    layers, heads = formats.plural(model.num_layers, "layer"), formats.plural(model.num_heads, "head")
    size = f"{layers} of {heads} on {model.length} tokens"
    run, out = (f"{formats.listed(some)} {'is' if len(some) == 1 else 'are'}" for some in (names, left))
    return f"A pass through {size} takes long, so only {run} run; {out} left out. Choose others as A and B."


def unmasked(model: ModelState, name: str) -> ModelState:
    """The same weights in an encoder that sees everything. They are drawn by name, as a decoder's are."""
    architecture = "encoder" if model.architecture == "decoder" else model.architecture
    return model.varied(positional=name, causal=False, architecture=architecture)


def difference_in_words(difference: float) -> str:
    """A difference in words: very small ones, which may be rounding, as a power of 10."""
    return formats.tiny(difference) if difference < 0.001 else formats.number(difference)


def sites_of_pass(
    config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, sites: Sequence[str]
) -> list[Tensor]:
    """What a pass of the model records at these sites."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(sites) as trace:
        model(*inputs, mask=mask)
    return [trace[site] for site in sites]


def site_of(model: ModelState, layer: int, what: str) -> str:
    """Where a recording has `what` of the self-attention that the views look at; layer from 0."""
    return places.place(model, "encoder" if model.is_encoder_decoder else "self").format(layer=layer, what=what)


def end_of(model: ModelState) -> str:
    """The site after the last layer of the stack that reads the text."""
    start = "encoder." if model.is_encoder_decoder else ""
    last = f"layers.{model.num_layers - 1}.feed_forward.residual_after"
    return start + ("final_norm" if model.norm == "pre" else last)
