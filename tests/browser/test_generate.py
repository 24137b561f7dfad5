"""Generate in a real browser: a text is played, another token is put, and a link brings every letter back."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import barriers
from tests.browser.conftest import Visitor
from tests.browser.test_stage import overflow, scrolled
from tfm_ui.lenses.generate.state import VIEWS, GenerateState
from tfm_ui.lenses.generate.write.numbers import Written, written
from tfm_ui.lenses.generate.write.questions import LAB, PROMPT
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(**LAB)
SHORT = f"/generate?{urlencode({**LAB, 'generate_steps': 20})}"


def picture(visitor: Visitor) -> Locator:
    """The picture, once it is drawn."""
    element = visitor.page.locator(".write")
    element.wait_for()
    visitor.page.wait_for_function("e => e._memory?.scene", arg=element.element_handle())
    return element


def texts(visitor: Visitor) -> list[str]:
    """The texts as they are shown, with the prompt."""
    return picture(visitor).locator(".text p").evaluate_all("all => all.map(e => e.textContent)")


def shown(text: str) -> str:
    """How a text stands on the page."""
    return text.replace("\n", "↵\n").replace("\t", "⇥")


def computed(visitor: Visitor) -> Written:
    """What the link in the address bar stands for, in plain Python."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(visitor.page.url).query).items()}
    steps, forced = int(query.get("generate_steps", 60)), query.get("generate_forced", "")
    return written(MODEL, GenerateState(steps=steps, forced=forced, seed=int(query.get("generate_seed", 1))))


def at(visitor: Visitor) -> int:
    """The step on screen, from 1."""
    return int(picture(visitor).locator("output").inner_text().split()[1])


def committed(visitor: Visitor, parameter: str) -> None:
    """The address has this parameter, with just this value."""
    visitor.page.wait_for_function("text => location.search.slice(1).split('&').includes(text)", arg=parameter)
    visitor.wait()


def path(visitor: Visitor) -> str:
    """The address without its host."""
    return urlsplit(visitor.page.url)._replace(scheme="", netloc="").geturl()


def candidate(visitor: Visitor, row: int) -> tuple[int, dict[str, float]]:
    """A candidate of the step on screen: its id, and where its row is; for the mouse."""
    canvas = picture(visitor).locator("canvas")
    canvas.scroll_into_view_if_needed()
    return tuple(
        picture(visitor).evaluate(
            """(e, row) => { const { candidates } = e._memory.scene.step, canvas = e.querySelector("canvas")
                const box = canvas.getBoundingClientRect(), bar = box.width < 560 ? 64 : 0 // of the draw, on phones
                const high = (box.height - 50 - bar) / candidates.length
                return [candidates[row].id, { x: box.left + 200, y: box.top + 40 + (row + 0.5) * high }] }""",
            row,
        )
    )


def other_candidate(visitor: Visitor) -> int:
    """The row of the first candidate that was not taken."""
    return picture(visitor).evaluate(
        "e => e._memory.scene.step.candidates.findIndex(({ id }) => id !== e._memory.scene.step.token)"
    )


def test_without_parameters_lab_gpt_writes_and_the_address_says_what(visit):
    visitor = visit("/generate")
    query = parse_qs(urlsplit(visitor.page.url).query)
    assert (query["weights"], query["text"]) == (["lab-gpt"], [PROMPT])
    of_link = computed(visitor)
    assert texts(visitor) == [shown(PROMPT + of_link.text)]
    assert picture(visitor).locator(".token").evaluate_all("all => all.map(e => e.textContent)") == [
        shown(piece) for piece in of_link.pieces
    ]
    assert at(visitor) == 60


def test_play_goes_from_token_to_token_until_it_is_stopped(visit):
    visitor = visit(SHORT)
    visitor.press("Play", "generate_write")
    visitor.page.wait_for_function("e => e._memory.at > 2", arg=picture(visitor).element_handle())
    visitor.press("Stop", "generate_write")
    stopped = at(visitor)
    assert 3 < stopped < 20
    expect(picture(visitor).get_by_role("button", name="Play", exact=True)).to_be_visible()
    committed(visitor, f"generate_step={stopped}")
    visitor.page.wait_for_timeout(400)
    assert at(visitor) == stopped
    visitor.press("Play", "generate_write")
    expect(picture(visitor).locator("output")).to_have_text("token 20 of 20")
    expect(picture(visitor).get_by_role("button", name="Play", exact=True)).to_be_visible()
    visitor.page.wait_for_function("!location.search.includes('generate_step=')")


def test_slider_and_keys_move_text_and_rows_together_and_need_no_server(visit):
    visitor = visit(SHORT)
    of_link, slider = computed(visitor), picture(visitor).get_by_role("slider", name="Step")
    canvas, asked = picture(visitor).locator("canvas"), []
    visitor.page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)

    def stands_at(step: int) -> None:
        assert at(visitor) == step
        assert picture(visitor).locator(".now").evaluate_all("all => all.map(e => e.dataset.place)") == [str(step - 1)]
        assert picture(visitor).locator(".later").count() == 20 - step
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


