"""What lessons measure in the Attention lens, beside a pass of the library, and sums written out."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from tfm_core import Transformer, causal_mask, recording
from tfm_core.model.initialization import generator
from tfm_ui.lenses.attention import measures
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state import lab_gpt
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(text="she saw a great whale", num_layers=2, num_heads=4)
PROSE = ModelState(**lab_gpt.ON_PROSE)


def recorded(model: ModelState, what: str, edits=None) -> torch.Tensor:
    """What layer 2 computes of it, (head, query, …)."""
    ids = model.source_tokens.ids
    with torch.no_grad(), recording(f"layers.1.self_attention.{what}", edits) as trace:
        Transformer(model.config).eval()(torch.tensor([ids]), mask=causal_mask(len(ids)))
    (recorded_tensor,) = trace.values()
    return recorded_tensor[0]


@pytest.mark.parametrize(("query", "key", "dim", "head"), [(4, 2, 1, 1), (5, 5, 8, 4), (1, 1, 3, 2)])
def test_a_cell_is_that_of_the_pass(query, key, dim, head):
    state = AttentionState(layer=2, head=head, query=query, key=key, dim=dim)
    q, k, v = (recorded(MODEL, what)[head - 1] for what in ("query", "key", "value"))
    weights = recorded(MODEL, "weights")[head - 1]
    score = float(q[query - 1] @ k[key - 1])
    assert measures.cell_score(MODEL, state) == pytest.approx(score, abs=1e-4)
    assert measures.cell_scaled(MODEL, state) == pytest.approx(score / math.sqrt(8), abs=1e-4)
    term = float(q[query - 1, dim - 1]) * float(k[key - 1, dim - 1])
    assert measures.cell_product(MODEL, state) == pytest.approx(term, abs=1e-5)
    assert measures.cell_weight(MODEL, state) == pytest.approx(float(weights[query - 1, key - 1]), abs=1e-5)
    blend = sum(float(weights[query - 1, at]) * float(v[at, dim - 1]) for at in range(5))
    assert measures.cell_output(MODEL, state) == pytest.approx(blend, abs=1e-5)
    assert measures.head_numbers(MODEL, state) == 5 * 8
    row = weights[query - 1].tolist()
    assert measures.row_sum(MODEL, state) == pytest.approx(1)
    assert measures.row_largest(MODEL, state) == pytest.approx(max(row), abs=1e-5)
    assert measures.row_gradient(MODEL, state) == pytest.approx(max(w * (1 - w) for w in row), abs=1e-5)
    assert measures.row_favourite(MODEL, state) == MODEL.text.split()[row.index(max(row))]
    assert measures.row_query(MODEL, state) == MODEL.text.split()[query - 1]
    assert measures.row_sees(MODEL, state) == query
    assert measures.allowed(MODEL, state) == 1 + 2 + 3 + 4 + 5


def test_the_switches_act_on_the_row_and_on_the_cell():
    state = AttentionState(layer=2, query=3, key=5, masked=False, scaled=False, temperature=2)
    q, k = recorded(MODEL, "query")[0], recorded(MODEL, "key")[0]
    weights = (q @ k.T / 2).softmax(-1)
    assert measures.cell_scaled(MODEL, state) == pytest.approx(float(q[2] @ k[4]) / 2, abs=1e-4)
    assert measures.cell_weight(MODEL, state) == pytest.approx(float(weights[2, 4]), abs=1e-5)
    assert measures.row_largest(MODEL, state) == pytest.approx(float(weights[2].max()), abs=1e-5)
    assert measures.row_sees(MODEL, state) == 5
    assert measures.row_left_by_mask(MODEL, state) == pytest.approx(float(weights[2, :3].sum()), abs=1e-5)
    assert measures.row_left_by_mask(MODEL, replace(state, masked=True)) == pytest.approx(1)


def test_in_arcs_the_row_is_that_of_the_selected_query_and_the_first_head_on_screen():
    state = AttentionState(view="arcs", layer=2, head=1, query=2, heads="3 4", tokens="q5 q2")
    row = recorded(MODEL, "weights")[2, 4]
    assert measures.row_query(MODEL, state) == "whale"
    assert measures.row_largest(MODEL, state) == pytest.approx(float(row.max()), abs=1e-6)
    keys = AttentionState(view="arcs", layer=2, head=1, query=2, tokens="k5")
    assert measures.row_query(MODEL, keys) == "saw"
    assert measures.row_sees(MODEL, keys) == 2


def test_without_the_mask_the_last_token_gets_the_same():
    assert measures.unmoved_by_mask(MODEL, AttentionState(layer=2, head=3)) == "whale"
    everywhere = ModelState(text="she saw a great whale", causal=False)
    assert measures.unmoved_by_mask(everywhere, AttentionState()) == "she, saw, a, great and whale"


def test_the_draws_are_those_of_the_experiment():
    model = ModelState(d_model=64, num_heads=1)
    state = AttentionState(view="scale", draws=200, draw_keys=8, draw_seed=3)

    def drawn(width):
        numbers = generator(3, f"scale experiment, d_k {width}")
        query, key = torch.randn(200, 1, width, generator=numbers), torch.randn(200, 8, width, generator=numbers)
        return (query * key).sum(-1).double()

    scores = drawn(64)
    deviation = scores.std(correction=0).item()
    assert measures.drawn_deviation(model, state) == pytest.approx(deviation, rel=1e-5)
    assert deviation == pytest.approx(8, rel=0.1)
    assert measures.drawn_growth(model, state) == pytest.approx(
        drawn(256).std(correction=0).item() / deviation, rel=1e-5
    )
    for divisor, entropy, gradient in (
        (1, measures.drawn_entropy, measures.drawn_gradient),
        (8, measures.drawn_entropy_scaled, measures.drawn_gradient_scaled),
    ):
        weights = (scores / divisor).softmax(-1)
        nats = -(weights * weights.clamp_min(1e-300).log()).sum(-1).mean().item()
        assert entropy(model, state) == pytest.approx(nats / math.log(8), rel=1e-5)
        middle = (weights * (1 - weights)).amax(-1).median().item()
        assert gradient(model, state) == pytest.approx(middle, rel=1e-4)


def test_four_times_a_wide_head_is_not_measured():
    assert measures.drawn_growth(ModelState(d_model=128, num_heads=1), AttentionState(view="scale")) == 0


def test_the_heads_spread_as_their_own_scores_do():
    state = AttentionState(view="scale", layer=2)
    q, k = recorded(MODEL, "query"), recorded(MODEL, "key")
    visible = causal_mask(5)
    spreads = [(q[head] @ k[head].T)[visible].double().std(correction=0).item() for head in range(4)]
    assert measures.smallest_deviation(MODEL, state) == pytest.approx(min(spreads), rel=1e-5)
    assert measures.largest_deviation(MODEL, state) == pytest.approx(max(spreads), rel=1e-5)
    assert measures.largest_deviation(ModelState(text="cat"), AttentionState(view="scale")) == 0


def test_the_dictionary_answers_whatever_the_model_is():
    state = AttentionState(view="dictionary", entries="cat:1,0,10 dog:0,1,20", ask="1,0", temperature=0.5)
    weight = 1 / (1 + math.exp(-1 / (0.5 * math.sqrt(2))))
    for model in (MODEL, ModelState(text="")):
        assert measures.answer(model, state) == pytest.approx(10 * weight + 20 * (1 - weight))
        assert measures.dictionary_largest(model, state) == pytest.approx(weight)
        assert measures.dictionary_gradient(model, state) == pytest.approx(weight * (1 - weight))


def test_a_silenced_head_changes_what_the_likeliest_token_has():
    state = AttentionState(view="change", changes="silence 2.1")
    ids = torch.tensor([PROSE.source_tokens.ids])
    model = Transformer(PROSE.config).eval()

    def silenced(output):
        return torch.cat([torch.zeros_like(output[:, :1]), output[:, 1:]], 1)

    with torch.no_grad():
        a = model(ids)[0, -1].softmax(-1)
        with recording([], {"layers.1.self_attention.head_output": silenced}):
            b = model(ids)[0, -1].softmax(-1)
    assert measures.likeliest_in_a(PROSE, state) == pytest.approx(100 * float(a.max()), abs=1e-3)
    assert measures.likeliest_in_b(PROSE, state) == pytest.approx(100 * float(b[a.argmax()]), abs=1e-3)


def test_the_cell_of_a_and_of_b_where_a_weight_was_set():
    state = AttentionState(view="change", layer=2, head=1, query=4, key=2, changes="weight 2.1 4>2 0.75")
    weight = float(recorded(MODEL, "weights")[0, 3, 1])
    assert measures.cell_in_a(MODEL, state) == pytest.approx(weight, abs=1e-6)
    assert measures.cell_in_b(MODEL, state) == pytest.approx(0.75)
    gone = AttentionState(view="change", layer=2, head=1, query=4, key=2, changes="drop 2")
    assert measures.cell_in_b(MODEL, gone) == 0


def test_a_row_is_a_softmax_also_of_trained_weights():
    state = AttentionState(layer=2, head=2, query=10)
    q, k = recorded(PROSE, "query")[1], recorded(PROSE, "key")[1]
    row = F.softmax(q[9] @ k[:10].T / math.sqrt(32), -1)
    assert measures.row_largest(PROSE, state) == pytest.approx(float(row.max()), abs=1e-5)
