"""The Clinic without a browser."""

import io
import json
import re
from contextlib import nullcontext
from html import unescape

import numpy as np
import pytest

from tests.pages.test_app import parameter, picture, plain, start, text_on, widget
from tfm_core.study.mistakes import MISTAKES
from tfm_core.study.steps import Steps
from tfm_ui.lenses.clinic.state import VIEWS, ClinicState
from tfm_ui.visitors.compute_limiter import ComputeLimiter, Lane


def lens(**query: str):
    return start("clinic", **query)


def brought(app) -> np.ndarray:
    """The mask that is meant, as it is drawn."""
    header, numbers = picture(app, "clinic_mask")
    rows, columns = len(header["rows"]["names"]), len(header["columns"]["names"])
    return np.frombuffer(numbers, np.float32).reshape(-1, rows, columns)[-1]


def drawn(app, name: str) -> bool:
    return any(json.loads(component.proto.json).get("name") == name for component in app.get("bidi_component"))


def npy(values) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def box(app, key: str):
    """The box for files of this key."""
    return next(each for each in app.file_uploader if each.key == f"_clinic_{key}")


def verdict(app) -> str:
    """What stands below the box."""
    body = next(html.proto.body for html in app.get("html") if 'class="verdict' in html.proto.body)
    return unescape(re.sub(r"<[^>]*>", "", body))


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_opens_with_an_example_that_runs(view):
    app = lens(clinic_view=view)
    assert not app.exception
    assert "✕" not in text_on(app).replace("✕</b>", "")


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("1 0\n1", "most rows have"),
        ("[[1, ...]]", "..."),
        ("<b>a</b>", "expected"),
        ("nan", "NaN"),
    ],
)
def test_a_bad_paste_gets_a_sentence_and_the_next_is_read(pasted, said):
    app = lens()
    widget(app, "clinic_pasted").set_value(pasted).run()
    assert not app.exception
    assert said in plain(app.error[0].value)
    assert not drawn(app, "clinic_mask")
    widget(app, "clinic_pasted").set_value("10\n11").run()
    assert not app.error
    np.testing.assert_array_equal(brought(app), [[1, 0], [1, 1]])


def test_a_reading_is_overruled():
    app = lens(clinic_pasted="[[1, 0], [1, 1]]")
    before = brought(app)
    widget(app, "clinic_meaning").select("ignore").run()
    np.testing.assert_array_equal(brought(app), 1 - before)
    assert "As you chose" in verdict(app)


def test_an_uploaded_file_is_drawn_and_set_in_masks():
    app = lens()
    mask = np.array([[True, False, False], [True, True, False], [False, True, True]])
    box(app, "upload").upload("mask.npy", npy(mask), "application/octet-stream").run()
    assert not app.exception
    np.testing.assert_array_equal(brought(app), mask)
    assert widget(app, "clinic_pasted").value == ""
    assert "Whoever has the link of this page sees the uploaded mask" in " ".join(each.value for each in app.caption)
    assert widget(app, "_clinic_to_leaks").label == "Leak test with this mask"


def test_of_several_tables_any_is_chosen():
    weights = np.random.default_rng(0).dirichlet(np.ones(4), (2, 1, 3, 4)).astype(np.float32)
    app = lens()
    assert "clinic_table" not in [each.key for each in app.number_input]
    box(app, "upload").upload("attentions.npy", npy(weights), "application/octet-stream").run()
    widget(app, "clinic_table").set_value(6).run()
    assert not app.exception
    np.testing.assert_allclose(brought(app), weights[1, 0, 2])
    assert "attention weights, not a mask" in verdict(app)


