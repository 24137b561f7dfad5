"""The pictures of a request, computed and packed into the bytes that the browser gets. Any process may do it."""

import gzip
import logging
import secrets
from collections.abc import Sequence

import numpy as np

from tfm_ui.live.cache import kept_together
from tfm_ui.pictures.canvas import encode
from tfm_ui.pictures.registry import Asked, CannotBeShown, link_of, made
from tfm_ui.server.logs import REQUEST, of_visitor
from tfm_ui.visitors.compute_limiter import Busy, VisitorGone
from tfm_ui.visitors.turn import AnyTurn, SlowLaneNeeded, use_turn

LARGEST = 32_000_000  # bytes of an answer: the three largest maps of a page take half of it
NOTHING = np.zeros(0, np.float32)
NOT_OURS_TO_LOG = Busy, VisitorGone, CannotBeShown, SlowLaneNeeded  # these say something to whoever asked

_log = logging.getLogger(__name__)


class TooLarge(Exception):
    """The pictures of a request have more bytes than an answer may have."""


class AllFailed(Exception):
    """No picture of a request could be computed; the message is a sentence for the visitor, with a reference."""


def packed(turn: AnyTurn, names: Sequence[str], asked: Asked, request: str = "") -> bytes:
    """The pictures one after the other, each preceded by its length; in place of one that fails stands the problem.

    Args:
        turn: the turn in which they are computed; it has begun.
        names: of the pictures.
        asked: the link, read for these pictures.
        request: the id of the request in the log.

    Raises:
        AllFailed: if no picture could be computed.
        CannotBeShown: if there is no picture for this link.
        SlowLaneNeeded: if a picture takes long, and the turn is in another lane and cannot move.
        TooLarge: if the answer would be too large.
        VisitorGone: if the answer is no longer wanted.
    """
    parts: list[bytes] = []
    problems = []
    REQUEST.set(request)
    with use_turn(turn), kept_together():
        for name in names:
            turn.check_wanted()
            try:
                parts.append(made(name, asked))
            except NOT_OURS_TO_LOG:
                raise
            except Exception as error:
                problems.append(logged(f"the picture {name} of the link {of_visitor(link_of(name, asked))}", error))
                parts.append(encode({"problem": problems[-1]}, NOTHING))
            if sum(map(len, parts)) > LARGEST:
                raise TooLarge(f"These pictures have more than {LARGEST // 10**6} MB. Fewer tokens or heads fit.")
        if len(problems) == len(names):
            raise AllFailed(problems[0])
        together = b"".join(len(data).to_bytes(4, "little") + data for data in parts)
        # A half to a quarter of the size, for a millisecond or two. Without a time, equal pictures are equal bytes.
        return gzip.compress(together, compresslevel=1, mtime=0)


def logged(what: str, error: Exception) -> str:
    """Log an error, and return a sentence for the visitor, who cannot see the log."""
    reference = secrets.token_hex(4)
    _log.error("Reference %s: %s", reference, what, exc_info=error)
    return f"This picture could not be computed. The server's log says why, under the reference {reference}."
