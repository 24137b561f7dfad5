"""The arcs: what travels, what is said of it, and what it was computed from."""

import numpy as np
import pytest
import torch

from tests.tfm_ui.payloads import decode
from tfm_core import recording
from tfm_core.study.aggregates import attention_rollout
from tfm_ui.lenses.attention.arcs import Arcs
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import passes, places
from tfm_ui.pictures.arcs import ALL_UP_TO, LARGEST, MASKED, lines_of, maps
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.state.model_state import ModelState

WORDS = " ".join(f"w{i % 40}" for i in range(300))
SHORT = ModelState(seq_len=12, num_layers=3, positional="t5")
LONG = ModelState(text=WORDS, seq_len=ALL_UP_TO + 30, num_heads=8)
TWO = ModelState(architecture="encoder-decoder", seq_len=12)


def recorded(model: ModelState, kind: str = "self") -> list[torch.Tensor]:
    """The weights of every layer, (head, query, key), as the model had them."""
    with torch.no_grad(), recording("*.weights") as trace:
        passes.forward(model)
    return [trace[places.place(model, kind).format(layer=i, what="weights")][0] for i in range(model.num_layers)]


def sent(model: ModelState, state: AttentionState):
    """What the browser gets: header, rest, weights, keys."""
    header, numbers = decode(made("arcs", query_of(((model, ""), (state, "attention_")))))
    maps, rows, kept = len(header["maps"]), len(header["queries"]), header["kept"]
    rest, weights = np.split(np.frombuffer(numbers[: 4 * maps * rows * (1 + kept)], np.float32), [maps * rows])
    keys = np.frombuffer(numbers[4 * maps * rows * (1 + kept) :], np.uint16)
    return header, rest.reshape(maps, rows), weights.reshape(maps, rows, kept), keys.reshape(maps, rows, kept)


@pytest.mark.parametrize(
    "model", [SHORT, LONG, ModelState(text="a a a a", seq_len=4), ModelState(text="hi", seq_len=2)]
)
def test_every_weight_that_travels_is_the_models_and_the_rest_is_what_is_missing(model):
    header, rest, weights, keys = sent(model, AttentionState(layer=2))
    real = recorded(model)[1].numpy()
    tokens = len(header["keys"])
    assert header["kept"] == (tokens if tokens <= ALL_UP_TO else LARGEST)
    visible = passes.run(model).attention["self"].visible
    for head, query in np.ndindex(rest.shape):
        row = real[head, query]
        assert len(set(keys[head, query])) == header["kept"]
        for key, weight in zip(keys[head, query], weights[head, query], strict=True):
            assert weight == (row[key] if visible[query, key] else MASKED)
        largest = np.sort(row)[::-1][: header["kept"]]
        np.testing.assert_array_equal(np.maximum(weights[head, query], 0), largest)
        missing = row.astype(np.float64).sum() - largest.astype(np.float64).sum()
        assert rest[head, query] == pytest.approx(missing, abs=1e-6)
    assert header["seen"] == visible.sum(1).tolist()


@pytest.mark.parametrize("lines", ["mean", "max", "rollout"])
@pytest.mark.parametrize("model", [SHORT, LONG])
def test_aggregates_are_of_the_recorded_weights(model, lines):
    state = AttentionState(lines=lines, layer=2)
    layers = recorded(model)
    expected = {
        "mean": layers[1].numpy().mean(0),
        "max": layers[1].numpy().max(0),
        "rollout": attention_rollout(layers[:2]).numpy(),
    }[lines]
    panel = Arcs(model, state)
    np.testing.assert_allclose(panel.table(), expected, atol=1e-6)
    _, _, weights, keys = sent(model, state)
    for query, row in enumerate(expected):
        np.testing.assert_allclose(np.maximum(weights[0, query], 0), row[keys[0, query]], atol=1e-6)
    assert all(panel.laws().values())
    assert (len(panel.names), panel.title.startswith("Rollout")) == (1, lines == "rollout")


@pytest.mark.parametrize(("kind", "shape"), [("encoder", (12, 12)), ("decoder", (4, 4)), ("cross", (4, 12))])
def test_each_attention_of_an_encoder_decoder(kind, shape):
    panel = Arcs(TWO, AttentionState(kind=kind, heads="2"))
    np.testing.assert_array_equal(panel.table(), recorded(TWO, kind)[0][1])
    assert panel.table().shape == shape
    assert all(panel.laws().values())
    assert "masked weights are exactly 0" in panel.laws()
    assert tuple(sent(TWO, panel.state)[0]["read"]) == {"encoder": (10, 10), "decoder": (4, 4), "cross": (4, 10)}[kind]


def test_what_rollout_leaves_out_is_said():
    cross = Arcs(TWO, AttentionState(kind="cross", lines="rollout"))
    assert cross.how == "mean"
    assert "Cross-attention has no rollout" in cross.how_to_read
    decoder = Arcs(TWO, AttentionState(kind="decoder", lines="rollout", layer=2))
    np.testing.assert_allclose(decoder.table(), attention_rollout(recorded(TWO, "decoder")), atol=1e-6)
    assert "decoder's self-attention alone" in decoder.how_to_read
    assert "decoder" not in Arcs(SHORT, AttentionState(lines="rollout")).how_to_read


