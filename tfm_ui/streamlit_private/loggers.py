"""Streamlit's loggers, each of which gets a handler of its own when it is made."""

import logging
from collections.abc import Callable

from streamlit import logger as streamlits

NO_SCRIPT_RUNS = "streamlit.runtime.scriptrunner_utils.script_run_context"  # warns where a script is expected to run


def set_up_later_ones(by: Callable[[logging.Logger], None]) -> None:
    """Let this set up each logger that Streamlit makes from now on, so that a log in JSON is JSON throughout."""
    vars(streamlits)["setup_formatter"] = by
