"""assets/pictures/follow.js: how a picture and the others of its page carry out what follow_states.js decides.

What is decided when: tests/scripts/follow_states.test.js and its neighbours, without a browser.
"""

from benchmarks.streamlit_private.dom import STATE
from tests.browser.follow.following import SECOND, both_show, shows


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
