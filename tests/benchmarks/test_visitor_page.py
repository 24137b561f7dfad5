"""What a visitor of the load benchmark makes of Streamlit's messages, as a browser would."""

import json

from benchmarks.live.visitor_page import Page, Shown, with_values
from benchmarks.streamlit_private.protocol import PART_SUCCEEDED, STOPPED, SUCCEEDED, Element, ForwardMsg

SEED = {
    "number_input": {"id": "$$ID-1-seed", "query_param_key": "seed", "default": 7, "has_min": True, "has_max": True}
    | {"max": 99, "step": 1, "data_type": Element().number_input.DataType.INT}
}


def picture(name, query, **more):
    data = {"name": name, "query": query, "early": True, "slow": False} | more
    return {"bidi_component": {"id": name, "json": json.dumps(data)}}


def element(content, *path, fragment="", **more):
    delta = {"new_element": content, "fragment_id": fragment}
    return ForwardMsg(delta=delta, metadata={"delta_path": path}, **more)


def run(page, *messages, how=SUCCEEDED):
    page.read(ForwardMsg(new_session={"page_script_hash": "router"}))
    for message in messages:
        page.read(message)
    page.read(ForwardMsg(script_finished=how))
    return page


def test_a_page_knows_its_pictures_and_its_controls():
    words = {
        "bidi_component": {
            "id": "words",
            "json": json.dumps({"names": ["heads.words", "heads.answer"], "query": "seed=7"}),
        }
    }
    navigation = ForwardMsg(navigation={"page_script_hash": "heads"})
    page = run(
        Page(""), navigation, element(SEED, 1, 0), element(picture("head", "seed=7"), 0, 0), element(words, 0, 1)
    )
    assert page.pictures == [Shown("head", "seed=7"), Shown("heads.words", "seed=7", says=True)]
    assert list(page.controls) == ["seed"]
    assert page.script == "heads"


def test_a_page_with_slow_panels_knows_by_which_name_their_words_are_asked_for():
    said = {"names": ["model.words", "model.answer"], "slow": "model.slow", "query": "seed=7"}
    words = {"bidi_component": {"id": "words", "json": json.dumps(said)}}
    page = run(Page(""), element(picture("depth", "seed=7", slow=True), 0, 0), element(words, 0, 1))
    assert page.pictures == [
        Shown("depth", "seed=7", slow=True),
        Shown("model.words", "seed=7", says=True),
        Shown("model.slow", "seed=7", slow=True, says=True),
    ]


def test_what_a_run_does_not_draw_again_is_gone_but_a_run_of_a_part_leaves_the_rest():
    drawn = (
        element(SEED, 1, 0),
        element(picture("a", ""), 0, 0, fragment="f"),
        element(picture("b", ""), 0, 1, fragment="f"),
    )
    page = run(Page(""), *drawn)
    run(page, element(picture("a", ""), 0, 0, fragment="f"), how=PART_SUCCEEDED)
    assert [shown.name for shown in page.pictures] == ["a"]
    assert list(page.controls) == ["seed"]
    run(page, element(picture("a", ""), 0, 0))
    assert not page.controls


def test_a_run_that_was_stopped_removes_nothing():
    page = run(Page(""), element(picture("a", ""), 0, 0))
    run(page, how=STOPPED)
    assert [shown.name for shown in page.pictures] == ["a"]


def test_a_message_may_come_by_its_hash_at_another_place():
    page = run(
        Page(""),
        element(
            picture("a", ""),
            0,
            0,
            hash="h",
        ),
    )
    assert not page.rerun().cached_message_hashes
    kept = element(picture("large", ""), 0, 0, hash="h")
    kept.metadata.cacheable = True
    run(page, kept)
    assert list(page.rerun().cached_message_hashes) == ["h"]
    run(page, ForwardMsg(ref_hash="h", hash="h", metadata={"delta_path": [0, 5], "cacheable": True}))
    assert [shown.name for shown in page.pictures] == ["large"]
    run(run(page))
    assert not page.rerun().cached_message_hashes


def test_a_moved_control_stays_where_the_visitor_put_it():
    page = run(Page("num_heads=8"), element(SEED, 1, 0))
    page.choose({"seed": "55"})
    run(page, element(SEED, 1, 0))
    request = page.rerun({"seed"})
    assert [widget.int_value for widget in request.widget_states.widgets] == [55]
    assert request.query_string == "num_heads=8&seed=55"


def test_a_control_of_a_part_of_the_page_runs_that_part():
    layer = {"number_input": SEED["number_input"] | {"id": "$$ID-2-heads_layer", "query_param_key": "heads_layer"}}
    page = run(Page(""), element(SEED, 1, 0), element(layer, 0, 0, fragment="f"))
    assert page.rerun({"heads_layer"}).fragment_id == "f"
    assert page.rerun({"seed"}).fragment_id == ""
    assert page.rerun({"seed", "heads_layer"}).fragment_id == ""
    assert page.rerun().fragment_id == ""


def test_errors_on_the_page_are_told():
    broken = {"exception": {"message": "expected 2, got 3"}}
    busy = {"alert": {"body": "The server is busy. Any change of a control asks again."}}
    page = run(Page(""), element(broken, 0, 0), element(busy, 0, 1), element({"alert": {"body": "A note."}}, 0, 2))
    assert page.problems == ["expected 2, got 3", "The server is busy. Any change of a control asks again."]


def test_queries_of_the_same_values_are_the_same():
    assert with_values("b=2&a=1", {}) == with_values("a=1", {"b": "2"}) == "a=1&b=2"
    assert with_values("a=1", {"a": "x y"}) == "a=x+y"
    assert Shown("head", "a=1").at({"a": "2"}) == Shown("head", "a=2")
