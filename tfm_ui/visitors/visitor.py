"""Who a visitor is: what all tabs of a browser share, and others behind the same address do not.

Streamlit's own XSRF cookie tells them apart: a page's script asks `_stcore/health` before it opens its websocket, and
the answer sets the cookie, so that pictures and sessions have it alike. Its text is masked anew in every answer; the
token below the mask stays. Where there is none (no cookies, XSRF protection switched off), the address alone counts.

A cookie can be invented, an address hardly: whatever is bounded by visitor wants a bound by `address_of`, too.
"""

from binascii import unhexlify
from collections.abc import Mapping
from hashlib import blake2s
from ipaddress import IPv6Address, IPv6Network, ip_address
from itertools import cycle

import streamlit as st
from starlette.requests import HTTPConnection

COOKIE = "_streamlit_xsrf"


def visitor(cookies: Mapping[str, str], address: str | None) -> str:
    """A name of the visitor, "203.0.113.7 5f1c..."; of who has no cookie, "203.0.113.7".

    Args:
        cookies: name -> value, of a request or of `st.context.cookies`.
        address: where they come from, of a request or of `st.context.ip_address`, which is None on this machine.
    """
    token = _token(cookies.get(COOKIE, ""))
    browser = blake2s(token, digest_size=8).hexdigest() if token else ""  # not the token: names may be logged
    return f"{_network(address)} {browser}".rstrip()


def visitor_of(connection: HTTPConnection) -> str:
    """Who sends this request, or opened this websocket."""
    return visitor(connection.cookies, connection.client.host if connection.client else None)


def visitor_here() -> str:
    """Who looks at the page whose script runs in this thread."""
    return visitor(st.context.cookies, st.context.ip_address)


def address_of(visitor: str) -> str:
    """Where a visitor comes from: "203.0.113.7", or the network "2001:db8::/64", which one household has of IPv6.

    "" is this machine, as behind a proxy that does not tell addresses.
    """
    return visitor.partition(" ")[0]


def _token(text: str) -> bytes:
    """What `2|mask|masked|time`, in hexadecimal digits, hides; empty if it is another text."""
    try:
        version, mask, masked, _ = text.strip("\"'").split("|")
        key = unhexlify(mask)
        return bytes(a ^ b for a, b in zip(unhexlify(masked), cycle(key), strict=False)) if version == "2" else b""
    except ValueError:
        return b""


def _network(address: str | None) -> str:
    try:
        host = ip_address(address or "")
    except ValueError:
        return ""
    if isinstance(host, IPv6Address):
        if not host.ipv4_mapped:
            return "" if host.is_loopback else str(IPv6Network((int(host), 64), strict=False))
        host = host.ipv4_mapped
    return "" if host.is_loopback else str(host)
