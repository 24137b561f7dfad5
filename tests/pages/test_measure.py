"""The line with the button that measures, in each of its states: what the worker says is played."""

import pytest

from tests.pages.measuring import MEASURE, PAGE, bars, came, lens, press, report, said
from tests.pages.test_app import start, widget
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import Request, Tab
from tfm_ui.jobs.messages import WorkerExited
from tfm_ui.text.provenance import DISTURBED


def test_it_is_measured_once_and_again_and_the_link_holds_it_by_nobodys_act(queue):
    app = lens()
    assert "Not measured yet. It takes about" in said(app)
    press(app, MEASURE)
    assert bars(app) == ["It starts in a moment."]
    queue.ready()
    came(queue, 0.4, report(queue, complete=False))
    app.run()
    assert bars(app) == ["Measuring: 40%, round 6 of 9; about 8 s left."]
    assert widget(app, "profiling_rounds").disabled is False
    came(queue, 1.0, report(queue))
    queue.finish()
    app.run()
    assert not app.exception
    assert not bars(app)
    assert app.query_params["profiling_run"] == "abc123"
    assert "<span>21 Nov 2026, 15:30 UTC, in 12.3 s</span>" in said(app)  # in the row; below the picture, all of it
    where = "A Processor · 1 thread · float32 · torch 2.13 · seed 0"
    assert f"Measured 21 Nov 2026, 15:30 UTC, in 12.3 s: {where}. All 21 timings ran undisturbed." in said(app)
    assert DISTURBED not in said(app)
    assert widget(app, MEASURE).label == "Measure again"
    assert widget(app, "_undo").disabled
    [bar] = bars(press(app, MEASURE))  # by the worker that has just measured
    assert bar.startswith("Measuring: it begins; about ")
    came(queue, 1.0, report(queue, id="def456"))
    queue.finish()
    app.run()
    assert app.query_params["profiling_run"] == "def456"


def test_a_text_that_is_still_being_typed_is_measured(queue):
    app = start(PAGE)
    widget(app, "profiling_sizes").set_value("64, 4, 2, 50")
    press(app, MEASURE)  # the press takes the focus from the text, and both come in one message
    queue.ready()
    assert [row.size.seq_len for row in queue.running().argument.rows] == [50]


def test_who_measures_stays_in_the_questions_set_up_and_a_tab_with_the_same_rows_keeps_the_measurement(queue):
    app = press(start(PAGE), MEASURE)
    queue.ready()
    came(queue, 1.0, report(queue))
    queue.finish()
    app.run()
    assert app.query_params["profiling_run"] == "abc123"
    assert widget(app, "_set_up").disabled
    press(app, "_view_in_tab_parts")
    assert app.query_params["profiling_run"] == "abc123"
    assert widget(app, "_set_up").disabled
    assert "21 Nov 2026" in said(app)


@pytest.mark.parametrize(
    ("clean", "contended", "words"),
    [
        (9, 1, "Other programs disturbed 7 of 70 timings, which are left out."),
        (8, 2, f"⚠ {DISTURBED}"),
        (1, 8, "Other programs disturbed 56 of 63 timings. Where fewer than 6 rounds ran undisturbed"),
        (0, 5, "Other programs disturbed 35 of 35 timings."),
        (0, 0, "No time was measured."),
    ],
)
def test_what_was_contended_is_said(queue, clean, contended, words):
    app = press(lens(), MEASURE)
    queue.ready()
    came(queue, 1.0, report(queue, clean, contended))
    queue.finish()
    app.run()
    assert words in said(app)
    assert (DISTURBED in said(app)) == (contended > 0.1 * (clean + contended))


def test_what_was_done_stays_when_it_is_stopped(queue):
    app = press(lens(), MEASURE)
    queue.ready()
    came(queue, 0.4, report(queue, complete=False))
    press(app, f"_profiling_stop_{queue.running().number}")
    assert bars(app) == ["Stopping: what is done stays."]
    assert widget(app, f"_profiling_stop_{queue.running().number}").disabled
    queue.finish(stopped=True)
    app.run()
    assert "Stopped. What was done stays." in said(app)
    assert app.query_params["profiling_run"] == "abc123"


def test_before_a_figure_was_had_nothing_stays(queue):
    app = press(lens(), MEASURE)
    queue.ready()
    came(queue, 0.1, report(queue, 0, 2, complete=False))
    press(app, f"_profiling_stop_{queue.running().number}")
    queue.finish(stopped=True)
    app.run()
    assert "Stopped. No row had the 3 rounds that a time takes. Not kept: 14 timings." in said(app)  # 2 of 7 rows each
    assert "profiling_run" not in app.query_params


def test_a_worker_that_dies_says_so_and_the_page_lives(queue):
    app = press(lens(), MEASURE)
    queue.ready()
    queue.worker.tells(WorkerExited(-9))
    app.run()
    assert "The process that worked on it was ended by signal 9" in said(app)
    press(app, MEASURE)
    assert bars(app)


def test_others_come_first_and_their_measurement_can_be_joined(queue):
    app = lens()
    press(app, MEASURE)
    plan = queue._waiting.order()[0].request.argument
    number = queue.find("x", "profile", plan).number
    press(app, f"_profiling_stop_{number}")
    queue.submit("other", Request("profile", "something else", 25, 100), Tab("tab"))
    queue.submit("another", Request("profile", plan, 10, 100), Tab("tab"))
    app.run()
    assert bars(app) == ["Someone has asked for this. 1 job before it; it starts in about 25 s."]
    queue.ready()
    queue.finish()
    came(queue, 0.4, report(queue))
    app.run()
    assert bars(app) == ["Someone is measuring this now: 40%, round 6 of 9; about 8 s left."]
    press(app, "_profiling_join")
    assert bars(app) == ["Measuring: 40%, round 6 of 9; about 8 s left."]
    assert len(sessions.queue().of("another")) == 1


def test_another_choice_goes_on_while_one_looks_at_something_else(queue):
    app = press(lens(), MEASURE)
    queue.ready()
    came(queue, 0.4, report(queue))
    widget(app, "profiling_rounds").set_value(12).run()
    assert bars(app) == ["Your other measurement: Measuring: 40%, round 6 of 9; about 8 s left."]
    assert not widget(app, MEASURE).disabled
    queue.finish()
    app.run()
    assert not bars(app)
    assert "Not measured yet" in said(app)
    widget(app, "profiling_rounds").set_value(9).run()
    assert widget(app, MEASURE).label == "Measure again"


def test_of_several_other_choices_the_line_says_how_many(queue):
    app = lens()
    for rounds in (3, 4):
        widget(app, "profiling_rounds").set_value(rounds).run()
        press(app, MEASURE)
    widget(app, "profiling_rounds").set_value(5).run()
    assert bars(app) == ["The first of your 2 other measurements: It starts in a moment."]


def test_too_many_at_once_are_refused_with_a_word(queue):
    app = lens()
    for rounds in (3, 4, 5, 6):
        widget(app, "profiling_rounds").set_value(rounds).run()
        press(app, MEASURE)
    assert any("3 jobs of yours are waiting already" in warning.value.replace("\\", "") for warning in app.warning)


def test_what_exceeds_the_servers_budget_is_refused_at_once(queue):
    app = start(PAGE, profiling_sizes="1024, 16, 8, 20000")
    assert widget(app, MEASURE).disabled
    assert "This would take about" in said(app)
    assert not queue._jobs
