"""A tick of a drag: the time from the request for all pictures of the page until they are on screen."""

from playwright.sync_api import Browser, Page

from benchmarks.live.serve import Window

# Does what a drag does, without the slider: asks for every picture of the page anew. A picture is on screen two frames
# after its numbers have arrived.
TICK = """async ([parameter, value]) => {
  const pictures = []
  const find = root => root.querySelectorAll("*").forEach(element => {
    if (element.matches("[data-picture]:not(.knobs)")) pictures.push(element)
    if (element.shadowRoot) find(element.shadowRoot)
  })
  find(document)
  const there = picture => new URLSearchParams(picture._follow.shown).get(parameter) === value
  const begin = performance.now()
  pictures.forEach(picture => picture._follow.preview({ [parameter]: value }))
  const frame = () => new Promise(requestAnimationFrame)
  while (!pictures.every(there)) await frame()
  await frame()
  await frame()
  return performance.now() - begin
}"""


def opened(browser: Browser, url: str) -> Page:
    """A page, when everything on it is drawn."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(url)
    page.locator("[data-picture] :is(canvas, .main-svg)").first.wait_for(timeout=60_000)
    Window(page, url).wait()
    return page


def tick(page: Page, parameter: str, value: object) -> float:
    """Milliseconds until this value of the link's parameter is on screen."""
    milliseconds: float = page.evaluate(TICK, [parameter, str(value)])
    return milliseconds
