"""Reads the page that a link opens. All that the record knows about the app's implementation is here and in charts.py.

Inside means: where a page's file lies, how Numbers and Source are opened, the function behind a picture, and how
Profiling is given a measurement without a clock. When one of these moves, it costs a line here.
"""

import ast
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stdout
from dataclasses import is_dataclass
from functools import lru_cache
from html import unescape
from io import StringIO
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl

import numpy as np
import torch
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from tests.explanations import without_explanations
from tests.opening import go_to
from tests.record.charts import numbers_of, words_of
from tests.record.statistics import ROUNDING, alike, describe, text
from tests.record.tables import table_of
from tests.tfm_ui.jobs.fake_worker import FakeQueue
from tests.tfm_ui.lenses.profiling.reports import plausible
from tests.tfm_ui.payloads import decode
from tfm_ui.jobs import sessions
from tfm_ui.lenses.profiling import measurements
from tfm_ui.pictures.registry import made
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState

ROOT = Path(__file__).parents[2]
MEASURED = "#measured"  # behind a link: Profiling has measured what it asks for, with times made by hand
MENUS = ("Numbers", "Source")  # by their labels; their content is made when they are open
RUNS_A_CLOCK = re.compile(r"\b(profile|compare)\(")  # a recipe that measures, or trains for minutes, is not run
NOT_RECORDED = re.compile(r'<style>|class="facts')  # neither style nor when and where something was measured

Record = dict[str, Any]


@contextmanager
def _without_a_worker(*, measured: bool) -> Iterator[None]:
    """Start no worker process; Profiling gets a made-up measurement, or none."""
    queue = FakeQueue()
    with ExitStack() as stack:
        stack.callback(queue.close)
        stack.enter_context(patch.object(sessions, "queue", lambda: queue.open() or queue))
        find = (lambda plan, name="": plausible(plan) if plan else None) if measured else lambda plan, name="": None
        stack.enter_context(patch.object(measurements, "find", find))
        yield


def visited(link: str) -> Record:
    """All that is recorded of a link: controls, panels, pictures, and the texts around them."""
    address, _, mark = link.partition("#")
    path, _, query = address.partition("?")
    with _without_a_worker(measured="#" + mark == MEASURED):
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        if path:
            go_to(app, path)
        for name, value in parse_qsl(query, keep_blank_values=True):
            app.query_params[name] = value
        _run(app)
        for node in app.main:
            if isinstance(node, Block) and node.type == "popover" and node.proto.popover.label in MENUS:
                app.session_state[node.key] = True
        _run(app)
        reader = _Reader()
        reader.read(app.main)
        reader.content["controls"] |= _controls(app.sidebar)
        return reader.content


def _run(app: AppTest) -> None:
    app.run()
    assert not app.exception, app.exception[0].value


def _controls(block: Block) -> Record:
    return {name: str(node.value) for node in block if (name := _parameter(node))}


def _parameter(node: Any) -> str:
    """The parameter of the link that a control sets, or "" if it sets none: then its key begins with _."""
    key = getattr(node, "key", None)
    if isinstance(node, Block) or not key or node.type in ("bidi_component", "dataframe", "button"):
        return ""
    unbound = re.fullmatch(r"_(.+)_\d+", key)  # tfm_ui/page/unbound.py
    name = str(unbound[1] if unbound and unbound[1] in controls_of(ModelState) else key)
    return name if hasattr(node, "value") and not name.startswith("_") else ""


class _Reader:
    """Goes through a page and sorts its content."""

    def __init__(self) -> None:
        self.content: Record = {"words": [], "controls": {}, "pictures": {}, "panels": {}}

    def read(self, block: Block, panel: Record | None = None, menu: str = "") -> None:
        """What lies in a block.

        Args:
            block: of the page.
            panel: that it lies in, if it lies in one.
            menu: label of the menu that it lies in.
        """
        for node in block.children.values():
            if isinstance(node, Block):
                key = node.key or ""
                inner = panel
                if key.startswith("panel_"):
                    inner = self.content["panels"].setdefault(key.removeprefix("panel_"), {"words": []})
                label = node.proto.popover.label if node.type == "popover" else menu
                self.read(node, inner, label)
            else:
                self._element(node, panel, menu)

    def _element(self, node: Any, panel: Record | None, menu: str) -> None:
        place = self.content if panel is None else panel
        if name := _parameter(node):
            self.content["controls"][name] = str(node.value)
        elif node.type == "bidi_component":
            self._picture(node)
        elif node.type == "dataframe":
            place.setdefault("tables", []).append(table_of(node.value))
        elif node.type == "code":
            _code(place, node.value)
        elif node.type == "html":
            _html(place, node.proto.body)
        elif menu != "Source" and node.type in ("markdown", "caption", "info", "warning", "error", "success"):
            place["words"].append(_plain(node.value))

    def _picture(self, node: Any) -> None:
        data = json.loads(node.proto.json or "{}")
        if not {"name", "query"} <= data.keys():
            return  # a component that is no picture
        header, numbers = decode(made(data["name"], data["query"]))
        is_chart = "figure" in header
        words = words_of(header) if is_chart else header
        described = {name: describe(value) for name, value in words.items() if name != "query"}
        self.content["pictures"][node.key] = {
            "name": data["name"],
            "query": {name: text(value) for name, value in parse_qsl(data["query"], keep_blank_values=True)},
            "header": {name: value for name, value in described.items() if value is not None},
            "numbers": numbers_of(header) if is_chart else _numbers(header, numbers),
        }


