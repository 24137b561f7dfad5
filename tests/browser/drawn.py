"""What canvases have written on them: their texts, as they are drawn."""

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
# Of each canvas on the stage, from the first to the last.
WRITTEN = """() => {
  const within = (node, what) => [...node.querySelectorAll("*")].flatMap(e => [
    ...e.matches(what) ? [e] : [], ...e.shadowRoot ? within(e.shadowRoot, what) : []])
  return within(document.querySelector(".st-key-stage"), "[data-picture] canvas")
    .filter(e => e.getBoundingClientRect().width).map(e => window.written.get(e) ?? [])
}"""
