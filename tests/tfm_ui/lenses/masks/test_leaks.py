"""The view "leaks": what it measures, says and draws."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.payloads import decode
from tfm_core import Influence, causal_mask, window_mask
from tfm_ui.lenses.masks.leaks import plan as leaks_plan
from tfm_ui.lenses.masks.leaks.measured import LeaksPanel
from tfm_ui.lenses.masks.leaks.moved import Leaks, LeaksDistance, LeaksLayers
from tfm_ui.lenses.masks.masked_passes import forward_under_mask, precise, stream, streams
from tfm_ui.lenses.masks.state import PROMISES, MasksState
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.state.model_state import ModelState

LEAKY = MasksState(view="leaks", mask="causal 1 and padding", promise="causal and padding", item=1)
FREE = ModelState(causal=False)
TWO = ModelState(architecture="encoder-decoder", num_layers=2)
CASES = {
    "leaky": (FREE, LEAKY),
    "padding": (FREE, MasksState(mask="window 2 or global 1 and padding", promise="window 3")),
    "painted": (ModelState(seq_len=6), MasksState(mask="causal", paint="~s1.5~h4.1", item=1)),
    "as painted": (ModelState(seq_len=6), MasksState(mask="causal", paint="~s1.5~h4.1", item=1, promise="as painted")),
    "decoder": (
        ModelState(architecture="decoder", norm="post", positional="rope"),
        MasksState(mask="prefix 3", item=1),
    ),
    "two, decoder": (TWO, MasksState(place="decoder", mask="window 2", paint="~s1.4")),
    "two, cross": (TWO, MasksState(place="cross", mask="window 8 and padding", promise="padding", changed=2, moved=4)),
    "bytes": (ModelState(tokenizer="byte", seq_len=12), MasksState(mask="documents 3 4", item=2, tries=8)),
}


def instead(measured: Leaks, moved: torch.Tensor) -> Leaks:
    """The panel, had this been measured."""
    panel = Leaks(measured.model, measured.state)
    vars(panel)["influence"] = Influence(moved, measured.influence.largest)
    return panel


@pytest.mark.parametrize("case", CASES)
def test_what_moved_is_what_the_mask_lets_pass_and_leaks_are_what_was_not_allowed(case):
    measured = Leaks(*CASES[case])
    np.testing.assert_array_equal(measured.moves, measured.within)
    np.testing.assert_array_equal(measured.leaking, measured.within[-1] & ~measured.allowed[-1])
    assert (measured.moved[~measured.within] < measured.influence.tolerance / 50).all()


@pytest.mark.parametrize("case", CASES)
def test_the_script_gives_the_numbers_shown(case):
    measured, scope = Leaks(*CASES[case]), {}
    exec(measured.recipe(), scope)
    moved = scope["moved"].movedim(1, 0).numpy()
    np.testing.assert_allclose(moved, measured.moved, rtol=1e-9, atol=measured.influence.tolerance)
    np.testing.assert_array_equal(scope["allowed"].T.numpy(), measured.allowed[-1])
    np.testing.assert_array_equal(scope["leaking"].numpy(), measured.leaking)


def test_the_streams_are_those_of_a_pass_under_the_mask():
    for case in ("leaky", "padding", "decoder", "two, decoder", "two, cross"):
        under = Leaks(*CASES[case]).setting
        tokens = under.keys.batch
        layer = under.model.num_layers - 1
        site = stream(under.model, layer)
        _, trace = forward_under_mask(under, [site], model=precise(under.model.config))
        torch.testing.assert_close(streams(under)(tokens)[:, layer], trace[site], rtol=1e-12, atol=1e-12)


def test_padding_may_be_changed_and_only_a_padding_mask_keeps_it_to_itself():
    law = "another token in place of a PAD moves no output of a real token"
    for mask, kept in (("padding", True), ("", False), ("causal", True), ("window 2", False)):
        measured = Leaks(FREE, MasksState(mask=mask))
        (holds,) = [value for name, value in measured.laws().items() if name.startswith(law)]
        assert holds is kept
    assert not any(name.startswith(law) for name in Leaks(FREE, LEAKY).laws())


def test_a_leak_is_named_with_its_tokens_its_size_and_its_way():
    measured = Leaks(FREE, LEAKY)
    row, column = measured.worst
    assert measured.moved[-1, row, column] == measured.moved[-1][measured.leaking].max()
    sentence = measured.sentence()
    assert sentence.startswith(f"Leak: output {column + 1} “{measured.columns[column]}” moves by up to ")
    assert f"when token {row + 1} “{measured.rows[row]}” changes" in sentence
    assert "17 leaks in all, this is the largest." in sentence
    locked = Leaks(FREE, replace(LEAKY, changed=5, moved=3)).sentence()
    assert "Its path: token 5 “the₂” → output 4 “on” in layer 1 → output 3 “sat” in layer 2." in locked
    assert locked.endswith("What is allowed leaves out the steps in layer 1 and layer 2.")


def test_ways_through_an_encoder_and_cross_attention_are_named_too():
    measured = Leaks(*CASES["two, cross"])
    sentence = measured.sentence()
    assert "Locked: source token 2 “dog” moves output 4 “müde” by" in sentence
    way = "source token 2 “dog” → encoder output 3 “barked” in encoder layer 1 → output 4 “müde” in layer 1"
    assert f"{way} (cross-attention)." in sentence


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            MasksState(mask="causal", item=1),
            r"^No leak: all 55 allowed pairs moved; the 45 forbidden ones (moved by rounding only, at most \d|did not)",
        ),
        (
            MasksState(mask="", item=1),
            "^No leak is possible, as every pair is allowed: all 100 allowed pairs moved",
        ),
        (
            MasksState(mask="window 1", promise="padding", item=1),
            "Allowed pairs that did not move: 90 because the mask forbids more",
        ),
        (
            MasksState(mask="causal", item=1, changed=5, moved=2),
            "Locked: token 5 “the₂” does not move output 2 “cat”, because the masks leave no path.$",
        ),
        (MasksState(mask="causal", item=1, changed=2, moved=2), "token 2 “cat” stays where it is, in the residual str"),
        (
            MasksState(mask="window 1", item=1, paint="~s1.2"),
            "when token 2 “cat” changes, which the masks as composed forbid",
        ),
    ],
)
def test_sentences(state, said):
    assert re.search(said, Leaks(FREE, state).sentence())


@pytest.mark.parametrize(
    ("rounding", "said"), [(0.0, "did not move at all."), (1e-16, "moved by rounding only, at most 4×10⁻¹⁶.")]
)
def test_what_rounding_did_is_said_whatever_the_processor_makes_of_it(rounding, said):
    measured = Leaks(ModelState(seq_len=2, num_layers=1), MasksState(mask="causal", item=1))
    moved = measured.influence.moved.clone()
    moved[1, :, 0] = rounding * measured.influence.largest  # the one pair not allowed: a later token moves an output
    exact = instead(measured, moved)
    assert f"; the 1 forbidden one {said}" in exact.sentence()


def test_a_pair_that_moves_by_rounding_alone_is_not_said_to_move():
    measured = Leaks(FREE, MasksState(mask="causal", item=1, changed=2, moved=5))
    faint = instead(measured, measured.influence.moved * 1e-15)
    assert "token 2 “cat” moves output 5 “the₂” by no more than rounding (" in faint.sentence()
    assert "55 because what arrives is too small to tell from rounding" in faint.sentence()


def test_laws_are_broken_by_a_model_that_does_not_obey_its_mask():
    measured = Leaks(FREE, MasksState(mask="padding"))
    assert len(measured.laws()) == 3
    assert all(measured.laws().values())
    wild = instead(measured, torch.ones_like(measured.influence.moved))
    assert not any(wild.laws().values())
    unmasked = Leaks(FREE, MasksState(mask="", item=1))  # nothing is kept apart, all is allowed
    assert unmasked.laws() == {}


@pytest.mark.parametrize("paint", ["~s2.9", "2x9.TAAAACQ"])  # as it is drawn, and as a link holds it
def test_a_painted_cell_plants_a_leak(paint):
    measured = Leaks(ModelState(), MasksState(mask="causal", paint=paint, item=1))
    assert "13 leaks in all, this is the largest." in measured.sentence()
    assert "What is allowed leaves out the step in layer 1." in measured.sentence()
    assert not measured.laws()["every output that moved was allowed to (13 leaks)"]


def test_one_leak_is_the_only_one():
    measured = Leaks(ModelState(num_layers=1), MasksState(mask="causal", paint="~s1.9", item=1))
    assert measured.leaking.nonzero() == ([8], [0])
    assert ", the only leak." in measured.sentence()


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_is_a_mask_of_the_list(promise):
    measured = Leaks(FREE, MasksState(mask="window 2", paint="~s1.9", promise=promise, item=1))
    wide, causal = window_mask(10, window=3), causal_mask(10)
    by_hand = {"padding": torch.ones_like(causal), "causal": causal, "causal and padding": causal, "window 3": wide}
    by_hand["as composed"] = window_mask(10, window=2)
    by_hand["as painted"] = by_hand["as composed"].clone()
    by_hand["as painted"][0, 8] = True
    assert torch.equal(measured.promise, by_hand[promise])
    assert measured.leaking.any() == (promise not in ("as painted", "padding"))


def test_nothing_to_attend_to_leaves_every_output_its_own_token():
    hidden = "".join(f"~h{row}.{column}" for row in range(1, 5) for column in range(1, 5))
    measured = Leaks(ModelState(seq_len=4), MasksState(mask="", paint=hidden, item=1))
    np.testing.assert_array_equal(measured.moves[-1], np.eye(4, dtype=bool))


def test_distances_are_those_of_the_pairs_that_moved():
    for case in ("leaky", "padding", "painted", "two, decoder"):
        measured = LeaksDistance(*CASES[case])
        real = len(measured.setting.queries.pieces)
        for name, sign in (("back", 1), ("ahead", -1)):
            for pairs, farthest in zip((measured.allowed, measured.moves), measured.reaches[name], strict=True):
                places = [np.nonzero(layer[:real, :real]) for layer in pairs]
                assert farthest == [max([0, *(sign * (j - i))]) for i, j in places]
        distances, largest = measured.effects["largest"]
        for distance, value in zip(distances, largest, strict=True):
            assert value == measured.moved[-1][:real, :real].diagonal(distance).max()


def test_a_window_reaches_so_far_and_that_is_a_law():
    for mask in ("window 3", "window 2 and causal and padding", "causal and window 1"):
        (law,) = LeaksDistance(ModelState(num_layers=3, causal=False), MasksState(mask=mask)).laws().items()
        assert law[1]
    for mask in ("window 3 or global 1", "window 2 and strided 3", "causal", "", "window 2 and window 3"):
        assert LeaksDistance(FREE, MasksState(mask=mask)).laws() == {}


def maps_of(header, numbers):
    return np.frombuffer(numbers, np.float32).reshape(
        len(header["maps"]), len(header["rows"]["names"]), len(header["columns"]["names"])
    )


def test_the_picture_tells_leaks_allowed_pairs_and_what_was_not_allowed_apart():
    state = MasksState(view="leaks", mask="causal 1 and padding", promise="window 3", item=2, changed=2, moved=3)
    measured = Leaks(FREE, state)
    header, numbers = decode(made("masks_leaks", query_of(((FREE, ""), (state, "masks_")))))
    drawn, promised = maps_of(header, numbers)
    moves, kept = measured.moves[-1], measured.allowed[-1]
    np.testing.assert_array_equal(np.isnan(drawn), ~moves & ~kept)
    np.testing.assert_array_equal(np.isposinf(drawn), ~moves & kept)
    np.testing.assert_array_equal(drawn[moves], measured.moved[-1][moves].astype(np.float32))
    np.testing.assert_array_equal(np.isnan(promised), ~kept)
    leaks = set(zip(*np.nonzero(measured.leaking), strict=True))
    assert {(row, column) for _, row, column in header["crosses"]} == leaks
    first = set(promised[kept])
    assert first == {1, 2}
    assert header["picked"] == [1, 2]
    scale = header["maps"][0]
    assert scale["low"] < drawn[moves].min() <= drawn[moves].max() <= scale["high"]
    assert np.log10([scale["low"], scale["high"]]).round(9).tolist() == [
        int(np.floor(np.log10(measured.moved[measured.moves].min()))),
        int(np.ceil(np.log10(measured.moved[measured.moves].max()))),
    ]


def test_more_leaks_than_a_picture_marks_are_the_largest_and_that_is_said(monkeypatch):
    monkeypatch.setattr(LeaksPanel, "most_marked", 6)
    header, _ = Leaks.content(FREE, LEAKY)
    measured = Leaks(FREE, LEAKY)
    crossed = [measured.moved[-1][row, column] for _, row, column in header["crosses"]]
    assert crossed == sorted(measured.moved[-1][measured.leaking], reverse=True)[:6]
    assert "17 leaks in all, this is the largest, and 6 are crossed out." in measured.sentence()
    header, _ = LeaksLayers.content(FREE, LEAKY)
    assert [sum(at[0] == layer for at in header["crosses"]) for layer in (0, 1)] == [3, 3]
    assert header["about"].endswith("Of the leaks after a layer 3 at most are crossed out.")


@pytest.mark.parametrize(
    ("mask", "promise", "verdict"),
    [
        ("causal", "as composed", "No leak from these tokens: all "),
        ("", "causal", r"Leak: .*; [\d,]+ leaks from these tokens, this is the largest"),
        ("", "as composed", "No leak is possible from these tokens, as every pair is allowed: all "),
    ],
)
def test_each_sentence_of_a_part_of_the_tokens_says_that_it_is_of_a_part(mask, promise, verdict, monkeypatch):
    monkeypatch.setattr(leaks_plan, "SECONDS", 1e-5)
    part = Leaks(ModelState(text="@alice", seq_len=70, causal=False), MasksState(mask=mask, promise=promise, item=1))
    assert len(part.plan.places) == 4
    of_part = "Of 70 tokens 4 were changed. "
    assert re.match(of_part + verdict, part.sentence())
    for panel in (LeaksLayers, LeaksDistance):
        assert panel(part.model, part.state).sentence().startswith(of_part)
    two = ModelState(text="@alice", seq_len=70, architecture="encoder-decoder")
    cross = Leaks(two, MasksState(mask=mask, promise=promise, place="cross", item=1))
    assert cross.sentence().startswith("Of 70 source tokens 4 were changed. ")
    for panel in (Leaks, LeaksLayers, LeaksDistance):
        whole = panel(ModelState(causal=False), MasksState(mask=mask, promise=promise, item=1))
        assert "were changed" not in whole.sentence()
        assert "these tokens" not in whole.sentence()
