"""A model learns in a real window: by a real worker, followed by the picture itself; then the slider goes back."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Visitor

LEARN = ".st-key-panel_training_learn .learn"
OUTPUT = f"{LEARN} .scrub output"
MIRROR = """e => { const { header, at } = e._memory, n = header.source.length
    const weights = e._memory.weights(at)
    return [...Array(n).keys()].reduce((sum, i) => sum + weights[i * n + n - 1 - i], 0) / n }"""


def learn(visitor: Visitor):
    return visitor.page.locator(LEARN)


def train(visitor: Visitor) -> None:
    visitor.page.locator(".st-key-_training_train button").click()


def mirror(visitor: Visitor) -> float:
    """The mean weight on the anti-diagonal, of the maps that are on screen."""
    return learn(visitor).evaluate(MIRROR)


def a_second_visitor_sees_it_learn_and_the_result_at_once(first: Visitor, second: Visitor) -> None:
    for visitor in (first, second):
        visitor.back_to("/training?training_seed=22&training_task=dates&training_steps=100")
    train(first)
    for visitor in (first, second):
        expect(visitor.page.locator(OUTPUT)).to_contain_text("step 100 of 100", timeout=PATIENCE)
    assert second.page.locator(OUTPUT).inner_text() == first.page.locator(OUTPUT).inner_text()


def playing_walks_through_the_run_and_stops_at_its_end(visitor: Visitor) -> None:
    visitor.back_to("/training?training_step=2")
    visitor.page.get_by_role("button", name="Play").click()
    expect(visitor.page.locator(OUTPUT)).to_contain_text("step 400 of 400")
    visitor.page.get_by_role("button", name="Play").wait_for()


def whose_weights_are_shown_elsewhere_the_step_on_screen_stays(visitor: Visitor, step: str) -> None:
    visitor.page.get_by_role("button", name="Show the weights of step 400").click()
    visitor.page.wait_for_url(f"**training_step={step}*weights=reverse*")
    visitor.wait()
    expect(visitor.page.locator(OUTPUT)).to_contain_text(f"step {step} of 400")


def decoding_follows_its_slider(visitor: Visitor) -> None:
    visitor.back_to("/training?training_view=decode&training_written=3")
    panel = visitor.page.locator("[class*=st-key-panel_training_decode_next] .said")
    expect(panel).to_contain_text("Step 4:")
    box = visitor.page.get_by_label("Tokens written, exactly")
    box.fill("0")
    box.press("Enter")
    expect(panel).to_contain_text("has read “START” last")
    visitor.page.wait_for_url("**training_written=0*")


def test_reverse_is_learned_and_scrubbing_finds_the_anti_diagonal(visit):
    visitor = visit("/training?training_seed=21")
    expect(visitor.page.locator(".badge")).to_contain_text("not trained yet")
    before = mirror(visitor)
    assert before < 0.4
    train(visitor)
    expect(visitor.page.locator(OUTPUT)).to_contain_text("step 400 of 400", timeout=PATIENCE)
    expect(visitor.page.locator(".badge")).to_contain_text("Trained on reverse")
    assert mirror(visitor) > 0.9
    messages = visitor.messages_sent
    slider = visitor.page.get_by_role("slider", name="Step of training")
    slider.focus()
    slider.evaluate("e => { e.value = 0; e.dispatchEvent(new Event('input')) }")
    expect(visitor.page.locator(OUTPUT)).to_contain_text("step 0 of 400")
    assert abs(mirror(visitor) - before) < 1e-6
    assert visitor.messages_sent == messages  # the slider needs no server while it is dragged
    slider.evaluate("e => { e.value = 6; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')) }")
    visitor.wait()
    step = re.search(r"step (\d+) of", visitor.page.locator(OUTPUT).inner_text())[1]
    visitor.page.wait_for_url(f"**training_step={step}*")
    other = visit(visitor.page.url.removeprefix(visitor.address), width=1280)
    expect(other.page.locator(OUTPUT)).to_contain_text(f"step {step} of 400")
    whose_weights_are_shown_elsewhere_the_step_on_screen_stays(visitor, step)
    a_second_visitor_sees_it_learn_and_the_result_at_once(visitor, other)
    playing_walks_through_the_run_and_stops_at_its_end(visitor)
    decoding_follows_its_slider(visitor)
