"""A beside B: each change against a model, or a text, that was changed by hand; words, tables and leaks."""

import copy

import numpy as np
import pytest
import torch

from tfm_core import causal_mask, encode, recording
from tfm_ui.lenses.attention.change import ChangeOutput, ChangeStream, ChangeWeights
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import passes
from tfm_ui.live.known_words import known_texts
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MODEL = ModelState(seed=5, positional="rope")
WORDS = MODEL.text.split()


def by_hand(model, words):
    """Weights of layer 2, head 1 and probabilities at the last word, of another text."""
    tokens = encode(" ".join(words), seq_len=10)
    with torch.no_grad(), recording("*.weights") as trace:
        logits = model(tokens.batch, mask=causal_mask(10))
    return trace["layers.1.self_attention.weights"][0, 0].numpy(), logits[0, len(words) - 1].softmax(-1).numpy()


def beside(changes, pinned="", model=MODEL, kind="encoder", layer=2) -> ChangeWeights:
    return ChangeWeights(model, AttentionState(kind=kind, layer=layer, changes=changes, pinned=pinned))


def all_panels(model, state) -> tuple[ChangeWeights, ChangeStream, ChangeOutput]:
    return ChangeWeights(model, state), ChangeStream(model, state), ChangeOutput(model, state)


def test_a_is_run_once_while_b_is_dragged(monkeypatch):
    runs, forward = [], passes.forward
    monkeypatch.setattr(passes, "forward", lambda *arguments: runs.append(1) or forward(*arguments))
    counted = []
    for weight in ("0.41", "0.42", "0.43"):
        assert beside(f"weight 1.1 5>2 {weight}", pinned="silence 2.3").sentence()
        counted.append(len(runs))
    assert counted == [2, 3, 4]


@pytest.mark.parametrize("head", range(1, 5))
def test_a_silenced_head_equals_a_model_whose_output_projection_does_not_read_it(head):
    silent = copy.deepcopy(transformer(MODEL.config))
    with torch.no_grad():
        silent.stack.layers[0].self_attention.output_projection.weight[:, 8 * head - 8 : 8 * head] = 0
    weights, probabilities = by_hand(silent, WORDS)
    both = beside(f"silence 1.{head}")
    np.testing.assert_allclose(both.weights[1], weights, atol=1e-6)
    np.testing.assert_allclose(both.effect.probabilities[1], probabilities, atol=1e-7)
    assert np.abs(both.difference).max() > 1e-3


def test_a_zeroed_value_equals_a_model_that_is_told_so():
    def zero(value):
        value[:, :, 3] = 0
        return value

    with torch.no_grad(), recording("logits", {"layers.0.self_attention.value": zero}) as trace:
        transformer(MODEL.config)(MODEL.source_tokens.batch, mask=causal_mask(10))
    expected = trace["logits"][0, -1].softmax(-1).numpy()
    np.testing.assert_allclose(beside("zero 1 4").effect.probabilities[1], expected, atol=1e-7)


@pytest.mark.parametrize(
    ("changes", "order"),
    [("drop 4", [0, 1, 2, *range(4, 10)]), ("drop 10", [*range(9)]), ("swap 2 5", [0, 4, 2, 3, 1, *range(5, 10)])],
)
def test_dropped_and_swapped_tokens_equal_the_text_written_so_and_rows_stay_with_their_tokens(changes, order):
    weights, probabilities = by_hand(transformer(MODEL.config), [WORDS[i] for i in order])
    both, left = beside(changes), [i in order for i in range(10)]
    np.testing.assert_allclose(both.weights[1][np.ix_(order, order)], weights[: len(order), : len(order)], atol=1e-6)
    np.testing.assert_allclose(both.effect.probabilities[1], probabilities, atol=1e-7)
    np.testing.assert_array_equal(both.there[1], np.outer(left, left))
    assert both.there[0].all()
    assert both.both.tolist() == left
    if changes == "drop 10":  # the token before it goes on
        assert [side.positions["source"].argmax() for side in both.effect.sides] == [9, 8]
        assert ChangeOutput(MODEL, both.state).sentence().startswith("At “tired” in A, “was” in B")


def test_a_replaced_token_equals_the_text_with_the_other_word():
    words = [*WORDS[:1], "dog", *WORDS[2:]]
    weights, probabilities = by_hand(transformer(MODEL.config), words)
    both = beside("replace 2 dog")
    np.testing.assert_allclose(both.weights[1], weights, atol=1e-6)
    np.testing.assert_allclose(both.effect.probabilities[1], probabilities, atol=1e-7)
    output = ChangeOutput(MODEL, AttentionState(changes="replace 10 dog; replace 2 Hund; drop 3"))
    assert (output.keys[1], output.keys[9]) == ("cat→Hund", "tired→dog")
    assert "“dog”" in output.likely[0]  # an untrained model repeats what it reads, and its name is known


