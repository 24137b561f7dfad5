"""A drag of a slider of the model panel: pictures a second, and the longest time without a new one."""

from dataclasses import dataclass

from playwright.sync_api import Browser, Page

from benchmarks.live.serve import Window

# At which of its steps a slider of the model stands, and how many it has.
STEPS = """slider => {
  const inside = [...document.querySelectorAll(`.st-key-${slider} *`)].map(({ shadowRoot }) => shadowRoot)
  window.dragged = inside.map(root => root?.querySelector("input[type=range]")).find(Boolean)
  return [+window.dragged.value, +window.dragged.max + 1]
}"""
# Moves the slider, for the given milliseconds to one step each frame's time, as a hand does that does not let go, and
# notes when a new value was on screen in all pictures: two frames after the last of them was drawn.
DRAG = """async ([parameter, walk, milliseconds]) => {
  const pictures = []
  const find = root => root.querySelectorAll("*").forEach(element => {
    if (element.matches("[data-picture]") && !element._follow.component.data.slow) pictures.push(element._follow)
    if (element.shadowRoot) find(element.shadowRoot)
  })
  find(document)
  const shown = () => {
    const [value, ...others] = new Set(pictures.map(({ shown }) => new URLSearchParams(shown).get(parameter)))
    return others.length ? undefined : value // undefined: some are drawn, others not yet
  }
  const begin = performance.now(), times = []
  let step = 0, last = shown()
  const hand = setInterval(() => {
    window.dragged.value = walk[step++ % walk.length]
    window.dragged.dispatchEvent(new Event("input", { bubbles: true }))
  }, 1000 / 60)
  while (performance.now() < begin + milliseconds) {
    const now = await new Promise(requestAnimationFrame), value = shown()
    if (value !== undefined && value !== last) {
      times.push(now - begin)
      last = value
    }
  }
  clearInterval(hand)
  window.dragged.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }))
  return times
}"""


@dataclass(frozen=True)
class Drag:
    """What was seen of a drag.

    Attributes:
        rate: how often in a second a new value was on screen in all pictures.
        gap: the longest time without one, in ms.
    """

    rate: float
    gap: float


def opened(browser: Browser, url: str) -> Page:
    """A page, when everything on it is drawn."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(url)
    page.locator("[data-picture] :is(canvas, .main-svg)").first.wait_for(timeout=60_000)
    Window(page, url).wait()
    return page


def drag(page: Page, slider: str, *, seconds: float, most: int = 8) -> Drag:
    """Take the thumb of a slider, move it up and down over at most `most` values below its own, and let it go."""
    at, count = page.evaluate(STEPS, slider)
    near = list(range(count) if count <= most else range(max(0, at - most), at))
    times = page.evaluate(DRAG, [slider, [*near, *near[-2:0:-1]], 1000 * seconds])
    gaps = [later - earlier for earlier, later in zip([0, *times], [*times, 1000 * seconds], strict=True)]
    return Drag(len(times) / seconds, max(gaps))
