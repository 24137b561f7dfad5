"""The notebooks of this folder, executed.

    python -m examples             # executes all of them, and writes their outputs anew
    python -m examples 3 --check   # executes those whose names begin with 3, writes nothing, and says what failed

What is written are texts and, of each picture, its sentence and a PNG: places that run no scripts show them, too.
"""

import argparse
import base64
import os
import sys
import time
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from PIL import Image

FOLDER = Path(__file__).parent
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PNG = "image/png"
KEPT = ("text/plain", PNG)
WIDGET = "application/vnd.jupyter.widget-view+json"
ENVIRONMENT = {
    "ATTENTION_LAB_STILL": "1",
    "PYTHONPATH": str(FOLDER.parent),  # so that a checkout need not be installed
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # else the kernel warns of a debugger that nobody uses
    "OMP_NUM_THREADS": "1",  # sums come out the same with any number of cores; on a busy machine it is faster, too
}


def executed(file: Path, environment: Mapping[str, str] | None = None) -> NotebookNode:
    """A notebook with the outputs that it has now, in a new kernel; those in the file are left out.

    Args:
        file: of the notebook.
        environment: variables of the kernel's environment that differ from this process's.

    Raises:
        CellExecutionError: if a cell raises an exception.
    """
    notebook = nbformat.read(file, as_version=4)
    settings: dict[str, Any] = {
        "timeout": 300,
        "record_timing": False,
        "store_widget_state": False,
        "coalesce_streams": True,  # else texts come in other pieces each time
    }
    client = NotebookClient(notebook, **settings, resources={"metadata": {"path": str(file.parent)}})
    client.execute(env={**os.environ, **ENVIRONMENT, **(environment or {})})
    return notebook


def without_widgets(notebook: NotebookNode) -> NotebookNode:
    """The same notebook, in place: of its outputs only texts and PNGs are left, and of the kernel only its name."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}
    for output in outputs(notebook):
        if "data" in output:
            output.data = {kind: output.data[kind] for kind in KEPT if kind in output.data}
            output.metadata = {}
        if PNG in output.get("data", {}):
            output.data[PNG] = smaller(output.data[PNG])
    return notebook


def smaller(png: str) -> str:
    """A picture with 256 colours, which is what drawings need and a third of the size; both as base64."""
    image, data = Image.open(BytesIO(base64.b64decode(png))), BytesIO()
    image.convert("RGB").quantize(256).save(data, "PNG", optimize=True)
    return base64.b64encode(data.getvalue()).decode()


def outputs(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """All outputs, from top to bottom."""
    for cell in notebook.cells:
        yield from cell.get("outputs", [])


def problems(notebook: NotebookNode) -> list[str]:
    """What no reader should see, in sentences: warnings, and pictures without a PNG."""
    told = []
    for output in outputs(notebook):
        if output.get("name") == "stderr":
            told.append(f"It warns: {output.text.strip()}")
        if WIDGET in output.get("data", {}) and PNG not in output.data:
            told.append(f"No PNG stands beside this picture: {output.data['text/plain']}")
    return told


def main() -> int:
    """Execute notebooks, and return how many of them have a problem."""
    parser = argparse.ArgumentParser(prog="python -m examples", description="Executes the notebooks of this folder.")
    parser.add_argument("names", nargs="*", help="how their names begin; by default all are executed")
    parser.add_argument("--check", action="store_true", help="write nothing")
    asked = parser.parse_args()
    chosen = [file for file in NOTEBOOKS if file.name.startswith(tuple(asked.names) or "")]
    if not chosen:
        sys.exit(f"expected beginnings of {', '.join(file.name for file in NOTEBOOKS)}; got {' '.join(asked.names)}")
    failed = 0
    for file in chosen:
        begin = time.perf_counter()
        try:
            notebook = executed(file)
            told = problems(notebook)
        except CellExecutionError as error:
            told = [str(error)]
        if not told and not asked.check:
            nbformat.write(without_widgets(notebook), file)
        failed += bool(told)
        size = f"{file.stat().st_size / 1000:.0f} kB"
        print(f"{file.name}: {time.perf_counter() - begin:.0f} s, {size}", *told, sep="\n  ")
    return failed


if __name__ == "__main__":
    sys.exit(main())