def test_the_stream_moves_where_the_recordings_of_two_passes_differ():
    site = "layers.*.residual_after"
    streams = []
    for edits in ({}, {"layers.0.self_attention.head_output": lambda x: torch.cat([x[:, :1] * 0, x[:, 1:]], 1)}):
        with torch.no_grad(), recording(["layers.0.self_attention.residual_before", site], edits) as trace:
            passes.forward(MODEL)
        streams.append(torch.stack([x[0] for x in trace.values()], 1))
    both = beside("silence 1.1")
    np.testing.assert_allclose(both.effect.moved, (streams[1] - streams[0]).norm(dim=-1), atol=1e-5)
    np.testing.assert_allclose(both.effect.length, streams[0].norm(dim=-1), atol=1e-5)
    assert both.effect.places == ["start", "1 attention", "1 FFN", "2 attention", "2 FFN"]
    assert not both.effect.moved[:, 0].any()


def test_a_is_what_was_pinned():
    pinned, changed = beside("silence 1.2", pinned="drop 2"), beside("silence 1.2")
    np.testing.assert_array_equal(pinned.weights[1], changed.weights[1])
    np.testing.assert_array_equal(pinned.weights[0], beside("drop 2").weights[1])
    same = beside("silence 1.2", pinned="silence 1.2")
    assert not same.difference.any()
    assert not same.effect.moved.any()


def test_what_cannot_be_is_passed_over():
    both = beside("silence 9.9; drop 40; weight cross 1.1 1>1 0.5")
    assert not both.difference.any()
    panel = ChangeWeights(MODEL, AttentionState(changes="silence 9.9; weight cross 1.1 1>1 0.5"))
    assert panel.same
    assert panel.aside == (
        "Set aside: “silence 9.9”, as layers go from 1 to 2. "
        "Set aside: “weight cross 1.1 1>1 0.5”, as only an encoder-decoder has that."
    )


def test_changes_of_both_texts_reach_the_decoder():
    model = ModelState(architecture="encoder-decoder")
    for change in (
        "drop 2",
        "swap target 1 2",
        "drop target 2",
        "silence 2.1",
        "zero cross 1 3",
        "silence decoder 1.1",
    ):
        both = beside(change, model=model, kind="cross")
        assert np.abs(both.effect.probabilities[1] - both.effect.probabilities[0]).max() > 1e-6, change
    assert beside("drop target 2", model=model, kind="decoder", layer=1).there[1].sum() == 9


def test_the_largest_of_everything_is_named():
    weights, stream, output = all_panels(MODEL, AttentionState(changes="weight 1.1 6>2 0.9"))
    query, key = np.unravel_index(np.abs(weights.difference).argmax(), (10, 10))
    assert f"“{WORDS[query]}” looks at “{WORDS[key]}” with" in weights.sentence()
    relative = stream.effect.relative
    row, place = np.unravel_index(relative.argmax(), relative.shape)
    assert f"“{WORDS[row]}” moved by {relative[row, place]:.2f}" in stream.sentence()
    names, (a, b) = output.likely
    most = np.abs(b - a).argmax()
    before, after = formats.percents(float(a[most]), float(b[most]))
    assert before != after
    assert f"{names[most]}: {after} instead of {before}" in output.sentence()
    everything = np.abs(np.subtract(*output.effect.probabilities))
    known = sorted({i for text in known_texts(MODEL) for i in text.ids})
    assert np.abs(b - a).max() == everything[known].max()
    assert f"{formats.percent(float(everything.sum()) / 2)} of all probability" in output.sentence()


def test_where_no_token_moved_the_likeliest_are_shown_and_said_to_be():
    moved = ChangeOutput(MODEL, AttentionState(changes="weight 1.1 6>2 0.9"))
    assert moved.how_to_read.endswith("the known words that moved most.")
    assert moved.moved.any()
    still = ChangeOutput(MODEL, AttentionState(layer=2, changes="weight 2.1 6>2 0.9"))  # last layer, not last token
    assert not still.same
    assert not still.moved.any()
    assert "the output is the same in A and B" in still.sentence()
    assert still.how_to_read.endswith("the likeliest known words, as none moved.")
    known = sorted({i for text in known_texts(MODEL) for i in text.ids})
    likeliest = np.sort(still.effect.probabilities[0][known])[::-1][: len(still.likely[0])]
    np.testing.assert_array_equal(still.likely[1][0], likeliest)


def test_a_difference_is_never_said_to_be_between_equal_numbers():
    panel = ChangeWeights(MODEL, AttentionState(changes="weight 1.1 6>2 0.9; weight 1.1 5>2 0.2"))
    a, b = panel.weights[:, 5, 1]
    for near in (0.9, round(float(a), 4) + 0.001):
        sentence = ChangeWeights(MODEL, AttentionState(changes=f"weight 1.1 6>2 {near:.3f}")).sentence()
        after, before = sentence.partition(" with ")[2].partition(". ")[0].split(" instead of ")
        assert after != before
    assert a != b


# words and tables


