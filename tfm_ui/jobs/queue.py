"""The job queue of the whole server, in front of its one worker: visitors take turns, and each sees their place."""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator

from tfm_ui.jobs.caps import IN_ALL, OF_ADDRESS, OF_VISITOR, check_duration, longest
from tfm_ui.jobs.job import Job, JobStatus, Load, Request, State, Tab
from tfm_ui.jobs.messages import Ended, FromWorker, Ready, Start, Stepped, Stop, Worker, WorkerExited
from tfm_ui.jobs.process import Process
from tfm_ui.visitors.fair_queue import FairQueue
from tfm_ui.visitors.visitor import address_of

_log = logging.getLogger(__name__)

GRACE = 10.0  # seconds for which a tab may be closed: a reconnect or a reload loses nothing
STARTS = 60.0  # seconds in which a worker must be ready; then it is killed
ATTEMPTS = 3  # workers that may end, one after the other, before they are ready
OBEYS = 2.0  # seconds in which a stopped job must end; then its worker is killed
CHECK_SECONDS = 0.25  # seconds between two checks for closed tabs and jobs that take too long
KEPT = 64  # ended jobs that are kept, so that visitors can see how they ended


class Queue:
    """Any thread may call the methods, and none of them takes long."""

    def __init__(
        self,
        hire: Callable[[Callable[[Worker, FromWorker], None]], Worker] = Process,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make an empty queue; `open` starts the worker.

        Args:
            hire: starts a worker that passes its messages to the given function.
            clock: returns the time in seconds.
        """
        self._hire, self._clock = hire, clock
        self._lock = threading.RLock()
        self._waiting: FairQueue[Job] = FairQueue(address_of)
        self._jobs: dict[int, Job] = {}
        self._count = 0
        self._tabs: dict[tuple[str, Tab], float] = {}  # of visitors who wait for a job -> when the tab was last open
        self._running: Job | None = None
        self._worker: Worker | None = None
        self._ready = False
        self._hired = 0.0  # when the worker was started
        self._ended_early = 0  # workers in a row that have ended before they were ready
        self._closed = threading.Event()
        self._watched = False

    # called for visitors

    def open(self) -> None:
        """Start the worker, if none is running, so that nobody has to wait for its imports later.

        One that cannot be started now, for want of memory or threads, is started later: whoever asks looks again.
        """
        with self._lock:
            if self._worker is None and not self._closed.is_set():
                self._ready, self._hired = False, self._clock()
                try:
                    self._worker = self._hire(self._heard)
                except Exception:  # whatever it is: who calls this may have a job to end
                    _log.exception("The process that measures and trains could not be started.")
            if not self._watched:
                try:
                    threading.Thread(target=self._watch, daemon=True).start()
                    self._watched = True
                except RuntimeError:  # no thread
                    _log.exception("The queue of jobs could not be looked after.")

    def submit(self, visitor: str, request: Request, tab: Tab) -> int:
        """Ask for a job, or join the visitors who have asked for the same; return the job's number.

        Args:
            visitor: who asks, as `tfm_ui.visitors.visitor` names them.
            request: the job.
            tab: the tab in which the visitor asks.

        Raises:
            Refused: if too much work waits already, of this visitor's or in all.
        """
        with self._lock:
            job = self._same(request.name, request.argument)
            if job is None:
                self._check(visitor, request)
                self._count += 1
                job = self._jobs[self._count] = Job(self._count, request)
            elif job.state == "waiting" and visitor not in job.visitors:  # the other caps count it already
                OF_VISITOR.check(self._waiting.of(visitor), request.seconds)
            self._tabs[visitor, tab] = self._clock()
            job.visitors.add(visitor)
            job.requesters.add(visitor)
            if job.state == "waiting":
                self._waiting.add(visitor, job)
            self._feed()
            return job.number

    def _check(self, visitor: str, request: Request) -> None:
        check_duration(request)
        OF_VISITOR.check(self._waiting.of(visitor), request.seconds)
        OF_ADDRESS.check(self._waiting.of_address(visitor), request.seconds)
        IN_ALL.check(self._waiting.order(), request.seconds)

    def stop(self, visitor: str, number: int) -> None:
        """Note that this visitor no longer wants the job. A job that nobody wants is stopped; its last step is kept."""
        with self._lock:
            job = self._jobs.get(number)
            if job is None or visitor not in job.visitors:
                return
            job.visitors.discard(visitor)
            self._waiting.leave(visitor, job)
            if job.visitors:
                return
            if job.state == "waiting":
                self._end(job, "stopped")
            elif job is self._running:
                self._tell_to_stop(job)

    def find(self, visitor: str, name: str, argument: Hashable, tab: Tab | None = None) -> JobStatus | None:
        """The job that waits or runs with this name and argument, whoever asked for it; else this visitor's last one.

        None if there is neither.

        Args:
            visitor: for whom the status is.
            name: of the job.
            argument: of the job.
            tab: the visitor's tab, which keeps the visitor's jobs going as long as it is open.
        """
        with self._lock:
            if tab and self._of(visitor):
                self._tabs[visitor, tab] = self._clock()
            if job := self._same(name, argument):
                return self._status(visitor, job)
            past = [job for job in self._jobs.values() if visitor in job.requesters]
            past = [job for job in past if job.request.same(name, argument)]
            return self._status(visitor, past[-1]) if past else None

    def of(self, visitor: str) -> list[JobStatus]:
        """The jobs that this visitor waits for."""
        with self._lock:
            return [self._status(visitor, job) for job in self._of(visitor)]

    def load(self) -> Load:
        """What is under way for all visitors."""
        with self._lock:
            return Load(
                int(self._running is not None), len(self._waiting.order()), self._worker is not None, self._ready
            )

    def close(self) -> None:
        """End the queue and its worker."""
        with self._lock:
            self._closed.set()
            worker, self._worker = self._worker, None
        if worker:
            worker.close()

    # called by the queue's threads

    def tick(self) -> None:
        """Drop the jobs of visitors whose tabs are closed, and stop jobs that take too long. Called again and again."""
        with self._lock:
            now = self._clock()
            for (visitor, tab), last in list(self._tabs.items()):
                if tab.is_open():
                    self._tabs[visitor, tab] = now
                elif now - last > GRACE:
                    del self._tabs[visitor, tab]
            here = {visitor for visitor, _ in self._tabs}
            for job in list(self._under_way()):
                for gone in job.visitors - here:
                    self.stop(gone, job.number)
            waiting = {visitor for job in self._under_way() for visitor in job.visitors}
            self._tabs = {(visitor, tab): last for (visitor, tab), last in self._tabs.items() if visitor in waiting}
            if self._worker and not self._ready and now - self._hired > STARTS:
                self._worker.kill()
            running = self._running
            if running is None:
                self._feed()  # if the worker could not be started before
                return
            limit, why = longest(running.request)
            if running.told_to_stop is None and now - running.began > limit:
                running.problem = f"It was stopped after {limit:.0f} seconds, {why}."
                self._tell_to_stop(running)
            elif running.told_to_stop is not None and now - running.told_to_stop > OBEYS and self._worker:
                self._worker.kill()

    def _watch(self) -> None:
        while not self._closed.wait(CHECK_SECONDS):
            try:
                self.tick()
            except Exception:  # whatever it is: without this thread no job would be stopped any more
                _log.exception("The queue of jobs could not be looked after.")

    def _heard(self, worker: Worker, message: FromWorker) -> None:
        """Handle a message of the worker; messages of a worker that has been replaced are ignored."""
        with self._lock:
            if worker is not self._worker:
                return
            ended = self._take(message)
            self._feed()
        if ended:
            self._finish(*ended)

    def _finish(self, job: Job, state: State, problem: str) -> None:
        """End a job whose results are kept first, in a file or in Redis: not under the lock, which pages wait for.

        Until then it is under way. Whatever goes wrong with keeping ends neither this thread nor the worker.
        """
        try:
            if job.step:
                job.request.then(job.step)
        except Exception as error:
            _log.exception("The results of a job could not be kept.")
            state, problem = "failed", problem or f"Its results could not be kept ({type(error).__name__})."
        with self._lock:
            self._end(job, state, problem)

    # called only while the lock is held

    def _take(self, message: FromWorker) -> tuple[Job, State, str] | None:
        """Note a message of the worker; return a job that has ended, how, and its problem."""
        job = self._running
        if isinstance(message, Ready):
            self._ready, self._ended_early = True, 0
        elif isinstance(message, Stepped) and job and job.number == message.number:
            job.step = message.step
        elif isinstance(message, Ended) and job and job.number == message.number:
            self._running = None
            state: State = "failed" if message.problem else "stopped" if message.stopped else "done"
            return job, state, message.problem
        elif isinstance(message, WorkerExited):
            return self._replace(message.code)
        return None

    def _replace(self, code: int) -> tuple[Job, State, str] | None:
        """Start a new worker after the old one has exited; return the job that it worked on, as `_take` does."""
        self._worker, job, self._running = None, self._running, None
        self._ended_early += not self._ready
        if self._ended_early < ATTEMPTS:
            self.open()
        else:  # another would not start either, until somebody asks again
            self._ended_early = 0
            for waiting in self._waiting.clear():
                self._end(waiting, "failed", f"The worker process could not start; it ended with code {code}.")
        if job is None:
            return None
        if job.told_to_stop is not None:
            return job, "stopped", ""
        why = f"ended by signal {-code}, as when memory runs out" if code < 0 else f"ended with code {code}"
        return job, "failed", f"The process that worked on it was {why}."

    def _feed(self) -> None:
        if self._closed.is_set() or self._running or not self._waiting.order():
            return
        self.open()
        if self._worker and self._ready and (job := self._waiting.next()):
            self._running, job.state, job.began = job, "running", self._clock()
            self._worker.say(Start(job.number, job.request.name, job.request.argument))

    def _tell_to_stop(self, job: Job) -> None:
        job.told_to_stop = self._clock()
        if self._worker:
            self._worker.say(Stop(job.number))

    def _end(self, job: Job, state: State, problem: str = "") -> None:
        job.state, job.problem = state, problem or job.problem
        if without_results := getattr(job.step, "without_results", None):
            job.step = without_results()  # as many jobs are remembered
        over = [number for number, other in self._jobs.items() if not other.under_way]
        for number in over[:-KEPT]:
            del self._jobs[number]

    def _under_way(self) -> Iterator[Job]:
        return (job for job in self._jobs.values() if job.under_way)

    def _of(self, visitor: str) -> list[Job]:
        return [job for job in self._under_way() if visitor in job.visitors]

    def _same(self, name: str, argument: Hashable) -> Job | None:
        return next(
            (job for job in self._under_way() if job.told_to_stop is None and job.request.same(name, argument)), None
        )

    def _status(self, visitor: str, job: Job) -> JobStatus:
        now, order = self._clock(), ([self._running] if self._running else []) + self._waiting.order()
        before = order[: order.index(job)] if job in order else []
        return job.status(visitor, before, now)
