"""The panel's weights: random or trained, what they fix, what is kept meanwhile, and runs that are not there."""

from urllib.parse import parse_qs

import pytest

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import NO_PASS, PAGES, new_app
from tests.pages.test_app import HEADS, picture, plain, shown, start, text_on, widget
from tests.pages.test_locked import plain_text_on
from tests.tfm_ui.lenses.heads.all_weights import heads_of, weights_of
from tfm_core.model.trained import trained_weights
from tfm_ui.pictures.registry import CannotBeShown, made
from tfm_ui.state.lab_gpt import PROSE
from tfm_ui.state.model_state import ModelState

CHOSEN = {"num_heads": 8, "num_layers": 3, "d_model": 64, "seed": 5, "positional": "rope", "causal": False,
          "norm": "post", "activation": "relu", "tokenizer": "character", "text": "hello you"}  # fmt: skip
TRAINED = ["reverse", "majority", "induction", "dates", "reverse-decoder"]


def badge(app):
    """The label of the facts about the model."""
    (facts,) = [block for block in app.get("popover") if "·" in block.proto.popover.label]
    return facts.proto.popover.label


@pytest.mark.rotated(each=2, page=[page for page in PAGES if page not in NO_PASS], weights=TRAINED)
def test_every_page_runs_with_trained_weights_and_calls_them_trained(page, weights):
    app = start(page, weights=weights)
    if page != "profiling":
        assert badge(app).startswith(f"Trained on {weights} · ")
        assert f"trained on {weights}, " in text_on(app)
    assert "drawn from seed" not in text_on(app)


def test_trained_weights_fix_the_model_and_random_ones_bring_back_what_was_chosen():
    app = start()
    for name, value in CHOSEN.items():
        widget(app, name).set_value(value).run()
        app.run()  # all of the page, as some controls run only what the lens draws
    widget(app, "d_ff").set_value(40).run()
    before = shown(app)
    widget(app, "weights").set_value("reverse").run()
    assert not app.exception
    assert app.query_params["weights"] == ["reverse"] or app.query_params["weights"] == "reverse"
    assert "1 layer × 1 head, d_model 16: fixed by these weights" in plain_text_on(app)
    assert "d_ff 64" in plain_text_on(app)
    assert shown(app).shape == (10, 10)
    assert "“hello” is none of" in text_on(app)
    widget(app, "text").set_value("3 1 4").run()
    assert shown(app).shape == (3, 3)
    widget(app, "text").set_value("hello you").run()
    go_to(app, "positions").run()
    go_to(app, HEADS).run()
    widget(app, "_random_weights").click().run()  # as good as the select box
    assert widget(app, "weights").value == "random"
    assert {name: widget(app, name).value for name in CHOSEN} == CHOSEN
    assert widget(app, "d_ff").value == 40
    assert shown(app).tolist() == before.tolist()


def test_the_target_text_is_kept_while_weights_have_none():
    app = start(architecture="encoder-decoder")
    widget(app, "target").set_value("ein Hund").run()
    widget(app, "weights").set_value("copy").run()
    widget(app, "weights").set_value("random").run()
    assert widget(app, "target").value == "ein Hund"


def test_undo_takes_the_weights_back():
    app = start(num_heads="8")
    widget(app, "weights").set_value("reverse").run()
    widget(app, "_undo").click().run()
    assert (widget(app, "weights").value, widget(app, "num_heads").value) == ("random", 8)


def test_the_pictures_are_of_the_trained_model():
    app = start(weights="induction", heads_layer="2")
    header, _ = picture(app, "head")
    assert parse_qs(header["query"]) == {"weights": ["induction"], "heads_layer": ["2"]}
    heads = heads_of(ModelState(weights="induction"))
    assert shown(app).tolist() == weights_of(heads)[1, 0].tolist() if weights_of(heads).ndim == 4 else True
    assert trained_weights("induction")


@pytest.mark.parametrize("page", [page for page in PAGES if page not in (*NO_PASS, "profiling")])
def test_a_run_that_is_not_here_is_a_sentence(page):
    app = start(page, weights="reverse,seed=9876")
    (told,) = [plain(info.value) for info in app.info if "not on this server" in info.value]
    assert told.startswith("The weights “reverse,seed=9876” are not on this server. Train them in the Training lens")
    widget(app, "weights").set_value("reverse").run()
    assert not [info for info in app.info if "not on this server" in info.value]


def test_a_picture_of_a_run_that_is_not_here_says_so():
    with pytest.raises(CannotBeShown, match="are not on this server"):
        made("heads", "weights=reverse,seed=9876")


@pytest.mark.parametrize("name", ["rubbish", "reverse,network=lstm", "textbook", "reverse,seed=x", "reverse,d_model=7"])
def test_a_name_that_no_run_can_have_is_random_and_that_is_said(name):
    app = start(weights=name)
    if name == "reverse,d_model=7":
        assert "not on this server" in app.info[0].value
    else:
        assert "The link asked for weights" in app.warning[0].value
        assert badge(app).startswith("Random weights")


def test_home_opens_on_lab_gpt_where_a_link_asks_for_nothing():
    app = start("home")
    assert badge(app) == "Lab GPT, trained on prose · 4 × 5"
    assert widget(app, "text").value == PROSE
    widget(app, "weights").set_value("random").run()
    assert badge(app).startswith("Random weights")
    assert "weights" not in app.query_params  # the address has the text, so it means random weights
    widget(app, "text").set_value(ModelState.text).run()
    assert app.query_params["weights"] in ("random", ["random"])  # without it the address would mean Lab GPT
    assert badge(start("home", weights="random")).startswith("Random weights")


@pytest.mark.parametrize("query", [{"seed": "2"}, {"text": "hello"}, {"home_question": "2"}])
def test_an_old_link_of_home_shows_what_it_showed(query):
    app = start("home", **query)
    assert badge(app).startswith("Random weights")


def test_other_lenses_open_on_random_weights_and_home_then_too():
    app = start(HEADS)
    assert badge(app).startswith("Random weights")
    go_to(app, "home").run()
    assert badge(app).startswith("Random weights")


def test_present_is_no_question_to_home():
    app = go_to(new_app(present="true"), "home").run()
    assert not app.exception
    assert badge(app) == "Lab GPT, trained on prose · 4 × 5"


def test_homes_link_names_random_weights_where_it_would_be_empty():
    app = start("home", weights="random")
    widget(app, "seed").set_value(9).run()
    app = start("home", seed="9")
    assert "weights" not in app.query_params  # an address that asks for anything means random weights
    widget(app, "seed").set_value(7).run()
    assert app.query_params["weights"] in ("random", ["random"])
