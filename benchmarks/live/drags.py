"""A drag of a slider of the model panel: pictures a second, and the longest time without a new one."""

from dataclasses import dataclass

from playwright.sync_api import Page

# Where the thumb of a slider has to be for each of its values, in CSS pixels, and where it is: [xs, number, y].
PLACES = """slider => {
  const input = document.querySelector(`.st-key-${slider} input[type=range]`)
  const track = input.closest("[role=group]").firstElementChild.getBoundingClientRect(), low = +input.min
  const steps = +input.max - low
  const xs = Array.from({ length: steps + 1 }, (_, step) => track.left + track.width * step / steps)
  return [xs, +input.value - low, track.top + track.height / 2]
}"""
# Moves the pointer that is held down, for the given milliseconds to one place each frame's time, and notes when a new
# value was on screen in all pictures: two frames after the last of them was drawn, as in ticks.py.
DRAG = """async ([parameter, xs, y, milliseconds]) => {
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
  const hand = setInterval(() => document.dispatchEvent(new PointerEvent("pointermove", {
    pointerId: 1, pointerType: "mouse", clientX: xs[step++ % xs.length], clientY: y, bubbles: true,
  })), 1000 / 60)
  while (performance.now() < begin + milliseconds) {
    const now = await new Promise(requestAnimationFrame), value = shown()
    if (value !== undefined && value !== last) {
      times.push(now - begin)
      last = value
    }
  }
  clearInterval(hand)
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


def drag(page: Page, slider: str, *, seconds: float, most: int = 8) -> Drag:
    """Take the thumb of a slider, move it up and down over at most `most` values below its own, and let it go."""
    places, at, y = page.evaluate(PLACES, slider)
    page.mouse.move(places[at], y)
    page.mouse.down()
    near = places[:most] if len(places) <= most else places[max(0, at - most) : at]
    walk = [*near, *near[-2:0:-1]]
    times = page.evaluate(DRAG, [slider, walk, y, 1000 * seconds])
    page.mouse.up()
    gaps = [later - earlier for earlier, later in zip([0, *times], [*times, 1000 * seconds], strict=True)]
    return Drag(len(times) / seconds, max(gaps))
