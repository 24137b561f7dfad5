"""The arcs in a real browser: tokens, lines, sums, and what comes back from the link."""

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE
from tfm_ui.live import passes
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import colours

ARCS = "/attention?attention_view=arcs"
LONG = f"{ARCS}&text=@alice&seq_len=1024&tokenizer=character&num_layers=1&attention_query=500&attention_key=500"


def arcs(visitor):
    """The picture, once it is drawn."""
    element = visitor.page.locator(".arcs")
    element.wait_for()
    visitor.page.wait_for_function("e => e._memory?.lines", arg=element.element_handle())
    return element


def token(visitor, side: int, number: int) -> dict[str, float]:
    """Where the name of a query (side 0) or key (1), counted from 1, is in the window; for the mouse."""
    return arcs(visitor).evaluate(
        """(e, [side, i]) => { const { layout, height } = e._memory
            const box = e.querySelector("canvas").getBoundingClientRect()
            return { x: box.left + layout.x[side] + (side ? 20 : -20), y: box.top + height(side, i) } }""",
        [side, number - 1],
    )


def drawn(visitor) -> list[tuple[int, int, int, float]]:
    """Head, query and key of each line, counted from 1, and its weight."""
    lines = arcs(visitor).evaluate("e => e._memory.lines.drawn.map(({ m, q, k, w }) => [m + 1, q + 1, k + 1, w])")
    return sorted(map(tuple, lines))


def weights(model: ModelState, layer: int = 0) -> np.ndarray:
    """(head, query, key)."""
    attention = passes.run(model).attention["self"]
    return np.stack([attention.exact(layer, head) for head in range(model.num_heads)])


def largest(weights: np.ndarray, share: float, queries=None) -> list[tuple[int, int, int, float]]:
    """The largest weights of each row of each head until they make up the share of it, one after the other."""
    lines = []
    for head, query in np.ndindex(weights.shape[:2]):
        row, have = weights[head, query], 0.0
        for key in sorted(range(len(row)), key=lambda key: -row[key]):
            if have < share * row.sum() * (1 - 1e-6) and row[key] > 0 and (queries is None or query + 1 in queries):
                lines.append((head + 1, query + 1, key + 1, float(row[key])))
                have += row[key]
    return sorted(lines)


def same_lines(visitor, expected: list[tuple[int, int, int, float]]) -> None:
    lines = drawn(visitor)
    assert [line[:3] for line in lines] == [line[:3] for line in expected]
    assert [line[3] for line in lines] == pytest.approx([line[3] for line in expected])


def leave(visitor) -> None:
    visitor.page.mouse.move(5, 5)


def committed(visitor, parameter: str) -> None:
    """The link has this parameter, with just this value."""
    visitor.page.wait_for_function("text => location.search.slice(1).split('&').includes(text)", arg=parameter)
    visitor.wait()


def a_hovered_token_shows_its_lines_alone_with_exact_weights_and_no_traffic(visitor) -> None:
    real = weights(ModelState())
    same_lines(visitor, largest(real, 0.9))
    sent = visitor.messages_sent
    visitor.page.mouse.move(**token(visitor, 0, 10))
    lines = largest(real, 0.9, [10])
    same_lines(visitor, lines)
    expect(arcs(visitor).locator(".foot")).to_contain_text(f"{len(lines)} of 40 lines")
    text = arcs(visitor).locator(".say").inner_text()
    mean = real[:, 9].mean(0)
    best = ModelState().source_tokens.pieces[mean.argmax()]
    assert text.startswith(f"query 10 “tired” looks at “{best}” {mean.max():.4f}")
    np.testing.assert_allclose(arcs(visitor).evaluate("e => e._memory.sums.each"), real[:, 9], atol=1e-7)
    visitor.page.mouse.move(**token(visitor, 1, 2))
    same_lines(visitor, [line for line in largest(real, 0.9) if line[2] == 2])
    expect(arcs(visitor).locator(".say")).to_contain_text(f"{real[:, :, 1].mean(0).sum():.4f} in all")
    leave(visitor)
    assert len(drawn(visitor)) == len(largest(real, 0.9))
    assert visitor.messages_sent == sent


