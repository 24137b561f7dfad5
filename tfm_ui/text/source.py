"""The source of a function, as it is shown on screen."""

import inspect
import re
from collections.abc import Callable
from typing import Any

# A docstring's last section: what the page of the API shows, and the reader of a picture has before the eyes.
EXAMPLES = re.compile(r'\n\n +Examples:\n(?:(?: +.*)?\n)*?( +""")')
ONE_LINE = re.compile(r'(""".*)\n +"""')  # a docstring whose text is one line, and whose end stands below it


def shown_source(function: Callable[..., Any]) -> str:
    """The source of a function, as it runs, without the examples of its docstring."""
    source, changed = EXAMPLES.subn(r"\n\1", inspect.getsource(function), count=1)
    return ONE_LINE.sub(r'\1"""', source, count=1) if changed else source
