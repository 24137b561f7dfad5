"""The page of the promised API, made of the docstrings of `tfm_core` by pdoc.

pdoc takes a module, its `__all__` and the docstrings. What is added here: the groups of `tfm_core.api`, in their order;
docstrings of constants, which stand in the modules that they come from; short names in signatures; and, in
`templates/`, the colours of the app, light and dark.
"""

import re
from pathlib import Path

import pdoc.doc
import pdoc.render

import tfm_core
from docs.api.constants import docstring_below
from tfm_core.api import GROUPS, MODULES, PACKAGE

TEMPLATES = Path(__file__).parent / "templates"
FOOTER = f"Attention Lab {tfm_core.__version__}"

# In signatures, the modules before a class: of `torch.Tensor` the last part says enough.
MODULES_BEFORE = re.compile(
    r'(?:<span class="n">[a-z_]\w*</span><span class="o">\.</span>)+(?=<span class="n">[A-Z])'
    r"|\b(?:[a-z_]\w*\.)+(?=[A-Z])"
)
CLASS_NAME = re.compile(r'<span class="n">([A-Z]\w+)</span>|(?<=[\s|\[>])([A-Z]\w+)(?=[\s|\]<,])')
HEADING = re.compile(r'<h6 id="[^"]*">')  # each docstring has the same ones


def write(folder: Path) -> None:
    """Write the page, the index of its search, and a first page that leads to it.

    Args:
        folder: where to; it is made if it is not there.
    """
    pdoc.render.configure(docformat="google", footer_text=FOOTER, show_source=False, template_directory=TEMPLATES)
    pdoc.render.env.globals["groups"] = GROUPS
    modules = {PACKAGE: documented()}
    pages = {
        f"{PACKAGE}.html": shortened(pdoc.render.html_module(modules[PACKAGE], modules)),
        "index.html": pdoc.render.html_index(modules),
        "search.js": pdoc.render.search_index(modules),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def documented() -> pdoc.doc.Module:
    """The package as pdoc sees it, with the docstrings of its constants."""
    for name in tfm_core.__all__:
        getattr(tfm_core, name)  # pdoc looks at what has been imported, and does not ask for more
    module = pdoc.doc.Module(tfm_core)
    for name in MODULES:
        member = module.members[name]
        if isinstance(member, pdoc.doc.Variable):
            member.docstring = docstring_below(name)
    return module


def shortened(page: str) -> str:
    """The page with short names in signatures, of which the public ones are links, and without ids that repeat."""
    lines = HEADING.sub("<h6>", page).split("\n")
    signed = ('<span class="signature', '<span class="annotation')
    return "\n".join(_short(line) if any(mark in line for mark in signed) else line for line in lines)


def _short(line: str) -> str:
    return CLASS_NAME.sub(_linked, MODULES_BEFORE.sub("", line))


def _linked(found: re.Match[str]) -> str:
    name = found[1] or found[2]
    return f'<a href="#{name}">{name}</a>' if name in MODULES else found[0]
