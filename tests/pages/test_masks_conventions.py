"""The view conventions of the Masks lens without a browser."""

import io
import json
import sys
from contextlib import nullcontext
from importlib import import_module

import numpy as np
import pytest

from tests.pages.test_app import parameter, picture, plain, start, text_on, widget
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_ui.lenses.masks.conventions import calls
from tfm_ui.visitors.compute_limiter import ComputeLimiter, Lane

PAGE = "masks"
PICTURES = ["masks_ours", "masks_handed", "masks_pasted"]


def lens(**query: str):
    return start(PAGE, masks_view="conventions", **query)


def all_pictures(app) -> None:
    for name in PICTURES:
        header, numbers = picture(app, name)
        assert header["about"]
        assert "NaN" not in str({**header, "about": ""})
        assert numbers


def foreign(app) -> np.ndarray:
    header, numbers = picture(app, "masks_pasted")
    rows, columns = len(header["rows"]["names"]), len(header["columns"]["names"])
    return np.frombuffer(numbers, np.float32).reshape(2, rows, columns)[1]


def captions(app) -> str:
    return " ".join(each.value for each in app.caption)


def drawn(app, name: str) -> bool:
    return any(json.loads(component.proto.json).get("name") == name for component in app.get("bidi_component"))


def npy(values) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


ARCHITECTURES = [
    {"architecture": "decoder", "norm": "post"},
    {"architecture": "encoder-decoder", "masks_place": "decoder"},
    {"architecture": "encoder-decoder", "masks_place": "cross", "norm": "post"},
]


