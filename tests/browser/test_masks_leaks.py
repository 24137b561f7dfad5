"""Leaks in a real browser: marked, read and locked; tests/pages/test_masks_leaks.py plants others."""

from playwright.sync_api import expect

PANEL = ".st-key-panel_masks_leaks"


def test_a_leak_is_marked_read_and_followed(visit):
    leaky = "causal=false&masks_item=1&masks_mask=causal+1+and+padding&masks_promise=causal+and+padding"
    visitor = visit(f"/masks?masks_view=leaks&{leaky}")
    maps = visitor.page.locator(f"{PANEL} .maps")
    maps.wait_for()
    visitor.page.wait_for_function("e => e._memory?.layout && e._memory.header.crosses.length === 17",
                                   arg=maps.element_handle())  # fmt: skip
    x, y = maps.evaluate("""e => {
        const { origins: [{ x, y }], cw, ch } = e._memory.layout
        const box = e.querySelector("canvas").getBoundingClientRect()
        return [box.left + x + cw * 2.5, box.top + y + ch * 4.5]
    }""")
    visitor.page.mouse.move(x, y)
    expect(maps.locator(".tip")).to_contain_text("token 5 “the₂” → output 3 “sat”")
    expect(maps.locator(".tip")).to_contain_text("✕ leak: forbidden")
    visitor.page.mouse.click(x, y)
    visitor.page.wait_for_function(
        "location.search.includes('masks_changed=5') && location.search.includes('masks_moved=3')"
    )
    expect(visitor.page.locator(PANEL)).to_contain_text("token 5 “the₂” → output 4 “on” in layer 1 → output 3 “sat” in")
