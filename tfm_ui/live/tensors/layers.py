"""What else a model is made of, as steps to take along: feed-forward networks, residual connections, the output."""

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.model.feed_forward import ACTIVATIONS, FeedForward, gelu_tanh
from tfm_core.model.normalization import Norm
from tfm_core.model.transformer import Transformer
from tfm_ui.live.tensors.parts import applied, linear, norm_of, normed
from tfm_ui.live.tensors.step import Named, Step, held

CALLS = {F.relu: "F.relu({})", F.gelu: "F.gelu({})", F.silu: "F.silu({})"} | {
    gelu_tanh: 'F.gelu({}, approximate="tanh")'
}


def call_of(activation: str, of: str) -> str:
    """The code of an activation by name; "" of one that plain torch has under no name."""
    return CALLS.get(ACTIVATIONS[activation].function, "").replace("{}", of)


def of_network(network: FeedForward, reads: Tensor, title: str, before: Sequence[Named] = ()) -> Step:
    """A feed-forward network, from what it reads to its output.

    Args:
        network: the network.
        reads: (token, d_model), what it reads.
        title: which it is.
        before: tensors that come before, the last of which is X, what is read; X alone, if there are none.
    """
    activation = next(name for name, each in ACTIVATIONS.items() if _is(network, name))
    gate = network.gate_projection
    with torch.no_grad():
        up = network.input_projection(reads)
        gated = None if gate is None else gate(reads)
        hidden = network.activation(up) if gated is None else network.activation(gated) * up
        output = network.output_projection(hidden)
    axes, wide = ("token", "d_model"), ("token", "d_ff")
    tensors = list(before) or [held("X", axes, reads, "what the network reads")]
    tensors += linear(network.input_projection, "W_1", "b_1", ("d_ff", "d_model"), "the hidden units")
    tensors.append(held("up", wide, up, "before the activation", applied("X", network.input_projection, "W_1", "b_1")))
    if gate is not None and gated is not None:
        tensors += linear(gate, "W_gate", "b_gate", ("d_ff", "d_model"), "the gate")
        tensors.append(held("gate", wide, gated, "the gate", applied("X", gate, "W_gate", "b_gate")))
    call = call_of(activation, "up" if gate is None else "gate")
    code = f"{call} * up" if call and gate is not None else call
    tensors.append(held("hidden", wide, hidden, "the hidden units", code))
    tensors += linear(network.output_projection, "W_2", "b_2", ("d_model", "d_ff"), "the output")
    code = applied("hidden", network.output_projection, "W_2", "b_2")
    tensors.append(held("output", axes, output, "what is added to the residual stream", code))
    return Step(title, tensors, {"d_model": reads.shape[-1]})


def _is(network: FeedForward, name: str) -> bool:
    function, gated = ACTIVATIONS[name]
    return function is network.activation and gated == (network.gate_projection is not None)


def and_residual(step: Step, residual: str, norm: Norm | None, sums: Tensor, result: Tensor, axis: str) -> Step:
    """A sub-layer and its residual connection, and in post-norm the norm of the sum.

    Args:
        step: the sub-layer, whose last tensor is what is added.
        residual: the name of the residual stream in it.
        norm: the norm of the sum; None in pre-norm.
        sums: (token, d_model), the sum.
        result: (token, d_model), what leaves: in pre-norm the sum.
        axis: what the axis of tokens is called.
    """
    added = step.tensors[-1].name
    tensors = [*step.tensors]
    tensors.append(held("total", (axis, "d_model"), sums, "the sum", f"{residual} + {added}"))
    constants = dict(step.constants)
    if norm is not None:
        tensors += norm_of(norm, "total", result, "leaves", axis, "norm")
        constants["norm_eps"] = norm.eps or 0.0
    return replace(step, tensors=tensors, constants=constants)


def of_output(
    model: Transformer, vectors: Sequence[Tensor], logits: Tensor, title: str, temperature: float = 1.0
) -> Step:
    """The end of a model: the last norm, the output matrix, logits and probabilities.

    Args:
        model: the model.
        vectors: (token, d_model), after the last layer and, if there is a final norm, after it.
        logits: (token, vocab).
        title: what is looked at.
        temperature: what the logits are divided by before the softmax.
    """
    constants = {"d_model": vectors[0].shape[-1], "temperature": temperature, "norm_eps": model.config.norm_eps}
    last = getattr(model, "decoder", None) or model.stack
    norm = last.final_norm if len(vectors) > 1 else None
    tensors = normed(vectors[0], norm, vectors[-1], "X", "token", "final_")
    reads = "X"
    if model.config.head == "masked":
        tensors += _transform(model, vectors[-1])
        reads = "transformed"
    matrix = model.unembedding
    tensors += linear(matrix, "W_U", "b_U", ("vocab", "d_model"), "the logits")
    code = applied(reads, matrix, "W_U", "b_U")
    tensors.append(held("logits", ("token", "vocab"), logits, "one for each token id", code))
    divided = "logits" if temperature == 1 else "(logits / temperature)"

    def shares() -> Tensor:
        return (logits / temperature).softmax(-1)

    about = "the softmax of the logits" + ("" if temperature == 1 else ", divided by the temperature")
    code = f"{divided}.softmax(-1)"
    return Step(
        title,
        [*tensors, Named("probabilities", ("token", "vocab"), tuple(logits.shape), about, shares, code)],
        constants,
    )


def _transform(model: Transformer, states: Tensor) -> list[Named]:
    """What a masked-word head does before its matrix."""
    transform, norm = model.transform, model.transform.norm
    with torch.no_grad():
        active = transform.activation(transform.projection(states))
        made = transform.norm(active)
    code = applied("X", transform.projection, "W_T", "b_T")
    axes = ("token", "d_model")
    return [
        *linear(transform.projection, "W_T", "b_T", ("d_model", "d_model"), "what the output matrix reads"),
        held("active", axes, active, "after the activation", call_of(model.config.activation, code)),
        *norm_of(norm, "active", made, "transformed", "token", "transform_norm"),
    ]
