"""Attention weights from a file, without a browser: the box, the link, and pages that open it again."""

import json

import numpy as np
import pytest
import streamlit as st

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import NO_PASS, PAGES
from tests.pages.test_app import HEADS, parameter, plain, shown, start, text_on
from tests.tfm_ui.given_weights import given, npy, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.page import array_upload, weights_control
from tfm_ui.state import array_files, arrays
from tfm_ui.state.arrays import GONE, WEIGHTS_ALONE

WEIGHTS = softmaxed(2, 3, 4, 5, 5)
MIME = "application/octet-stream"


@pytest.fixture(autouse=True)
def kept():
    array_files.forget()
    with empty_store(array_files) as opened:
        yield opened


@pytest.fixture
def with_box(monkeypatch):
    """The box below the list of weights."""
    draw = weights_control.draw

    def opened(where):
        st.session_state[weights_control.OPEN] = True
        draw(where)

    monkeypatch.setattr(weights_control, "draw", opened)


def box(app):
    return next(each for each in app.file_uploader if each.key == array_upload.UPLOAD)


def typed(app):
    return next(each for each in app.text_input if each.key == array_upload.TOKENS)


def badge(app):
    return [block.proto.popover.label for block in app.get("popover") if "·" in block.proto.popover.label]


def test_a_file_becomes_a_link_that_shows_it_again(with_box):
    app = start(text="hello you", seed="3")
    before = shown(app)
    box(app).upload("mine.npy", npy(WEIGHTS), MIME).run()
    assert not app.exception
    name = parameter(app, "weights")
    assert arrays.is_name(name)
    assert badge(app) == ["Attention weights from a file · 2 × 4"]
    np.testing.assert_array_equal(shown(app), WEIGHTS[0, 0, 0])
    assert "out of the file mine.npy" in text_on(app)
    assert any("Whoever has the link of this page sees the attention weights" in each.value for each in app.caption)
    again = start(weights=name, heads_layer="2", heads_head="3")  # another session
    np.testing.assert_array_equal(shown(again), WEIGHTS[1, 0, 2])
    assert "out of the file mine.npy" in text_on(again)
    (choice,) = [each for each in app.number_input if each.label == "Sentence of the batch"]
    choice.set_value(3).run()
    assert parameter(app, "weights") == f"{name}-3"
    np.testing.assert_array_equal(shown(app), WEIGHTS[0, 2, 0])
    app.button(key="_undo").click().run()
    assert parameter(app, "weights") == name
    app.button(key="_undo").click().run()
    np.testing.assert_array_equal(shown(app), before)
    assert not app.exception


def test_tokens_come_from_the_file_or_are_typed_and_their_number_must_be_right(with_box):
    app = start()
    values = {"attentions": WEIGHTS[:, 0].tolist(), "tokens": ["a", "b", "c", "d", "e"]}
    box(app).upload("mine.json", json.dumps(values).encode(), "application/json").run()
    name = parameter(app, "weights")
    assert arrays.known(name).named == ("a", "b", "c", "d", "e")
    typed(app).set_value("one two three").run()
    assert plain(app.error[0].value) == "mine.json: expected 5 tokens, one for each key of the file; got 3"
    assert parameter(app, "weights") == name
    typed(app).set_value("one two  three four five").run()
    assert not app.error
    assert arrays.known(parameter(app, "weights")).named == ("one", "two", "three", "four", "five")
    assert not app.exception


@pytest.mark.parametrize(
    ("file", "data", "sentence"),
    [
        ("mask.npy", npy(np.tri(4)), "the Masks lens reads it"),
        ("scores.npy", npy(np.full((3, 3), -1.0)), "these are scores or logits"),
        ("cross.npy", npy(softmaxed(3, 4)), "expected self-attention"),
        ("model.pkl", b"\x80\x04.", "a pickle"),
        ("notes.txt", b"hello", "expected a .npy, .npz, .safetensors or JSON file"),
    ],
)
def test_what_is_wrong_is_a_sentence_beside_the_box_and_nothing_is_lost(with_box, file, data, sentence):
    app = start(seed="3", text="hello you")
    before = shown(app)
    box(app).upload(file, data, MIME).run()
    assert not app.exception
    assert plain(app.error[0].value).startswith(f"{file}: expected")
    assert sentence in plain(app.error[0].value)
    np.testing.assert_array_equal(shown(app), before)
    assert "weights" not in app.query_params
    box(app).set_value(None).run()
    assert not app.error


@pytest.mark.parametrize("page", [page for page in PAGES if page not in NO_PASS])
def test_every_page_shows_the_weights_or_says_that_they_are_all(page):
    app = start(page, weights=given(WEIGHTS, item=1).weights)
    if page == HEADS:
        np.testing.assert_array_equal(shown(app), WEIGHTS[0, 1, 0])
    elif page == "home":
        assert text_on(app).count(WEIGHTS_ALONE) >= 4
    else:
        assert WEIGHTS_ALONE in [plain(each.value) for each in app.info]
        assert "asks about other settings" in text_on(app)
    assert not {"d_model 8", "seed 0"} & {*badge(app)}
    go_to(app, HEADS).run()
    assert badge(app) == ["Attention weights from a file · 2 × 4"]


@pytest.mark.parametrize("page", ["home", HEADS, "attention", "model"])
def test_a_link_whose_file_is_gone_says_so(page):
    app = start(page, weights="array-" + "0" * 32)
    assert GONE in [plain(each.value) for each in app.info]
