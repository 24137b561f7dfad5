"""The app without a browser: every control, every page, links good and bad."""

import json
import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from benchmarks.streamlit_private.app_test import go_to, run_with_event
from tests.explanations import without_explanations
from tests.opening import BAD_QUERIES, PAGES, new_app
from tests.tfm_ui.payloads import decode
from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording
from tfm_ui.lenses import lens
from tfm_ui.lenses.heads.state import SCALES
from tfm_ui.pictures.head_map import MASKED
from tfm_ui.pictures.registry import made
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.markdown import JOINER

ROOT = Path(__file__).parents[2]
HEADS = "heads"
TEXTS = ["", " ", "\n\t ", "🦊", "e\u0301", "שלום עולם", "<script>alert(1)</script>", "x" * 2000, "$a$ **b** `c`"]
ODD_QUERIES = (*BAD_QUERIES, *(urlencode({"text": text}) for text in TEXTS))
ARCHITECTURES = controls_of(ModelState)["architecture"][0].options
WITHOUT_FACTS = [
    ("attention", "dictionary"),
    *(("clinic", view) for view in lens("clinic").views),
    *(("training", view) for view in lens("training").views if view != "learn"),
]


def start(page: str = HEADS, **query: str | list[str]) -> AppTest:
    app = go_to(new_app(**query), page).run()
    assert not app.exception
    return app


def with_menus(pictures: Iterable[str], page: str, **query: str) -> AppTest:
    """The page, with all menus of these pictures open."""
    app = go_to(new_app(**query), page)
    for menu, name in product(("numbers", "download", "source"), pictures):
        app.session_state[f"{menu}_{name}"] = True
    app.run()
    assert not app.exception
    return app


def plain(markdown: str) -> str:
    """What a reader sees of escaped Markdown."""
    return markdown.replace("\\", "").replace(JOINER, "")


def parameter(app: AppTest, name: str) -> str:
    """A parameter of the page's link."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


class ModelSlider:
    """A slider of the model, as a browser sees it: `tfm_ui/page/sliders.py`."""

    def __init__(self, app: AppTest, component: Any) -> None:
        self._app, self._id = app, component.proto.id
        self._data = json.loads(component.proto.json)
        (self._knob,) = self._data["knobs"]

    disabled = False

    @property
    def key(self) -> str:
        """The link's parameter that it sets."""
        return self._knob["parameter"]

    @property
    def value(self) -> int:
        """Where it stands."""
        return self._knob["value"]

    @property
    def stops(self) -> list[int]:
        """Where it can stand."""
        return self._knob["stops"]

    def set_value(self, value: int) -> "ModelSlider":
        """Move it; `run` lets it go."""
        self._moved = value
        return self

    def run(self) -> AppTest:
        """Tell the page what the browser tells it when the slider is let go."""
        changes, number = {self._knob["parameter"]: self._moved}, self._data["heard"] + 1
        return run_with_event(self._app, self._id, "changed", {"changes": changes, "number": number})


def model_sliders(app: AppTest) -> list[ModelSlider]:
    """The sliders of the model that the page has."""
    components = [component for component in app.get("bidi_component") if component.proto.json]
    return [ModelSlider(app, component) for component in components if "knobs" in json.loads(component.proto.json)]


def widget(app: AppTest, key: str):
    """The one widget of this key, of whatever kind; or of this parameter, if it is not bound to the link."""
    for slider in model_sliders(app):
        if slider.key == key:
            return slider
    unbound = re.compile(rf"_{key}_\d+")
    kinds = "text_area text_input slider select_slider selectbox number_input toggle button_group button".split()
    widgets = [w for kind in kinds for w in app.get(kind) if w.key == key or unbound.fullmatch(w.key or "")]
    assert len(widgets) == 1, f"{key}: {widgets}"
    return widgets[0]


def component_data(app: AppTest) -> list[dict[str, Any]]:
    """What the page hands to each component that gets anything."""
    return [json.loads(text) for component in app.get("bidi_component") if (text := component.proto.json)]


def picture(app: AppTest, name: str) -> tuple[dict[str, Any], bytes]:
    """What a browser gets that asks for this picture as the page says."""
    (data,) = [data for data in component_data(app) if data.get("name") == name]
    return decode(made(name, data["query"]))


def shown(app: AppTest) -> np.ndarray:
    """The weights in the large map; masked ones are zeros."""
    header, numbers = picture(app, "head")
    cells = np.frombuffer(numbers, np.float32).reshape(len(header["queries"]), len(header["keys"]))
    return np.where(cells == MASKED, 0, cells)


