"""assets/pictures/follow.js: what is drawn while a picture is worked with, and when the page has been run."""

from benchmarks.streamlit_private.dom import STATE
from tests.browser.follow.following import SECOND, both_show, shows


def test_what_is_committed_is_drawn_at_once_and_stays_when_the_page_has_heard(page):
    page.evaluate("acts.commit({ step: 'key' })")
    shows(page, "step=key")
    assert page.evaluate("told") == [{"changes": {"step": "key"}, "number": 1}]
    page.evaluate("says('step=key', 1)")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn") == ["", "step=key"]


def test_a_page_that_has_heard_is_right_whatever_else_it_says(page):
    page.evaluate("acts.commit({ key: 3 })")
    shows(page, "key=3")
    page.evaluate("says('key=3&head=2', 1)")  # another control was moved meanwhile
    shows(page, "key=3&head=2")
    page.evaluate("acts.commit({ key: 4 })")
    page.evaluate("says('key=4&head=1', 2)")  # before the picture is there
    shows(page, "key=4&head=1")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn.at(-1)") == "key=4&head=1"


def test_a_page_that_is_behind_changes_nothing_though_it_says_what_is_shown(page):
    page.evaluate("says('step=heads', 0)")
    shows(page, "step=heads")
    for step in ("output", "heads"):
        page.evaluate("step => acts.commit({ step })", step)
        shows(page, f"step={step}")
    for heard, step in enumerate(("heads", "output", "heads")):
        page.evaluate("([step, heard]) => says(`step=${step}`, heard)", [step, heard])
        page.wait_for_timeout(100)
    assert page.evaluate("drawn") == ["", "step=heads", "step=output", "step=heads"]


def test_while_something_is_dragged_the_page_waits_and_what_is_retracted_is_gone(page):
    page.evaluate("acts.preview({ weight: 0.4 })")
    shows(page, "weight=0.4")
    page.evaluate("says('head=2', 0)")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn.at(-1)") == "weight=0.4"
    page.evaluate("acts.retract()")
    shows(page, "head=2")
    assert page.evaluate("told") == []


def test_a_retraction_goes_back_to_what_the_page_was_told_last(page):
    page.evaluate("acts.commit({ weight: 0.4 }); acts.preview({ weight: 0.7 })")
    shows(page, "weight=0.7")
    page.evaluate("acts.retract()")
    shows(page, "weight=0.4")
    page.evaluate("says('weight=0.4', 1)")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn.at(-1)") == "weight=0.4"


def test_while_the_page_is_being_run_time_does_not_bring_back_what_it_said_before(page):
    mark = "([name, state]) => document.body.setAttribute(name, state)"
    page.evaluate("() => { const real = setTimeout; window.setTimeout = (act, ms) => real(act, Math.min(ms, 20)) }")
    page.evaluate(mark, [STATE, "running"])
    page.evaluate("acts.commit({ weight: 0.4 })")
    shows(page, "weight=0.4")
    page.wait_for_timeout(300)
    assert page.evaluate("drawn") == ["", "weight=0.4"]
    page.evaluate(mark, [STATE, "notRunning"])
    shows(page, "")


def test_after_a_picture_that_could_not_be_drawn_the_next_is(page):
    page.evaluate("breaks = 1; acts.preview({ weight: 0.4 }); 0")
    page.wait_for_timeout(100)
    page.evaluate("acts.preview({ weight: 0.5 })")
    shows(page, "weight=0.5")


def test_numbers_that_a_newer_wish_has_overtaken_say_so(page):
    page.evaluate("acts.commit({ step: 'key' }); acts.commit({ step: 'value' })")
    shows(page, "step=value")
    assert page.evaluate("drawn") == ["", "step=key", "step=value"]
    assert page.evaluate("late") == [False, True, False]


def test_what_is_dragged_for_all_moves_all_pictures_and_is_gone_when_retracted(page):
    page.evaluate(SECOND)
    both_show(page, "")
    for base in (20, 30, 40):
        page.evaluate("base => acts.preview({ base }, true)", base)
    both_show(page, "base=40")
    page.evaluate("acts.retract(true)")
    both_show(page, "")
    assert page.evaluate("told") == []
    page.evaluate("says2('', 0, true); acts.preview({ base: 50 }, true)")
    shows(page, "base=50")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn2.at(-1)") == "", "a picture that takes long waits for the commit"
    page.evaluate("acts.commit({ base: 50 }, true)")
    both_show(page, "base=50")


def test_a_commit_for_all_is_told_once_and_an_older_page_does_not_undo_it(page):
    page.evaluate(SECOND)
    both_show(page, "")
    page.evaluate("acts.commit({ base: 20 }, true)")
    both_show(page, "base=20")
    assert page.evaluate("told") == [{"changes": {"base": 20}, "number": 1}]
    page.evaluate("says('', 0); says2('', 0)")  # a page that was on its way
    page.wait_for_timeout(100)
    both_show(page, "base=20")
    page.evaluate("acts.preview({ base: 30 }, true); acts.retract(true)")
    both_show(page, "base=20")
    page.evaluate("says('base=20', 1); says2('base=20', 1)")
    page.evaluate("says('base=20&seed=3', 1); says2('base=20&seed=3', 1)")
    both_show(page, "base=20&seed=3")
    assert len(page.evaluate("told")) == 1


def test_another_picture_is_not_taken_back_by_a_page_that_was_behind(page):
    page.evaluate(SECOND)
    both_show(page, "")
    for base in (20, 30):
        page.evaluate("base => acts.commit({ base }, true)", base)
        both_show(page, f"base={base}")
    page.evaluate("says('base=30', 2)")  # the first run was stopped on its way, and the second has only begun to speak
    page.evaluate("says2('base=20', 1)")
    page.wait_for_timeout(100)
    page.evaluate("says2('base=30', 2)")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn2") == ["", "base=20", "base=30"]
