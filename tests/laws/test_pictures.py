"""A picture depends on everything in its link, and on nothing else."""

import json
import shutil
from functools import lru_cache
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import shared_by
from tests.tfm_ui.payloads import decode
from tests.tfm_ui.pictures.charts import bars, figure, names
from tfm_ui.folders import ASSETS
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.heads.panels import Head, Heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home.next_token import Next
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.live import cache
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.canvas import encode, version
from tfm_ui.pictures.registry import PICTURES, Asked, made, query_of
from tfm_ui.state.fields import controls_of
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.links import read_link
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(text="one two three four", seq_len=6, num_heads=8, seed=3, positional="rope")
LENS = HeadsState(layer=2, head=5, scale="own")
STATES = ((MODEL, ""), (LENS, "heads_"))
LENSES = {
    LensState: LensState(),
    HeadsState: LENS,
    AttentionState: AttentionState(layer=2, head=5, query=3, lines="rollout"),
    MasksState: MasksState(texts="five six", mask="causal and window 2", paint="2x3.TPwA", item=2),
    PositionsState: PositionsState(a="learned", b="t5", length=70, base=123.0, shift=3),
    ProfilingState: ProfilingState(sizes="64 4 2 50", targets="without weights"),
    ModelLensState: ModelLensState(layer=2, reach_length=8, reach_seeds=3),
}


def states_for(name: str):
    picture = PICTURES[name]
    return ((MODEL, ""), (LENSES.get(picture.state, picture.state()), picture.prefix))


@pytest.mark.parametrize("prefix", sorted({picture.prefix for picture in PICTURES.values()}))
def test_a_picture_comes_back_from_its_query_alone(prefix):
    """It is computed again, in another order: what pictures of a lens share is computed for another one of them."""
    queries = {name: Drawing(name, states_for(name)).query for name in PICTURES if PICTURES[name].prefix == prefix}
    first = {name: made(name, query) for name, query in queries.items()}
    cache.clear()
    again = {name: made(name, query) for name, query in reversed(queries.items())}
    assert [name for name in queries if again[name] != first[name]] == []
    assert {name: decode(first[name])[0]["query"] for name in queries} == queries


OF_MODEL = ["text", "seq_len", "num_heads", "seed", "architecture", "d_model"]
VALUES = st.text(max_size=12) | st.integers(-5, 40).map(str)


@lru_cache
def queries(state: type[LensState], prefix: str) -> st.SearchStrategy[str]:
    """Any text, and values for some fields of the model and of a lens."""
    names = [*OF_MODEL, *(prefix + field for field in controls_of(state))]
    return st.text(max_size=40) | st.builds(urlencode, st.dictionaries(st.sampled_from(names), VALUES))


@pytest.mark.parametrize("name", PICTURES)
@shared_by(3)  # the pictures of a lens read the same links
@given(data=st.data())
def test_any_query_stands_for_a_state_and_says_which(name, data):
    query = data.draw(queries(PICTURES[name].state, PICTURES[name].prefix), label="query")
    states = PICTURES[name].states(Asked(query))
    if PICTURES[name].uses_model and not states[0][0].source_tokens.pieces:
        with pytest.raises(ValueError, match="has no tokens"):
            made(name, query)
        return
    header, _ = decode(made(name, query))
    assert header["query"] == query_of(states)
    for state, prefix in states:
        assert read_link(type(state), prefix, parse_qs(header["query"], keep_blank_values=True)) == []
    assert decode(made(name, header["query"]))[0]["query"] == header["query"]


def test_the_grid_and_the_map_are_of_the_state_in_the_query():
    heads, head = Heads(MODEL, LENS), Head(MODEL, LENS)
    header, numbers = decode(made("head", query_of(STATES)))
    cells = np.frombuffer(numbers, np.float32).reshape(6, 6)
    np.testing.assert_array_equal(np.maximum(cells, 0), head.weights)
    assert header["top"] == pytest.approx(head.weights.max())
    grid, _ = decode(made("heads", query_of(STATES)))
    assert (grid["picked"], grid["about"]) == ([1, 4], [heads.sentence_of(*place) for place in heads.places])
    assert decode(made("home_heads", query_of(STATES)))[0]["picked"] is None


def test_the_bars_are_the_likeliest_tokens():
    likely = Next(MODEL, LensState())
    header, _ = decode(made("home_next", query_of(STATES[:1])))
    (drawn,) = bars(header).values()
    np.testing.assert_array_equal(drawn, likely.shares)
    (reference,) = figure(header).layout.shapes
    assert (names(header), reference.x0, reference.x1) == (likely.names, likely.even, likely.even)


@pytest.mark.parametrize(
    ("state", "early"),
    [
        (MODEL, True),
        (ModelState(text="@alice", seq_len=256), True),
        (ModelState(text="@alice", seq_len=257), False),  # a pass takes time
        (ModelState(text="word " * 400), False),  # the address does not hold it all
    ],
)
def test_the_browser_goes_ahead_where_the_address_holds_all_and_a_pass_is_quick(state, early):
    assert Drawing("heads", ((state, ""), (HeadsState(), "heads_"))).early is early


@pytest.mark.parametrize("state", [MODEL, ModelState(text="@alice", seq_len=257)])
def test_a_slow_picture_hears_of_the_address_where_others_do_to_be_marked(state):
    """Its numbers are not asked for before the page has been run: tests/scripts/follow_slow.test.js."""
    states = (state, ""), (HeadsState(), "heads_")
    assert Drawing("heads", states, slow=True).early is Drawing("heads", states).early


def test_a_text_longer_than_a_link_reaches_the_picture_whole():
    text = "word " * 900 + "end"
    query = query_of(((ModelState(text=text, seq_len=1024), ""),))
    assert len(query) > 2000
    asked = Asked(urlencode({"text": text, "seq_len": 1024}))
    assert PICTURES["home_heads"].states(asked)[0][0].source_tokens.pieces[-1] == "end"


def test_numbers_begin_where_a_float32array_may():
    for length in range(8):
        header, numbers = decode(encode({"x": "y" * length}, np.array([1, 2], np.float32)))
        assert header["x"] == "y" * length
        assert np.frombuffer(numbers, np.float32).tolist() == [1, 2]
        json.dumps(header, allow_nan=False)


def test_another_script_has_another_address(tmp_path, monkeypatch):
    before = version()
    shutil.copytree(ASSETS, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr("tfm_ui.pictures.canvas.ASSETS", tmp_path)
    assert version() == before
    (tmp_path / "pictures/paint.js").write_text("// new")
    assert version() != before
