"""What takes too long for a tick is marked as being renewed while a slider is dragged, and comes when it is let go."""

import pytest
from playwright.sync_api import Request, expect

from tests.browser.conftest import Visitor
from tests.browser.test_live_sliders import HEADS, LAYERS, held, place

# Of each picture and each place of words in a panel of this name: what is drawn or written there, and whether it is
# marked as being renewed.
STANDS = """name => {
  const panel = document.querySelector(`.st-key-panel_${name}`)
  const pictures = root => [...root.querySelectorAll("*")].flatMap(element => [
    ...element.matches("[data-picture]") ? [element] : [], ...element.shadowRoot ? pictures(element.shadowRoot) : []])
  const isBusy = element => element.getAttribute("aria-busy") === "true"
  return {
    drawn: pictures(panel).map(({ _follow: { last } }) => [last.header, ...last.numbers]),
    says: [...panel.querySelectorAll("[data-words]")].map(element => [element.dataset.words, element.innerText]),
    marks: [...pictures(panel), ...panel.querySelectorAll("[data-words]")].map(isBusy),
  }
}"""
MARKED = f"""([name, isMarked]) => {{
  const {{ marks }} = ({STANDS})(name)
  return marks.length > 0 && marks.every(mark => mark === isMarked)
}}"""
SLOW = {
    "depth": ["model_wirings", "model_alike", "model_training_mode"],
    "distance": ["model_distance", "model_distance_paths"],  # the second has no picture
}
QUICK = {"depth": ["model_stream_lengths"], "distance": []}
MARKS = "() => document.querySelectorAll('[data-words][aria-busy=true]').length"


def all_are(visitor: Visitor, panels: list[str], *, marked: bool) -> None:
    """All pictures and words of these panels are marked as being renewed, or none is."""
    for panel in panels:
        visitor.page.wait_for_function(MARKED, arg=[panel, marked])


def names_asked_for(visitor: Visitor) -> list[str]:
    """The names of pictures and words that the browser asks for from now on; the list grows."""
    names: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST" and "/pictures/" in request.url:
            names.extend(request.url.rsplit("/", 1)[1].split("+"))

    visitor.page.on("request", note)
    return names


def stands(visitor: Visitor, view: str) -> dict[str, dict]:
    return {name: visitor.page.evaluate(STANDS, name) for name in SLOW[view] + QUICK[view]}


@pytest.mark.parametrize("view", SLOW)
def test_a_slow_panel_is_marked_while_a_slider_is_dragged_and_renewed_at_rest(visit, view):
    visitor = visit(f"/model?model_view={view}&weights=random")
    asked, before = names_asked_for(visitor), stands(visitor, view)
    with held(visitor, LAYERS, 2, 3):
        expect(visitor.page.locator(".st-key-_facts")).to_contain_text("4 × 4")  # other words come with each tick
        all_are(visitor, SLOW[view], marked=True)
        all_are(visitor, QUICK[view], marked=False)
        held_at = stands(visitor, view)
        assert [held_at[name]["says"] for name in SLOW[view]] == [before[name]["says"] for name in SLOW[view]]
        assert not {*SLOW[view], "model.slow"} & set(asked)
    visitor.wait()
    all_are(visitor, [*SLOW[view], *QUICK[view]], marked=False)
    at_rest, address = stands(visitor, view), visitor.page.url
    visitor.back_to(f"/model?model_view={view}&weights=random&num_layers=3")
    assert stands(visitor, view) != at_rest
    visitor.page.goto(address)
    visitor.wait()
    assert stands(visitor, view) == at_rest


def who_lets_go_where_it_began_finds_nothing_marked(visitor) -> None:
    before = stands(visitor, "depth")
    step = int(visitor.page.locator(f".st-key-{HEADS} input[type=range]").input_value())
    with held(visitor, HEADS, step + 1):
        all_are(visitor, SLOW["depth"], marked=True)
        visitor.page.mouse.move(*place(visitor, HEADS, step))
    visitor.wait()
    assert stands(visitor, "depth") == before
    assert visitor.page.evaluate(MARKS) == 0


def a_row_of_presses_marks_it_until_the_page_was_run(visitor) -> None:
    for seed in (1, 2):
        visitor.choose_seed(seed)
        visitor.wait()
    box = visitor.page.get_by_role("spinbutton", name="Seed")
    asked, runs = names_asked_for(visitor), visitor.runs
    box.press("ArrowUp")
    all_are(visitor, SLOW["depth"], marked=True)
    assert visitor.runs > runs or not {*SLOW["depth"], "model.slow"} & set(asked)
    visitor.wait()
    assert visitor.page.evaluate(MARKS) == 0
    assert "seed=3" in visitor.page.url
    at_rest = stands(visitor, "depth")
    visitor.page.reload()
    visitor.wait()
    assert stands(visitor, "depth") == at_rest


def another_view_is_not_marked(visitor) -> None:
    with held(visitor, LAYERS, 2):
        all_are(visitor, SLOW["depth"], marked=True)
    visitor.page.get_by_role("button", name="Output", exact=True).click()
    visitor.wait()
    assert visitor.page.evaluate(MARKS) == 0


def test_no_mark_stays(visit):
    visitor = visit("/model?model_view=depth&weights=random")
    who_lets_go_where_it_began_finds_nothing_marked(visitor)
    a_row_of_presses_marks_it_until_the_page_was_run(visitor)
    another_view_is_not_marked(visitor)
