"""The button that computes all of what a view shows a part of, in each of its states: a worker's words are played."""

import pytest

from tests.pages.measuring import bars, press, said
from tests.pages.test_app import picture, start, widget
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.jobs import exact as jobs
from tfm_ui.jobs.exact import ExactStep
from tfm_ui.lenses.masks.leaks import plan as leaks_plan
from tfm_ui.lenses.model.distance import reach
from tfm_ui.live.exact import MISSING
from tfm_ui.store import exact as kept
from tfm_ui.store.store import StoreAway

LINK = {"masks_view": "leaks", "masks_item": "1"}
BUTTON, SHOW = "_compute_all_of_leaks", "_show_all_of_leaks"


@pytest.fixture(autouse=True)
def little_time(monkeypatch):
    monkeypatch.setattr(leaks_plan, "SECONDS", 1e-5)
    monkeypatch.setattr(jobs, "connect", lambda: None)
    with empty_store(kept):
        yield


def notes(app) -> str:
    return " ".join(info.value for info in app.info).replace("\\", "")


def compute(app, queue):
    """Press the button, and let the worker do it."""
    press(app, BUTTON)
    queue.ready()
    for step in jobs.all_leaks(queue.running().argument):
        queue.step(step.share, step=step)
    queue.finish()
    app.run()
    app.run()
    assert not app.exception
    return app


def test_all_is_computed_shown_and_named_in_the_link_which_brings_it_back(queue):
    app = start("masks", **LINK)
    assert "Each token is changed into 1 other instead of 4" in notes(app)
    assert "It takes about 1 s." in said(app)
    before = picture(app, "masks_leaks")
    press(app, BUTTON)
    queue.ready()
    queue.step(0.5, step=ExactStep(0.5, 8.0, "token 5 of 10"))
    app.run()
    assert bars(app) == ["Computing: token 5 of 10; about 8 s left."]
    for step in jobs.all_leaks(queue.running().argument):
        queue.step(step.share, step=step)
    queue.finish()
    app.run()
    app.run()
    assert not app.exception
    assert "All 10 tokens were changed, each into 4 others." in notes(app)
    assert "All of it was computed and is shown." in said(app)
    whole = picture(app, "masks_leaks")
    assert whole[1] != before[1]
    name = app.query_params["masks_whole"]
    again = start("masks", **LINK, masks_whole=name)
    assert picture(again, "masks_leaks") == whole
    assert again.query_params["masks_whole"] == name
    other = start("masks", **LINK)  # of somebody else, without the name
    assert picture(other, "masks_leaks") == before
    press(other, SHOW)
    assert picture(other, "masks_leaks")[1] == whole[1]
    press(other, SHOW)
    assert picture(other, "masks_leaks") == before


def test_a_tab_that_does_not_know_yet_that_all_is_there_shows_it_and_computes_nothing(queue):
    here, there = start("masks", **LINK), start("masks", **LINK)
    whole = picture(compute(here, queue), "masks_leaks")
    press(there, BUTTON)
    assert queue.load().running == 0
    assert picture(there, "masks_leaks")[1] == whole[1]
    assert there.query_params["masks_whole"]


def test_a_link_says_what_is_missing_until_it_is_computed_again(queue):
    name = compute(start("masks", **LINK), queue).query_params["masks_whole"]
    (key,) = kept.store().keys(kept.EXACT)
    kept.store().remove(kept.EXACT, key)
    app = start("masks", **LINK, masks_whole=name)
    assert MISSING in notes(app)
    assert f"“{widget(app, BUTTON).label}” makes the same result again" in notes(app)
    compute(app, queue)
    assert "All 10 tokens were changed" in notes(app)
    assert app.query_params["masks_whole"] != name


def test_pictures_are_asked_for_anew_when_somebody_else_has_computed_what_was_missing(queue):
    name = compute(start("masks", **LINK), queue).query_params["masks_whole"]
    (key,) = kept.store().keys(kept.EXACT)
    numbers = kept.read(key)
    kept.store().remove(kept.EXACT, key)
    app = start("masks", **LINK, masks_whole=name)
    assert app.query_params["masks_whole"] == name
    kept.keep(key, numbers)
    app.run()
    app.run()
    assert "All of it was computed and is shown." in said(app)
    assert app.query_params["masks_whole"] != name
    assert start("masks", **LINK, masks_whole=name).query_params["masks_whole"] == name


def test_a_name_of_other_settings_leaves_the_link(queue):
    app = compute(start("masks", **LINK), queue)
    widget(app, "masks_tries").set_value(3).run()
    assert not app.exception
    assert "masks_whole" not in app.query_params
    assert "instead of 3" in notes(app)
    assert "masks_whole" not in start("masks", **LINK, masks_whole="<b>").query_params


def test_what_was_stopped_is_not_kept_and_that_is_said(queue):
    app = press(start("masks", **LINK), BUTTON)
    queue.ready()
    queue.step(0.5, step=ExactStep(0.5, 8.0, "token 5 of 10"))
    app.run()
    press(app, f"_all_of_leaks_stop_{queue.running().number}")
    assert bars(app) == ["Stopping."]
    queue.finish(stopped=True)
    app.run()
    assert "A computation that has not come to its end is not kept." in said(app)
    assert "masks_whole" not in app.query_params
    assert kept.store().keys(kept.EXACT) == []


def test_what_has_come_to_its_end_and_could_not_be_kept_is_told_as_that(queue, monkeypatch):
    monkeypatch.setattr(kept, "keep", refuse_to_keep)
    app = compute(start("masks", **LINK), queue)
    assert "Its results could not be kept (StoreAway)." in said(app)
    assert "come to its end" not in said(app)
    assert not widget(app, BUTTON).disabled


def refuse_to_keep(*_):
    raise StoreAway("The disk is full.")


def test_a_store_that_is_away_is_a_sentence(queue, monkeypatch):
    monkeypatch.setattr("tfm_ui.page.exact_bar.shared.problem", lambda: "The store does not answer.")
    app = start("masks", **LINK)
    assert widget(app, BUTTON).disabled
    assert "The store does not answer." in said(app)


def test_what_takes_too_long_is_refused_with_the_way_without_the_app(queue, monkeypatch):
    monkeypatch.setattr("tfm_ui.live.exact.LONGEST", 1e-6)
    app = start("masks", **LINK)
    assert widget(app, BUTTON).disabled
    assert "Without the app: the script under “Source”, with places = range(10) and tries = 4." in said(app)


def test_there_is_no_button_where_nothing_is_left_out(monkeypatch):
    monkeypatch.setattr(leaks_plan, "SECONDS", 60.0)
    app = start("masks", **LINK)
    assert not any(button.key == BUTTON for button in app.button)


def test_all_draws_of_the_model_lens_are_made_by_the_same_button(queue, monkeypatch):
    monkeypatch.setattr(reach, "SECONDS", 1e-9)
    app = start("model", model_view="distance", model_reach_length="8", model_reach_seeds="3")
    assert "Of 3 draws 1 is made" in said(app)
    press(app, "_compute_all_of_draws")
    queue.ready()
    for step in jobs.all_draws(queue.running().argument):
        queue.step(step.share, step=step)
    queue.finish()
    app.run()
    app.run()
    assert not app.exception
    assert "All 3 draws were made." in said(app)
    assert app.query_params["model_whole"]
