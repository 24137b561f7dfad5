"""The script that draws charts in the browser is that of the package that makes their figures, unchanged."""

import hashlib
import re

from plotly.offline import get_plotlyjs_version

from tfm_ui.folders import ASSETS
from tfm_ui.pictures.chart import CHART

FOLDER = ASSETS / "plotly"
README = (FOLDER / "README.md").read_text("utf-8")
(SCRIPT,) = FOLDER.glob("*.js")


def test_its_version_is_that_of_the_package():
    version = get_plotlyjs_version()
    assert SCRIPT.name == f"plotly-basic-{version}.min.js"
    assert f"plotly.js (basic - minified) v{version}\n" in SCRIPT.read_text("utf-8")[:200]
    assert f"`{SCRIPT.name}`" in README
    assert f"`plotly.js-basic-dist-min` {version}" in README


def test_it_is_unchanged():
    (checksum,) = re.findall(r"SHA-256 `([0-9a-f]{64})`", README)
    assert hashlib.sha256(SCRIPT.read_bytes()).hexdigest() == checksum


def test_the_page_and_files_load_this_script():
    assert CHART.library == f"plotly/{SCRIPT.name}"
    loader = (ASSETS / "pictures/plotly.js").read_text("utf-8")
    assert re.findall(r'SCRIPT = "(.*)"', loader) == [SCRIPT.name]


def test_its_licence_lies_beside_it():
    licence = (FOLDER / "LICENSE").read_text("utf-8")
    assert "MIT" in licence
    assert "Plotly" in licence