def text_on(app: AppTest) -> str:
    """All HTML and all warnings, without what the glossary explains."""
    html = " ".join(element.proto.body for element in app.get("html"))
    return without_explanations(html) + " ".join(warning.value for warning in app.warning)


def test_no_page_lies_directly_in_pages():
    assert list((ROOT / "pages").glob("*.py")) == []


def test_the_picture_is_what_tfm_core_computes():
    app = start(text="a small step for one", seq_len="7", num_heads="8", seed="3", positional="rope")
    tokens = encode("a small step for one", seq_len=7)
    config = TransformerConfig(
        vocab_size=4096, d_model=32, num_heads=8, num_layers=2, positional="rope", tie_embeddings=True, seed=3
    )
    with torch.no_grad(), recording() as trace:
        Transformer(config).eval()(tokens.batch, mask=causal_mask(7))
    np.testing.assert_array_equal(shown(app), trace["layers.0.self_attention.weights"][0, 0])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("text", "quite another sentence"),
        ("seq_len", 6),
        ("num_layers", 3),
        ("num_heads", 8),
        ("d_model", 64),
        ("seed", 8),
        ("positional", "alibi"),
        ("causal", False),
        ("architecture", "encoder-decoder"),
        ("tokenizer", "character"),
        ("norm", "post"),
        ("activation", "swiglu"),
        ("d_ff", 8),
        ("heads_layer", 2),
        ("heads_head", 3),
    ],
)
def test_every_control_changes_the_picture_and_moves_no_other(key, value):
    app = start(heads_layer="2" if key in ("activation", "d_ff", "num_layers") else "1")
    bound = [w for w in controls_of(ModelState) if w in app.session_state and w != key]
    before, others, tokens = shown(app), {w: app.session_state[w] for w in bound}, widget(app, "seq_len").value
    widget(app, key).set_value(value).run()
    assert not app.exception
    after = shown(app)
    if key == "num_layers":  # the layers that were there before stay what they were
        np.testing.assert_array_equal(after, before)
    else:
        assert after.shape != before.shape or not np.array_equal(after, before)
    app.run()  # all of the page, as some controls run only what the lens draws; the number of tokens follows the text
    assert (widget(app, "seq_len").value != tokens) == (key in ("seq_len", "text", "tokenizer"))
    assert {w: app.session_state[w] for w in others} == others


def test_the_colour_scale_is_a_choice():
    app = start(causal="false")
    tops = {}
    for scale in SCALES:
        widget(app, "heads_scale").set_value(scale).run()
        tops[scale] = picture(app, "head")[0]["top"]
    assert (tops["1"], tops["0.01"]) == (1, pytest.approx(0.01))
    assert tops["own"] == pytest.approx(shown(app).max())
    assert tops["own"] < tops["largest"] < 1


@pytest.mark.parametrize("tokenizer", ["word", "character", "byte"])
def test_what_was_cut_or_padded_is_said(tokenizer):
    assert "the first 2 are read" in text_on(start(text="one two three", tokenizer=tokenizer, seq_len="2"))
    assert "padding (PAD)" in text_on(start(text="ab", tokenizer=tokenizer, seq_len="9"))


def test_a_link_sets_every_control():
    query = {
        "text": "hello there", "seq_len": "5", "num_layers": "3", "num_heads": "16", "d_model": "96", "seed": "11",
        "positional": "t5", "norm": "post", "activation": "silu", "architecture": "decoder", "tokenizer": "byte",
        "heads_layer": "3", "heads_head": "15", "heads_scale": "own",
    }  # fmt: skip
    app = start(**query, d_ff="40")
    assert {name: str(widget(app, name).value) for name in query} == query
    assert widget(app, "d_ff").value == 40
    assert not app.warning


@pytest.mark.parametrize(
    ("query", "value", "reason"),
    [
        ({"num_heads": "7"}, 8, "1, 2, 4, 8, 16"),
        ({"seq_len": "10000"}, 1024, "2 to 1024"),
        ({"seq_len": "-1"}, 2, "2 to 1024"),
        ({"d_model": "33"}, 32, "32, 64"),
        ({"seed": "abc"}, 7, "0 to 9999"),
        ({"positional": "🦊"}, "sinusoidal", "none, sinusoidal"),
        ({"causal": "perhaps"}, True, "true or false"),
        ({"heads_head": "9"}, 4, "1 to 4"),
        ({"heads_layer": "0"}, 1, "1 to 2"),
        ({"num_layers": ["3", "5"]}, 5, "the last one counts"),
        ({"text": "y" * 20001}, "y" * 20000, "first 20000 characters"),
    ],
)
def test_a_bad_link_gives_a_working_page_that_says_what_was_changed(query, value, reason):
    app = start(**query)
    ((name, _),) = query.items()
    assert widget(app, name).value == value
    assert reason in app.warning[0].value.replace("\\", "")
    widget(app, "_dismiss").click().run()
    assert not app.warning
    assert widget(app, name).value == value


