"""The step-by-step view: what stands beside what, what feeds a cell, and which part of a long text is shown."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.payloads import decode
from tfm_core import Transformer, causal_mask, recording
from tfm_ui.lenses.attention.state import STEPS, AttentionState
from tfm_ui.lenses.attention.steps import WINDOW, Steps, window
from tfm_ui.lenses.attention.steps.derivation import LINES, code, latex, lines_of
from tfm_ui.lenses.attention.steps.matrices import MATRICES, NUMBERS, SCENES, WHAT, Cell, history, what
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()


def shown(state: AttentionState, model: ModelState = MODEL) -> tuple[dict, dict[str, np.ndarray]]:
    """The header, and each matrix of the picture."""
    header, numbers = decode(made("steps", query_of(((model, ""), (state, "attention_")))))
    values = np.frombuffer(numbers, np.float32)
    return header, {
        name: values[about["begin"] : about["begin"] + about["rows"] * about["columns"]].reshape(
            about["rows"], about["columns"]
        )
        for name, about in header["matrices"].items()
    }


def test_all_matrices_are_what_the_model_computed():
    with torch.no_grad(), recording() as trace:
        Transformer(MODEL.config).eval()(MODEL.source_tokens.batch, mask=causal_mask(10))
    got = {name.rpartition(".")[2]: tensor[0].numpy() for name, tensor in trace.items() if "layers.1.self" in name}
    header, matrices = shown(AttentionState(layer=2, head=3, query=4))
    visible = np.tril(np.ones((10, 10), bool))
    expected = {
        "input": got["normed"],
        **{name: got[name][2] for name in ("query", "key", "value", "scores", "masked_scores", "head_output")},
        "weights": np.where(visible, got["weights"][2], -math.inf),
        "weighted values": got["weights"][2][3][:, None] * got["value"][2],
        "heads": got["head_output"].transpose(1, 0, 2).reshape(10, 32),
        "output": got["output"],
    }
    names = {"scaled": "scores", "masked": "masked_scores", "head output": "head_output"}
    for step in STEPS:
        if step == "scores":  # not a site: the model scales before it multiplies
            np.testing.assert_allclose(matrices[step], got["query"][2] @ got["key"][2].T, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_allclose(matrices[step], expected[names.get(step, step)], rtol=1e-5, atol=1e-6)
    assert header["matrices"]["weights"]["shape"] == "T × T = 10 × 10"
    assert header["matrices"]["query"]["shape"] == "T × dₖ = 10 × 8"


@pytest.mark.crossed(
    step=STEPS, positional=["sinusoidal", "rope", "alibi"], architecture=["encoder", "encoder-decoder"]
)
def test_the_operands_of_a_step_make_its_result(step, architecture, positional):
    model = ModelState(architecture=architecture, positional=positional)
    lens = AttentionState(kind="cross", whole=False, step=step, query=3)
    _, m = shown(lens, model)
    head = Steps(model, lens).steps
    bias = m.get("bias", 0)
    plain = {name: getattr(head.inside.module, f"{name}_projection").bias.detach().numpy() for name in ("query", "key")}
    turns = positional == "rope" and architecture == "encoder"
    results = {
        "query": lambda: m["input"] @ m["query weights"] + plain["query"][:8],
        "key": lambda: m.get("memory", m.get("input")) @ m["key weights"] + plain["key"][:8],
        "scores": lambda: m["query"] @ m["key transposed"],
        "scaled": lambda: m["scores"] / math.sqrt(8) + bias,
        "masked": lambda: m["scaled"] + m["mask"],
        "weights": lambda: torch.from_numpy(m["masked"].copy()).softmax(-1).numpy(),
        "weighted values": lambda: np.maximum(m["weights"], 0)[2][:, None] * m["value"],
        "head output": lambda: np.maximum(m["weights"], 0) @ m["value"],
        "output": lambda: m["heads"] @ m["output weights"],
    }
    if step in results and not (turns and step in ("query", "key")):
        result = m[step] if step != "weights" else np.maximum(m["weights"], 0)
        np.testing.assert_allclose(result, results[step](), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("positional", ["sinusoidal", "alibi"])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_what_a_step_makes_is_said_as_the_switches_stand(scaled, temperature, positional):
    head = Steps(ModelState(positional=positional), AttentionState(scaled=scaled, temperature=temperature)).steps
    said = what("scaled", head)
    made = head.scores / math.sqrt(8) if "divided by √dₖ." in said else head.scores
    made = made + head.bias if "The bias of alibi is added." in said else made
    made = made / temperature if f"The result is divided by the temperature, {temperature:g}." in said else made
    torch.testing.assert_close(head.scaled_scores, made)
    assert "mask is off" in what("masked", replace(head, masked=False))
    assert "mask is off" not in what("masked", head)


def test_every_step_has_a_scene_a_word_and_a_line_of_the_source():
    assert list(SCENES) == list(WHAT) == list(LINES) == list(STEPS)
    head = Steps(MODEL, AttentionState()).steps
    for step, scene in SCENES.items():
        assert scene[-1] == step
        line = code(lines_of(head, step))
        assert "\n" not in line
        assert LINES[step][1] in line
        compile(line.replace("return ", ""), step, "exec")


@pytest.mark.parametrize(
    ("step", "model", "lens", "expected"),
    [
        ("input", {"norm": "post"}, {}, ["self.embedding(tokens)", 'x + self.tap("position", encoding.to(x))']),
        ("input", {"norm": "post"}, {"layer": 2}, ["x = norm(x + self._drop(sub_layer(x)))"]),
        (
            "query",
            {"positional": "rope"},
            {},
            ["self.query_projection(query)", "positional.rotate(q, start)", "first * cos"],
        ),
        ("scores", {}, {}, ["attention_scores(self.query[None], self.key[None], scale=1.0)"]),
        ("weighted values", {}, {}, ["self.weights[query, :, None] * self.value"]),  # nothing is summed yet
        ("scaled", {"positional": "alibi"}, {}, ["math.sqrt(query.shape[-1])", "scores + bias"]),
        ("scaled", {}, {"temperature": 0.5}, ["math.sqrt(query.shape[-1])", "scores / self.temperature"]),
    ],
)
def test_the_lines_are_those_that_ran_in_this_model(step, model, lens, expected):
    lines = code(lines_of(Steps(ModelState(**model), AttentionState(**lens)).steps, step)).splitlines()
    assert len(lines) == len(expected)
    assert all(piece in line for piece, line in zip(expected, lines, strict=True))


def test_what_fed_a_weight_goes_back_to_the_two_vectors():
    head, at = Steps(MODEL, AttentionState()).steps, Cell(query=5, key=1, dim=0, channel=0)
    regions = {name: region for name, (region, _) in history("weights", head, at).items()}
    assert regions["masked"] == regions["scaled"] == regions["scores"] == (5, None)
    assert regions["query"] == (5, None)
    assert regions["key"] == (None, None)
    score = {name: region for name, (region, _) in history("scores", head, at).items()}
    assert score["query"] == (5, None)
    assert score["key"] == (1, None)
    assert score["input"] == (5, None)
    assert score["memory"] == (1, None)


@pytest.mark.parametrize("step", STEPS)
def test_what_does_not_feed_a_cell_does_not_change_it(step):
    """The regions are right: noise everywhere else leaves the cell as it is, noise within moves it."""
    state = AttentionState(layer=2, head=2)
    head, at = Steps(MODEL, state).steps, Cell(query=6, key=3, dim=4, channel=9)
    rows, columns = MATRICES[step].axes
    places = {"query": 6, "key": 3, "dim": 4, "channel": 9, "merged": 12}
    fed = {name: region for name, (region, _) in history(step, head, at).items()}
    for name, tensor in (("query", head.inside.query), ("key", head.inside.key), ("value", head.inside.value)):
        if name == step:
            continue
        noise = torch.randn(tensor.shape, generator=torch.Generator().manual_seed(1))
        row, column = fed.get(name, (-1, -1))
        inside = torch.zeros(tensor.shape[1:], dtype=torch.bool)
        if name in fed:
            inside[slice(None) if row is None else row, slice(None) if column is None else column] = True
        everything = torch.zeros_like(noise)
        everything[1] = 1
        for within in (False, True):
            moved = tensor + torch.where(inside if within else ~inside, noise * everything, 0)
            changed = replace(head.inside, recorded={**head.inside.recorded, name: moved})
            other = replace(head, inside=changed, temperature=1.0000001)  # so that nothing is taken from the record
            base = replace(head, temperature=1.0000001)
            numbers = [
                NUMBERS[step](o, at, slice(None), slice(None))[places[rows], places[columns]].item()
                for o in (base, other)
            ]
            if not within and step != "output":  # an output's heads are all fed; other heads are not moved here
                assert numbers[0] == pytest.approx(numbers[1], abs=1e-5), name
            if within and name in fed and step != "masked":
                assert abs(numbers[0] - numbers[1]) > 1e-6, name


@given(at=st.integers(0, 1023), count=st.integers(1, 1024), size=st.sampled_from([24, 32]))
def test_the_window_holds_its_token_and_stays_for_its_neighbours(at, count, size):
    at = min(at, count - 1)
    part = window(at, count, size)
    assert part.start <= at < part.stop <= count
    assert part.stop - part.start == min(count, size)
    if part.start % (size // 2) == 0:  # else it was moved back to end with the text
        assert window(part.start + size // 2, count, size) == part


def test_a_long_text_shows_a_window_and_says_so():
    model = ModelState(text="@alice", seq_len=1024, d_model=64)
    state = AttentionState(query=500, key=12, step="weights")
    header, matrices = shown(state, model)
    assert matrices["weights"].shape == (WINDOW, WINDOW)
    assert header["matrices"]["weights"]["shape"] == "T × T = 1024 × 1024"
    start = header["starts"]["query"]
    row, column = header["lit"]["weights"][0][0]
    assert (start + row, header["starts"]["key"] + column) == (499, 11)
    head = Steps(model, state).steps
    np.testing.assert_array_equal(matrices["weights"][row, column], head.weights[499, 11])
    assert f"queries {start + 1}–{start + WINDOW} of 1024" in Steps(model, state).note


@pytest.mark.parametrize("text", ["hi", "a a a a", "🦊 שלום <script>"])
def test_small_and_odd_texts_have_a_picture_and_a_sentence(text):
    model = ModelState(text=text, seq_len=4)
    for step in STEPS:
        for whole in (True, False):
            state = AttentionState(step=step, whole=whole)
            header, matrices = shown(state, model)
            assert all(not np.isnan(numbers).any() for numbers in matrices.values())
            assert Steps(model, state).sentence()
            assert header["lines"]


def test_the_formula_lights_what_the_step_computes():
    def whole(step: str, mode: str, positional: str = "sinusoidal", **switches) -> str:
        head = Steps(ModelState(positional=positional), AttentionState(**switches)).steps
        return " ".join(latex(head, step, mode))

    lit = {step: whole(step, "light").count(r"\boldsymbol") for step in STEPS}
    assert min(lit.values()) >= 1
    assert r"\boldsymbol{\mathrm{softmax}}" in whole("weights", "light")
    assert "sqrt" not in whole("scaled", "dark", scaled=False)
    assert "+B" in whole("scaled", "dark", positional="alibi")
    assert "/0.5" in whole("scaled", "dark", temperature=0.5)


def test_the_table_holds_each_matrix_that_is_drawn():
    for whole in (True, False):
        shown = Steps(ModelState(), AttentionState(whole=whole))
        table = shown.table()
        drawn = [name for name in shown.scene if name in MATRICES]
        assert {label.split(", ")[-1] for label in table.index.get_level_values("matrix")} == set(drawn)
        weights = table.xs("A, weights")["value"].to_numpy().reshape(shown.numbers("weights").shape)
        np.testing.assert_array_equal(weights, shown.numbers("weights"))
        assert ("query 6 mat", "key 2 cat") in list(table.xs("A, weights").index)


def test_the_locked_cell_is_a_token_unless_somebody_has_chosen_padding():
    model = ModelState(text="cat")
    assert len(model.source_tokens.ids) > 1
    assert Steps(model, AttentionState()).at == Cell(query=0, key=0, dim=0, channel=0)
    chosen = Steps(model, AttentionState(query=2, key=1)).at
    assert (chosen.query, chosen.key) == (1, 0)