def test_a_leak_elsewhere_is_named_by_its_head_and_others_are_counted():
    panel = ChangeWeights(ModelState(), AttentionState(changes="weight 2.2 1>10 1; weight 1.3 3>8 0.8 raw"))
    assert "✕ A leak in B, layer 2, head 2: “the” sees “tired”, which comes later; 1 other weight of B leaks too." in (
        panel.about_leak()
    )
    assert panel.laws()["masked weights of layer 1, head 1 are exactly 0 in B"]


def test_what_means_nothing_is_set_aside_with_its_reason():
    panel = ChangeWeights(
        ModelState(), AttentionState(changes="swap 2 2; drop 0; silence 0.0; drop 90; drop 91; drop 92; drop 93")
    )
    assert panel.same
    said = panel.aside
    assert "“swap 2 2”, as a token is swapped with another one." in said
    assert "“drop 0”, as tokens count from 1." in said
    assert "“silence 0.0”, as layers go from 1 to 2." in said
    assert "“drop 90”, “drop 91”, “drop 92” and 1 more, as the text has fewer tokens." in said


def test_the_example_that_the_view_opens_with_is_silently_left_out_where_it_does_not_fit():
    panel = ChangeWeights(ModelState(text="cat", seq_len=2), AttentionState())
    assert panel.same
    assert panel.aside == ""


@pytest.mark.parametrize(
    "model",
    [
        ModelState(text="hi", seq_len=2),
        ModelState(text="a a a a", seq_len=4, positional="none"),
        ModelState(text="@alice", seq_len=1024, num_layers=1),
        ModelState(architecture="encoder-decoder", text="one", target="eins", seq_len=3),
    ],
    ids=["one token", "equal tokens", "1024 tokens", "one token each"],
)
@pytest.mark.parametrize("changes", ["", "silence 1.1", "zero 1 1; drop 1; swap 1 2", "weight 1.1 1>1 0.3"])
def test_every_text_has_sentences_tables_and_laws(model, changes):
    weights, stream, output = all_panels(model, AttentionState(changes=changes))
    assert all([weights.sentence(), stream.sentence(), output.sentence()])
    assert all(weights.laws().values()) == (not changes.startswith("weight"))  # its row has no other key
    assert len(stream.table()) == len(stream.queries)
    assert weights.table().notna().all().all()
    assert not output.table().empty


def test_a_lone_weight_that_is_lowered_leaves_a_row_that_is_not_whole():
    panel = ChangeWeights(ModelState(), AttentionState(changes="weight 1.1 1>1 0.3"))
    assert (
        "every row of layer 1, head 1 sums to 1 in B (“the” sums to 0.30, with no other key to make up for it)"
        in panel.laws()
    )
    assert (
        "every row of layer 1, head 1 sums to 1 in B"
        in ChangeWeights(ModelState(), AttentionState(changes="weight 1.1 5>1 0.3")).laws()
    )


# leaks: weights that changes put where the mask hides


@pytest.mark.parametrize("raw", ["", " raw"])
def test_a_leak_is_measured_by_what_the_later_token_does_to_the_earlier(raw):
    panel = ChangeWeights(MODEL, AttentionState(changes=f"weight 1.2 3>8 0.5{raw}", head=2))
    both = panel
    assert both.effect.leak is not None
    assert both.effect.leak.moved > 0.01
    assert panel.crosses() == [(1, 2, 7), (2, 2, 7)]
    sums, masked = panel.laws().items()
    assert sums[1] is not bool(raw)
    assert masked == ("masked weights of layer 1, head 2 are exactly 0 in B (1 not)", False)
    assert "“sat” sees “it”, which comes later" in panel.sentence()
    assert f"{formats.percent(both.effect.leak.moved)}" in panel.sentence()


def test_a_leak_of_a_silent_head_carries_nothing():
    panel = ChangeWeights(MODEL, AttentionState(changes="weight 1.2 3>8 0.5; silence 1.2", head=2))
    assert panel.effect.leak.moved < 1e-6
    assert "moves the output at “sat” by nothing" in panel.about_leak()


@pytest.mark.parametrize(
    ("kind", "change", "leaks"),
    [
        ("encoder", "weight 1.1 1>3 0.5", False),
        ("decoder", "weight decoder 1.1 1>3 0.5", True),
        ("cross", "weight cross 1.1 1>3 0.5", False),
        ("encoder", "weight decoder 1.1 1>3 0.5", True),
    ],
)
def test_only_what_must_not_look_ahead_can_leak(kind, change, leaks):
    model = ModelState(architecture="encoder-decoder")
    panel = ChangeWeights(model, AttentionState(kind=kind, changes=change))
    assert bool(panel.effect.leak) is leaks
    if leaks and kind == "decoder":
        assert panel.effect.leak.moved > 0
    free = ChangeWeights(ModelState(causal=False), AttentionState(changes="weight 1.1 1>3 0.5"))
    assert not free.effect.leak