def _numbers(header: Record, numbers: bytes) -> Any:
    """What a picture's script draws: float32, except in the grid of heads and in the arcs."""
    if "ends" in header and "block" in header:  # a byte per cell
        return describe(np.frombuffer(numbers, np.uint8))
    if "kept" in header:  # weights, and then the keys that they belong to
        lines = len(header["maps"]) * len(header["queries"])
        weights = np.frombuffer(numbers, np.float32, lines * (1 + header["kept"]))
        keys = np.frombuffer(numbers, np.uint16, lines * header["kept"], weights.nbytes)
        return {"weights": describe(weights), "keys": describe(keys)}
    return describe(np.frombuffer(numbers, np.float32))


HEADING = ("title", "shape")


def _html(place: Record, body: str) -> None:
    """A panel's heading, sentence and laws; any other HTML is among the words."""
    if NOT_RECORDED.search(body):
        return
    body = without_explanations(body)
    if heading := re.search(r'class="phead"><h2>(.*?)<small[^>]*>(.*?)</small></h2>', body, re.DOTALL):
        place |= {name: _plain(part) for name, part in zip(HEADING, heading.groups(), strict=True)}
    elif 'class="how"' in body:
        place["how to read"] = _plain(body)
    elif 'class="said"' in body and "sentence" not in place:
        place["sentence"] = _plain(body)
    elif 'class="law"' in body:
        place["laws"] = [_plain(law) for law in re.findall(r"<span>(.*?)</span>", body, re.DOTALL)]
    else:
        place["words"].append(_plain(re.sub(r"<span>computed in .*?</span>", "", body)))


def _plain(html: str) -> str:
    """The text in HTML, without errors of rounding."""
    plain = " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
    return ROUNDING.sub("…", plain)


def _code(place: Record, code: str) -> None:
    """The recipe is the first code that is more than one function: what it leaves behind."""
    if _is_a_function(code):
        place["functions"] = True
    elif "recipe" not in place:
        place["recipe"] = yields(code)


def _is_a_function(code: str) -> bool:
    lines = ast.parse(dedent(code)).body
    return len(lines) == 1 and isinstance(lines[0], ast.FunctionDef | ast.ClassDef)


@lru_cache(maxsize=256)
def yields(recipe: str) -> Record:
    """What a recipe leaves behind: each name with what is recorded of its value, and the last of these names."""
    if RUNS_A_CLOCK.search(recipe):
        return {"measures": True}
    with torch.random.fork_rng(devices=[]):
        first = _left(recipe, seed=0)
        drawn = not torch.equal(torch.get_rng_state(), torch.manual_seed(0).get_state())
        left = alike(first, _left(recipe, seed=1)) if drawn else first  # inputs drawn without a seed have but a shape
    assert left, f"a recipe leaves nothing that is recorded:\n{recipe}"
    return {"last": list(left)[-1], "left": left}


def _left(recipe: str, *, seed: int) -> Record:
    torch.manual_seed(seed)
    scope: dict[str, Any] = {"__name__": "__main__"}
    with redirect_stdout(StringIO()), chdir(ROOT):
        exec(compile(recipe, "recipe", "exec"), scope)
    values = {
        name: value
        for name, value in scope.items()
        if not name.startswith("_") and not isinstance(value, ModuleType | str) and not callable(value)
    }
    last = list(values)[-1]
    if is_dataclass(values[last]):  # several results under one name
        values[last] = vars(values[last])
    for name, value in list(values.items()):
        if isinstance(value, dict):  # results by name can be told apart: values["A"] as values[A]
            by_name = {f"{name}[{key}]": vars(entry) if is_dataclass(entry) else entry for key, entry in value.items()}
            values |= by_name
    return {name: described for name, value in values.items() if (described := describe(value)) is not None}
