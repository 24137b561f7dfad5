"""Generate in a real browser: a text is played and stepped through, another token is put, sliders write anew."""

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.accessible import barriers
from tests.browser.conftest import PHONE
from tests.browser.fitting import overflow, scrolled
from tests.browser.generate import (
    SHORT,
    at,
    candidate,
    committed,
    computed,
    other_candidate,
    path,
    picture,
    shown,
    texts,
)
from tfm_ui.lenses.generate.panel import PROMPT
from tfm_ui.lenses.generate.state import VIEWS


def without_parameters_lab_gpt_writes_and_the_address_says_what(visitor) -> None:
    query = parse_qs(urlsplit(visitor.page.url).query)
    assert (query["weights"], query["text"]) == (["lab-gpt"], [PROMPT])
    of_link = computed(visitor)
    assert texts(visitor) == [shown(PROMPT + of_link.text)]
    assert picture(visitor).locator(".token").evaluate_all("all => all.map(e => e.textContent)") == [
        shown(piece) for piece in of_link.pieces
    ]
    assert at(visitor) == 60


def play_goes_from_token_to_token_until_it_is_stopped(visitor) -> None:
    """The text has 60 tokens, so that even on a slow machine it is stopped before the last."""
    visitor.press("Play", "generate_write")
    visitor.page.wait_for_function("e => e._memory.at > 2", arg=picture(visitor).element_handle())
    visitor.press("Pause", "generate_write")
    stopped = at(visitor)
    assert 3 < stopped < 60
    expect(picture(visitor).get_by_role("button", name="Play", exact=True)).to_be_visible()
    committed(visitor, f"generate_step={stopped}")
    assert picture(visitor).evaluate("e => e._memory.playing ?? null") is None  # no timer moves it on
    assert at(visitor) == stopped
    slider = picture(visitor).get_by_role("slider", name="Step")
    for key in ("End", *["ArrowLeft"] * 5):
        slider.press(key)
    visitor.press("Play", "generate_write")
    expect(picture(visitor).locator("output")).to_have_text("token 60 of 60")
    expect(picture(visitor).get_by_role("button", name="Play", exact=True)).to_be_visible()
    visitor.page.wait_for_function("!location.search.includes('generate_step=')")


def slider_and_keys_move_text_and_rows_together_and_need_no_server(visitor) -> None:
    of_link, slider = computed(visitor), picture(visitor).get_by_role("slider", name="Step")
    canvas, asked = picture(visitor).locator("canvas"), []
    visitor.page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)

    def stands_at(step: int) -> None:
        assert at(visitor) == step
        expect(picture(visitor).locator(".now")).to_have_attribute("data-place", str(step - 1))  # the page may draw
        expect(picture(visitor).locator(".later")).to_have_count(20 - step)  # the same anew
        assert canvas.get_attribute("aria-label").startswith(f"“{of_link.pieces[step - 1]}”")
        assert picture(visitor).evaluate("e => e._memory.scene.step.token") == of_link.course.steps[step - 1].token
        committed(visitor, f"generate_step={step}")

    slider.press("Home")
    stands_at(1)
    slider.press("ArrowRight")
    stands_at(2)
    canvas.focus()
    for _ in range(5):
        visitor.page.keyboard.press("ArrowRight")
    stands_at(7)
    visitor.page.keyboard.press("ArrowLeft")
    stands_at(6)
    picture(visitor).locator(".token").nth(11).click()
    stands_at(12)
    visitor.press("Step back", "generate_write")
    stands_at(11)
    assert asked == []


def test_a_page_that_is_behind_takes_no_step_back(visit):
    visitor = visit(f"{SHORT}&generate_step=2&generate_view=write")
    a_page_that_is_behind_takes_no_step_back(visitor, "write")
    visitor.back_to(f"{SHORT}&generate_step=2&generate_shows=attention")
    a_page_that_is_behind_takes_no_step_back(visitor, "look")


def a_page_that_is_behind_takes_no_step_back(visitor, view: str) -> None:
    release, player = visitor.behind(), visitor.page.locator(f".{view}")
    player.evaluate(
        """e => { const output = e.querySelector("output")
            window.steps = []
            new MutationObserver(() => steps.push(output.textContent)).observe(output, { childList: true }) }"""
    )
    for _ in range(3):
        player.get_by_role("button", name="Step on").click()
        visitor.page.wait_for_timeout(300)  # each is a run of the page
    assert release(20) > 0
    committed(visitor, "generate_step=5")
    assert list(dict.fromkeys(visitor.page.evaluate("steps"))) == [f"token {step} of 20" for step in (3, 4, 5)]
    assert visitor.page.evaluate("steps") == sorted(visitor.page.evaluate("steps"))
    visitor.press("Undo")
    expect(player.locator("output")).not_to_have_text("token 5 of 20")


