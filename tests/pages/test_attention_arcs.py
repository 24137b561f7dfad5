"""The arcs of the Attention lens without a browser."""

import pytest

from tests.pages.test_app import component_data, start, text_on, widget
from tests.tfm_ui.payloads import decode
from tfm_ui.pictures.registry import made

PAGE = "attention"


def arcs(**query: str):
    return start(PAGE, attention_view="arcs", **query)


def picture(app) -> dict:
    """What the page tells its picture."""
    (data,) = [data for data in component_data(app) if data.get("name") == "arcs"]
    return data


@pytest.mark.parametrize("lines", ["heads", "mean", "max", "rollout"])
@pytest.mark.parametrize(("architecture", "kind"), [("encoder", "encoder"), ("encoder-decoder", "cross")])
def test_every_kind_of_lines_has_title_formula_sentence_and_laws(lines, architecture, kind):
    app = arcs(attention_lines=lines, architecture=architecture, attention_kind=kind, attention_layer="2")
    text = text_on(app)
    formulas = {"heads": "softmax(scores)", "mean": "(1/H) Σₕ wₕ", "max": "maxₕ wₕ", "rollout": "A = (W + I) / 2"}
    fallen_back = lines == "rollout" and kind == "cross"
    assert formulas["mean" if fallen_back else lines] in text
    assert ("has no rollout" in text) is fallen_back
    assert ("✓ masked weights are exactly 0" in text) is (kind != "cross")
    assert "✕" not in text


def test_what_the_browser_works_with_comes_back_from_the_link_and_asks_for_no_other_bytes():
    link = {"attention_heads": "2 3", "attention_tokens": "q3 q5", "attention_mass": "70", "attention_hide": "first"}
    data = picture(arcs(**link))
    local = {name: int(value) if value.isdigit() else value for name, value in link.items()}
    assert data["local"] == {**local, "attention_question": ""}
    assert data["query"] == picture(arcs())["query"]


def test_heads_and_tokens_that_there_are_not_are_said():
    app = arcs(attention_heads="99 x", attention_tokens="q3 k11 q11")
    text = text_on(app).replace("\\", "")  # the notice is Markdown
    assert "attention_heads = 99 x: it can hold whole numbers from 1 to 4, separated by spaces" in text
    assert "it is empty now" in text
    assert picture(app)["local"]["attention_tokens"] == "q3"


def test_the_sentence_is_of_the_heads_that_are_shown():
    assert "Strongest of 4 heads" in text_on(arcs())
    assert "Strongest of 2 heads" in text_on(arcs(attention_heads="1 4"))
    assert "Strongest of" not in text_on(arcs(attention_heads="3"))


def test_controls_change_the_picture():
    app = arcs()
    header, first = decode(made("arcs", picture(app)["query"]))
    assert header["maps"] == ["1", "2", "3", "4"]
    widget(app, "attention_layer").set_value(2).run()
    assert decode(made("arcs", picture(app)["query"]))[1] != first
    widget(app, "attention_lines").set_value("rollout").run()
    header, _ = decode(made("arcs", picture(app)["query"]))
    assert (header["maps"], header["heads"]) == (["rollout"], False)
    assert "Rollout, layers 1 to 2" in text_on(app)


@pytest.mark.parametrize(
    "model", [{"text": "hi", "seq_len": "2"}, {"text": "a a a a"}, {"text": "@alice", "seq_len": "1024"}]
)
def test_one_token_equal_tokens_and_a_long_text(model):
    app = arcs(**model)
    assert "✕" not in text_on(app)
    if model["text"] == "hi":
        assert "No token has a choice" in text_on(app)
    else:
        assert "Strongest of 4 heads" in text_on(app)
