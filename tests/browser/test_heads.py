"""The Heads lens in a real browser."""

from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from tfm_ui.compute import place
from tfm_ui.fields import controls_of
from tfm_ui.figures import look
from tfm_ui.heads import HeadsState
from tfm_ui.model_state import ModelState
from tfm_ui.recipe import recipe


def state_of(link: str, kind, prefix: str = ""):
    """The state that a link in the address bar stands for."""
    query = dict(parse_qsl(urlsplit(link).query, keep_blank_values=True))
    controls = controls_of(kind)
    return kind(**{n: f.read(query[prefix + n], d)[0] for n, (f, d) in controls.items() if prefix + n in query})


def computed(link: str) -> np.ndarray:
    """What tfm_core gives for a link, in plain Python."""
    model, lens = state_of(link, ModelState), state_of(link, HeadsState, "heads_")
    site = place(model, lens.kind if model.is_encoder_decoder else "self").format(layer=lens.layer - 1, what="weights")
    scope: dict = {}
    exec(recipe(model, site, lens.head - 1), scope)
    return scope["weights"].numpy()


def same(shown: list[list[float]], link: str) -> None:
    np.testing.assert_array_equal(np.array(shown, np.float32), computed(link))


def type_text(visitor, text: str) -> None:
    box = visitor.page.get_by_label("Text", exact=True)
    box.fill(text)
    box.press("Control+Enter")


def press(label: str, key: str):
    def act(visitor) -> None:
        visitor.page.get_by_role("slider", name=label).press(key)

    return act


def choose(visitor, label: str, option: str) -> None:
    box = visitor.page.get_by_role("combobox", name=label)
    box.fill(option)
    visitor.page.get_by_role("option", name=option).wait_for()
    box.press("Enter")


def choose_positions(visitor) -> None:
    choose(visitor, "Positions", "alibi")


def choose_seed(visitor) -> None:
    box = visitor.page.get_by_label("Seed", exact=True)
    box.fill("12")
    box.press("Enter")


def open_the_mask(visitor) -> None:
    visitor.page.get_by_text("Causal: no looking ahead").click()


def choose_post_norm(visitor) -> None:
    visitor.page.get_by_text("More of the model").click()
    visitor.page.wait_for_timeout(600)  # while it unfolds, a list that opens closes again
    choose(visitor, "Norm", "post")


@pytest.mark.parametrize(
    "act",
    [
        lambda visitor: type_text(visitor, "every picture here is computed from real weights"),
        press("Tokens", "ArrowLeft"),
        press("Heads", "ArrowRight"),
        press("d_model", "ArrowRight"),
        choose_positions,
        choose_seed,
        open_the_mask,
        choose_post_norm,
    ],
    ids=["text", "tokens", "heads", "d_model", "positions", "seed", "causal", "norm"],
)
def test_each_control_changes_the_picture_to_what_tfm_core_gives_for_the_new_link(visit, act):
    visitor = visit("/heads?heads_head=2")
    before, link = visitor.weights(), visitor.page.url
    act(visitor)
    visitor.page.wait_for_function("link => location.href !== link", arg=link)
    visitor.wait()
    visitor.page.wait_for_timeout(500)
    after = visitor.weights()
    assert after != before
    same(after, visitor.page.url)


def test_another_number_of_layers_leaves_the_first_as_it_was(visit):
    visitor = visit("/heads")
    before = visitor.weights()
    press("Layers", "ArrowRight")(visitor)
    visitor.page.get_by_text("All 12 heads").wait_for()
    visitor.wait()
    assert visitor.weights() == before


def test_a_click_in_the_grid_locks_the_head_and_is_in_the_link(visit):
    visitor = visit("/heads")
    visitor.head(2, 3).click()
    visitor.page.get_by_text("Layer 2, head 3").wait_for()
    visitor.wait()
    visitor.page.wait_for_function("location.search.includes('heads_head=3')")
    assert "heads_layer=2" in visitor.page.url
    assert visitor.head(2, 3).get_attribute("aria-pressed") == "true"
    same(visitor.weights(), visitor.page.url)


def test_hovering_previews_without_asking_the_server(visit):
    visitor = visit("/heads")
    visitor.weights()
    visitor.page.wait_for_timeout(1000)
    sent = visitor.frames_sent
    for head in (2, 3, 4):
        visitor.head(1, head).hover()
        assert visitor.page.locator(".glass b").inner_text() == f"layer 1 · head {head}"
    assert visitor.frames_sent == sent


def test_the_grid_can_be_walked_and_locked_by_keyboard(visit):
    visitor = visit("/heads")
    visitor.head(1, 1).focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        visitor.page.keyboard.press(key)
    visitor.page.get_by_text("Layer 2, head 2").wait_for()
    visitor.wait()


def test_a_double_click_isolates_a_head_and_escape_brings_the_others_back(visit):
    visitor = visit("/heads")
    pixel = "c => c.getContext('2d').getImageData(c.width * .9, c.height * .9, 1, 1).data.join()"
    canvas = visitor.page.locator(".cells canvas")
    before = canvas.evaluate(pixel)
    visitor.head(1, 1).dblclick()
    visitor.wait()
    assert canvas.evaluate(pixel) != before
    visitor.head(1, 1).press("Escape")
    assert canvas.evaluate(pixel) == before


