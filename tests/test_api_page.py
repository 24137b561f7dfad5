"""The page of the API, as it is written: whole, with links that lead somewhere, and without anything from elsewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tfm_core
from docs.api.page import TEMPLATES, write
from tfm_core.api import GROUPS
from tfm_ui.text.colours import INK, MUTED, PAPER, ROLE, RULE, SURFACE

ROOT = Path(tfm_core.__file__).parents[1]
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}  # what a browser asks for
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Page(HTMLParser):
    """What is looked at of a page: ids, links, addresses of what is loaded, and the text in each section."""

    def __init__(self, file):
        super().__init__()
        self.ids, self.links, self.loaded = [], [], []
        self.sections = {}  # id of a section -> its text
        self._open = []  # tags that are open, with the id of each
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and given.get(LOADED[tag]):
            self.loaded.append(given[LOADED[tag]])
        if tag not in VOID:
            self._open.append((tag, given.get("id")))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for tag, name in self._open:
            if tag == "section" and name:
                self.sections[name] = self.sections.get(name, "") + data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    write(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return Page(folder / "tfm_core.html")


def test_there_are_a_page_its_search_and_a_first_page_that_leads_to_it(folder):
    assert {file.name for file in folder.iterdir()} == {"index.html", "search.js", "tfm_core.html"}
    assert "./tfm_core.html" in (folder / "index.html").read_text("utf-8")


def test_each_id_is_there_once_and_each_link_leads_to_one(page):
    assert len(page.ids) == len(set(page.ids))
    inside = {link.removeprefix("#") for link in page.links if link.startswith("#")}
    assert inside <= set(page.ids)
    assert set(tfm_core.__all__) <= inside
    assert [link for link in page.links if not link.startswith("#")] == ["https://pdoc.dev"]  # who made it


def test_each_name_has_its_section_with_an_example(page):
    assert [name for name in tfm_core.__all__ if ">>> " not in page.sections.get(name, "")] == []


def test_groups_stand_in_their_order(page):
    sections = [name for name in page.sections if name in tfm_core.__all__ or name.startswith("group-")]
    assert sections == [name for group in GROUPS for name in (f"group-{group}", *GROUPS[group].names)]
    for name, group in GROUPS.items():
        assert group.about in page.sections[f"group-{name}"]


def test_constants_have_their_docstrings_and_signatures_short_names(page):
    assert "Hendrycks and Gimpel 2016" in page.sections["ACTIVATIONS"]
    assert "key: Tensor" in page.sections["attention_scores"]
    assert "model: Transformer" in page.sections["generate"]
    assert "torch.Tensor" not in page.sections["attention_scores"]


def test_nothing_of_torch_or_of_a_named_tuple_is_shown(page):
    assert "Transformer.state_dict" not in page.ids
    assert "Alias for field number" not in page.sections["AttentionCost"]


def test_a_browser_asks_nobody_else(folder, page):
    assert [address for address in page.loaded if not address.startswith("data:")] == []
    text = (folder / "tfm_core.html").read_text("utf-8")
    assert not re.search(r"""(?:@import|url\(["']?(?:https?:)?//)""", text)
    assert "https://" not in (folder / "search.js").read_text("utf-8").partition("/** pdoc search index */")[0]


def test_its_colours_are_those_of_the_app():
    light, dark = (TEMPLATES / "theme.css").read_text("utf-8").split("@media (prefers-color-scheme: dark)")
    for mode, css in (("light", light), ("dark", dark)):
        colours = dict(re.findall(r"--([\w-]+): (#\w+);", css))
        role = ROLE[mode]
        assert colours["pdoc-background"] == PAPER[mode]
        assert (colours["text"], colours["muted"]) == (INK[mode], MUTED[mode])
        assert (colours["code"], colours["accent"], colours["accent2"]) == (SURFACE[mode], SURFACE[mode], RULE[mode])
        assert [colours[name] for name in ("link", "name", "def", "annotation")] == [
            role["query"], role["query"], role["result"], role["value"],
        ]  # fmt: skip


def test_the_command_is_told():
    told = [(ROOT / file).read_text("utf-8") for file in ("CONTRIBUTING.md", "docs/library.md")]
    assert all("python -m docs.api" in text for text in told)
    assert "build/" in (ROOT / ".gitignore").read_text("utf-8").split()


def test_the_command_refuses_more_than_a_folder(tmp_path):
    done = subprocess.run([sys.executable, "-m", "docs.api", "a", "b"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: python -m docs.api" in done.stderr