def clicks_select_several_tokens_and_sum_them_and_the_link_brings_them_back(visitor, visit) -> None:
    real = weights(ModelState())
    for number in (4, 10, 7, 7):  # the last one again: let go
        visitor.page.mouse.click(**token(visitor, 0, number))
    leave(visitor)
    committed(visitor, "attention_tokens=q4+q10")
    again = visit(urlsplit(visitor.page.url)._replace(scheme="", netloc="").geturl())
    for there in (visitor, again):
        same_lines(there, largest(real, 0.9, [4, 10]))
        total = real[:, [3, 9]].sum(1).mean(0)
        assert arcs(there).evaluate("e => e._memory.sums.total") == pytest.approx(total, abs=1e-6)
        text = arcs(there).locator(".say").inner_text()
        assert text.startswith(f"queries 4 “on” + 10 “tired” together look at “sat” {total.max():.4f}")
    arcs(again).locator("canvas").focus()
    again.page.keyboard.press("Escape")
    again.page.wait_for_function("!location.search.includes('attention_tokens')")
    assert len(drawn(again)) == len(largest(real, 0.9))


def heads_share_and_hidden_tokens_are_the_readers_choice_and_ask_for_no_bytes(visitor) -> None:
    real = weights(ModelState())
    arcs(visitor)
    asked = []
    visitor.page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    for head in (1, 4):
        visitor.press(f"Head {head}", "arcs")
    only = [line for line in largest(real, 0.9) if line[0] in (2, 3)]
    same_lines(visitor, only)
    slider = arcs(visitor).get_by_role("slider")
    for _ in range(40):
        slider.press("ArrowLeft")
    same_lines(visitor, [line for line in largest(real, 0.5) if line[0] in (2, 3)])
    visitor.press("hide first token", "arcs")
    rest = real.copy()
    rest[:, 0] = rest[:, :, 0] = 0
    same_lines(visitor, [line for line in largest(rest, 0.5) if line[0] in (2, 3)])
    committed(visitor, "attention_hide=padding+and+first")
    link = parse_qs(urlsplit(visitor.page.url).query)
    assert (link["attention_heads"], link["attention_mass"]) == (["2 3"], ["50"])
    expect(visitor.page.locator(".st-key-panel_arcs .said")).to_contain_text("Strongest of 2 heads")
    arcs(visitor).get_by_role("button", name="Head 3").dblclick()
    assert {line[0] for line in drawn(visitor)} == {3}
    committed(visitor, "attention_heads=3")
    assert asked == []


def tokens_are_read_and_selected_by_keyboard_alone(visitor) -> None:
    arcs(visitor).locator("canvas").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "Enter"):
        visitor.page.keyboard.press(key)
    committed(visitor, "attention_tokens=k3")
    assert {line[2] for line in drawn(visitor)} == {3}
    visitor.page.keyboard.press("End")
    assert arcs(visitor).evaluate("e => e._memory.at") == [1, 9]
    visitor.page.keyboard.press("Escape")
    assert arcs(visitor).evaluate("e => e._memory.at") is None
    assert {line[2] for line in drawn(visitor)} == {3}  # one level at a time


def a_line_has_the_colour_of_its_head_and_nothing_is_drawn_where_no_line_is(visitor) -> None:
    pixels = arcs(visitor).evaluate(
        """e => { const { layout, height } = e._memory, context = e.querySelector("canvas").getContext("2d")
            const at = (x, y) => [...context.getImageData(Math.round(x), Math.round(y), 1, 1).data.slice(0, 3)]
            const middle = (layout.x[0] + layout.x[1]) / 2
            return [at(middle, height(0, 0)), at(middle, height(0, 0) - layout.step * 0.4)] }"""
    )
    head = [int(colours.HEADS["light"][1][i : i + 2], 16) for i in (1, 3, 5)]
    assert abs(np.array(pixels[0]) - head).max() < 40
    assert pixels[1] == [255, 255, 255]


