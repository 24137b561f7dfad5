"""Questions to a program that answers each in a process of its own, a copy of itself: by lines of JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PREFIX = "ATTENTION_LAB_"


@contextmanager
def answering(module: str, environment: Mapping[str, str]) -> Iterator[Callable[..., Any]]:
    """A function of a question's parts that returns the answer of this module, run as a program.

    Of the settings of servers, the program has those alone that are in the environment which is given.
    """
    plain = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)} | environment
    command, pipe = [sys.executable, "-m", module], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=plain, text=True, stdin=pipe, stdout=pipe) as program:
        stdin, stdout = program.stdin, program.stdout
        assert stdin
        assert stdout

        def ask(*question: Any) -> Any:
            print(json.dumps(question), file=stdin, flush=True)
            return json.loads(stdout.readline())

        yield ask


def answer_all(answer: Callable[..., Any]) -> None:
    """Answer questions, as the program, until there are no more."""
    for line in sys.stdin:
        question = json.loads(line)
        if not (child := os.fork()):
            sys.stdout.write(json.dumps(answer(*question)) + "\n")
            sys.stdout.flush()
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{question} has failed")  # else who asked would wait for an answer for ever
