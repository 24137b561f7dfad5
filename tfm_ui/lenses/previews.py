"""What a link says of itself to who reads no more than its document: messengers, slides, search. Pure.

Nothing is computed for it: it follows from the link alone.
"""

from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

from tfm_ui.lenses import lens
from tfm_ui.page import header
from tfm_ui.page.present import PARAMETER
from tfm_ui.pictures.registry import Asked, CannotBeShown

APP = "Attention Lab"
ABOUT = "Transformers, understood by running one: every number is computed live."
MOST_OF_A_TEXT = 80  # characters of the reader's text in a description


class Preview(NamedTuple):
    """The title and the description of a link."""

    title: str
    about: str

    def tags(self) -> bytes:
        """As HTML for a document's head; escaped."""
        title, about = escape(self.title), escape(self.about)
        named = {"og:site_name": APP, "og:type": "website", "og:title": title, "og:description": about}
        tags = "".join(f'<meta property="{name}" content="{content}" />' for name, content in named.items())
        return f'<title>{title}</title><meta name="description" content="{about}" />{tags}'.encode()


def preview_of(name: str, query: str) -> Preview:
    """What a link to this lens says of itself.

    Args:
        name: of the lens.
        query: of the link, percent-encoded.
    """
    of = lens(name)
    if all(part.partition("=")[0] in ("", PARAMETER) for part in query.split("&")):
        query = urlencode(of.opens_with)  # a link that asks for nothing opens on this
    try:
        link = Asked(query)
        model, state = link.model, link.lens(of.state, of.prefix)
    except CannotBeShown:
        return Preview(f"{of.title} · {APP}", ABOUT)
    named = next((question for question in of.questions if question.link == state.question), None)
    view = of.views[named.view(of.state)] if named and len(of.views) > 1 else of.view_of(state)
    said = [named.ask] if named and named.is_true(model, state) else []
    if view.uses_model:
        text = " ".join(model.read_text.split())
        short = text if len(text) <= MOST_OF_A_TEXT else f"{text[: MOST_OF_A_TEXT - 1]}…"
        said.append(f"{header.label(model, of.beside)}: “{short}”.")
    parts = [view.title, of.title] if len(of.views) > 1 else [of.title]
    return Preview(" · ".join([*parts, APP]), " ".join([*said, ABOUT]))