def made_up(weights: list, masked: list, how: str = "heads", chosen: str = "") -> Arcs:
    """A layer whose weights are known."""

    class Known:
        heads = len(weights)
        visible = np.array(masked)
        tolerance, shares_out_1, read = 1e-5, True, len(masked)

        def exact(self, layer: int, head: int) -> np.ndarray:
            return np.array(weights[head], np.float32)

    panel = Arcs(ModelState(text="a b c", seq_len=3, num_heads=len(weights)), AttentionState(lines=how, heads=chosen))
    vars(panel).update(attention=Known(), lines=lines_of(maps(Known(), 0, how), Known.visible, how))
    return panel


FIRST = [[1, 0, 0], [0.75, 0.25, 0], [0.5, 0.25, 0.25]]
OTHER = [[1, 0, 0], [0.5, 0.5, 0], [0, 0.125, 0.875]]
CAUSAL = np.tril(np.ones((3, 3), bool)).tolist()


def test_the_sentence_names_the_strongest_line_of_the_rows_that_have_a_choice():
    panel = made_up([FIRST, OTHER], CAUSAL)
    sentence = (
        "Strongest of 2 heads where a row has a choice: head 2, “c” → “c”, 0.88. "
        "They favour the same key in 0 of 2 rows."
    )
    assert panel.sentence() == sentence  # in the second row a tie: no favourite
    assert "“b” → “a”, 0.75" in made_up([FIRST, OTHER], CAUSAL, chosen="1").sentence()
    assert made_up([FIRST, OTHER], CAUSAL, chosen="7 x 0").sentence() == sentence


def test_a_row_that_may_see_nothing_is_no_broken_law():
    masked = [[True, False, False], [False] * 3, [True] * 3]
    weights = [[1, 0, 0], [0, 0, 0], [0.5, 0.25, 0.25]]
    for how in ("heads", "mean", "max", "rollout"):
        panel = made_up([weights, weights], masked, how)
        assert all(panel.laws().values()), how
        assert np.isfinite(panel.lines.weights).all()
        assert panel.sentence()
    assert (made_up([weights], masked).lines.weights[0, 1] == MASKED).all()
    assert (
        made_up([weights], [[True, False, False]] * 3).sentence()
        == "No token has a choice: each may look at one at most."
    )


def test_a_broken_law_is_seen():
    panel = made_up([[[1, 0, 0], [0.5, 0.4, 0], [0.5, 0.25, 0.25]]], CAUSAL)
    assert list(panel.laws().values()) == [False, True]
    panel = made_up([[[0.5, 0.5, 0], [0.5, 0.5, 0], [0.5, 0.25, 0.25]]], CAUSAL)
    assert list(panel.laws().values()) == [True, False]


def test_the_picture_opens_at_the_query_and_key_of_the_link():
    assert sent(SHORT, AttentionState(query=7, key=3))[0]["at"] == [7, 3]
    assert sent(LONG, AttentionState(query=90, key=80))[0]["at"] == [90, 80]


def test_the_sentence_is_of_the_heads_that_are_shown():
    sentences = {heads: Arcs(ModelState(), AttentionState(heads=heads)).sentence() for heads in ("", "1 4", "3")}
    assert sentences[""].startswith("Strongest of 4 heads")
    assert sentences["1 4"].startswith("Strongest of 2 heads")
    assert "Strongest of" not in sentences["3"]


@pytest.mark.parametrize(
    ("lines", "formula"),
    [
        ("heads", "softmax(scores)"),
        ("mean", "(1/H) Σₕ wₕ"),
        ("max", "maxₕ wₕ"),
        ("rollout", "A = (W + I) / 2"),
    ],
)
def test_what_a_line_is_has_its_formula(lines, formula):
    assert formula in Arcs(SHORT, AttentionState(lines=lines)).how_to_read


def test_heads_that_spread_evenly_favour_nobody():
    model = ModelState(text="a a a a", seq_len=4, positional="none")
    panel = Arcs(model, AttentionState(lines="heads"))
    assert panel.sentence() == "No pattern: every row of all 4 heads spreads its weight evenly."


def test_page_and_picture_share_the_lines():
    states = [AttentionState(layer=2, mass=mass) for mass in (50, 90)]
    assert Arcs(LONG, states[0]).lines is Arcs(LONG, states[1]).lines


def test_the_table_holds_each_head_that_is_drawn_by_its_number_and_of_a_long_text_each_line():
    model, chosen = ModelState(num_heads=4), [1, 3]
    table = Arcs(model, AttentionState(view="arcs", heads="2 4")).table()
    assert list(table.index.names) == ["head", "query \\ key"]
    weights = recorded(model)[0]
    for head in chosen:
        np.testing.assert_array_equal(table.loc[str(head + 1)], weights[head])
    long = Arcs(ModelState(text="a b c d " * 30, seq_len=120), AttentionState(view="arcs", heads="2 4"))
    sums = long.table().groupby(level=["head", "query"])["weight"].sum()
    assert set(sums.index.get_level_values("head")) == {"2", "4"}
    np.testing.assert_allclose(sums, 1, atol=1e-5)