def test_a_hover_on_the_large_map_names_both_tokens_and_the_exact_weight(visit):
    visitor = visit("/heads")
    weights = visitor.weights()
    sent = visitor.frames_sent
    visitor.page.mouse.move(**visitor.cell(10, 2))
    tip = visitor.page.locator(".map .tip")
    assert "query 10 “tired” → key 2 “cat”" in tip.inner_text()
    assert f"weight {weights[9][1]:.4f} = softmax(q·k / √dₖ)" in tip.inner_text()
    visitor.page.mouse.move(**visitor.cell(2, 10))
    assert "masked: may not attend, weight 0" in tip.inner_text()
    assert visitor.frames_sent == sent


def test_the_pixels_are_the_weights(visit):
    visitor = visit("/heads?seq_len=8")
    weights, stops = visitor.weights(), look.WEIGHTS["light"]
    pixels = visitor.map().evaluate(
        """e => { const { x, y, cell } = e._memory.layout, context = e.querySelector("canvas").getContext("2d")
            const pixel = (q, k) => context.getImageData(x + k * cell + 3, y + q * cell + 3, 1, 1).data
            const at = (q, k) => Array.from(pixel(q, k).slice(0, 3))
            return [...Array(8).keys()].map(q => [...Array(8).keys()].map(k => at(q, k))) }"""
    )
    for query, row in enumerate(weights):
        for key, weight in enumerate(row[: query + 1]):
            place = weight / max(map(max, weights)) * (len(stops) - 1)
            low = min(int(place), len(stops) - 2)
            ends = [[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in stops[low : low + 2]]
            colour = [a + (b - a) * (place - low) for a, b in zip(*ends, strict=True)]
            np.testing.assert_allclose(pixels[query][key], colour, atol=3)


def test_a_long_text_is_pooled_and_a_drag_zooms_to_exact_values(visit):
    visitor = visit("/heads?tokenizer=character&seq_len=700&num_layers=1&text=" + "the+quick+brown+fox+" * 35)
    assert "pooled: the largest of 2 × 2 cells" in visitor.map().inner_text()
    assert "pooled: the largest of" in visitor.page.locator(".heads .exact").inner_text()
    start, end = visitor.cell(600, 300), visitor.cell(640, 340)
    visitor.page.mouse.move(**start)
    visitor.page.mouse.down()
    visitor.page.mouse.move(**end, steps=5)
    visitor.page.mouse.up()
    said = visitor.map().locator(".exact").inner_text()
    assert said.startswith("queries ")
    assert said.endswith("of 700; exact")
    visitor.page.mouse.move(**visitor.cell(620, 320))
    assert f"weight {visitor.weights()[619][319]:.4f}" in visitor.page.locator(".map .tip").inner_text()
    visitor.press("Whole")
    assert "pooled" in visitor.map().inner_text()
    same(visitor.weights(), visitor.page.url)


def test_the_large_map_can_be_read_and_zoomed_by_keyboard(visit):
    visitor = visit("/heads?seq_len=10")
    visitor.map().locator("canvas").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        visitor.page.keyboard.press(key)
    tip = visitor.page.locator(".map .tip")
    assert "query 2 “cat” → key 2 “cat”" in tip.inner_text()
    visitor.page.keyboard.press("+")
    assert visitor.map().evaluate("e => e._memory.view") == {"left": 1, "top": 1, "columns": 5, "rows": 5}
    for _ in range(5):
        visitor.page.keyboard.press("ArrowRight")
    assert "key 7" in tip.inner_text()
    assert visitor.map().evaluate("e => e._memory.view.left") == 2
    visitor.page.keyboard.press("Escape")
    assert not tip.is_visible()
    visitor.page.keyboard.press("Escape")
    assert visitor.map().evaluate("e => e._memory.view.columns") == 10


def test_zoom_stays_where_it_is_when_the_numbers_change(visit):
    visitor = visit("/heads?seq_len=10")
    visitor.map().locator("canvas").press("+")
    before, weights = visitor.map().evaluate("e => e._memory.view"), visitor.weights()
    choose_seed(visitor)
    visitor.page.wait_for_function("location.search.includes('seed=12')")
    visitor.wait()
    visitor.page.wait_for_timeout(500)
    assert visitor.weights() != weights
    assert visitor.map().evaluate("e => e._memory.view") == before


def test_the_numbers_and_the_source_open(visit):
    visitor = visit("/heads")
    visitor.press("Source", "head")
    visitor.page.get_by_text("def attention_weights").wait_for()
    visitor.page.keyboard.press("Escape")
    visitor.press("Numbers", "head")
    visitor.page.locator("[data-testid=stPopoverBody] [data-testid=stDataFrame]").wait_for()


def test_the_chip_says_masked_only_where_something_is(visit):
    visitor = visit("/heads")
    visitor.page.locator(".chip").wait_for()
    open_the_mask(visitor)
    visitor.page.locator(".chip").wait_for(state="hidden")


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("heads", [4, 8, 16])
def test_column_labels_have_room(visit, width, heads):
    visitor = visit(f"/heads?num_heads={heads}", width=width)
    visitor.page.locator(".cells canvas").wait_for()
    labels = visitor.page.locator(".cells .column")
    assert labels.last.inner_text().endswith(str(heads))
    assert labels.evaluate_all("all => all.filter(e => e.scrollWidth > e.clientWidth).length") == 0


def test_thumbnails_smaller_than_their_cells_lose_no_weight_and_say_that_they_are_pooled(visit):
    visitor = visit("/heads?seq_len=128&num_heads=16&tokenizer=character&text=" + "abcdefghij+" * 14)
    visitor.page.get_by_text("pooled: the largest of").wait_for()
    visit_small = visit("/heads")
    assert not visit_small.page.locator(".pooled").is_visible()