@pytest.mark.parametrize("hand", ["mouse", "keys"])
def test_another_token_is_put_and_a_link_brings_both_texts_back_until_it_is_taken_back(visit, hand):
    visitor = visit(f"{SHORT}&generate_step=5")
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
    second = visit(path(visitor))
    assert texts(second) == both
    visitor.press("Take back", "generate_write")
    visitor.page.wait_for_function("!location.search.includes('generate_forced')")
    visitor.wait()
    assert texts(visitor) == before


def test_the_temperature_changes_the_text_while_it_is_dragged_without_runs_of_the_page(visit):
    visitor = visit(SHORT)
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
    second = visit(path(visitor))
    assert texts(second) == texts(visitor) != before


def test_the_same_link_shows_the_same_text_to_everybody(visit):
    link = f"{SHORT}&generate_seed=77&generate_temperature=1.3&generate_top_k=0&generate_top_p=0.9"
    first, second = visit(link), visit(link)
    assert texts(first) == texts(second)
    assert first.page.url == second.page.url


@pytest.mark.parametrize(
    "parameters",
    [
        {"generate_forced": "abc 1.99999999 500.3"},
        {"generate_temperature": "-3"},
        {"generate_steps": "100000"},
        {"generate_top_k": "abc"},
        {"generate_step": "-1", "generate_method": "<b>", "generate_view": "nothing", "generate_full": "\x00"},
    ],
)
def test_nonsense_in_a_link_is_corrected_and_said(visit, parameters):
    visitor = visit(f"/generate?{urlencode(LAB | parameters)}")
    assert texts(visitor)[0].startswith(PROMPT)
    expect(visitor.page.locator(".st-key-notices")).to_contain_text("The link asked for")
    assert visitor.page.locator("[data-testid=stException]").count() == 0


@pytest.mark.parametrize(
    "query",
    [
        "text=%F0%9F%90%B3+%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7+%E6%B5%B7",
        "text=half+%F0%9F%90+%ED%A0%BD+characters",
        f"text={'to+the+sea+' * 910}",
        "text=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E%3Cscript%3Ealert(2)%3C/script%3E%3Cb%3E",
        "text=a%00b%09c%0A%0A%0Dd",
    ],
)
def test_any_text_is_continued_and_stands_as_it_is(visit, query):
    visitor = visit(f"/generate?weights=lab-gpt&generate_steps=10&{query}")
    (text,) = texts(visitor)
    assert picture(visitor).locator(".token").count() == 10
    assert picture(visitor).locator("img, script, .text b").count() == 0
    if "img" in query:
        assert text.startswith("<img src=x onerror=alert(1)><script>alert(2)</script><b>")
    assert visitor.page.locator("[data-testid=stException]").count() == 0


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("weights=random", "A text is written by a decoder"),
        ("weights=random&architecture=decoder&tokenizer=word", "several words share an id"),
        ("weights=random&architecture=encoder-decoder", "this model is an encoder-decoder"),
    ],
)
@pytest.mark.parametrize("view", VIEWS[:3])
def test_a_model_that_cannot_write_says_so(visit, query, reason, view):
    visitor = visit(f"/generate?{query}&generate_view={view}&text=the+sea")
    expect(visitor.page.get_by_text(reason).first).to_be_visible()
    assert visitor.page.locator("[data-testid=stException]").count() == 0


def test_without_a_text_lab_gpt_begins_at_the_start_token(visit):
    visitor = visit("/generate?weights=lab-gpt&text=&generate_steps=10")
    of_link = written(ModelState(weights="lab-gpt", text=""), GenerateState(steps=10))
    start = MODEL.tokens_by.pieces[of_link.course.prompt[0]]
    assert len(of_link.course.prompt) == 1
    assert texts(visitor) == [shown(start + of_link.text)]


def test_on_a_phone_nothing_scrolls_sideways_and_nobody_is_kept_out(visit):
    visitor = visit(f"{SHORT}&generate_step=5", width=390, height=844, has_touch=True, is_mobile=True)
    row = other_candidate(visitor)
    token, place = candidate(visitor, row)
    place["x"] -= 60
    visitor.page.touchscreen.tap(**place)  # the first tap reads
    expect(picture(visitor).locator(".tip")).to_contain_text("Tap again")
    visitor.page.touchscreen.tap(**place)
    committed(visitor, f"generate_forced=5.{token}")
    for view in VIEWS:
        visitor.open(f"{SHORT}&generate_forced=5.{token}&generate_view={view}")
        assert overflow(visitor) <= 1, view
        assert scrolled(visitor) == [], view
        assert barriers(visitor) == [], view
