"""The view on scaling: what it says is what was measured, in the experiment and in the model."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.pictures.charts import by_heading, marks
from tfm_core import recording, scale_experiment
from tfm_ui.lenses.attention.scale import Scale, score_variances
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import passes, places
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

FEW_DRAWS = AttentionState(draws=30, draw_keys=4, draw_seed=5)
MODELS = [
    (ModelState(), "self"),
    (ModelState(positional="rope", causal=False, text="a b c", seq_len=6, num_layers=3), "self"),
    (ModelState(positional="alibi", norm="post"), "self"),
    (ModelState(architecture="encoder-decoder", positional="t5"), "decoder"),
    (ModelState(architecture="encoder-decoder"), "cross"),
]


@pytest.mark.parametrize(("model", "kind"), MODELS)
def test_the_models_variances_are_those_of_what_was_recorded(model, kind):
    layer = model.num_layers - 1
    at = places.place(model, kind).replace("{layer}", str(layer))
    turned = "rotated_" if model.positional == "rope" else ""
    with torch.no_grad(), recording() as trace:
        passes.forward(model)
    query, key = (trace[at.format(what=turned + what)][0].double() for what in ("query", "key"))
    weights = trace[at.format(what="weights")][0]
    read = len((model.target_tokens if kind != "self" else model.source_tokens).pieces)
    variances = score_variances(model, kind, layer)
    assert len(variances) == model.num_heads
    for head, variance in enumerate(variances):
        products = (query[head, :read] @ key[head].mT)[weights[head, :read] > 0]
        assert variance == pytest.approx(products.var(correction=0).item(), rel=1e-4)


def test_a_single_pair_has_no_spread_and_that_is_said():
    model = ModelState(text="hi", seq_len=2)
    effect = Scale(model, FEW_DRAWS)
    assert effect.variances == []
    assert "one score has no spread" in effect.sentence()
    names = [name for _, name in by_heading(Scale.content(model, FEW_DRAWS)[0])]
    assert "unscaled" in names
    assert "your heads" not in names


def test_what_is_drawn_is_what_was_measured():
    model = ModelState(d_model=96)
    effect = Scale(model, FEW_DRAWS)
    assert model.config.head_dim == 24
    assert 24 in effect.measured.widths
    header, _ = Scale.content(model, FEW_DRAWS)
    drawn = {(heading.split()[0], name): points for (heading, name), points in by_heading(header).items()}
    assert len(drawn) == 5 + 3 + 3
    assert [marks(header, chart) for chart in (1, 2, 3)] == [{"your model: dₖ = 24": 24}] * 3
    widths = list(effect.measured.widths)
    expected = {
        ("variance", "unscaled"): effect.measured.variance.tolist(),
        ("variance", "scaled"): [v / d for v, d in zip(effect.measured.variance.tolist(), widths, strict=True)],
        ("variance", "the law: dₖ"): widths,
        ("entropy", "unscaled"): effect.measured.entropy["unscaled"].tolist(),
        ("entropy", "the most possible"): [math.log(4)] * len(widths),
        ("largest", "scaled"): effect.measured.median_gradient["scaled"].tolist(),
        ("largest", "the most possible"): [0.25] * len(widths),
    }
    for name, values in expected.items():
        assert drawn[name][0].tolist() == widths
        np.testing.assert_allclose(drawn[name][1], values, rtol=1e-6)
    assert drawn["variance", "your heads"][0].tolist() == [24] * 4
    np.testing.assert_allclose(drawn["variance", "your heads"][1], effect.variances, rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_sentence_holds_for_any_draws(seed):
    effect = Scale(ModelState(), AttentionState(draws=10, draw_keys=3, draw_seed=seed))
    measured = effect.measured
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", effect.sentence())[:4]]
    off = max(abs(v / d - 1) for v, d in zip(measured.variance.tolist(), measured.widths, strict=True))
    unscaled, scaled = (100 * measured.entropy[name][-1].item() / math.log(3) for name in ("unscaled", "scaled"))
    assert numbers == [256, pytest.approx(measured.variance[-1].item(), rel=1e-3)] + [
        pytest.approx(share, abs=0.51) for share in (100 * off, unscaled)
    ]
    assert (
        f"divided by √dₖ, {formats.percent(scaled / 100)}, and {measured.median_gradient['scaled'][-1]:.2f}."
        in effect.sentence()
    )
    half = measured.median_gradient["unscaled"][-1].item()
    written = f"{half:.2g}" if half >= 0.001 else f"{half:.0e}"[0] + "×10⁻"
    assert f"half of the draws leave no gradient above {written}" in effect.sentence()
    spreads = [math.sqrt(variance) for variance in effect.variances]
    assert f"{min(spreads):.2f} to {max(spreads):.2f}" in effect.sentence()


def test_the_laws_hold_and_would_be_seen_broken():
    effect = Scale(ModelState(), FEW_DRAWS)
    assert all(effect.laws().values())
    loud = {name: values * 1.9 for name, values in effect.measured.gradient.items()}
    loud["scaled"][0] = 0
    vars(effect).update(measured=replace(effect.measured, keys=2, gradient=loud))
    assert not any(effect.laws().values())


def test_the_table_has_what_was_measured_and_another_seed_draws_anew():
    effect = Scale(ModelState(), FEW_DRAWS)
    assert effect.table().loc[8, "entropy in nats, scaled"] == effect.measured.entropy["scaled"][3].item()
    other = scale_experiment(effect.measured.widths, draws=30, keys=4, seed=6)
    assert not torch.equal(other.variance, effect.measured.variance)


def test_rows_of_padding_are_not_counted():
    model = ModelState(text="a b c", seq_len=9, causal=False)
    short = ModelState(text="a b c", seq_len=3, causal=False)
    assert score_variances(model, "self", 0) == pytest.approx(score_variances(short, "self", 0), rel=1e-4)
