"""The server's log. With ATTENTION_LAB_LOGS=json it is one JSON object a line, and nothing in it is a visitor's text.

Streamlit and uvicorn give each of their loggers a handler of its own. In JSON, all of them pass what they log on to the
root logger, which has the only handler. The messages of exceptions may contain what a visitor has typed: in JSON an
exception is its type and the places in the code.
"""

import json
import logging
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import TextIO

from tfm_ui.settings import SETTINGS
from tfm_ui.streamlit_private import loggers

WITH_QUERIES = "uvicorn.access"  # logs whole addresses, and so what a visitor has typed: it stays silent
OURS = "tfm_ui"  # the logger above all loggers of the app
REQUEST: ContextVar[str] = ContextVar("request", default="")  # the id of the request that is being answered

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def in_json() -> bool:
    """Whether the log is JSON."""
    return SETTINGS.logs == "json"


def of_visitor(text: str, longest: int = 500) -> str:
    """A visitor's text as it may stand in the log: its beginning, or in JSON only that there was one."""
    return f"(not logged, {len(text)} characters)" if in_json() else repr(text[:longest])


class JsonLines(logging.Formatter):
    """Writes each record as a JSON object in one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line. What a record has as `fields`, a dict, is added to it."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := REQUEST.get():
            line["request"] = request
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = exception_in_words(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def exception_in_words(information: ExceptionInfo) -> str:
    """The exception's type and where it was raised, without its message: "ValueError at passes.py:149 in run, ..."."""
    kind, _, trace = information
    places = [f"{frame.name} in {frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(trace)]
    return f"{kind.__name__ if kind else 'no exception'} at {', called by '.join(reversed(places))}"


def set_up(stream: TextIO | None = None) -> None:
    """Let everything be logged as the settings say. It may be called again: uvicorn sets up its loggers when it starts.

    Args:
        stream: where lines go; None is standard error.
    """
    if not in_json():
        return
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    logging.root.handlers[:] = [handler]
    logging.getLogger(OURS).setLevel(logging.INFO)
    loggers.set_up_later_ones(by=_to_root)
    for logger in list(logging.root.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger) and _writes_itself(logger):
            _to_root(logger)
    logging.captureWarnings(True)


def _writes_itself(logger: logging.Logger) -> bool:
    return any(isinstance(handler, logging.StreamHandler) for handler in logger.handlers)


def _to_root(logger: logging.Logger) -> None:
    logger.handlers[:] = []
    logger.propagate = logger.name != WITH_QUERIES
