"""What does not fit into a window: what is cut off, lies outside or would have to be scrolled to."""

from benchmarks.streamlit_private.dom import MAIN
from tests.browser.conftest import Visitor
from tests.browser.stage import whole_picture

PHONE, TIGHT = (390, 844), (1024, 768)  # the latter is the smallest that a whole picture must fit
ENLARGED = (720, 450)  # half of 1440 × 900: that window enlarged to 200 %
PAGE, WIDE = (1440, 900), (1920, 1080)
SMALL = (PHONE, ENLARGED)
WINDOWS = (TIGHT, *SMALL, PAGE, WIDE)
LOWEST_TOP = 260
SECOND_ROW = 40  # px, how much lower where sliders or masks have a row of their own, rather than being out of sight


def overflow(visitor: Visitor) -> float:
    """The number of pixels by which the page is wider than the window."""
    inside = "e => Math.max(e.scrollWidth - e.clientWidth, document.documentElement.scrollWidth - innerWidth)"
    return visitor.page.locator(MAIN).evaluate(inside)


def scrolled(visitor: Visitor) -> list[str]:
    """The pictures that would have to be scrolled sideways."""
    return visitor.page.locator("[data-picture]").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className)"
    )


def clipped(visitor: Visitor) -> list[str]:
    """What stands in the rows around the picture and is higher than its row, or lies below the window's end."""
    return visitor.page.locator(":is(.st-key-header, .st-key-question, .st-key-knobs)").evaluate_all(
        """rows => rows.flatMap(row => [...row.querySelectorAll(
            "h1, p, button, input, :has(> [type=number]), :has(> * > [role=combobox])")].filter(e => {
            const foot = e.closest(":has(> .st-key-facts)") // while presenting
            const own = foot && getComputedStyle(foot).position === "fixed" ? foot : row
            const { top, bottom } = own.getBoundingClientRect(), box = e.getBoundingClientRect()
            return box.height > 1 && (box.top < top - 1 || box.bottom > Math.min(bottom, innerHeight) + 1)
        }).map(e => `${row.className}: ${e.outerHTML}`))"""
    )


CUT = (
    "all => all.filter(e => e.scrollHeight > e.clientHeight + 1).map(e => e.outerHTML)"  # what is higher than its room
)
# Controls that lie outside of their row: there they have to be scrolled to, and nothing says that they are there.
BEYOND = """all => {
  const row = document.querySelector(".st-key-knobs"), end = row ? row.getBoundingClientRect().right + 1 : Infinity
  return all.filter(e => e.getBoundingClientRect().width && e.getBoundingClientRect().right > end)
    .map(e => e.innerText || e.ariaLabel || e.type)
}"""
THIN = "all => all.map(e => e.getBoundingClientRect().width).filter(width => width && width < 119.5)"  # sliders
# Controls that are on screen nowhere; of tabs that scroll, the active one must be in sight.
OUTSIDE = """all => all.map(e => [e.innerText || e.ariaLabel, e.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.left < 0 || box.right > innerWidth + 1)).map(([name]) => name)"""
ACTIVE = ".st-key-tabs button[kind=primary], .st-key-lens_links a[aria-current=page]"
# What a lens is for, where that is not read whole in the header.
UNREAD = """leads => leads.filter(lead => {
  const [inner, outer] = [lead, document.querySelector(".st-key-header")].map(e => e.getBoundingClientRect())
  return inner.top < outer.top || inner.bottom > outer.bottom
}).map(lead => lead.innerText)"""
# What stands beside the button that trains or measures, as it is and as these words, where its end is out of sight.
FACTS = """words => [...document.querySelectorAll(".st-key-knobs .facts")].flatMap(e => {
  const now = e.innerHTML, end = e.closest(".st-key-knobs").getBoundingClientRect().right + 1
  const cut = [e.innerText, ...words].filter(text => {
    e.textContent = text
    return e.scrollHeight > e.clientHeight + 1 || e.getBoundingClientRect().right > end
  })
  e.innerHTML = now
  return cut
})"""
STOPPED = "⚠ Stopped. 1,314 of 1,500 steps are made."  # the most that is told of a training that somebody stopped


def controls_are_in_sight(visitor: Visitor, view: str) -> None:
    """Each control of the row is there without being scrolled to, and sliders are wide enough to be moved."""
    knobs = visitor.page.locator(".st-key-knobs")
    beyond = knobs.locator("button, input, select").evaluate_all(BEYOND)
    assert beyond == [], (view, visitor.page.viewport_size)
    assert knobs.locator("input[type=range]").evaluate_all(THIN) == [], view


def main_picture_is_whole(visitor: Visitor, view: str) -> None:
    """The picture is on the first screen, with the row of controls above it, and nothing runs out of the window."""
    width, height = (visitor.page.viewport_size[side] for side in ("width", "height"))
    box = whole_picture(visitor, height + 0.5)
    rows = visitor.page.locator(".st-key-knobs").evaluate_all("all => all.map(e => e.clientHeight > 50)")
    # Where a mask or a result is brought, the box that takes it and the verdict stand above the picture.
    brought = visitor.page.locator(".st-key-editor:has(.st-key-clinic_box)").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().height)"
    )
    assert box.top <= LOWEST_TOP + SECOND_ROW * any(rows) + sum(brought), (view, box)
    assert box.top + box.height <= height + 0.5, (view, box)
    assert box.left >= 0, view
    assert box.left + box.width <= width, view
    assert overflow(visitor) <= 1, view
    assert scrolled(visitor) == [], view
    assert clipped(visitor) == [], view
    assert visitor.page.evaluate(FACTS, [STOPPED]) == [], view


def fits_a_small_window(visitor: Visitor, view: str) -> None:
    """The page is not scrolled sideways, on a phone no picture either, and no control is cut off."""
    assert overflow(visitor) <= 1, view
    if visitor.page.viewport_size["width"] > 640:
        assert clipped(visitor) == [], view
        assert visitor.page.locator(".st-key-knobs").locator("button, input, select").evaluate_all(BEYOND) == [], view
    else:  # controls stand below each other there
        assert scrolled(visitor) == [], view
        assert visitor.page.locator(".st-key-knobs").evaluate_all(CUT) == [], view
        assert visitor.page.locator(".st-key-knobs").locator("button, input").evaluate_all(OUTSIDE) == [], view
        active = visitor.page.locator(ACTIVE)
        assert active.count() == 1 + bool(visitor.page.locator(".st-key-tabs").count()), view  # the lens, and the tab
        assert active.evaluate_all(OUTSIDE) == [], view
        assert visitor.page.locator(".lead").evaluate_all(UNREAD) == [], view
