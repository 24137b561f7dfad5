"""A fake worker that sends the messages that a test wants, and a queue of such workers with a fake clock."""

from collections.abc import Callable
from typing import Any

from tests.tfm_ui.jobs.job_table import Count
from tfm_ui.jobs.job import JobStatus, Request, Tab
from tfm_ui.jobs.messages import Ended, Ready, Start, Stepped, Stop, WorkerExited
from tfm_ui.jobs.queue import Queue


class FakeWorker:
    def __init__(self, heard: Callable[[Any, Any], None]) -> None:
        self._heard = heard
        self.said: list[Start | Stop] = []
        self.open = True

    def say(self, message: Start | Stop) -> None:
        self.said.append(message)

    def kill(self) -> None:
        self.open = False
        self.tells(WorkerExited(-9))

    def close(self) -> None:
        self.open = False

    def tells(self, message: Any) -> None:
        self._heard(self, message)


class FakeQueue(Queue):
    """A queue with fake workers, in the order in which they were started; the last one is in use."""

    def __init__(self) -> None:
        self.workers: list[FakeWorker] = []
        self.now = 0.0

        def hire(heard: Callable[[Any, Any], None]) -> FakeWorker:
            self.workers.append(FakeWorker(heard))
            return self.workers[-1]

        super().__init__(hire, lambda: self.now)
        self._watched = True  # the test calls `tick` itself

    @property
    def worker(self) -> FakeWorker:
        return self.workers[-1]

    def ask(self, visitor: str, argument: Any, tab: str = "tab", **more: Any) -> int:
        request = Request("job", argument, **({"seconds": 10, "limit": 100} | more))
        return self.submit(visitor, request, Tab(tab))

    def ready(self) -> None:
        self.worker.tells(Ready())

    def running(self) -> Start:
        """The job that the worker was told to start last."""
        return [message for message in self.worker.said if isinstance(message, Start)][-1]

    def step(self, share: float, seconds_left: float = 0.0, step: Any = None) -> None:
        self.worker.tells(Stepped(self.running().number, step or Count(share, seconds_left)))

    def finish(self, **how: Any) -> Any:
        """End the running job; return its argument."""
        start = self.running()
        self.worker.tells(Ended(start.number, **how))
        return start.argument


def see(queue: FakeQueue, visitor: str, argument: Any) -> JobStatus:
    """The job's status for this visitor."""
    status = queue.find(visitor, "job", argument)
    assert status
    return status
