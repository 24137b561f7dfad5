"""Who a visitor is: the tabs of a browser are one visitor, browsers behind one address are several."""

import pytest

from tests.tfm_ui.cookies import masked
from tfm_ui.visitors.visitor import COOKIE, address_of, visitor

ADDRESS = "203.0.113.7"


def cookies(token: int, mask: bytes = b"abcd") -> dict[str, str]:
    """Cookies as Streamlit sets them: the same token is masked differently each time."""
    return {"other": "x", COOKIE: masked(token.to_bytes(16, "big"), mask)}


def test_all_tabs_of_a_browser_are_one_visitor_though_streamlit_masks_its_cookie_anew():
    first, second = cookies(1), cookies(1, mask=b"wxyz")
    assert first != second
    assert visitor(first, ADDRESS) == visitor(second, ADDRESS)
    quoted = {COOKIE: f'"{first[COOKIE]}"'}
    assert visitor(quoted, ADDRESS) == visitor(first, ADDRESS)


def test_thirty_browsers_behind_one_address_are_thirty_visitors_of_that_address():
    visitors = {visitor(cookies(number), ADDRESS) for number in range(30)}
    assert len(visitors) == 30
    assert {address_of(name) for name in visitors} == {ADDRESS}


@pytest.mark.parametrize(
    "value", ["", "x", "2|zz|00|1", "2||00|1", "2|00|0|1", "3|00|00|1", "2|00|00", "1" * 5000, "2|é|é|1"]
)
def test_without_a_cookie_that_streamlit_has_set_the_address_counts(value):
    assert visitor({COOKIE: value}, ADDRESS) == visitor({}, ADDRESS) == address_of(visitor({}, ADDRESS)) == ADDRESS


def test_the_token_itself_is_not_in_the_name():
    secret = bytes(range(16))
    named = visitor({COOKIE: masked(secret)}, ADDRESS)
    assert secret.hex() not in named


@pytest.mark.parametrize(
    ("address", "network"),
    [
        (None, ""),
        ("127.0.0.1", ""),
        ("::1", ""),
        ("::ffff:127.0.0.1", ""),
        ("testclient", ""),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8::1:2:3:4", "2001:db8::/64"),
        ("2001:db8::ffff", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_an_address_is_what_one_household_or_school_has(address, network):
    assert address_of(visitor({}, address)) == address_of(visitor(cookies(3), address)) == network
