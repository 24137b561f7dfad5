"""The soft dictionary: against plain arithmetic, and at the two ends of the temperature."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_ui.lenses.attention.dictionary import Dictionary, number
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

places = st.integers(-20, 20).map(lambda n: n / 10)
entries = st.lists(st.tuples(places, places, st.integers(-999, 999)), min_size=2, max_size=6)


def asked(state: AttentionState) -> Dictionary:
    return Dictionary(ModelState(), state)


def look_up(keys, query, temperature=1.0) -> Dictionary:
    return asked(
        AttentionState(
            entries=" ".join(",".join(f"{n:g}" for n in entry) for entry in keys),
            ask=",".join(f"{n:g}" for n in query),
            temperature=temperature,
        )
    )


@given(entries, st.tuples(places, places), st.floats(0.05, 10))
def test_the_answer_is_plain_arithmetic_and_torchs_own_kernel_gives_it(keys, query, temperature):
    answered = look_up(keys, query, temperature)
    products = [query[0] * x + query[1] * y for x, y, _ in keys]
    scores = [product / (math.sqrt(2) * temperature) for product in products]
    top = max(scores)
    total = sum(math.exp(score - top) for score in scores)
    weights = [math.exp(score - top) / total for score in scores]
    assert answered.products.tolist() == pytest.approx(products, abs=1e-12)
    assert answered.scores.tolist() == pytest.approx(scores, abs=1e-9)
    assert answered.weights.tolist() == pytest.approx(weights, abs=1e-9)
    answer = sum(weight * value for weight, (_, _, value) in zip(weights, keys, strict=True))
    assert answered.answer == pytest.approx(answer, abs=1e-6)
    table = torch.tensor(keys, dtype=torch.float64)[None]
    kernel = F.scaled_dot_product_attention(
        torch.tensor([[query]], dtype=torch.float64),
        table[..., :2],
        table[..., 2:],
        scale=1 / (math.sqrt(2) * temperature),
    )
    assert answered.answer == pytest.approx(kernel.item(), abs=1e-6)
    assert all(answered.laws().values())


@given(entries, st.tuples(places, places))
@example([(1, 0, 10), (1, 0.5, 20), (-1, 0, 90)], (0, 0))  # asks for nothing and gets the mean
def test_towards_temperature_zero_the_blend_is_the_look_up(keys, query):
    """A difference of 0.01 in q.k, the smallest that there is here, is 70 in the exponent at 0.0001."""
    cold = look_up(keys, query, 0.0001)
    best = [i for i, (x, y, _) in enumerate(keys) if query[0] * x + query[1] * y >= cold.products.max() - 1e-9]
    assert cold.best == best
    assert cold.hard == pytest.approx(sum(keys[i][2] for i in best) / len(best))
    assert cold.answer == pytest.approx(cold.hard, abs=1e-6)


@given(entries, st.tuples(places, places))
def test_a_hotter_dictionary_never_prefers_its_best_keys_more(keys, query):
    shares = [(answered := look_up(keys, query, t)).weights[answered.best].sum() for t in (0.05, 0.3, 1, 3, 10)]
    assert (np.diff(shares) <= 1e-12).all()


def test_keys_that_tie_share_what_a_look_up_gives():
    answered = look_up([(1, 0, 10), (1, 0.5, 20), (-1, 0, 90)], (1, 0))
    assert (answered.best, answered.hard) == ([0, 1], 15)
    assert answered.hard_text == "keys A and B tie, mean value 15"
    assert answered.sentence().startswith("Keys A and B fit the query best (q·k = 1.00)")


def test_the_sentence_says_how_far_the_blend_is_from_the_look_up():
    answered = asked(AttentionState())
    assert answered.hard_text == "key A, value 10"
    assert f"the answer is {number(answered.answer)}" in answered.sentence()
    assert f"would answer 10, {number(abs(answered.answer - 10))} away" in answered.sentence()
    assert f"A gets {formats.percent(float(answered.weights[0]), 3)} of the weight" in answered.sentence()
    assert "lies nearer" not in answered.sentence()


def test_the_laws_would_be_seen_broken():
    answered = asked(AttentionState())
    vars(answered).update(weights=answered.weights * 1.001, answer=41)
    assert not any(answered.laws().values())


def test_the_table_adds_up_to_the_answer():
    answered = asked(AttentionState(temperature=0.3))
    table = answered.table()
    assert table["weight × value"].sum() == pytest.approx(answered.answer)
    assert list(table.index) == list("ABCD")


def test_the_pictures_bytes_are_the_look_up():
    state = AttentionState(ask="-1,0.5")
    answered = asked(state)
    header, cells = Dictionary.content(ModelState(), state)
    assert cells.dtype == np.float32
    np.testing.assert_allclose(cells[:, 2], answered.weights, rtol=1e-6)
    np.testing.assert_allclose(cells[:, 3].sum(), answered.answer, rtol=1e-6)
    assert (header["asked"], header["hardText"], header["names"]) == ([-1, 0.5], answered.hard_text, list("ABCDEF"))
    assert header["about"] == answered.sentence()


AGES = AttentionState(entries="baby:-1.3,1,1 child:0.3,1.5,8 1.5,0.4,40 old:0.9,-1.3,75", ask="teen:0.9,1.2")


def test_words_name_keys_and_query_wherever_they_are_told():
    answered, bare = asked(AGES), look_up([(-1.3, 1, 1), (0.3, 1.5, 8), (1.5, 0.4, 40), (0.9, -1.3, 75)], (0.9, 1.2))
    assert (answered.answer, answered.weights.tolist()) == (bare.answer, bare.weights.tolist())
    assert answered.sentence() == bare.sentence().replace(
        "Key B fits the query", "Key “child” fits the query “teen”"
    ).replace("B gets", "“child” gets")
    assert answered.hard_text == "key “child”, value 8"
    assert list(answered.table().index) == ["baby", "child", "C", "old"]
    header = answered.picture()[0]
    assert header["names"] == ["baby", "child", "C", "old", "E", "F"]
    assert (header["given"], header["askedName"]) == (["baby", "child", "", "old"], "teen")


def test_keys_that_tie_are_both_named():
    tied = replace(AGES, ask="0,0")
    assert asked(tied).hard_text.startswith("keys “baby” and “child” and C and “old” tie")
    assert "query best" in asked(tied).sentence()


@pytest.mark.parametrize(
    ("value", "text"), [(10, "10"), (-0.001, "0"), (-1.5, "−1.5"), (17.306, "17.31"), (100, "100")]
)
def test_numbers_have_two_decimals_at_most(value, text):
    assert number(value) == text
