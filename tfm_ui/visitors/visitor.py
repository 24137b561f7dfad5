"""Who a visitor is: one browser. Its tabs are one visitor; other browsers behind the same address are others.

Streamlit's XSRF cookie identifies the browser. A page's script requests `_stcore/health` before it opens its websocket,
and the answer sets the cookie, so both picture requests and sessions carry it. Streamlit masks the cookie differently
in every answer; the token below the mask stays the same. Without a cookie (cookies or XSRF protection switched off),
only the address identifies the visitor.

A client can invent cookies, but hardly its address: every limit per visitor needs a limit per `address_of` as well.
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
    """The visitor's name, such as "203.0.113.7 5f1c..."; without a cookie it is the address alone, "203.0.113.7".

    Args:
        cookies: name -> value, from a request or from `st.context.cookies`.
        address: from a request or from `st.context.ip_address`, which is None for visitors on this machine.
    """
    token = _token(cookies.get(COOKIE, ""))
    browser = blake2s(token, digest_size=8).hexdigest() if token else ""  # hashed, because names may be logged
    return f"{_network(address)} {browser}".rstrip()


def visitor_of(connection: HTTPConnection) -> str:
    """The visitor who sent this request or opened this websocket."""
    return visitor(connection.cookies, connection.client.host if connection.client else None)


def visitor_here() -> str:
    """The visitor whose page script runs in this thread."""
    return visitor(st.context.cookies, st.context.ip_address)


def network_here() -> str:
    """The network address of this page's visitor, who could invent other visitors; on this machine the visitor."""
    visitor = visitor_here()
    return address_of(visitor) or visitor


def address_of(visitor: str) -> str:
    """A visitor's address: "203.0.113.7", or for IPv6 the network of one household, "2001:db8::/64".

    It is "" for this machine, and so for all visitors behind a local proxy that does not forward addresses.
    """
    return visitor.partition(" ")[0]


def _token(text: str) -> bytes:
    """The token in a cookie of the form `2|mask|masked|time`, in hexadecimal digits; empty for any other text."""
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