@pytest.fixture
def without_transformers(monkeypatch):
    """An installation that lacks the library, as the image for hosting does."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "transformers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "transformers", None)  # so that each import of it fails
    calls.hugging_face.cache_clear()
    yield
    calls.hugging_face.cache_clear()


@pytest.mark.parametrize("model", [{}, *ARCHITECTURES])
@pytest.mark.parametrize("name", CONVENTIONS)
def test_without_transformers_every_page_runs_and_says_that_it_is_not_installed(name, model, without_transformers):
    with pytest.raises(ImportError):
        import_module("transformers")
    app = lens(masks_convention=name, **model)
    all_pictures(app)
    assert "transformers is not installed here" in text_on(app)
    assert app.code[0].value.startswith("import torch\n")
    assert "✕" not in text_on(app)


def test_an_upload_that_is_gone_is_asked_for_again():
    assert "upload it again" in lens(masks_upload="0123456789abcdef", masks_pasted=" ").info[0].value


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("1 0\n1", "most rows have"),
        ("[[1, ...]]", "shortened"),
        ("<b>a</b>", "a number, True or False"),
        ("nan", "NaN"),
    ],
)
def test_a_bad_paste_gets_a_sentence_and_leaves_the_mask(pasted, said):
    app = lens()
    before = picture(app, "masks_ours")[1]
    widget(app, "masks_pasted").set_value(pasted).run()
    assert not app.exception
    assert said in app.error[0].value
    assert picture(app, "masks_ours")[1] == before
    widget(app, "masks_pasted").set_value("10\n11").run()
    assert not app.error
    np.testing.assert_array_equal(foreign(app), [[1, 0], [1, 1]])


def test_a_reading_is_overruled():
    app = lens()
    guessed = foreign(app)
    widget(app, "masks_read_as").select("1 = attend").run()
    np.testing.assert_array_equal(foreign(app), 1 - guessed)
    assert "as you chose" in text_on(app)


def test_an_uploaded_file_is_drawn_and_used():
    app = lens(masks_mask="", causal="false", text="a b c", seq_len="3", masks_texts="")
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    upload = app.file_uploader[0]
    upload.upload("mask.npy", npy(mask), "application/octet-stream").run()
    assert not app.exception
    np.testing.assert_array_equal(foreign(app), mask)
    assert widget(app, "masks_pasted").value == ""
    assert "does not hold it until it is used" in captions(app)
    assert "Whoever has the link of this page sees the uploaded mask" in captions(app)
    widget(app, "_masks_use").click().run()
    assert not app.exception
    numbers = np.frombuffer(picture(app, "masks_ours")[1], np.float32)
    np.testing.assert_array_equal(numbers[:9].reshape(3, 3) == 1, mask)


def test_the_menu_itself_says_what_was_brought_and_uses_it():
    app = lens(masks_pasted="101\n110\n011", causal="false", text="a b c", seq_len="3", masks_texts="")

    def said() -> str:
        """What stands in the menu, above what takes the mask."""
        place = next(each for each in app.get("flex_container") if getattr(each, "key", "") == "more_your_own_mask")
        return str([getattr(each, "value", getattr(each, "body", "")) for each in place])

    assert "3 × 3, square; 6 of 9 pairs kept" in said()
    widget(app, "_masks_use_here").click().run()
    assert "It is this lens’s mask now" in said()
    np.testing.assert_array_equal(foreign(app), [[1, 0, 1], [1, 1, 0], [0, 1, 1]])
    widget(app, "masks_pasted").set_value("1 0\n1").run()
    assert "most rows have" in said()


def test_of_a_stack_of_weights_a_layer_and_a_head_are_chosen():
    weights = np.random.default_rng(0).dirichlet(np.ones(4), (2, 1, 3, 4)).astype(np.float32)
    app = lens()
    assert "masks_pasted_head" not in [each.key for each in app.number_input]
    app.file_uploader[0].upload("attentions.npy", npy(weights), "application/octet-stream").run()
    widget(app, "masks_pasted_layer").set_value(2).run()
    widget(app, "masks_pasted_head").set_value(3).run()
    assert not app.exception
    header, numbers = picture(app, "masks_pasted")
    np.testing.assert_array_equal(np.frombuffer(numbers, np.float32)[:16].reshape(4, 4), weights[1, 0, 2])
    assert "this is layer 2 of 2, head 3 of 3" in header["about"]


def test_use_says_that_it_was_done_and_where_it_is_seen():
    app = lens(masks_pasted="101\n110\n011", causal="false", text="a b c", seq_len="3", masks_texts="")
    assert "“Use” lays it over the composed mask" in text_on(app)
    assert "It is this lens’s mask now" not in text_on(app)
    widget(app, "_masks_use").click().run()
    assert "It is this lens’s mask now" in text_on(app)
    assert widget(app, "_masks_use").disabled
    widget(app, "_view_see").click().run()
    widget(app, "_masks_clear").click().run()
    widget(app, "_view_conventions").click().run()
    assert "“Use” lays it over the composed mask" in text_on(app)
    assert not widget(app, "_masks_use").disabled


@pytest.mark.rotated(
    each=1,
    file=[
        ("mask.npz", b"PK\x03\x04", "archive cannot be read"),
        ("mask.npy", b"\x93NUMPY\x01\x00", "header cannot be read"),
        ("<b>mask</b>.csv", b"a,b\n1,c", "is “c”"),
        ("mask.txt", b"", "nothing in it"),
    ],
    uploaded=[False, True],
)
def test_a_bad_file_gets_a_sentence_and_no_other_masks_map_stands_beside_it(file, uploaded):
    name, data, said = file
    app = lens()
    if uploaded:
        app.file_uploader[0].upload("good.txt", b"10\n11", "text/plain").run()
    before = foreign(app)
    app.file_uploader[0].upload(name, data, "text/plain").run()
    assert not app.exception
    assert said in app.error[0].value
    assert not drawn(app, "masks_pasted")
    assert "_masks_use" not in [button.key for button in app.button]
    assert ("try another file" if uploaded else "take it back") in captions(app)
    app.file_uploader[0].set_value(None).run()
    assert not app.error
    if not uploaded:
        np.testing.assert_array_equal(foreign(app), before)


def test_a_mask_too_large_for_a_link_is_drawn_and_cannot_be_used():
    app = lens()
    app.file_uploader[0].upload("mask.npy", npy(np.tri(1024)), "application/octet-stream").run()
    assert not app.exception
    assert foreign(app).shape == (256, 256)
    assert "It is larger than 64 × 64" in text_on(app)
    assert widget(app, "_masks_use").disabled


def test_a_long_pasted_mask_is_said_not_to_fit_the_link():
    text = "\n".join(" ".join("1" * 64) for _ in range(64))
    app = lens()
    widget(app, "masks_pasted").set_value(text).run()
    assert not app.exception
    assert "longer than a link carries" in captions(app)
    assert "of the 8,191 characters of “Paste a mask”." in text_on(app.run())
    widget(app, "_masks_use").click().run()
    assert not app.exception


def test_an_upload_that_is_taken_back_is_gone():
    app = lens()
    app.file_uploader[0].upload("mask.txt", b"10\n11", "text/plain").run()
    np.testing.assert_array_equal(foreign(app), [[1, 0], [1, 1]])
    app.file_uploader[0].set_value(None).run()
    assert not app.exception
    assert "paste a mask or upload one" in app.info[0].value


def test_another_visitor_who_has_the_link_sees_the_upload():
    """The box says so."""
    app = lens()
    app.file_uploader[0].upload("mask.txt", b"1 0 1\n1 1 0\n0 1 1", "text/plain").run()
    other = lens(masks_upload=parameter(app, "masks_upload"), masks_pasted="")
    np.testing.assert_array_equal(foreign(other), [[1, 0, 1], [1, 1, 0], [0, 1, 1]])


def test_while_the_server_is_busy_a_mask_is_not_lost(monkeypatch):
    full = ComputeLimiter(pictures=1, pages=1, slow=1, per_visitor=0)
    place = full.ask("somebody", Lane.SLOW)
    app = lens()
    with monkeypatch.context() as patch:
        patch.setattr("tfm_ui.visitors.turn.LIMITER", full)
        patch.setattr("tfm_ui.page.upload.MANY", 0)  # so that the file waits for the slow lane
        patch.setattr("tfm_ui.page.frame.turn_to_compute", lambda **_: nullcontext())  # pages are not what waits here
        app.file_uploader[0].upload("mask.txt", b"10\n11", "text/plain").run()
        assert not app.exception
        assert "The server is busy" in plain(app.error[0].value)
    full.leave(place)
    widget(app, "_masks_upload_again").click().run()
    assert not app.error
    np.testing.assert_array_equal(foreign(app), [[1, 0], [1, 1]])
