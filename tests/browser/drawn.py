"""What canvases have written on them: their texts, as they are drawn."""

from playwright.sync_api import Page

# Counted from when the canvas got its size last, which empties it.
LISTENS = """(() => {
  const written = window.written = new Map(), { prototype } = CanvasRenderingContext2D, { fillText } = prototype
  prototype.fillText = function (...all) {
    if (!written.has(this.canvas)) written.set(this.canvas, [])
    written.get(this.canvas).push(String(all[0]))
    return fillText.apply(this, all)
  }
  const { get, set } = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width")
  Object.defineProperty(HTMLCanvasElement.prototype, "width", {
    get, set(width) { written.delete(this); set.call(this, width) } })
})()"""
WRITTEN = "all => all.filter(e => e.getBoundingClientRect().width).map(e => window.written.get(e) ?? [])"


def written(page: Page) -> list[list[str]]:
    """The texts on each canvas of the stage, from the first to the last."""
    return page.locator(".st-key-stage [data-picture] canvas").evaluate_all(WRITTEN)
