"""The queue of the whole server, in front of its one worker: clients take turns, and everybody sees their place."""

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress

from tfm_ui.jobs.job import Job, Refused, Request, Seen, State
from tfm_ui.jobs.messages import Came, Ended, FromWorker, Gone, Ready, Start, Stop, Worker
from tfm_ui.jobs.process import Process
from tfm_ui.jobs.ring import Ring

MOST_WAITING = 3  # of one client
GRACE = 10.0  # seconds that a client may be away: a reconnect loses nothing
OBEYS = 2.0  # seconds in which a stopped job ends, or its worker is killed
OFTEN = 0.25  # seconds between two looks at who is away, and what takes too long
KEPT = 64  # jobs that are over, so that whoever asked can see how they ended


class Queue:
    """Any thread may call it, and no call takes long."""

    def __init__(
        self,
        hire: Callable[[Callable[[Worker, FromWorker], None]], Worker] = Process,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A queue without a worker yet.

        Args:
            hire: starts a worker, and has it tell what comes.
            clock: tells the seconds.
        """
        self._hire, self._clock = hire, clock
        self._lock = threading.RLock()
        self._ring: Ring[Job] = Ring()
        self._jobs: dict[int, Job] = {}
        self._count = 0
        self._alive: dict[str, tuple[Callable[[], bool], float]] = {}  # client -> how to tell, and when it last was
        self._running: Job | None = None
        self._worker: Worker | None = None
        self._ready = False
        self._closed = threading.Event()
        self._watched = False

    # what clients ask

    def open(self) -> None:
        """Have a worker ready, so that nobody waits for its imports. It costs as much as starting a process."""
        with self._lock:
            if self._worker is None and not self._closed.is_set():
                self._ready = False
                self._worker = self._hire(self._heard)
            if not self._watched:
                self._watched = True
                threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, client: str, request: Request, alive: Callable[[], bool] = lambda: True) -> int:
        """Ask for something, or join those who have; the job's number.

        Args:
            client: who asks.
            request: what.
            alive: whether the client is still there.

        Raises:
            Refused: where too much of this client's waits already.
        """
        with self._lock:
            job = self._same(request.name, request.argument)
            waiting = self._ring.of(client)
            if (job is None or (job.state == "waiting" and job not in waiting)) and len(waiting) >= MOST_WAITING:
                raise Refused(f"{len(waiting)} of yours are waiting already. Wait for one of them, or stop it.")
            if job is None:
                self._count += 1
                job = self._jobs[self._count] = Job(self._count, request)
            self._alive[client] = alive, self._clock()
            job.clients.add(client)
            job.asked.add(client)
            if job.state == "waiting":
                self._ring.add(client, job)
            self._feed()
            return job.number

    def stop(self, client: str, number: int) -> None:
        """This client no longer wants it. What nobody wants is not done, or ends; what has come of it stays."""
        with self._lock:
            job = self._jobs.get(number)
            if job is None or client not in job.clients:
                return
            job.clients.discard(client)
            self._ring.leave(client, job)
            if job.clients:
                return
            if job.state == "waiting":
                self._end(job, "stopped")
            elif job is self._running:
                self._tell_to_stop(job)

    def find(self, client: str, name: str, argument: Hashable, alive: Callable[[], bool] | None = None) -> Seen | None:
        """The job that does this now, for whomever; else this client's last that did; None if there is neither.

        With `alive`, a client that finds a job whose clients have all gone takes it over: the page was reloaded.
        """
        with self._lock:
            job = self._same(name, argument)
            if job is None:
                own = [job for job in self._jobs.values() if client in job.asked and job.request.same(name, argument)]
                return self._seen(client, own[-1]) if own else None
            if alive and not any(self._alive[other][0]() for other in job.clients):
                with suppress(Refused):  # who has too much waiting already can see it all the same
                    self.submit(client, job.request, alive)
            return self._seen(client, job)

    def of(self, client: str) -> list[Seen]:
        """What this client waits for."""
        with self._lock:
            return [self._seen(client, job) for job in self._under_way() if client in job.clients]

    def close(self) -> None:
        """End all of it."""
        with self._lock:
            self._closed.set()
            worker, self._worker = self._worker, None
        if worker:
            worker.close()

    # what happens by itself

    def tick(self) -> None:
        """Look who is gone, and what takes too long. Called often, by a thread of the queue's own."""
        with self._lock:
            now = self._clock()
            for client, (alive, last) in list(self._alive.items()):
                own = [job for job in self._under_way() if client in job.clients]
                if not own:
                    del self._alive[client]
                elif alive():
                    self._alive[client] = alive, now
                elif now - last > GRACE:
                    for left in own:
                        self.stop(client, left.number)
            job = self._running
            if job is None:
                return
            if job.told_to_stop is None and now - job.began > job.request.limit:
                job.problem = f"It was stopped after {job.request.limit:.0f} seconds, the longest that one may take."
                self._tell_to_stop(job)
            elif job.told_to_stop is not None and now - job.told_to_stop > OBEYS and self._worker:
                self._worker.kill()

    def _watch(self) -> None:
        while not self._closed.wait(OFTEN):
            self.tick()

    def _heard(self, worker: Worker, message: FromWorker) -> None:
        """What the worker says; of one that has been replaced, nothing counts."""
        with self._lock:
            if worker is not self._worker:
                return
            job = self._running
            if isinstance(message, Ready):
                self._ready = True
            elif isinstance(message, Came) and job and job.number == message.number:
                job.step = message.step
            elif isinstance(message, Ended) and job and job.number == message.number:
                self._running = None
                self._end(job, "failed" if message.problem else "stopped" if message.stopped else "done",
                          message.problem)  # fmt: skip
            elif isinstance(message, Gone):
                self._replace(message.code)
            self._feed()

    def _replace(self, code: int) -> None:
        """The worker is gone."""
        self._worker, job, self._running = None, self._running, None
        if job and job.told_to_stop is not None:
            self._end(job, "stopped")
        elif job:
            why = f"ended by signal {-code}, as when memory runs out" if code < 0 else f"ended with code {code}"
            self._end(job, "failed", f"The process that worked on it was {why}.")
        elif not self._ready:  # it would do so again
            for job in self._ring.clear():
                self._end(job, "failed", f"The process that works could not start; it ended with code {code}.")
            return
        self.open()

    # of the lock's owner alone

    def _feed(self) -> None:
        if self._closed.is_set() or self._running or not self._ring.order():
            return
        self.open()
        if self._worker and self._ready and (job := self._ring.next()):
            self._running, job.state, job.began = job, "running", self._clock()
            self._worker.say(Start(job.number, job.request.name, job.request.argument))

    def _tell_to_stop(self, job: Job) -> None:
        job.told_to_stop = self._clock()
        if self._worker:
            self._worker.say(Stop(job.number))

    def _end(self, job: Job, state: State, problem: str = "") -> None:
        try:
            if job.step:
                job.request.then(job.step)  # before anybody sees that it is over
        finally:  # whatever that did
            job.state, job.problem = state, problem or job.problem
        over = [number for number, other in self._jobs.items() if not other.under_way]
        for number in over[:-KEPT]:
            del self._jobs[number]

    def _under_way(self) -> Iterator[Job]:
        return (job for job in self._jobs.values() if job.under_way)

    def _same(self, name: str, argument: Hashable) -> Job | None:
        return next(
            (job for job in self._under_way() if job.told_to_stop is None and job.request.same(name, argument)), None
        )

    def _seen(self, client: str, job: Job) -> Seen:
        now, order = self._clock(), ([self._running] if self._running else []) + self._ring.order()
        before = order[: order.index(job)] if job in order else []
        return Seen(
            number=job.number,
            state=job.state,
            mine=client in job.clients,
            before=len(before),
            wait=sum(other.left(now) for other in before),
            seconds_left=job.left(now),
            step=job.step,
            problem=job.problem,
            stopping=job.told_to_stop is not None,
        )