@pytest.mark.rotated(
    each=1,
    file=[
        ("mask.npz", b"PK\x03\x04", "archive"),
        ("mask.npy", b"\x93NUMPY\x01\x00", "header"),
        ("<b>mask</b>.csv", b"a,b\n1,c", "c"),
        ("mask.txt", b"", "nothing"),
    ],
    uploaded=[False, True],
)
def test_a_bad_file_gets_a_sentence_and_no_other_mask_stands_beside_it(file, uploaded):
    name, data, said = file
    app = lens()
    if uploaded:
        box(app, "upload").upload("good.txt", b"10\n11", "text/plain").run()
    before = brought(app)
    box(app, "upload").upload(name, data, "text/plain").run()
    assert not app.exception
    assert said in plain(app.error[0].value)
    assert not drawn(app, "clinic_mask")
    box(app, "upload").set_value(None).run()
    assert not app.error
    if not uploaded:
        np.testing.assert_array_equal(brought(app), before)


def test_an_upload_that_is_taken_back_is_gone():
    app = lens()
    box(app, "upload").upload("mask.txt", b"10\n11", "text/plain").run()
    np.testing.assert_array_equal(brought(app), [[1, 0], [1, 1]])
    box(app, "upload").set_value(None).run()
    assert not app.exception
    assert "Paste a mask or upload one" in app.info[0].value


def test_another_visitor_who_has_the_link_sees_the_upload():
    """The box says so."""
    app = lens()
    box(app, "upload").upload("mask.txt", b"1 0 0\n1 1 0\n0 1 1", "text/plain").run()
    other = lens(clinic_upload=parameter(app, "clinic_upload"), clinic_pasted="")
    np.testing.assert_array_equal(brought(other), [[1, 0, 0], [1, 1, 0], [0, 1, 1]])


def test_an_upload_that_is_gone_is_asked_for_again():
    assert "upload it again" in lens(clinic_upload="0123456789abcdef" * 2, clinic_pasted="").error[0].value


def test_while_the_server_is_busy_a_mask_is_not_lost(monkeypatch):
    full = ComputeLimiter(pictures=1, pages=1, slow=1, per_visitor=0)
    place = full.ask("somebody", Lane.SLOW)
    app = lens()
    with monkeypatch.context() as patch:
        patch.setattr("tfm_ui.visitors.turn.LIMITER", full)
        patch.setattr("tfm_ui.page.upload.MANY", 0)  # so that the file waits for the slow lane
        patch.setattr("tfm_ui.page.frame.turn_to_compute", lambda **_: nullcontext())  # pages are not what waits here
        box(app, "upload").upload("mask.txt", b"10\n11", "text/plain").run()
        assert not app.exception
        assert "The server is busy" in plain(app.error[0].value)
    full.leave(place)
    widget(app, "_clinic_upload_again").click().run()
    assert not app.error
    np.testing.assert_array_equal(brought(app), [[1, 0], [1, 1]])


def test_a_result_is_handed_in_diagnosed_and_seen_beside_the_right_one():
    app = lens(clinic_view="tensor", clinic_tokens="5")
    exercise = ClinicState(tokens=5).exercise
    wrong = Steps(exercise).value("weights", MISTAKES["mask after the softmax"].wrong).float().numpy()
    box(app, "result_file").upload("weights.npy", npy(wrong), "application/octet-stream").run()
    assert not app.exception
    assert "“mask after the softmax”" in verdict(app)
    widget(app, "_clinic_see_beside").click().run()
    assert not app.exception
    assert parameter(app, "clinic_mistake") == "mask after the softmax"
    assert parameter(app, "clinic_view") == "beside"
    assert "rows sum to less than 1" in text_on(app).lower() or "Rows sum to less than 1" in text_on(app)


def test_a_right_result_is_called_right():
    app = lens(clinic_view="tensor")
    right = Steps(ClinicState().exercise).value("output").float().numpy()
    box(app, "result_file").upload("output.npy", npy(right), "application/octet-stream").run()
    assert not app.exception
    assert verdict(app).startswith("Right")


@pytest.mark.parametrize("text", ["x", "[[1, 2], [3]]", "tensor([nan])", "1e999", "[" * 5000, "9" * 100_000])
def test_a_result_that_cannot_be_read_gets_a_sentence(text):
    app = lens(clinic_view="tensor")
    widget(app, "clinic_result").set_value(text[:40_000]).run()
    assert not app.exception
    assert verdict(app).endswith((".", "?"))