@pytest.mark.rotated(each=1, page=PAGES, query=ODD_QUERIES)
def test_whatever_a_link_says_every_page_works(page, query):
    """Each bad query, and each text, on a page; each of them meets another view, of all architectures.

    What each field of each lens makes of any value is held without pages, by tests/laws/test_hostile_links.py.
    """
    turn, views = ODD_QUERIES.index(query) // 4, list(lens(page).views)
    view, architecture = views[turn % len(views)], ARCHITECTURES[turn % 3]  # a page meets about every fourth query
    asked = {"architecture": [architecture]} | parse_qs(query.removeprefix("?"), keep_blank_values=True)
    app = start(page, **({f"{page}_view": view} if len(views) > 1 else {}), **asked)
    texts = asked.get("text", []) + (asked.get("target", []) if asked["architecture"] == ["encoder-decoder"] else [])
    is_shown = all(text.strip(" ") for text in texts)
    if is_shown and (page, view) not in WITHOUT_FACTS:
        weights = "Trained on reverse" if page == "training" else "random, drawn from seed 7"  # models of its own
        assert weights in text_on(app)
    if is_shown or not lens(page).views[view].uses_model:
        assert app.get("bidi_component")
    else:
        assert "Type at least one word" in app.info[0].value
    moved = 4 if widget(app, "num_heads").value == 8 else 8
    widget(app, "num_heads").set_value(moved).run()
    assert not app.exception
    assert widget(app, "num_heads").value == moved


def test_a_text_that_is_too_long_is_cut_and_that_is_said():
    app = start()
    widget(app, "text").set_value("word " * 5000).run()
    assert app.session_state["text"] == ("word " * 5000)[:20000]
    assert "of 25000 characters the first 20000 are taken" in app.warning[0].value.replace("\\", "")


def test_a_text_that_no_callback_has_cut_is_cut_where_it_is_used():
    """The first message of a program that speaks to the server itself may carry any text: no control has changed."""
    app = go_to(new_app(), HEADS)
    app.session_state["text"] = "word " * 50_000
    app.run()
    assert not app.exception
    assert [data["query"] for data in component_data(app) if "query" in data]
    assert all(len(data["query"]) < 30_000 for data in component_data(app) if "query" in data)


def test_when_the_model_shrinks_the_lens_stays_within_it():
    app = start(num_layers="4", num_heads="16", heads_layer="4", heads_head="16")
    widget(app, "num_heads").set_value(2).run()
    widget(app, "num_layers").set_value(1).run()
    assert not app.exception
    assert (app.session_state["heads_layer"], app.session_state["heads_head"]) == (1, 2)


def test_decoders_are_always_causal_and_say_so():
    app = start(architecture="decoder", causal="false")
    assert not np.triu(shown(app), 1).any()
    locked = widget(app, "_causal")
    assert locked.value is True
    assert locked.disabled


@pytest.mark.parametrize(("kind", "triangular"), [("encoder", False), ("decoder", True), ("cross", False)])
def test_each_attention_of_an_encoder_decoder_can_be_seen(kind, triangular):
    app = start(architecture="encoder-decoder", heads_kind=kind, text="a b c d e f", target="u v w x y z", seq_len="6")
    assert bool(np.triu(shown(app), 1).any()) is not triangular


def test_a_link_brings_its_target_text():
    app = start(architecture="encoder-decoder", target="ein ganz anderes Ziel", heads_kind="decoder")
    assert widget(app, "target").value == "ein ganz anderes Ziel"
    assert shown(app).shape == (4, 4)


def test_an_empty_target_asks_for_one():
    app = start(architecture="encoder-decoder", target=" ")
    assert "under “Target text”" in app.info[0].value


def test_reset_brings_back_the_first_picture():
    app = start()
    first = shown(app)
    app = start(seed="99", num_heads="8", heads_head="5", text="other words", positional="rope")
    widget(app, "_reset").click().run()
    np.testing.assert_array_equal(shown(app), first)
