"""The mask doctor: what is drawn and said of masks as people have them, and the way into Masks."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.tfm_core.clinic.test_read_text import npy
from tests.tfm_ui.store.empty import empty_store
from tfm_core.clinic import read
from tfm_core.clinic.findings import findings
from tfm_core.clinic.reading import Reading
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_ui.lenses.clinic import uploads
from tfm_ui.lenses.clinic.mask import Doctor
from tfm_ui.lenses.clinic.questions import hidden_when_added, rows_without_a_key
from tfm_ui.lenses.clinic.readings import NOTHING, reading_of
from tfm_ui.lenses.clinic.state import ClinicState
from tfm_ui.lenses.clinic.to_masks import model_for, square, views_for, why_not
from tfm_ui.lenses.clinic.uploads import File
from tfm_ui.lenses.masks.conventions.chosen import Handed, Ours
from tfm_ui.lenses.masks.state import MasksState, setting
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.paint import whole
from tfm_ui.text.csv_file import csv_of

CAUSAL = np.tri(6, dtype=bool)
MODEL = ModelState()


def brought(data: bytes | str, name: str = "", **state) -> Doctor:
    """What the lens shows of a text, or of an uploaded file."""
    if isinstance(data, str):
        return Doctor(MODEL, ClinicState(pasted=data, **state))
    with empty_store(uploads):
        panel = Doctor(MODEL, ClinicState(pasted="", upload=uploads.keep(File(name, data), "Ada"), **state))
        assert panel.is_there, panel.reading
    return panel


def drawn(panel: Doctor) -> tuple[np.ndarray, ...]:
    """The maps of its picture."""
    header, numbers = panel.picture()
    rows, columns = len(header["rows"]["names"]), len(header["columns"]["names"])
    return tuple(np.asarray(numbers, np.float32).reshape(-1, rows, columns))


def test_a_mask_is_drawn_as_it_came_and_as_it_is_meant():
    came, meant = drawn(brought("0 -inf 0.5\n0 0 -1e9\n0 0 0"))
    np.testing.assert_array_equal(np.isnan(came), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(meant, [[1, 0, 1], [1, 1, 0], [1, 1, 1]])
    came, meant = drawn(brought(repr(torch.ones(4, 4).triu(1).bool())))
    np.testing.assert_array_equal(came, 1 - meant)


def test_weights_are_drawn_as_numbers_and_a_table_is_chosen():
    weights = torch.randn(2, 1, 3, 6, 6).masked_fill(~torch.tensor(CAUSAL), -torch.inf).softmax(-1).numpy()
    for number, (layer, head) in enumerate([(0, 0), (0, 1), (0, 2), (1, 0)], 1):
        panel = brought(npy(weights), "a.npy", table=number)
        (values,) = drawn(panel)
        np.testing.assert_array_equal(values, weights[layer, 0, head])
        assert f"layer {layer + 1} of 2, head {head + 1} of 3" in panel.sentence()
    last = brought(npy(weights), "a.npy", table=64)
    np.testing.assert_array_equal(drawn(last)[0], weights[1, 0, 2])


def test_the_reader_overrules_the_reading():
    text = repr(torch.tensor(CAUSAL))
    np.testing.assert_array_equal(drawn(brought(text))[1], CAUSAL)
    np.testing.assert_array_equal(drawn(brought(text, meaning="ignore"))[1], ~CAUSAL)


@pytest.mark.parametrize("text", ["no mask", "1 0\n1", "[[1, ...]]", "nan", "", "<b>a</b>"])
def test_what_cannot_be_read_is_told_and_nothing_is_drawn(text):
    panel = brought(text)
    assert not panel.is_there
    assert not panel.picture_name
    assert isinstance(panel.reading, str)
    assert panel.reading.endswith(".")
    header, _ = panel.picture()
    assert header["about"] == panel.reading
    assert (panel.reading == NOTHING) == (not text)


@given(mask=arrays(bool, (10, 10)), name=st.sampled_from(sorted(CONVENTIONS)))
def test_what_masks_writes_is_read_back(mask, name):
    """The law of the downloads of Masks: each says what it holds, so that nothing has to be guessed."""
    model = ModelState(causal=False)
    state = MasksState(mask="", paint=whole(mask), item=1, convention=name, texts="")
    ours, handed = Ours(model, state), Handed(model, state)
    reading = read(csv_of(ours.table()).encode(), name="a.csv")
    assert reading.alternatives == ("attend",)
    np.testing.assert_array_equal(reading.visible[0], ours.mask[ours.at].numpy())
    reading = read(csv_of(handed.table()).encode(), name="a.csv")
    np.testing.assert_array_equal(reading.tables[0], handed.slice()[0])
    said = ours.convention.back(ours.handed, tuple(ours.mask.shape), model.num_heads)[ours.at].numpy()
    ahead = np.tri(10, dtype=bool) if name == "HF, causal model" else True  # which that call adds by itself
    np.testing.assert_array_equal(np.broadcast_to(reading.visible[0] & ahead, said.shape), said)
    again = brought(csv_of(handed.table())).table()
    np.testing.assert_array_equal(read(csv_of(again).encode()).visible[0], reading.visible[0])


@given(mask=arrays(bool, st.tuples(st.just(7), st.just(7))))
def test_the_way_into_masks_sets_this_mask_over_as_many_tokens(mask):
    assert why_not(mask) == ""
    model, state = model_for(mask, ()), MasksState(paint=whole(mask), item=1, texts="")
    np.testing.assert_array_equal(setting(model, state).mask.numpy(), mask)


def test_the_tokens_of_a_file_are_the_text():
    assert model_for(np.tri(3, dtype=bool), ("der", "Hund", "bellt")).text == "der Hund bellt"
    assert len(model_for(np.tri(3, dtype=bool), ("a b", "?", "x")).text.split()) == 3


def test_a_mask_of_padding_holds_for_all_queries():
    np.testing.assert_array_equal(square(np.array([[True, True, False]])), [[1, 1, 0]] * 3)


@pytest.mark.parametrize("mask", [np.array([[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]], bool), np.tri(65, dtype=bool)])
def test_where_there_is_no_way_the_reason_is_said(mask):
    assert why_not(mask).endswith(".")


def test_questions_measure_what_torch_does():
    floats = ClinicState()
    assert hidden_when_added(MODEL, floats) == 0
    hidden = ClinicState(pasted=repr(torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), -torch.inf)))
    assert hidden_when_added(MODEL, hidden) == 6
    assert rows_without_a_key(MODEL, ClinicState(pasted="■ ⬚\n⬚ ⬚")) == 1
    assert rows_without_a_key(MODEL, ClinicState(pasted="nothing")) == 0


def test_the_reading_is_kept_and_a_failure_is_not():
    state = ClinicState(pasted="1 0\n1 1")
    assert isinstance(reading_of(state), Reading)
    assert reading_of(state) is reading_of(ClinicState(pasted="1 0\n1 1", table=2))


def test_a_mask_of_padding_opens_a_text_with_padding_and_empty_rows_their_view():
    padding = square(np.array([[True, True, True, False, False]]))
    model = model_for(padding, ())
    assert (model.length, model.source_tokens.padding) == (5, 2)
    assert views_for(padding) == ["leaks", "padding", "see"]
    empty = np.tri(4, dtype=bool)
    empty[2] = False
    assert views_for(empty) == ["leaks", "without_key", "see"]
    assert views_for(np.tri(4, dtype=bool)) == ["leaks", "see"]


def test_words_that_are_no_mask_are_told_what_a_mask_would_be():
    reading = reading_of(ClinicState(pasted="loss is NaN from the first step"))
    assert isinstance(reading, str)
    assert "Paste a mask, or the line of code that makes it" in reading


def test_a_fault_in_the_code_is_mended_there_and_its_rows_are_not_opened():
    made = findings(read("mask = (src != 0).unsqueeze(1).unsqueeze(3)"))
    assert made[0].fixes
    empty = next(finding for finding in made if "no key" in finding.title)
    assert not empty.fixes
    assert empty.consequence.startswith("This follows from the fault in the code")
