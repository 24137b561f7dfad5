"""How a logit depends on all that a pass wrote, with everything held fixed that is not linear.

Held fixed, as they were in the pass: the attention weights, the statistics of norms, and in networks the ratio of what
a hidden unit gives to what it gets (of a gated network its gate). The whole model is then linear. Ali et al. 2022, "XAI
for Transformers: Better Explanations through Conservative Propagation"; Achtibat et al. 2024, "AttnLRP", for networks.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.study.attribution.logits import last_place, logit_direction
from tfm_core.study.attribution.sources import sources_of
from tfm_core.study.attribution.streams import END, EXACT, LinearNorm, Place, Streams, output_weights, within


@dataclass(frozen=True)
class Flow:
    """How a logit depends on each place of a pass that is held linear.

    Attributes:
        position: where the logit is read, from 0.
        asked: float64 (d_model), the logit's direction in what the final norm gives.
        at: place -> float64 (position, d_model), the logit's direction in what the sub-layer there writes.
        values: stack -> float64 (source, position), what each source adds to the logit through all paths, in logits;
            the sources as in `sources_of`, without the biases.
        biases: what biases and shifts add through all paths: what is left of the logit.
        total: the logit.
    """

    position: int
    asked: Tensor
    at: Mapping[Place, Tensor]
    values: Mapping[str, Tensor]
    biases: float
    total: float


@torch.no_grad()
def flow_to(streams: Streams, *, position: int, token: int, minus: int | None = None) -> Flow:
    """Follow a logit back through all layers, in one way down: as a backward pass would, of the model held linear.

    Args:
        streams: a pass that was recorded with its weights.
        position: of the logit, from 0.
        token: the id whose logit it is.
        minus: the id of a token whose logit is subtracted.

    Raises:
        ValueError: for a position or an id that is not there; for a model whose logits are not linear in its last
            vectors.
    """
    end = last_place(streams.model)
    within("position", position, streams.length(end.stack))
    asked = logit_direction(streams.model, token, minus)
    total = float(streams.read(end, [position]).vectors.sum(0)[0] @ asked)
    reading = asked.new_zeros(streams.length(end.stack), len(asked))
    reading[position] = pulled(streams.norm_before(end, [position]), asked[None])[0]
    at: dict[Place, Tensor] = {}
    values: dict[str, Tensor] = {}
    memory = _back(streams, end.stack, reading, at, values)
    if memory is not None:
        reading = pulled(streams.norm_before(Place(0, END, "encoder")), memory)
        _back(streams, "encoder", reading, at, values)
    tokens = 0.0
    for name, of_sources in values.items():
        first = [not source.part for source in sources_of(streams.stack(name), name)[:-1]]
        tokens += float(of_sources[torch.tensor(first)].sum())
    return Flow(position, asked, at, values, total - tokens, total)


def _back(
    streams: Streams, stack: str, reading: Tensor, at: dict[Place, Tensor], values: dict[str, Tensor]
) -> Tensor | None:
    """Follow a stack from its end to its start, and note what is asked of each sub-layer, and what it adds.

    Returns:
        What is asked of the memory that cross-attention reads, (key, d_model); None without.
    """
    memory: Tensor | None = None
    added: list[Tensor] = []
    for place in reversed(streams.order(stack)):
        reading = pulled(streams.norm_after(place), reading)
        at[place] = reading
        added.insert(0, (streams.written(place) * reading).sum(-1))
        asked = _asked_of_attention(streams, place, reading)
        if place.part == "cross_attention":
            assert asked is not None
            memory = asked if memory is None else memory + asked
            continue
        if asked is None:
            asked, _ = asked_of_network(streams, place, reading)
        reading = reading + pulled(streams.norm_before(place), asked)
    start = next(iter(streams.sweep(stack)))[1]().vectors[:-1]
    values[stack] = torch.cat([(start * reading).sum(-1), *added])
    return memory


def _asked_of_attention(streams: Streams, place: Place, reading: Tensor) -> Tensor | None:
    """What is asked of the memory of an attention, (key, d_model), where this is asked of its output; else None."""
    if place.part == "feed_forward":
        return None
    attention = streams.attention(place)
    asked = torch.einsum("id,hkd->hik", reading, output_weights(attention))  # of what each head gathers
    asked = streams.site(place, "weights").to(EXACT).mT @ asked  # of its values, (head, key, head_dim)
    shared = asked.view(attention.num_kv_heads, -1, *asked.shape[1:]).sum(1)
    back: Tensor = shared.transpose(0, 1).flatten(1) @ attention.value_projection.weight.detach().to(EXACT)
    return back


def asked_of_network(streams: Streams, place: Place, reading: Tensor) -> tuple[Tensor, Tensor]:
    """What is asked of a network's input, (position, d_model), and what the biases within it add, (position).

    Args:
        streams: a recorded pass.
        place: of the network.
        reading: what is asked of its output, (position, d_model).
    """
    network, layer, x = streams.network(place), streams.layer(place), streams.site(place, "residual_before")
    if layer.pre_norm:
        x = layer.feed_forward_norm(x)
    hidden = network.input_projection(x)
    if network.gate_projection is not None:
        ratio = network.activation(network.gate_projection(x))
    else:  # act(0) = 0: such a unit gives nothing
        ratio = torch.where(hidden == 0, 0.0, network.activation(hidden) / hidden)
    asked = reading @ network.output_projection.weight.detach().to(EXACT) * ratio.to(EXACT)
    bias: Tensor | None = network.input_projection.bias
    within_it = asked.new_zeros(len(asked)) if bias is None else asked @ bias.detach().to(EXACT)
    return asked @ network.input_projection.weight.detach().to(EXACT), within_it


def pulled(norm: LinearNorm | None, direction: Tensor) -> Tensor:
    """A direction in what a norm gives as a direction in what it reads; the same where there is no norm."""
    return direction if norm is None else norm.pulled(direction)
