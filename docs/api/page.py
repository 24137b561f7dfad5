"""The pages of the promised API, made of the docstrings of `attention_lab` and `tfm_core` by pdoc.

pdoc takes a module, its `__all__` and the docstrings. What is added here: the groups of `tfm_core.api`, in their order;
docstrings of constants, which stand in the modules that they come from; short names in signatures; and, in
`templates/`, the colours of the app, light and dark. What is left out: of widgets, what they inherit, and what is told
to who writes a new class of them.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import ModuleType

import pdoc.doc
import pdoc.render
import traitlets

import attention_lab
import tfm_core
from docs.api.constants import docstring_below
from tfm_core.api import GROUPS, Group

TEMPLATES = Path(__file__).parent / "templates"
FOOTER = f"Attention Lab {tfm_core.__version__}"

WIDGETS = {
    "functions": Group(
        "What shows a picture: each gives a widget, which stands at the end of a cell.",
        {module: tuple(filter(str.islower, names)) for module, names in attention_lab.PLACES.items()},
    ),
    "widgets": Group(
        "What the functions give, with what Python reads and sets; `Picture` is what all of them have.",
        {module: tuple(name for name in names if name[0].isupper()) for module, names in attention_lab.PLACES.items()},
    ),
}
PACKAGES: dict[ModuleType, Mapping[str, Group]] = {attention_lab: WIDGETS, tfm_core: GROUPS}  # in the index's order
OF_AUTHORS = ("__init__", "draw", "show")  # of a widget: CONTRIBUTING.md tells how a class of them is written

# In signatures, the modules before a class: of `torch.Tensor` the last part says enough.
IN_COLOURS = r'(?:<span class="n">[a-z_]\w*</span><span class="o">\.</span>)+(?=<span class="n">[A-Z])'
MODULES_BEFORE = re.compile(rf"{IN_COLOURS}|\b(?:[a-z_]\w*\.)+(?=[A-Z])")
MODULES_IN_SEARCH = re.compile(IN_COLOURS.replace('"', r'\\"'))  # there, signatures are texts in JSON
ARRAY = re.compile(r"numpy\.ndarray\[tuple\[(?:typing\.)?Any, \.\.\.\], numpy\.dtype\[numpy\.(\w+)\]\]")
CLASS_NAME = re.compile(r'<span class="n">([A-Z]\w+)</span>|(?<=[\s|\[>])([A-Z]\w+)(?=[\s|\]<,])')
LINKED_BASE = re.compile(r'(<span class="base">)<a href="[^"]*">([^<]*)</a>')  # by pdoc, of some packages' classes
HEADING = re.compile(r'<h6 id="[^"]*">')  # each docstring has the same ones


def write(folder: Path) -> None:
    """Write the pages, the index of their search, and a first page that leads to them.

    Args:
        folder: where to; it is made if it is not there.
    """
    pdoc.render.configure(docformat="google", footer_text=FOOTER, show_source=False, template_directory=TEMPLATES)
    groups = {package.__name__: of_package for package, of_package in PACKAGES.items()}
    pdoc.render.env.globals |= {"groups_of": groups, "of_authors": OF_AUTHORS}
    modules = {package.__name__: documented(package) for package in PACKAGES}
    pages = {
        **{f"{name}.html": shortened(pdoc.render.html_module(modules[name], modules), name) for name in modules},
        "index.html": pdoc.render.html_index(modules),
        "search.js": shortened_search(pdoc.render.search_index(modules)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def documented(package: ModuleType) -> pdoc.doc.Module:
    """A package as pdoc sees it, with the docstrings of its constants, and without those of traitlets' classes."""
    for name in package.__all__:
        getattr(package, name)  # pdoc looks at what has been imported, and does not ask for more
    module = pdoc.doc.Module(package)
    for name in package.__all__:
        member = module.members[name]
        if isinstance(member, pdoc.doc.Variable):
            member.docstring = docstring_below(name)
        elif isinstance(member, pdoc.doc.Class):
            for trait in vars(member.obj):
                if isinstance(vars(member.obj)[trait], traitlets.TraitType):
                    member.members[trait].docstring = ""  # the widget's own docstring tells what it is
    return module


def shortened(page: str, package: str) -> str:
    """A package's page with short names in signatures, the public ones links, and without ids that repeat."""
    lines = HEADING.sub("<h6>", page).split("\n")
    signed = ('<span class="signature', '<span class="annotation', '<span class="base')
    return "\n".join(_short(line, package) if any(mark in line for mark in signed) else line for line in lines)


def shortened_search(script: str) -> str:
    """The index of the search with short names in signatures."""
    return ARRAY.sub(r"NDArray[\1]", MODULES_IN_SEARCH.sub("", script))


def _short(line: str, package: str) -> str:
    plain = ARRAY.sub(r"NDArray[\1]", LINKED_BASE.sub(r"\1\2", line))
    return CLASS_NAME.sub(partial(_linked, package), MODULES_BEFORE.sub("", plain))


def _linked(package: str, match: re.Match[str]) -> str:
    name = match[1] or match[2]
    homes = [each.__name__ for each in PACKAGES if name in each.__all__]
    if not homes:
        return match[0]
    page = "" if homes == [package] else f"{homes[0]}.html"
    return f'<a href="{page}#{name}">{name}</a>'
