"""The pool of processes that compute pictures, so that Streamlit's process only runs pages.

A computation has its turn in this process (tfm_ui/visitors/turn.py), and is then computed by a worker. Without a
started pool, as in tests, this process computes.
"""

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tfm_ui.jobs import sessions
from tfm_ui.pictures.registry import Asked, read, show_model, shows_jobs, takes_long
from tfm_ui.server.logs import of_visitor
from tfm_ui.server.packed import AllFailed, logged, packed
from tfm_ui.server.pool_member import Member, forker, prepare
from tfm_ui.server.pool_worker import DeskProxy
from tfm_ui.visitors.compute_limiter import Busy, Lane
from tfm_ui.visitors.turn import Turn

PATIENCE = 30.0  # seconds that a question waits for a worker that has ended to be replaced

IMPORTED = 20.0  # seconds after which the process from which workers are forked has surely imported all


@dataclass(frozen=True)
class Status:
    """A worker.

    Attributes:
        pid: the number of its process.
        alive: whether the process can be asked.
        restarts: how many processes it has replaced.
        answered: questions that it is done with.
        busy: questions that are being answered.
    """

    pid: int
    alive: bool
    restarts: int
    answered: int
    busy: int


@dataclass(frozen=True, eq=False)
class Question:
    """What a request asks for.

    Attributes:
        turn: its turn, which has begun.
        names: of its pictures.
        query: the query of a link.
        request: the id of the request in the log.
    """

    turn: Turn
    names: Sequence[str]
    query: str
    request: str = ""


class Pool:
    """The workers. Any thread may call the methods."""

    def __init__(self) -> None:
        self._members: list[Member] = []
        self._changed = threading.Condition()
        self._once_more = threading.Lock()
        self._numbers = itertools.count()
        self._asked: dict[Question, tuple[DeskProxy, int]] = {}  # where each question is being answered

    def start(self, workers: int) -> None:
        """Start this many workers, and wait until they can be asked."""
        prepare()
        self._members = [Member(packed, self._changed) for _ in range(workers)]
        with self._changed:
            if not self._changed.wait_for(lambda: all(member.desk for member in self._members), PATIENCE):
                raise RuntimeError(f"expected {workers} worker processes within {PATIENCE:.0f} seconds")

    def close(self) -> None:
        """End the workers."""
        for member in self._members:
            member.close()
        self._members = []

    @property
    def is_started(self) -> bool:
        """Whether there are workers to ask."""
        return bool(self._members)

    def status(self) -> list[Status]:
        """The workers, as they are now."""
        with self._changed:
            return [
                Status(member.pid, member.lives, max(member.starts - 1, 0), member.answered, member.busy)
                for member in self._members
            ]

    def renew(self) -> None:
        """Replace a worker that nobody asks now, if the process from which it was forked has been replaced.

        It shares no memory with those that were forked later. One is replaced at a time, when the new process has had
        time for its imports.
        """
        with self._changed:
            now = forker(older_than=IMPORTED)
            if not now or not all(member.desk for member in self._members):
                return
            for member in self._members:
                if member.forked_by != now and not member.busy and member.desk:
                    member.replace(member.desk)
                    return

    def ask(self, question: Question) -> bytes:
        """The packed pictures, computed by a worker; raises what `packed` raises.

        The link is read here, in the question's turn, as a long one takes a while, and only here: the worker is sent
        what was read. Questions about the same model go to the same worker, if it is free, which has computed the like
        before; and so do the same questions where the sidebar's model is not shown, whatever it is.
        """
        turn, names, query = question.turn, question.names, question.query
        asked = read(names, query)
        if takes_long(names, asked):
            turn.enter_slow_lane()
        if not self._members or (any(map(shows_jobs, names)) and sessions.any_under_way()):
            return packed(turn, names, asked, question.request)
        try:
            return self._asked_again(question, asked)
        except (OSError, EOFError) as error:
            what = f"two workers have ended while they computed {'+'.join(names)} of the link {of_visitor(query)}"
            raise AllFailed(logged(what, error)) from None

    def drop(self, question: Question) -> None:
        """The visitor no longer waits for this question's answer: the worker begins no other computation for it."""
        if asked := self._asked.get(question):
            desk, number = asked
            try:
                desk.drop(number)
            except (OSError, EOFError):
                return  # the worker has ended

    def give_up(self, question: Question) -> None:
        """End the worker that is asked this question and does not answer; another one is asked."""
        if asked := self._asked.get(question):
            for member in self._members:
                member.replace(asked[0])

    def _asked_again(self, question: Question, asked: Asked) -> bytes:
        """The answer; if the worker has ended, for instance for want of memory, that of a second worker."""
        try:
            return self._answer(question, asked)
        except (OSError, EOFError):
            question.turn.check_wanted()
        with self._once_more:  # whatever else the worker computed is not asked together with what may have ended it
            self._replace_the_dying()
            return self._answer(question, asked)

    def _replace_the_dying(self) -> None:
        """Replace the workers that were killed together with another one, and that the system still lists as running.

        They have computed nothing, so their end does not count as that of a second worker.
        """
        for member in self._members:
            if desk := member.desk:
                try:
                    desk.pid()
                except (OSError, EOFError):
                    member.replace(desk)

    def _answer(self, question: Question, asked: Asked) -> bytes:
        heavy, number = question.turn.ticket.lane is Lane.SLOW, next(self._numbers)
        near = asked.model if show_model(question.names) else tuple(question.names)
        with self._free(hash(near), heavy=heavy) as desk:
            self._asked[question] = desk, number
            try:
                answer: bytes = desk.ask(number, heavy, (question.names, asked, question.request))
                return answer
            finally:
                del self._asked[question]

    @contextmanager
    def _free(self, near: int, *, heavy: bool) -> Iterator[DeskProxy]:
        """The worker that is to answer, for the time of the answer."""
        with self._changed:
            alive = self._changed.wait_for(lambda: [each for each in self._members if each.lives], PATIENCE)
            if not alive:
                raise Busy("The server is busy: it starts its worker processes anew.")
            member = self._freest(alive, near, heavy=heavy)
            desk = member.desk
            assert desk
            member.busy += 1
            member.slow += heavy
        try:
            yield desk
        except (OSError, EOFError):
            member.replace(desk)
            raise
        finally:
            with self._changed:
                member.answered += 1
                member.busy -= 1
                member.slow -= heavy

    def _freest(self, alive: list[Member], near: int, *, heavy: bool) -> Member:
        """The least busy of these workers, slow questions above all; of equals always the same for the same `near`.

        The last worker gets no slow questions, if there are others, so that quick ones do not wait.
        """
        allowed = [member for member in alive if member is not self._members[-1]] if heavy else []
        members = allowed or alive
        first = near % len(members)
        return min(members[first:] + members[:first], key=lambda member: (member.slow, member.busy))


POOL = Pool()
