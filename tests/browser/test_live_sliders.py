"""The sliders of the model panel: pictures follow while one is dragged, and page and link when it is let go."""

from contextlib import contextmanager

from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import FOLD, UNFOLD
from tests.browser.conftest import NO_MOTION, PHONE, Visitor

TOKENS, LAYERS, HEADS, WIDTH = "seq_len", "num_layers", "num_heads", "d_model"
# Whether all pictures of the page that follow sliders are drawn with a value of the link.
SHOWN = """([parameter, value]) => {
  const pictures = root => [...root.querySelectorAll("*")].flatMap(element => [
    ...element.matches("[data-picture]") ? [element] : [], ...element.shadowRoot ? pictures(element.shadowRoot) : []])
  return pictures(document).map(picture => picture._follow).filter(({ component }) => !component.data.slow)
    .every(({ shown }) => new URLSearchParams(shown).get(parameter) === value)
}"""


def shows(visitor: Visitor, parameter: str, value: str | None) -> None:
    """All pictures are drawn with this value of the link."""
    visitor.page.wait_for_function(SHOWN, arg=[parameter, value])


def place(visitor: Visitor, slider: str, step: int | None = None) -> tuple[float, float]:
    """Where the thumb of a slider stands in the window, or will stand at a step from 0."""
    range_ = visitor.page.locator(f".st-key-{slider} input[type=range]")
    at = int(range_.input_value()) if step is None else step
    box, thumb = range_.bounding_box(), 16  # the middle of the thumb stays half of its width within
    along = (box["width"] - thumb) * at / int(range_.get_attribute("max"))
    return box["x"] + thumb / 2 + along, box["y"] + box["height"] / 2


@contextmanager
def held(visitor: Visitor, slider: str, *steps: int):
    """The thumb was dragged over these steps, and is still held; after the block it has been let go."""
    visitor.page.mouse.move(*place(visitor, slider))
    visitor.page.mouse.down()
    for step in steps:
        visitor.page.mouse.move(*place(visitor, slider, step), steps=2)
    yield
    visitor.page.mouse.up()


def all_pictures_follow_the_hand_and_a_drag_is_one_message_and_one_run_when_it_lets_go(visitor: Visitor) -> None:
    badge, address = visitor.page.locator(".st-key-_facts"), visitor.page.url
    sent, runs = visitor.messages_sent, visitor.runs
    with held(visitor, LAYERS, 2, 3):
        shows(visitor, LAYERS, "4")
        expect(visitor.page.locator(f".st-key-{LAYERS} input[type=number]")).to_have_value("4")
        expect(badge).to_contain_text("4 × 4")  # words come with the pictures
        assert (visitor.messages_sent, visitor.page.url) == (sent, address)
    visitor.wait()
    expect(badge).to_contain_text("4 × 4")
    assert visitor.page.url.endswith(f"{LAYERS}=4")
    assert (visitor.messages_sent, visitor.runs) == (sent + 1, runs + 1)
    shows(visitor, LAYERS, "4")


def a_slider_of_steps_and_what_it_is_dragged_back_from(visitor) -> None:
    address, sent = visitor.page.url, visitor.messages_sent
    with held(visitor, HEADS, 3, 4):
        shows(visitor, HEADS, "16")
        visitor.page.mouse.move(*place(visitor, HEADS, 2))
        shows(visitor, HEADS, None)
    visitor.wait()
    assert (visitor.messages_sent, visitor.page.url) == (sent, address)
    with held(visitor, WIDTH, 1):  # what is held next begins at what was let go, though the page may be behind
        shows(visitor, WIDTH, "64")
    with held(visitor, HEADS, 3):
        shows(visitor, HEADS, "8")
        shows(visitor, WIDTH, "64")
    visitor.wait()
    expect(visitor.page.locator(".st-key-_facts")).to_contain_text("2 × 8")
    shows(visitor, WIDTH, "64")


def test_by_touch_and_by_key(visit):
    visitor = visit("/?weights=random", **PHONE)
    visitor.page.locator(UNFOLD).click()
    visitor.page.locator(f".st-key-{LAYERS} input[type=range]").scroll_into_view_if_needed()
    expect(visitor.page.locator(FOLD)).to_be_attached()
    visitor.page.wait_for_function(NO_MOTION)
    touch, sent = visitor.page.context.new_cdp_session(visitor.page), visitor.messages_sent

    def finger(kind: str, *steps: int) -> None:
        points = [dict(zip("xy", place(visitor, LAYERS, step), strict=True)) for step in steps]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    finger("touchStart", 1)
    finger("touchMove", 2)
    finger("touchMove", 4)
    shows(visitor, LAYERS, "5")
    assert visitor.messages_sent == sent
    finger("touchEnd")
    visitor.wait()
    assert f"{LAYERS}=5" in visitor.page.url
    visitor.page.locator(f".st-key-{LAYERS} input[type=range]").focus()
    visitor.page.keyboard.press("ArrowLeft")
    visitor.page.keyboard.press("ArrowLeft")
    shows(visitor, LAYERS, "3")
    visitor.wait()
    assert f"{LAYERS}=3" in visitor.page.url


def tokens_follow_the_text_until_they_are_moved_and_again_when_asked_to(visitor) -> None:
    mark, below = visitor.page.locator(".st-key-with_follow"), visitor.page.locator(f".st-key-{LAYERS}").bounding_box()
    expect(mark).to_contain_text("follows the text")
    assert len(visitor.weights()) == 12
    visitor.page.locator(f".st-key-{TOKENS} input[type=range]").focus()
    visitor.page.keyboard.press("ArrowRight")
    shows(visitor, TOKENS, "13")
    visitor.wait()
    assert "seq_len=13" in visitor.page.url
    expect(mark).to_contain_text("Fixed")
    assert visitor.page.locator(f".st-key-{LAYERS}").bounding_box() == below
    visitor.page.keyboard.press("ArrowLeft")  # 12 again, but chosen now
    visitor.wait()
    assert "seq_len=12" in visitor.page.url
    visitor.go("Attention")
    visitor.wait()
    assert "seq_len=12" in visitor.page.url
    visitor.page.go_back()
    visitor.wait()
    assert "/heads?" in visitor.page.url
    assert "seq_len=12" in visitor.page.url
    expect(mark).to_contain_text("Fixed")
    visitor.press("Fixed: follow the text")
    visitor.wait()
    assert "seq_len" not in visitor.page.url
    expect(mark).to_contain_text("follows the text")
    assert visitor.page.locator(f".st-key-{LAYERS}").bounding_box() == below
    shows(visitor, TOKENS, None)


def test_pictures_follow_a_slider_of_the_sidebar(visit):
    visitor = visit("/heads")
    all_pictures_follow_the_hand_and_a_drag_is_one_message_and_one_run_when_it_lets_go(visitor)
    visitor.back_to("/heads")
    a_slider_of_steps_and_what_it_is_dragged_back_from(visitor)
    visitor.back_to("/masks")
    all_pictures_follow_the_hand_and_a_drag_is_one_message_and_one_run_when_it_lets_go(visitor)
    visitor.back_to("/heads?text=a+b+c+d+e+f+g+h+i+j+k+l")
    tokens_follow_the_text_until_they_are_moved_and_again_when_asked_to(visitor)
