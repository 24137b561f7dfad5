"""The library that searches in the browser is unchanged, and the script loads this one."""

import hashlib
import re

from tfm_ui.folders import ASSETS

FOLDER = ASSETS / "minisearch"
README = (FOLDER / "README.md").read_text("utf-8")
(SCRIPT,) = FOLDER.glob("*.js")


def test_it_is_unchanged():
    (checksum,) = re.findall(r"SHA-256 `([0-9a-f]{64})`", README)
    assert hashlib.sha256(SCRIPT.read_bytes()).hexdigest() == checksum
    assert f"`{SCRIPT.name}`" in README


def test_the_search_loads_this_script_and_its_types_lie_beside_it():
    loader = (ASSETS / "search/finding.js").read_text("utf-8")
    assert re.findall(r'from "../minisearch/(.*)"', loader) == [SCRIPT.name]
    assert SCRIPT.with_suffix(".d.ts").is_file()


def test_its_licence_lies_beside_it():
    licence = (FOLDER / "LICENSE").read_text("utf-8")
    assert "Luca Ongaro" in licence
    assert "free of charge" in licence
