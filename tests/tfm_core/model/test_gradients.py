"""What is computed can be learnt from, recorded or not."""

from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F

from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, run
from tfm_core import ARCHITECTURES, NORMS, POSITIONAL, recording


def gradients(model, tokens, path):
    model.zero_grad()
    with path():
        logits = run(model, tokens)
    F.cross_entropy(logits.view(-1, VOCAB), tokens.flip(1).flatten()).backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


@pytest.mark.crossed(architecture=ARCHITECTURES, norm=NORMS, positional=POSITIONAL)
def test_every_parameter_gets_a_gradient_and_the_same_on_both_paths(architecture, norm, positional):
    model = build(architecture=architecture, norm=norm, positional=positional).double()
    tokens = random_ids(4, 8)
    tokens[0, :2] = tokens[1, 4:] = 0
    recorded, fused = (gradients(model, tokens, path) for path in (recording, nullcontext))
    assert max(largest_error(recorded[name], fused[name]) for name in recorded) < 1e-12
    # A key's bias adds the same to all scores of a row, which the softmax takes away again.
    silent = {name for name, gradient in recorded.items() if gradient.abs().max() < 1e-7}
    assert silent <= {name for name in recorded if name.endswith("key_projection.bias")}


def test_gradients_flow_into_recorded_weights_and_through_edits():
    model, tokens = build(), random_ids(2, 5)
    strength = torch.tensor(0.5, requires_grad=True)
    with recording("*.weights", {"layers.0.self_attention.head_output": lambda x: x * strength}) as trace:
        logits = model(tokens)
    weights = trace["layers.1.self_attention.weights"]
    to_weights, to_strength = torch.autograd.grad(logits.square().sum(), [weights, strength])
    assert to_weights.shape == weights.shape
    assert to_weights.any()
    assert to_strength != 0
