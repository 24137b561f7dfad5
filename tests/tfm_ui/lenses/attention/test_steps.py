"""The step-by-step view: its matrices and derivations, recomputed in float64; what feeds a cell; long texts."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tfm_ui.payloads import decode
from tests.tfm_ui.pictures.scale_checks import printed
from tfm_core import Transformer, causal_mask, recording
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.pictures.steps import STEPS
from tfm_ui.pictures.steps.derivation import LINES, Derivation, code, derivation, latex, lines_of
from tfm_ui.pictures.steps.matrices import MATRICES, NUMBERS, SCENES, WHAT, Cell, history, what
from tfm_ui.pictures.steps.scene import WINDOW, window
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MODEL = ModelState()
MODELS = {
    "plain": ModelState(),
    "rope": ModelState(positional="rope", num_heads=2),
    "alibi": ModelState(positional="alibi", norm="post"),
    "t5, padded": ModelState(positional="t5", seq_len=14, causal=False),
    "learned, one head": ModelState(positional="learned", num_heads=1),
    "no positions": ModelState(positional="none"),
    "cross": ModelState(architecture="encoder-decoder"),
    "many": ModelState(text="@gettysburg", seq_len=40, d_model=64),
}
SWITCHES = {
    "as it is": {},
    "hot": {"temperature": 2.5},
    "not scaled": {"scaled": False},
    "no mask": {"masked": False, "temperature": 0.5},
}


def is_written_as(value: float, text: str) -> bool:
    """Whether the text is this number, to one of its last digit."""
    told, half = printed(text)
    return abs(told - value) <= 2 * half


def text_of(derived: Derivation) -> str:
    return "\n".join("".join(text for text, _ in line) for line in derived.lines)


NUMBER = r"−?\d+\.\d+(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|−?\d×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|−∞"


class Recomputed:
    """One head in float64, from what the plain model hands to this attention: nothing of tfm_ui in it."""

    def __init__(self, model: ModelState, layer: int, head: int, switches: dict) -> None:
        crosses, width = model.is_encoder_decoder, model.d_model // model.num_heads
        transformer = Transformer(model.config).eval()
        inputs = [model.source_tokens.batch] + ([model.target_tokens.batch] if crosses else [])
        mask = causal_mask(model.length) if model.masks_the_future else None
        site = f"decoder.layers.{layer}.cross_attention" if crosses else f"layers.{layer}.self_attention"
        with torch.no_grad(), recording() as single:
            transformer(*inputs, mask=mask)
        read = {
            name: x.double() for name, x in single.items() if name in (f"{site}.residual_before", "encoder.final_norm")
        }
        with torch.no_grad(), recording(edits=read) as trace:
            transformer.double()(*inputs, mask=mask)
        here = {name.removeprefix(f"{site}."): x for name, x in trace.items() if name.startswith(f"{site}.")}
        self.input = here.get("normed", here["residual_before"])[0].numpy()
        q, k = (here.get(f"rotated_{name}", here[name])[0] for name in ("query", "key"))
        scores, v = q @ k.mT, here["value"][0]
        scaled = scores / (math.sqrt(width) if switches.get("scaled", True) else 1) + here.get("position_bias", 0)
        scaled = scaled / switches.get("temperature", 1.0)
        hidden = ~here["mask"].expand(1, 1, *scores.shape[1:])[0, 0] & switches.get("masked", True)
        masked = scaled.masked_fill(hidden, -math.inf)
        outputs = masked.softmax(-1) @ v
        self.query, self.key, self.value, self.scores = (x[head].numpy() for x in (q, k, v, scores))
        self.scaled, self.masked, self.weights = (x[head].numpy() for x in (scaled, masked, masked.softmax(-1)))
        self.head_output, self.heads = outputs[head].numpy(), outputs.transpose(0, 1).flatten(1)
        last = transformer.get_submodule(site if crosses else f"stack.{site}").output_projection
        self.output = last(self.heads).detach().numpy()
        self.heads, self.first = self.heads.numpy(), head * width

    def at(self, step: str, cell: Cell) -> float:
        query, key, dim, channel = cell.query, cell.key, cell.dim, cell.channel
        return {
            "input": lambda: self.input[query, channel],
            "query": lambda: self.query[query, dim],
            "key": lambda: self.key[key, dim],
            "value": lambda: self.value[key, dim],
            "scores": lambda: self.scores[query, key],
            "scaled": lambda: self.scaled[query, key],
            "masked": lambda: self.masked[query, key],
            "weights": lambda: self.weights[query, key],
            "weighted values": lambda: self.weights[query, key] * self.value[key, dim],
            "head output": lambda: self.head_output[query, dim],
            "heads": lambda: self.heads[query, self.first + dim],
            "output": lambda: self.output[query, channel],
        }[step]()


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


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_all_matrices_are_what_float64_gives(model):
    header, matrices = shown(AttentionState(layer=2, head=model.num_heads, kind="cross", query=4), model)
    again, start = Recomputed(model, 1, model.num_heads - 1, {}), header["starts"]
    expected = {step: getattr(again, step.replace(" ", "_")) for step in STEPS if step != "weighted values"}
    expected["weighted values"] = again.weights[3][:, None] * again.value
    expected["weights"] = np.where(np.isinf(again.masked), -math.inf, again.weights)
    for step, numbers in expected.items():
        parts = zip(MATRICES[step].axes, matrices[step].shape, strict=True)
        rows, columns = (slice(start[axis], start[axis] + count) for axis, count in parts)
        atol = (
            1e-5 if step == "scores" else 1e-6 * max(1.0, float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0)))
        )
        np.testing.assert_allclose(matrices[step], numbers[rows, columns], rtol=1e-5, atol=atol, err_msg=step)
        assert numbers.shape == tuple(map(int, header["matrices"][step]["shape"].split(" = ")[1].split(" × ")))


def test_shapes_are_told_in_symbols_and_numbers():
    header, _ = shown(AttentionState())
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
    assert f"queries {start + 1}–{start + WINDOW} of 1024" in Steps(model, state).sentence()


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


def test_there_is_no_script_of_weights_that_no_model_has():
    for switched in (AttentionState(scaled=False), AttentionState(masked=False), AttentionState(temperature=2.0)):
        assert Steps(ModelState(), switched).recipe() == ""


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
        panel = Steps(ModelState(), AttentionState(whole=whole))
        table = panel.table()
        drawn = [name for name in panel.scene.parts if name in MATRICES]
        assert {label.split(", ")[-1] for label in table.index.get_level_values("matrix")} == set(drawn)
        weights = table.xs("A, weights")["value"].to_numpy().reshape(panel.scene.numbers("weights").shape)
        np.testing.assert_array_equal(weights, panel.scene.numbers("weights"))
        assert ("query 6 mat", "key 2 cat") in list(table.xs("A, weights").index)


def test_the_locked_cell_is_a_token_unless_somebody_has_chosen_padding():
    model = ModelState(text="cat")
    assert len(model.source_tokens.ids) > 1
    assert Steps(model, AttentionState()).at == Cell(query=0, key=0, dim=0, channel=0)
    chosen = Steps(model, AttentionState(query=2, key=1)).at
    assert (chosen.query, chosen.key) == (1, 0)


# derivations: each on screen, recomputed in float64 from the tensors of a recording of its own


@pytest.mark.parametrize("switches", SWITCHES.values(), ids=SWITCHES)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_derivation_ends_in_the_number_that_float64_gives(model, switches):
    state = AttentionState(layer=2, head=model.num_heads, kind="cross", **switches)
    shown, again = Steps(model, state).steps, Recomputed(model, 1, model.num_heads - 1, switches)
    places = np.random.default_rng(3)
    for step in STEPS:
        for _ in range(6):
            sizes = len(shown.queries), len(shown.keys), shown.head_dim, model.d_model
            cell = Cell(*(int(places.integers(size)) for size in sizes))
            derived = derivation(shown, step, cell)
            last = re.findall(NUMBER, text_of(derived))[-1]
            expected = again.at(step, cell)
            if math.isinf(expected):
                assert last == "−∞"
            else:
                assert is_written_as(expected, last), f"{step} {cell}: {text_of(derived)}"


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_terms_of_a_sum_are_printed_and_make_the_number(model):
    shown = Steps(model, AttentionState(kind="cross")).steps
    cell = Cell(query=min(5, len(shown.queries) - 1), key=1, dim=1, channel=3)
    visible, inside = shown.visible[cell.query], shown.inside
    row = shown.number * shown.head_dim + cell.dim
    sums = {
        "query": (inside.input[cell.query], row),
        "key": (inside.memory[cell.key], row),
        "value": (inside.memory[cell.key], row),
        "scores": (shown.query[cell.query], shown.key[cell.key]),
        "head output": (shown.weights[cell.query, visible], shown.value[visible, cell.dim]),
        "output": (shown.merged(slice(cell.query, cell.query + 1))[0], cell.channel),
    }
    for step, (left, right) in sums.items():
        bias = 0.0
        if step not in ("scores", "head output"):
            module = inside.module.get_submodule(f"{step}_projection")
            right, bias = module.weight[right].detach(), module.bias[right].item()
        numbers = re.findall(NUMBER, text_of(derivation(shown, step, cell)).splitlines()[0])
        total = (left.double() * right.double()).sum().item() + bias
        assert is_written_as(total, numbers[-1])
        if len(left) <= 8:
            for factor in (*left.tolist(), *right.tolist()):
                assert formats.number(factor) in numbers


def test_a_weights_derivation_names_the_keys_and_divides_by_their_sum():
    shown = Steps(ModelState(), AttentionState()).steps
    derived = derivation(shown, "weights", Cell(query=5, key=2, dim=0, channel=0))
    numbers = [printed(n)[0] for n in re.findall(NUMBER, text_of(derived).splitlines()[2])]
    assert numbers[-1] == pytest.approx(sum(numbers[:-1]), abs=4e-4)
    assert [text.strip() for text, role in derived.lines[2] if role == "key"] == shown.keys[:6]
    assert shown.weights[5].sum().item() == pytest.approx(1, abs=1e-6)
    assert text_of(derived).endswith(f" = {formats.share(shown.weights[5, 2].item())}")


def test_the_way_back_to_the_embedding_is_told_in_the_first_layer_alone():
    cell = Cell(query=2, key=0, dim=0, channel=4)
    first = text_of(derivation(Steps(ModelState(), AttentionState(layer=1)).steps, "input", cell))
    assert "embedding × √d_model + position 3 =" in first
    a, b, total = [printed(n)[0] for n in re.findall(NUMBER, first)[:3]]
    assert total == pytest.approx(a + b, abs=0.0011)
    second = text_of(derivation(Steps(ModelState(), AttentionState(layer=2)).steps, "input", cell))
    assert "as the layers before left it" in second
    none = text_of(derivation(Steps(ModelState(positional="none"), AttentionState()).steps, "input", cell))
    assert "embedding of “sat” × √d_model" in none


def test_a_query_that_may_see_nothing_has_a_derivation_for_every_step():
    shown = Steps(ModelState(), AttentionState()).steps
    blind = shown.inside.visible.clone()
    blind[3] = False
    hot = replace(shown, inside=replace(shown.inside, visible=blind), temperature=2.0)
    for step in STEPS:
        assert "nan" not in text_of(derivation(hot, step, Cell(query=3, key=1, dim=0, channel=0)))
    assert "may see nothing" in text_of(derivation(hot, "weights", Cell(3, 1, 0, 0)))
    assert hot.weights[3].sum() == 0


@given(st.floats(-1e6, 1e6, allow_subnormal=False))
@settings(max_examples=5 * settings().max_examples)
def test_a_printed_number_is_within_its_last_digit(value):
    text = formats.number(value)
    assert is_written_as(value, text)
    assert text.count("-") == 0
    assert text not in ("−0.000", "−0")


@given(st.floats(0, 1, allow_subnormal=False))
def test_a_printed_share_is_within_its_last_digit(value):
    assert is_written_as(value, formats.share(value))
