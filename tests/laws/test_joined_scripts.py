"""A downloaded picture's scripts are one module: in it each name of a script's top level must be the only one.

Node's own parser tells, which refuses a name that is declared twice.
"""

import json
import re
import shutil
import subprocess

from tfm_ui.lenses import lenses
from tfm_ui.pictures.canvas import Canvas, bundle, standalone

PARSE = """
const { SourceTextModule } = require("node:vm")
for (const [name, text] of JSON.parse(require("node:fs").readFileSync(0, "utf8")))
  try { new SourceTextModule(text) } catch (problem) { console.log(`${name}: ${problem.message}`) }
"""


def refused(modules: dict[str, str]) -> list[str]:
    """What Node says of those modules that it cannot parse: name -> its text."""
    node = shutil.which("node")
    assert node, "there is no node, which the checks of scripts need"
    command = [node, "--no-warnings", "--experimental-vm-modules", "-e", PARSE]
    told = subprocess.run(command, input=json.dumps([*modules.items()]), capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


def module_of(canvas: Canvas) -> str:
    """The module of a downloaded picture: its scripts, and what the page adds to them."""
    page = standalone(canvas, b"", "title", "caption", "light")
    return page.partition('<script type="module">')[2].partition("</script>")[0]


def test_a_downloaded_picture_holds_each_script_once_and_no_two_have_a_name_in_common():
    canvases = {picture.canvas.path: picture.canvas for lens in lenses() for picture in lens.pictures.values()}
    assert len(canvases) > 10
    for path in canvases:
        script = bundle(f"{path}.js")
        assert not re.findall(r"\b(?:import|export) ", script), path
        assert script.count("function dress(") == 1, path
    assert refused({path: module_of(canvas) for path, canvas in canvases.items()}) == []


def test_a_name_that_two_scripts_have_is_told():
    twice = {"const": "const a = 1\nconst b = 2, a = 3", "function": "function a() {}\nexport function a() {}"}
    assert refused({**twice, "inside": "const a = 1\nfunction b() { const a = 2 }"}) == [
        "const: Identifier 'a' has already been declared",
        "function: Identifier 'a' has already been declared",
    ]
