"""What a link says of itself to messengers and slides, in the document that Streamlit sends for it.

Streamlit sends one document for every link, which names Streamlit. Who only reads documents, and runs no script, learns
here what the link shows.
"""

import re
from collections.abc import Callable, Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.streamlit_private.addresses import INSIDE
from tfm_ui.streamlit_private.options import is_own_host

HOST = re.compile(r"[A-Za-z0-9.:\[\]-]+")
TITLE = b"<title>Streamlit</title>"


class LinkPreview:
    """Middleware that writes the preview of a link into the document that Streamlit sends for it.

    Args:
        app: what is served.
        pages: the addresses of pages below the root; the first of them is also the root's.
        tags: the page, the query of a link, and the address of the app, without a slash at its end -> what stands in
            the document's head in place of its title. The address is "" if the request names no host of this server.
    """

    def __init__(self, app: ASGIApp, pages: Sequence[str], tags: Callable[[str, str, str], bytes]) -> None:
        self.app, self.pages, self.tags = app, pages, tags

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Only documents are changed; they are sent as they are, not compressed: they are small."""
        last = scope["path"].rpartition("/")[2]
        page = last if last in self.pages else self.pages[0]
        if not _is_document(scope):
            return await self.app(scope, receive, send)
        headers = MutableHeaders(scope=scope)
        for name in ("accept-encoding", "if-none-match", "if-modified-since"):
            del headers[name]
        start: Message = {}
        body = b""

        async def with_preview(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
            elif message["type"] == "http.response.body" and _is_html(start):
                body += message.get("body", b"")
                if not message.get("more_body"):
                    await send_changed()
            else:
                if start:
                    await send(start)
                    start = {}
                await send(message)

        async def send_changed() -> None:
            query = scope["query_string"].decode("latin-1")
            whole = body.replace(TITLE, self.tags(page, query, address_of(scope)), 1) if TITLE in body else body
            changed = MutableHeaders(scope=start)
            changed["Content-Length"] = str(len(whole))
            for name in ("etag", "last-modified", "accept-ranges"):  # of the file, which says nothing of this link
                del changed[name]
            await send(start)
            await send({"type": "http.response.body", "body": whole})

        await self.app(scope, receive, with_preview)


def address_of(scope: Scope) -> str:
    """The address that the visitor has asked for up to its last slash: of a page, that of the app."""
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if not HOST.fullmatch(host) or not is_own_host(host):
        return ""
    # The server takes the scheme from a proxy that it trusts, whose HTTPS ends there.
    return f"{scope['scheme']}://{host}{scope['path'].rpartition('/')[0]}"


def _is_document(scope: Scope) -> bool:
    """Whether a document may be asked for; for an address that no page has, Streamlit sends the same one."""
    is_file = "." in scope["path"].rpartition("/")[2]
    return scope["method"] == "GET" and INSIDE not in scope["path"] and not is_file


def _is_html(start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "") if start else ""
    return kind.startswith("text/html") and bool(start["status"] == 200)
