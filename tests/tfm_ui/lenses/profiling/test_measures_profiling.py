"""What lessons measure in the Profiling lens, beside the modules’ own parameters and formulas written out."""

import pytest
import torch

from tfm_ui.lenses.profiling import measures
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

TEXTBOOK = ModelState(norm="post", activation="relu", causal=False)
SIZES = [(64, 4, 2, 50), (128, 8, 4, 50), (256, 8, 6, 50)]
COUNTED = {"count_embedding": True, "vocabulary": 1000}


def lines(sizes) -> str:
    return "\n".join(", ".join(map(str, size)) for size in sizes)


def torchs_parameters(d_model: int, heads: int, layers: int) -> int:
    layer = torch.nn.TransformerEncoderLayer(d_model, heads, 4 * d_model)
    return layers * sum(parameter.numel() for parameter in layer.parameters()) + 1000 * d_model


def test_a_textbooks_encoders_have_as_many_parameters_as_torchs():
    counts = [torchs_parameters(*size[:3]) for size in SIZES]
    assert counts == [163_968, 921_088, 4_994_560]
    for rows in (SIZES, SIZES[:2], SIZES[1:], SIZES[::-1]):
        state = ProfilingState(sizes=lines(rows), **COUNTED)
        of_rows = [counts[SIZES.index(size)] for size in rows]
        assert measures.fewest_parameters(TEXTBOOK, state) == min(of_rows)
        assert measures.most_parameters(TEXTBOOK, state) == max(of_rows)


@pytest.mark.parametrize("row", [1, 2, 3])
def test_products_and_projections_are_what_their_formulas_say(row):
    (d_model, _, layers, n), batch = SIZES[row - 1], 16
    state = ProfilingState(sizes=lines(SIZES), row=row, batch=batch)
    assert measures.products(TEXTBOOK, state) == batch * layers * 2 * (2 * n * n * d_model)
    assert measures.projections(TEXTBOOK, state) == batch * layers * 2 * (4 * n * d_model * d_model)


def flops(d_model: int, layers: int, n: int) -> int:
    """The operations of a forward pass of one sequence, without embedding and output."""
    return layers * 2 * (4 * n * d_model**2 + 2 * n * n * d_model + 2 * n * d_model * 4 * d_model)


def test_operations_grow_with_the_length_though_parameters_do_not():
    state = ProfilingState()  # among its rows are 128, 8, 4 at 50, 100 and 200 tokens
    assert measures.flops_at_same_parameters(TEXTBOOK, state) == pytest.approx(flops(128, 4, 200) / flops(128, 4, 50))
    apart = ProfilingState(sizes=lines(SIZES))
    assert measures.flops_at_same_parameters(TEXTBOOK, apart) == 1


@pytest.mark.parametrize("longest", [256, 2048])
def test_the_longest_text_is_set_beside_a_quarter_of_it(longest):
    state = ProfilingState(view="length", longest=longest)
    expected = flops(32, 2, longest) / flops(32, 2, longest // 4)
    assert measures.flops_over_quarter(TEXTBOOK, state) == pytest.approx(expected)


def test_twice_the_tokens_take_four_times_the_memory_of_weights_and_twice_that_of_a_fused_kernel():
    kept, fused = (ProfilingState(view="length", target=target) for target in ("with weights", "fused"))
    assert 3.9 < measures.memory_when_doubled(TEXTBOOK, kept) < 4
    assert measures.memory_when_doubled(TEXTBOOK, fused) == pytest.approx(2)


def test_where_there_is_no_row_nothing_is_measured():
    nothing = ProfilingState(sizes="")
    of_rows = ("fewest_parameters", "flops_at_same_parameters", "most_parameters", "products", "projections")
    assert {measures.MEASURES[name](TEXTBOOK, nothing) for name in of_rows} == {0}
