"""What a link says of itself to who reads no more than its document: messengers, slides, search. Pure.

Nothing is computed for it: it follows from the link alone. Its picture has an address of its own.
"""

from html import escape
from typing import NamedTuple
from urllib.parse import quote, urlencode

from tfm_ui.lenses import lens
from tfm_ui.page import header, preview
from tfm_ui.page.frame import LEARN
from tfm_ui.page.present import PARAMETER
from tfm_ui.page.preview import APP
from tfm_ui.pictures.canvas import version
from tfm_ui.pictures.figures import PREVIEW_HEIGHT, PREVIEW_WIDTH
from tfm_ui.pictures.registry import Asked, CannotBeShown
from tfm_ui.state.links import LINK_CHARS

ABOUT = "Transformers, understood by running one: every number is computed live."
LESSONS = "Lessons that lead through a running transformer, step by step: read, predict, look, try."
IN_QUERY = "/?:@!$&'()*+,;=%~-._"  # signs that a query may hold as they are (RFC 3986, 3.4), and "%"
WAITING = f'<script type="module" src="assets/{version()}/pictures/waiting.js"></script>'.encode()
MOST_OF_A_TEXT = 80  # characters of the reader's text in a description


class Preview(NamedTuple):
    """What a link says of itself.

    Attributes:
        title: the view and its lens.
        about: the question, if it is true here, and which weights read which text.
        picture: the address of its picture below the app's; "" if there is none.
    """

    title: str
    about: str
    picture: str = ""

    def tags(self, address: str) -> bytes:
        """The preview as HTML for a document's head; escaped.

        Args:
            address: of the app; "" if it is not known, and then there is no picture, whose address must be complete.
        """
        named = {"og:site_name": APP, "og:type": "website", "og:title": self.title, "og:description": self.about}
        if address and self.picture:
            named |= {"og:image": f"{address}/{self.picture}", "og:image:type": "image/png"}
            named |= {
                "og:image:width": str(PREVIEW_WIDTH),
                "og:image:height": str(PREVIEW_HEIGHT),
                "og:image:alt": self.title,
            }
        tags = "".join(f'<meta property="{name}" content="{escape(content)}" />' for name, content in named.items())
        card = '<meta name="twitter:card" content="summary_large_image" />' if "og:image" in named else ""
        about = f'<meta name="description" content="{escape(self.about)}" />'
        return f"<title>{escape(self.title)}</title>{about}{card}{tags}".encode()


def tags(name: str, query: str, address: str) -> bytes:
    """What stands in the document's head of a link: `preview_of` as HTML, and a script that says when a page waits."""
    return preview_of(name, query).tags(address) + WAITING


def preview_of(name: str, query: str) -> Preview:
    """What a link to this page says of itself.

    Args:
        name: of the lens, or of the page of the lessons.
        query: of the link, percent-encoded.
    """
    if name == LEARN:
        return Preview(f"Learn · {APP}", LESSONS)
    of = lens(name)
    if all(part.partition("=")[0] in ("", PARAMETER) for part in query.split("&")):
        query = urlencode(of.opens_with)  # a link that asks for nothing opens on this
    try:
        link = Asked(query)
        model, state = link.model, link.lens(of.state, of.prefix)
    except CannotBeShown:
        return Preview(f"{of.title} · {APP}", ABOUT)
    named = next((question for question in of.questions if question.link == state.question), None)
    view = of.view_of(state)
    said = [named.ask] if named and named.is_true(model, state) else []
    instead = view.reads_instead(model, state)
    if view.uses_model and instead:
        said.append(f"{header.label(model, of.beside)}. {instead}")
    elif view.uses_model:
        text = " ".join(model.read_text.split())
        short = text if len(text) <= MOST_OF_A_TEXT else f"{text[: MOST_OF_A_TEXT - 1]}…"
        said.append(f"{header.label(model, of.beside)}: “{short}”.")
    address = quote(query, safe=IN_QUERY)
    picture = f"previews/{name}.png?{address}" if len(address) <= LINK_CHARS else ""
    about = " ".join([*said, ABOUT])
    # Without signs that control others, such as one that turns the direction of writing round.
    about = "".join(sign for sign in about if sign.isprintable())
    return Preview(f"{preview.title(of, state)} · {APP}", about, picture)
