"""The line with the button that measures, in each of its states: what the worker says is played."""

from dataclasses import replace

import pytest

from tests.pages.test_app import start, text_on, widget
from tests.tfm_ui.jobs.fake_worker import FakeQueue
from tfm_core.profiling import Blocks, Machine, Measured, Progress, Report, Row, Size
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import Request, Tab
from tfm_ui.jobs.messages import WorkerExited
from tfm_ui.lenses.profiling import measurements

PAGE = "profiling"
MEASURE = "_profiling_measure"
MACHINE = Machine(
    device="A Processor", processor="A Processor", cores=2, system="", torch="2.13", flops_per_second=1e11
)


def lens(**query: str):
    return start(PAGE, profiling_view="length", **query)


def press(app, key: str):
    widget(app, key).click().run()
    assert not app.exception
    return app


def said(app) -> str:
    return text_on(app).replace("&#x27;", "'")


def bars(app) -> list[str]:
    return [element.proto.text.replace("\\", "") for element in app.get("progress")]


def report(queue: FakeQueue, clean: int = 3, contended: int = 0, **more) -> Report:
    """A measurement of what the worker was asked to do."""
    plan = queue.running().argument
    blocks = Blocks(
        tuple(0.001 * (n + 1) for n in range(clean)),
        tuple(range(clean)),
        contended,
        loaded=(0.002,) * contended,
        loaded_rounds=tuple(range(clean, clean + contended)),
    )
    measured = tuple(Measured(row, blocks) for row in plan.rows)
    given = {"id": "abc123", "seconds": 12.3, "started": "2026-11-21T15:30:00+00:00", "complete": True}
    return Report(plan=plan, machine=MACHINE, measured=measured, **(given | more))


def came(queue: FakeQueue, share: float, so_far: Report, doing: str = "round 6 of 9") -> None:
    queue.step(share, step=Progress(share, 8.0, doing, so_far))


def test_it_is_measured_and_the_link_holds_it_by_nobodys_act(queue):
    app = lens()
    assert "Not measured here yet: 7 rows in 9 rounds, about" in said(app)
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
    facts = ("21 Nov 2026, 15:30 UTC", "in 12.3 s", "A Processor", "1 thread", "float32", "torch 2.13", "seed 0")
    assert all(f"<span>{fact}</span>" in said(app) for fact in facts)
    assert "21 blocks, all clean." in said(app)
    assert "shared machine" not in said(app)
    assert widget(app, MEASURE).label == "Measure again"
    assert widget(app, "_undo").disabled


def test_a_link_to_a_measurement_that_is_gone_says_so():
    assert "The measurement that the link names is not on this server." in said(lens(profiling_run="gone"))
    assert "not on this server" not in said(lens())


def test_undo_passes_over_what_was_measured_since(queue):
    app = lens()
    widget(app, "profiling_rounds").set_value(12).run()
    press(app, MEASURE)
    queue.ready()
    came(queue, 1.0, report(queue))
    queue.finish()
    app.run()
    assert widget(app, "_undo").help.replace("\\", "") == "Undoes: profiling_rounds 12 → 9"
    press(app, "_undo")
    assert app.query_params["profiling_run"] == "abc123"
    assert widget(app, "_undo").disabled


@pytest.mark.parametrize(
    ("clean", "contended", "words"),
    [
        (9, 1, "7 of 70 blocks contended and left out."),
        (8, 2, "⚠ shared machine"),
        (1, 8, "Other work kept the processor busy in 56 of 63 blocks. Figures with fewer than 6 clean rounds"),
        (0, 5, "Other work kept the processor busy in 35 of 35 blocks."),
        (0, 0, "No block was measured."),
    ],
)
def test_what_was_contended_is_said(queue, clean, contended, words):
    app = press(lens(), MEASURE)
    queue.ready()
    came(queue, 1.0, report(queue, clean, contended))
    queue.finish()
    app.run()
    assert words in said(app)
    assert ("shared machine" in said(app)) == (contended > 0.1 * (clean + contended))


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
    assert "Stopped. Nothing was measured by then." in said(app)
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
    assert "Not measured here yet" in said(app)
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


@pytest.fixture
def stored(queue):
    """Two measurements of one plan, and a later one of another."""
    press(lens(), MEASURE)
    queue.ready()
    first = report(queue, id="first")
    other = replace(first.plan, rows=(Row("with weights", Size(d_model=8, num_heads=1, num_layers=1, seq_len=1)),))
    queue.finish()
    for measurement in (first, replace(first, id="second", seconds=99.0), replace(first, id="third", plan=other)):
        measurements.keep(measurement)
    return first


@pytest.mark.parametrize(
    ("query", "shown", "told"),
    [
        ({"profiling_run": "first"}, "in 12.3 s", False),
        ({"profiling_run": "third"}, "in 99.0 s", False),  # of another plan: the latest of this one
        ({}, "in 99.0 s", False),
        ({"profiling_run": "gone"}, "in 99.0 s", True),
    ],
)
def test_the_link_names_the_measurement_that_is_shown(stored, query, shown, told):
    app = lens(**query)
    assert not app.exception
    assert shown in said(app)
    assert app.query_params["profiling_run"] == ("first" if shown == "in 12.3 s" else "second")
    assert any("This is the latest one of the same settings" in warning.value for warning in app.warning) == told
    assert widget(app, "_undo").disabled  # by nobody's act


def test_back_at_the_same_settings_the_same_measurement_is_shown(stored):
    app = lens(profiling_run="first")
    widget(app, "profiling_rounds").set_value(12).run()
    assert "Not measured here yet" in said(app)
    twelve = replace(stored.plan, setup=replace(stored.plan.setup, rounds=12))
    measurements.keep(replace(stored, id="of 12", plan=twelve))
    app.run()
    assert app.query_params["profiling_run"] == "of 12"
    widget(app, "profiling_rounds").set_value(9).run()
    assert app.query_params["profiling_run"] == "first"
    assert "in 12.3 s" in said(app)


def test_how_another_sessions_job_ended_changes_nothing_of_a_link(queue):
    app = press(lens(), MEASURE)
    queue.ready()
    measurements.keep(report(queue, id="earlier", seconds=5.0))
    came(queue, 0.4, report(queue, complete=False))
    press(app, f"_profiling_stop_{queue.running().number}")
    queue.finish(stopped=True)
    opened = lens(profiling_run="earlier")  # the same visitor, later
    assert opened.query_params["profiling_run"] == "earlier"
    assert "Stopped" not in said(opened)
