"""The arcs of the Attention lens without a browser."""

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