def a_long_text_shows_a_window_and_what_lies_outside_is_counted_in(visitor) -> None:
    model = ModelState(text="@alice", seq_len=1024, tokenizer="character", num_layers=1)
    real = weights(model)
    assert arcs(visitor).evaluate("e => e._memory.window.tops") == [484, 484]
    visitor.page.mouse.move(**token(visitor, 0, 500))
    lines = drawn(visitor)
    assert lines
    for head, query, key, weight in lines:
        assert query == 500
        assert weight == pytest.approx(real[head - 1, 499, key - 1])
    rest = 1 - np.sort(real[:, 499])[:, -32:].sum(1).mean()
    expect(arcs(visitor).locator(".foot")).to_contain_text(f"the rest, {rest:.4f} of a row, is not drawn")
    arcs(visitor).locator("canvas").focus()
    for _ in range(30):
        visitor.page.keyboard.press("ArrowDown")
    assert arcs(visitor).evaluate("e => [e._memory.at, e._memory.window.tops]") == [[0, 529], [500, 484]]
    visitor.press("Tokens after", "arcs")
    assert arcs(visitor).evaluate("e => e._memory.window.tops") == [526, 510]
    spot = token(visitor, 0, 530)
    visitor.page.mouse.move(**spot)
    visitor.page.mouse.down()
    step = arcs(visitor).evaluate("e => e._memory.layout.step")
    visitor.page.mouse.move(spot["x"], spot["y"] + 5 * step, steps=4)
    visitor.page.mouse.up()
    tops = arcs(visitor).evaluate("e => e._memory.window.tops")
    assert tops == [521, 510]
    assert "attention_tokens" not in visitor.page.url  # a drag is no click


def test_a_finger_selects(visit):
    visitor = visit(ARCS, **PHONE)
    arcs(visitor).scroll_into_view_if_needed()
    spot = token(visitor, 1, 3)
    visitor.page.touchscreen.tap(spot["x"], spot["y"])
    committed(visitor, "attention_tokens=k3")
    expect(arcs(visitor).locator(".say")).to_contain_text("key 3 “sat” is looked at by")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390


def the_downloaded_page_works_alone(visitor, browser, tmp_path) -> None:
    arcs(visitor)
    visitor.press("Download", "arcs")
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="HTML: ").click()
    download.value.save_as(file := tmp_path / "arcs.html")
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(file.as_uri())
    page.get_by_role("button", name="Head 1").click()
    page.locator("canvas").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".say")).to_contain_text("query 1 “the” looks at “the” 1.0000, mean of 3 heads")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert problems == []
    page.close()
    visitor.page.keyboard.press("Escape")  # the menu


def test_arcs_are_read_chosen_drawn_and_saved(visit, browser, tmp_path):
    visitor = visit(ARCS)
    a_hovered_token_shows_its_lines_alone_with_exact_weights_and_no_traffic(visitor)
    the_downloaded_page_works_alone(visitor, browser, tmp_path)
    clicks_select_several_tokens_and_sum_them_and_the_link_brings_them_back(visitor, visit)
    visitor.back_to(ARCS)
    tokens_are_read_and_selected_by_keyboard_alone(visitor)
    visitor.back_to(ARCS)
    heads_share_and_hidden_tokens_are_the_readers_choice_and_ask_for_no_bytes(visitor)
    visitor.back_to(f"{ARCS}&attention_heads=2&attention_mass=5&text=hi+you&seq_len=2")
    a_line_has_the_colour_of_its_head_and_nothing_is_drawn_where_no_line_is(visitor)
    visitor.back_to(LONG)
    a_long_text_shows_a_window_and_what_lies_outside_is_counted_in(visitor)
