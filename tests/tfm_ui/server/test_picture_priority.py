"""Messages of a browser's websocket wait for that browser's pictures, and for no others."""

import asyncio

import pytest
from starlette.requests import HTTPConnection

from tests.tfm_ui.cookies import cookie
from tests.tfm_ui.loops import run
from tfm_ui.server import picture_priority
from tfm_ui.server.picture_priority import PendingPictures, PicturePriority


@pytest.fixture
def way(monkeypatch):
    """The pending pictures, with so much patience that a test hangs if something waits in vain."""
    monkeypatch.setattr(picture_priority, "PATIENCE", 3600)
    monkeypatch.setattr(picture_priority, "DRAWING", 0)
    monkeypatch.setattr(picture_priority, "PENDING", PendingPictures())
    return picture_priority.PENDING


def browser(name: str) -> str:
    """The name under which the browser's picture requests are counted."""
    return picture_priority.browser_of(HTTPConnection(scope("http", cookie(name))))


def scope(kind: str, cookies: str) -> dict:
    return {"type": kind, "headers": [(b"cookie", cookies.encode())], "client": ("127.0.0.1", 1)}


async def hears(cookies: str) -> asyncio.Task:
    """Send a message over a browser's websocket; the task is done when the app behind the middleware has it."""

    async def app(scope, receive, send):
        await receive()

    async def receive():
        return {"type": "websocket.receive"}

    task = asyncio.create_task(PicturePriority(app)(scope("websocket", cookies), receive, None))
    await asyncio.sleep(0.01)
    return task


def test_a_websocket_waits_until_its_browsers_pictures_are_drawn(way):
    async def visit():
        with way.picture(browser("mine")):
            mine, another, none = [await hears(c) for c in (cookie("mine"), cookie("hers"), "")]
            states = mine.done(), another.done(), none.done()
        await mine
        return states

    assert run(visit()) == (False, True, True)


def test_browsers_behind_one_address_without_a_cookie_do_not_wait_for_each_other(way):
    async def visit():
        with way.picture(""):
            return (await hears("")).done()

    assert run(visit())


def test_whatever_happens_to_a_picture_it_is_no_longer_on_its_way(way):
    async def visit():
        for error in (ValueError, RuntimeError, asyncio.CancelledError):
            with pytest.raises(error), way.picture(browser("mine")):
                raise error
        await asyncio.sleep(0.01)
        return (await hears(cookie("mine"))).done()

    assert run(visit())
    assert not way._counts
    assert not way._drawn


def test_nobody_waits_for_ever(way, monkeypatch):
    monkeypatch.setattr(picture_priority, "PATIENCE", 0.01)

    async def visit():
        with way.picture(browser("mine")):
            await (await hears(cookie("mine")))

    run(visit())
