"""What lessons measure on the pages of Attention, beside naive loops and a second run of the model."""

import numpy as np
import pytest
import torch

from tfm_core import recording
from tfm_ui.lenses.attention.measures import MEASURES
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import passes
from tfm_ui.state.model_state import ModelState

LAB = ModelState(weights="lab-gpt", text="The ship was bound for a port of the United")


def test_changes_are_counted_as_far_as_the_model_allows_them():
    made = MEASURES["changes_made"]
    assert made(LAB, AttentionState(changes="")) == 0
    assert made(LAB, AttentionState(changes="silence 4.3; drop 2")) == 2
    assert made(LAB, AttentionState(changes="silence 4.3; silence 9.1")) == 1


def test_the_output_moves_as_in_a_second_run_without_the_head():
    def silent(output):
        output[:, 1] = 0
        return output

    sides = []
    for edits in ({}, {"layers.1.self_attention.head_output": silent}):
        with torch.no_grad(), recording((), edits):
            sides.append(passes.forward(LAB)[0, -1].double().softmax(-1))
    by_hand = 100 * sum(max(b - a, 0.0) for a, b in zip(*(side.tolist() for side in sides), strict=True))
    moved = MEASURES["output_moved"](LAB, AttentionState(changes="silence 2.2"))
    assert moved == pytest.approx(by_hand, abs=1e-3)
    assert moved > 0
    assert MEASURES["output_moved"](LAB, AttentionState(changes="")) == 0


def test_the_largest_change_of_a_weight_is_that_of_the_cell_that_was_set():
    before = passes.run(LAB).attention["self"].exact(2, 2)[10, 0]
    state = AttentionState(layer=3, head=3, changes="weight 3.3 11>1 0.9")
    assert MEASURES["weight_changed"](LAB, state) == pytest.approx(0.9 - before, abs=1e-6)


@pytest.mark.parametrize(
    "model", [LAB, ModelState(architecture="decoder", num_layers=4, seed=2)], ids=["lab", "random"]
)
def test_the_rollouts_rows_are_those_of_a_naive_product(model):
    attention = passes.run(model).attention["self"]
    count = len(model.source_tokens.pieces)
    product = np.eye(count)
    for layer in range(model.num_layers):
        mean = sum(attention.exact(layer, head) for head in range(model.num_heads)) / model.num_heads
        product = 0.5 * (mean + np.eye(count)) @ product
    on_first = sum(max(range(count), key=product[row].__getitem__) == 0 for row in range(1, count))
    assert MEASURES["rollout_on_first"](model, AttentionState(layer=1)) == on_first


def test_rows_are_apart_where_another_vector_is_longer():
    state = AttentionState(layer=3, head=1)
    site = "layers.2.self_attention"
    with torch.no_grad(), recording([f"{site}.weights", f"{site}.value"]) as trace:
        passes.forward(LAB)
    weights, values = trace[f"{site}.weights"][0, 0], trace[f"{site}.value"][0, 0]
    width = values.shape[1]
    output = passes.transformer(LAB.config).get_submodule(f"stack.{site}").output_projection.weight.detach()[:, :width]
    apart = 0
    for row in range(1, len(weights)):
        lengths = [float((weights[row, key] * (output @ values[key])).norm()) for key in range(row + 1)]
        apart += int(np.argmax(lengths)) != int(weights[row].argmax())
    assert MEASURES["rows_apart"](LAB, state) == apart > 0
