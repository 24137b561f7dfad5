"""Equal questions are computed once: those who follow a lecture ask for the same pictures at the same time.

Who asks for what is being computed waits with whoever asked first, and what was computed a moment ago is there. Their
turns count together: what several wait for comes when the first of them would have it (tfm_ui/visitors/fair_queue.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cachetools

from tfm_ui.pictures.registry import shows_jobs
from tfm_ui.visitors import metrics
from tfm_ui.visitors.compute_limiter import VisitorGone
from tfm_ui.visitors.turn import PicturesTurn

KEPT = 8_000_000  # bytes of answers, so of a few hundred
LASTS = 10.0  # seconds for which an answer is kept: as long as thirty browsers take to follow a lecturer's act


@dataclass(eq=False)
class Question:
    """What is being computed, for one or more visitors.

    Attributes:
        turn: of all who wait for it.
        nobody_waits: done when all of them have gone.
        answer: its bytes, to come.
        waiting: the visitors; one with two tabs is there twice.
    """

    turn: PicturesTurn
    nobody_waits: asyncio.Future[Any]
    answer: asyncio.Task[bytes] = field(init=False)
    waiting: list[str] = field(default_factory=list)


Computes = Callable[[PicturesTurn, asyncio.Future[Any]], Awaitable[bytes]]


class EqualQuestions:
    """The questions that are being computed, and the newest answers. For the thread of the event loop."""

    def __init__(self) -> None:
        self._asked: dict[Hashable, Question] = {}
        self._answers: cachetools.TTLCache[Hashable, bytes] = cachetools.TTLCache(KEPT, LASTS, getsizeof=len)

    def forget(self) -> None:
        """Forget all answers. The app never does; tests do."""
        self._answers.clear()

    async def answer(
        self, visitor: str, names: Sequence[str], query: str, gone: asyncio.Future[Any], compute: Computes
    ) -> bytes:
        """The answer of a question, computed unless it is there, or is being computed for another.

        Args:
            visitor: who asks.
            names: of the pictures.
            query: of the link.
            gone: done when this visitor no longer waits.
            compute: computes it, in a turn; its second argument is done when nobody waits for it.

        Raises:
            Busy: if too many computations wait.
            VisitorGone: if this visitor has gone.
        """
        key = (*names, query)
        if key in self._answers:
            metrics.EQUAL.inc()
            return self._answers[key]
        question = self._asked.get(key)
        if question:
            metrics.EQUAL.inc()
            question.turn.join(visitor)
        else:
            question = self._begin(key, visitor, compute)
        question.waiting.append(visitor)
        try:
            await asyncio.wait({question.answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not question.answer.done():
                raise VisitorGone
            answer = question.answer.result()
        finally:
            self._leave(key, question, visitor)
        if not any(map(shows_jobs, names)):  # those change with time
            self._answers[key] = answer
        return answer

    def _begin(self, key: Hashable, visitor: str, compute: Computes) -> Question:
        nobody_waits = asyncio.get_running_loop().create_future()
        question = Question(PicturesTurn(visitor, lambda: not nobody_waits.done()), nobody_waits)

        async def computed() -> bytes:
            try:
                return await compute(question.turn, nobody_waits)
            finally:
                question.turn.end()
                if self._asked.get(key) is question:
                    del self._asked[key]

        question.answer = asyncio.create_task(computed())
        question.answer.add_done_callback(lambda answer: answer.cancelled() or answer.exception())  # if nobody reads it
        self._asked[key] = question
        return question

    def _leave(self, key: Hashable, question: Question, visitor: str) -> None:
        question.waiting.remove(visitor)
        if question.answer.done():
            return
        if visitor not in question.waiting:
            question.turn.part(visitor)
        if not question.waiting:
            question.nobody_waits.set_result(None)
            if self._asked.get(key) is question:
                del self._asked[key]  # who asks now begins anew
