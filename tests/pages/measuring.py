"""What tests of a measurement on the page share: the page, a button, a worker's report that is played."""

from tests.pages.test_app import start, text_on, widget
from tests.tfm_ui.jobs.fake_worker import FakeQueue
from tfm_core.profiling import Blocks, Machine, Measured, Progress, Report

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
    return text_on(app).replace("&#x27;", "'").replace("\\", "")


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
