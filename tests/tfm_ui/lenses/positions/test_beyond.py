"""The view "beyond" of the Positions lens: what is drawn and said is what was measured."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.position_toys import MODEL, asks
from tests.tfm_ui.pictures.charts import by_heading, gaps, ranges
from tfm_core import sinusoidal_encoding
from tfm_core.study.position_laws import drawn_pair
from tfm_core.training.folder import Folder
from tfm_core.training.outcomes import outcome_store
from tfm_ui.lenses.positions import LENS
from tfm_ui.lenses.positions.beyond import Beyond, BeyondScores, BeyondTurns, as_trained, measured
from tfm_ui.lenses.positions.controls import sliders
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState


def test_past_max_len_a_learned_table_has_nothing_and_says_so():
    state = asks("learned", "sinusoidal", view="beyond")
    result = Beyond(MODEL, state)
    assert "A: learned: positions 12 to 19 are not defined" in result.sentence()
    table = result.table()
    assert (table["A: learned, norm"][12:] == "not defined").all()
    learned = schemes(MODEL, state)[0].module.encode(12)
    assert [float(x) for x in table["A: learned, norm"][:12]] == pytest.approx(learned.norm(dim=1).tolist())
    assert list(table["max_len"]) == ["within"] * 12 + ["beyond"] * 8
    header, _ = Beyond.content(MODEL, state)
    assert gaps(header) == {"A: learned": (list(range(12, 20)), ["not defined"] * 8)}
    assert ranges(header) == {"beyond max_len: A: learned not defined": (11.5, 19)}
    drawn_lines = by_heading(header)
    assert np.isnan(drawn_lines["norm", "A: learned"][1][12:]).all()
    assert np.isfinite(drawn_lines["norm", "B: sinusoidal"][1]).all()
    rows = sinusoidal_encoding(20, 6)
    np.testing.assert_allclose(
        drawn_lines["dot product with position 11", "B: sinusoidal"][1], rows @ rows[11], atol=1e-5
    )
    assert "position 12 is not defined" in Beyond(MODEL, asks("learned", length=13)).sentence()
    assert Beyond(MODEL, asks("learned", length=12)).undefined == ""


@pytest.mark.parametrize(
    ("state", "note"),
    [
        (asks("learned", "rope"), ""),
        (asks("learned", "rope", length=9), "All 9 positions lie within max_len = 12: raise Length beyond it."),
        (asks("learned", "none"), "B: none adds nothing and turns nothing: there is nothing to run out of."),
        (asks("none", length=9), "A: none adds nothing and turns nothing: there is nothing to run out of."),
    ],
)
def test_a_note_says_what_there_is_nothing_to_see_of(state, note):
    shown = LENS.blocks(MODEL, replace(state, view="beyond"))
    assert [block.text for block in shown if isinstance(block, Note)] == ([note] if note else [])


def test_scores_past_max_len_go_on_as_their_schemes_promise():
    state = asks("alibi", "t5", view="beyond", length=400, head=3)
    result = BeyondScores(MODEL, state)
    (_, _, alibi), (t5, _, bias) = result.sides
    assert alibi[19].item() == pytest.approx(-19 * 2**-2, rel=1e-6)  # heads 3: slopes 2^-4, 2^-8, 2^-2
    first = t5.module.shared_from
    assert first == 91  # of 16 buckets a side: 8 of one distance each, 8 for 8 to 128
    assert "at distance 11, the farthest within max_len, and" in result.sentence()
    assert len(set(bias[first:].tolist())) == 1
    assert bias[first - 1] != bias[first]
    assert f"Keys from distance {first} on share one bucket" in result.sentence()
    assert all(result.laws().values())
    decoder = BeyondScores(replace(MODEL, architecture="decoder"), state).sides[1][0].module
    assert decoder.shared_from == 113
    assert "None on screen is as far" in BeyondScores(MODEL, replace(state, length=20)).sentence()


def test_scores_of_turned_vectors_are_the_paper_s():
    state = asks("rope", view="beyond", base=33.0)
    query, key = (x.double() for x in drawn_pair(6, 11))
    at = torch.arange(20.0, dtype=torch.float64)
    (_, _, values), vectors = *BeyondScores(MODEL, state).sides, *Beyond(MODEL, state).sides
    pairs = torch.complex(query[:3], query[3:]) * torch.complex(key[:3], key[3:]).conj()
    theta = 33.0 ** (-torch.arange(3, dtype=torch.float64) / 3)

    def score(distance):  # Su et al. 2021, equation 12
        return (pairs * torch.exp(1j * distance[:, None] * theta)).real.sum(1).float()

    torch.testing.assert_close(values, score(at), atol=2e-5, rtol=0)
    assert vectors.alike is None  # a turned vector past max_len is not new: only a longer distance is
    header, _ = Beyond.content(MODEL, state)
    assert [heading for heading, _ in by_heading(header)] == ["norm"]


def test_pairs_that_have_not_come_round_are_counted():
    state = asks("rope", "sinusoidal", view="beyond", width=64, max_len=48, length=64)
    waves = [2 * math.pi * 10000 ** (2 * i / 64) for i in range(32)]
    slow = sum(wave > 47 for wave in waves)
    result = BeyondTurns(MODEL, state)
    assert f"A: rope and B: sinusoidal: of 32 waves, {slow} (" in result.sentence()
    assert f", pairs {32 - slow} to 31) have not completed" in result.sentence()
    assert result.sides[0][1].tolist() == pytest.approx(waves)
    fast = BeyondTurns(MODEL, replace(state, width=2, max_len=3000, length=4000))
    assert "1 wave, and it has completed a turn at position 2999, the last within max_len." in fast.sentence()
    old, new = (last * 360 / waves[-1] for last in (47, 63))
    assert f"the slowest gets from {old:.3f}° to {new:.3f}° at position 63." in result.sentence()
    assert (np.diff([position * 360 / waves[-1] for position in range(64)]) > 0).all()  # it turns further and further


def test_nothing_is_said_to_be_trained_as_no_model_here_is():
    for view in (Beyond, BeyondScores, BeyondTurns):
        for a, b in (("sinusoidal", "learned"), ("rope", "t5"), ("alibi", "none")):
            for length in (10, 20):
                assert "trained" not in view(MODEL, asks(a, b, view="beyond", length=length)).sentence()


def test_of_trained_weights_max_len_is_the_length_that_they_were_trained_on(monkeypatch, tmp_path):
    # What was compared on this machine is not looked at.
    monkeypatch.setattr(outcome_store().shelf, "place", Folder(tmp_path))
    monkeypatch.setattr(outcome_store(), "_memory", {})
    model, state = ModelState(weights="majority"), asks("learned", "rope", view="beyond", length=64, max_len=12)
    assert model.trained
    length = model.trained.about.length
    result = Beyond(model, state)
    assert result.state.max_len == BeyondScores(model, state).state.max_len == BeyondTurns(model, state).state.max_len
    assert result.state.max_len == length != state.max_len
    assert f"positions {length} to 63 are not defined" in result.sentence()
    header, _ = Beyond.content(model, state)
    assert ranges(header) == {"beyond max_len: A: learned not defined": (length - 0.5, 63)}
    assert as_trained(MODEL, state) == state
    assert "max_len" not in {knob.label for knob in sliders(model, state)}
    assert "max_len" in {knob.label for knob in sliders(MODEL, state)}
    said = measured(model, state)
    assert f"learned has 100% of the answers right at {length} tokens, not defined at {4 * length}" in said
    assert measured(MODEL, state) == ""
