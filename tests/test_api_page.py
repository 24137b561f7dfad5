"""The pages of the API, as they are written: whole, with links that lead somewhere, and with nothing from elsewhere."""

import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import attention_lab
import tfm_core
from docs.api.page import OF_AUTHORS, PACKAGES, TEMPLATES, write
from tfm_ui.text.colours import INK, MUTED, PAPER, ROLE, RULE, SURFACE

ROOT = Path(tfm_core.__file__).parents[1]
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}  # what a browser asks for
EACH = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
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
def pages(folder):
    """The page of each package, and the first page, by name."""
    return {name: Page(folder / f"{name}.html") for name in ("index", *(package.__name__ for package in PACKAGES))}


def test_there_are_two_pages_their_search_and_a_first_page_that_leads_to_them(folder, pages):
    assert {file.name for file in folder.iterdir()} == {
        "attention_lab.html", "index.html", "search.js", "tfm_core.html",
    }  # fmt: skip
    assert [link for link in pages["index"].links if "#" not in link][:2] == ["attention_lab.html", "tfm_core.html"]
    assert [name for name in pages["index"].sections if name] == ["attention_lab", "tfm_core"]


def test_each_id_is_there_once_and_each_link_leads_to_one(pages):
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids))
        outside = [link for link in page.links if "://" in link]
        assert outside == ([] if name == "index" else ["https://pdoc.dev"])  # who made it
        for link in set(page.links) - set(outside):
            file, _, anchor = link.partition("#")
            assert not anchor or anchor in pages[file.removesuffix(".html") or name].ids, link
            assert file.removesuffix(".html") in {"", *pages}


@EACH
def test_every_name_is_listed_here_and_on_the_first_page(package, pages):
    page = pages[package.__name__]
    assert {f"#{name}" for name in package.__all__} <= set(page.links)
    assert {f"{package.__name__}.html#{name}" for name in package.__all__} <= set(pages["index"].links)


@EACH
def test_each_name_has_its_section_with_an_example(package, pages):
    sections = pages[package.__name__].sections
    assert [name for name in package.__all__ if ">>> " not in sections.get(name, "")] == []


@EACH
def test_groups_stand_in_their_order(package, pages):
    page, groups = pages[package.__name__], PACKAGES[package]
    sections = [name for name in page.sections if name in package.__all__ or name.startswith("group-")]
    assert sections == [name for group in groups for name in (f"group-{group}", *groups[group].names)]
    for name, group in groups.items():
        assert group.about in page.sections[f"group-{name}"]


def test_constants_have_their_docstrings_and_signatures_short_names(folder, pages):
    sections = pages["tfm_core"].sections
    assert "Hendrycks and Gimpel 2016" in sections["ACTIVATIONS"]
    assert "key: Tensor" in sections["attention_scores"]
    assert "model: Transformer" in sections["generate"]
    assert "torch.Tensor" not in sections["attention_scores"]
    assert "weights: NDArray[float32]" in pages["attention_lab"].sections["Heads"]
    assert r"<span class=\"n\">torch</span><span class=\"o\">.</span><span class=\"n\">Tensor" not in (
        folder / "search.js"
    ).read_text("utf-8")


def test_nothing_of_torch_or_of_a_named_tuple_is_shown(pages):
    assert "Transformer.state_dict" not in pages["tfm_core"].ids
    assert "Alias for field number" not in pages["tfm_core"].sections["AttentionCost"]


def test_of_a_widget_all_that_is_its_own_is_shown_and_nothing_else(pages):
    """Its traits are told in its docstring; properties and methods have an entry each, where they are written."""
    page = pages["attention_lab"]
    widgets = {name: getattr(attention_lab, name) for name in attention_lab.__all__ if name[0].isupper()}
    expected = {
        f"{name}.{member}"
        for name, widget in widgets.items()
        for member, what in vars(widget).items()
        if (inspect.isfunction(what) or isinstance(what, property))
        and not member.startswith("_")
        and member not in OF_AUTHORS
    }
    assert {"Picture.to_html", "Picture.png", "Heads.weights", "Masks.visible", "Steps.matrix_of"} <= expected
    assert {shown for shown in page.ids if "." in shown} == expected
    for name, widget in widgets.items():
        told = page.sections[name]
        chosen = widget.choices if "choices" in vars(widget) else ()
        assert [trait for trait in chosen if not re.search(rf"\b{trait}\b[\w, ]*:", told)] == []
    assert "An int trait" not in "".join(page.sections.values())  # how traitlets tell their classes
    assert all(f"{name}:" in page.sections["Picture"] for name in ("mode", "notes"))


def test_the_search_covers_both(folder):
    names = set(re.findall(r'"fullname": ?"([\w.]+)"', (folder / "search.js").read_text("utf-8")))
    assert {"attention_lab.Heads.weights", "tfm_core.causal_mask"} <= names
    assert not {"attention_lab.Heads.draw", "attention_lab.Picture.parts", "attention_lab.Heads.add_traits"} & names


def test_a_browser_asks_nobody_else(folder, pages):
    for name, page in pages.items():
        assert [address for address in page.loaded if not address.startswith("data:")] == []
        text = (folder / f"{name}.html").read_text("utf-8")
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
