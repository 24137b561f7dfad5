"""Each derivation on screen, recomputed in float64 from the tensors of a recording of its own."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tfm_core import Transformer, causal_mask, recording
from tfm_ui.lenses.attention.state import STEPS, AttentionState
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.lenses.attention.steps.derivation import Derivation, derivation
from tfm_ui.lenses.attention.steps.matrices import Cell
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

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


def unit(text: str) -> float:
    """One of the last digit of a printed number."""
    digits, _, power = text.partition("×10")
    places = len(digits.partition(".")[2])
    return 10.0 ** (-places + (int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))) if power else 0))


def read(text: str) -> float:
    """A printed number."""
    if "∞" in text:
        return -math.inf
    digits, _, power = text.replace("−", "-").partition("×10")
    return float(digits) * 10.0 ** (int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))) if power else 0)


def text_of(derived: Derivation) -> str:
    return "\n".join("".join(text for text, _ in line) for line in derived.lines)


NUMBER = r"−?\d+\.\d+(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|−?\d×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|−∞"


class Recomputed:
    """One head in float64 NumPy, from a recording of all sites of the plain model: nothing of tfm_ui in it."""

    def __init__(self, model: ModelState, layer: int, head: int, switches: dict) -> None:
        crosses, width = model.is_encoder_decoder, model.d_model // model.num_heads
        transformer = Transformer(model.config).eval()
        inputs = [model.source_tokens.batch] + ([model.target_tokens.batch] if crosses else [])
        mask = causal_mask(model.length) if model.masks_the_future else None
        with torch.no_grad(), recording() as trace:
            transformer(*inputs, mask=mask)
        site = f"decoder.layers.{layer}.cross_attention" if crosses else f"layers.{layer}.self_attention"
        path = site if crosses else f"stack.{site}"
        weights = {name: tensor.double().numpy() for name, tensor in transformer.state_dict().items()}

        def get(what: str) -> np.ndarray:
            return trace[f"{site}.{what}"].double().numpy()

        residual = get("residual_before")[0]
        normed = (residual - residual.mean(1, keepdims=True)) / np.sqrt(residual.var(1, keepdims=True) + 1e-5)
        gain, shift = weights[f"{path}_norm.weight"], weights[f"{path}_norm.bias"]
        self.input = normed * gain + shift if model.norm == "pre" else residual
        memory = trace["encoder.final_norm"][0].double().numpy() if crosses else self.input
        mine = slice(head * width, (head + 1) * width)

        def project(name: str, read: np.ndarray) -> np.ndarray:
            projected = read @ weights[f"{path}.{name}_projection.weight"].T + weights[f"{path}.{name}_projection.bias"]
            return projected.reshape(len(read), model.num_heads, width).transpose(1, 0, 2)

        q, k, v = project("query", self.input), project("key", memory), project("value", memory)
        if model.positional == "rope":
            q, k = turned(q), turned(k)
        scores = q @ k.transpose(0, 2, 1)
        bias = get("position_bias") if f"{site}.position_bias" in trace else 0.0
        scaled = scores / (math.sqrt(width) if switches.get("scaled", True) else 1) + bias
        scaled = scaled / switches.get("temperature", 1.0)
        visible = np.broadcast_to(get("mask") > 0, (1, 1, *scores.shape[1:]))[0, 0]
        visible = visible | (not switches.get("masked", True))
        masked = np.where(visible, scaled, -np.inf)
        powers = np.exp(masked - masked.max(-1, keepdims=True))
        attention = powers / powers.sum(-1, keepdims=True)
        self.query, self.key, self.value, self.scores = q[head], k[head], v[head], scores[head]
        self.scaled, self.masked, self.weights = scaled[head], masked[head], attention[head]
        outputs = attention @ v
        self.head_output = outputs[head]
        self.heads = outputs.transpose(1, 0, 2).reshape(len(residual), -1)
        self.output = self.heads @ weights[f"{path}.output_projection.weight"].T
        self.output = self.output + weights[f"{path}.output_projection.bias"]
        self.first = mine.start

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


def turned(x: np.ndarray) -> np.ndarray:
    """RoPE by complex numbers: dimension i and i + width/2 are shown, turned by position / 10000^(2i / width)."""
    half = x.shape[-1] // 2
    angles = np.arange(x.shape[-2])[:, None] / 10000.0 ** (np.arange(half) / half)
    both = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angles)
    return np.concatenate([both.real, both.imag], -1)


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
                assert abs(read(last) - expected) <= unit(last), f"{step} {cell}: {text_of(derived)}"


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
        printed = re.findall(NUMBER, text_of(derivation(shown, step, cell)).splitlines()[0])
        total = (left.double() * right.double()).sum().item() + bias
        assert abs(read(printed[-1]) - total) <= unit(printed[-1])
        if len(left) <= 8:
            for factor in (*left.tolist(), *right.tolist()):
                assert formats.number(factor) in printed


def test_a_weights_derivation_names_the_keys_and_divides_by_their_sum():
    shown = Steps(ModelState(), AttentionState()).steps
    derived = derivation(shown, "weights", Cell(query=5, key=2, dim=0, channel=0))
    numbers = [read(n) for n in re.findall(NUMBER, text_of(derived).splitlines()[2])]
    assert numbers[-1] == pytest.approx(sum(numbers[:-1]), abs=4e-4)
    assert [text.strip() for text, role in derived.lines[2] if role == "key"] == shown.keys[:6]
    assert shown.weights[5].sum().item() == pytest.approx(1, abs=1e-6)
    assert text_of(derived).endswith(f" = {formats.share(shown.weights[5, 2].item())}")


def test_the_way_back_to_the_embedding_is_told_in_the_first_layer_alone():
    cell = Cell(query=2, key=0, dim=0, channel=4)
    first = text_of(derivation(Steps(ModelState(), AttentionState(layer=1)).steps, "input", cell))
    assert "embedding × √d_model + position 3 =" in first
    a, b, total = [read(n) for n in re.findall(NUMBER, first)[:3]]
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
@settings(max_examples=300)
def test_a_printed_number_is_within_its_last_digit(value):
    text = formats.number(value)
    assert abs(read(text) - value) <= unit(text)
    assert text.count("-") == 0
    assert text not in ("−0.000", "−0")


@given(st.floats(0, 1, allow_subnormal=False))
def test_a_printed_share_is_within_its_last_digit(value):
    text = formats.share(value)
    assert abs(read(text) - value) <= unit(text)