def another_token_is_put(visitor, hand: str) -> tuple[list[str], list[str]]:
    """Put another token by mouse or keys; return what the text was before, and both texts."""
    before, row = texts(visitor), other_candidate(visitor)
    token, place = candidate(visitor, row)
    if hand == "mouse":
        visitor.page.mouse.click(**place)
    else:
        picture(visitor).locator("canvas").focus()
        for _ in range(row + 1):
            visitor.page.keyboard.press("ArrowDown")
        visitor.page.keyboard.press("Enter")
    committed(visitor, f"generate_forced=5.{token}")
    expect(picture(visitor).locator(".text")).to_have_count(2)
    both = texts(visitor)
    assert both == [shown(PROMPT + computed(visitor).text), before[0]]
    assert picture(visitor).locator(".forced").evaluate_all("all => all.map(e => e.dataset.place)") == ["4"]
    assert at(visitor) == 5
    return before, both


def it_is_taken_back(visitor, before: list[str]) -> None:
    visitor.press("Take back", "generate_write")
    visitor.page.wait_for_function("!location.search.includes('generate_forced')")
    visitor.wait()
    assert texts(visitor) == before


def the_temperature_changes_the_text_while_it_is_dragged_without_runs_of_the_page(visitor) -> None:
    slider, before = visitor.page.get_by_role("slider", name="Temperature", exact=True), texts(visitor)
    box, sent, met = slider.bounding_box(), visitor.messages_sent, []
    y = box["y"] + box["height"] / 2
    visitor.page.mouse.move(box["x"] + 0.6 * box["width"], y)
    visitor.page.mouse.down()
    for share in (0.75, 0.85, 0.4, 0.2):
        visitor.page.mouse.move(box["x"] + share * box["width"], y, steps=3)
        value = slider.input_value()
        visitor.page.wait_for_function(
            "([e, text]) => e.querySelector('.text p').textContent !== text",
            arg=[picture(visitor).element_handle(), (met or before)[-1]],
        )
        met.append(texts(visitor)[0])
        assert value == slider.input_value()
    assert visitor.messages_sent == sent
    visitor.page.mouse.up()
    visitor.page.wait_for_function("location.search.includes('generate_temperature=')")
    visitor.wait()
    assert visitor.messages_sent - sent <= 3
    assert texts(visitor) != before


def test_a_text_is_written_played_and_stepped_through(visit):
    visitor = visit("/generate")
    without_parameters_lab_gpt_writes_and_the_address_says_what(visitor)
    play_goes_from_token_to_token_until_it_is_stopped(visitor)
    visitor.back_to(SHORT)
    slider_and_keys_move_text_and_rows_together_and_need_no_server(visitor)


def test_another_token_or_temperature_is_another_text_that_a_link_brings_back(visit):
    visitor = visit(f"{SHORT}&generate_step=5")
    before, _ = another_token_is_put(visitor, "keys")
    it_is_taken_back(visitor, before)
    before, both = another_token_is_put(visitor, "mouse")
    second = visit(path(visitor))
    assert texts(second) == both
    it_is_taken_back(visitor, before)
    visitor.back_to(SHORT)
    the_temperature_changes_the_text_while_it_is_dragged_without_runs_of_the_page(visitor)
    second.open(path(visitor))
    assert texts(second) == texts(visitor)


def test_on_a_phone_nothing_scrolls_sideways_and_nobody_is_kept_out(visit):
    visitor = visit(f"{SHORT}&generate_step=5", **PHONE)
    row = other_candidate(visitor)
    token, place = candidate(visitor, row)
    place["x"] -= 60
    visitor.page.touchscreen.tap(**place)  # the first tap reads
    expect(picture(visitor).locator(".tip")).to_contain_text("Tap again")
    visitor.page.touchscreen.tap(**place)
    committed(visitor, f"generate_forced=5.{token}")
    for where in ("shows=attention", *(f"view={view}" for view in VIEWS)):
        visitor.back_to(f"{SHORT}&generate_forced=5.{token}&generate_{where}")
        assert overflow(visitor) <= 1, where
        assert scrolled(visitor) == [], where
        assert barriers(visitor) == [], where
