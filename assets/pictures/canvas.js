/* What every picture needs for its canvas: set its size, take back what a hover has drawn, place the tip, save a file, draw
   again when the size changes. */

import { contextOf, packed } from "./paint.js"

/** Set a canvas's size in CSS pixels, in which everything is drawn from now on, and fill it with the paper's colour.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {string} paper */
export function stretch(canvas, width, height, paper) {
  const context = contextOf(canvas)
  canvas.style.height = height + "px"
  canvas.width = width * devicePixelRatio
  canvas.height = height * devicePixelRatio
  context.scale(devicePixelRatio, devicePixelRatio)
  context.fillStyle = paper
  context.fillRect(0, 0, width, height)
}

/** Remember what is drawn now; returns a function that restores it, without what was drawn over it since.
 * @param {HTMLCanvasElement} canvas */
export function keep(canvas) {
  if (!canvas.height) return () => {} // a picture of nothing
  const context = contextOf(canvas), image = new OffscreenCanvas(canvas.width, canvas.height)
  contextOf(image).drawImage(canvas, 0, 0)
  return () => {
    context.save()
    context.resetTransform()
    context.drawImage(image, 0, 0)
    context.restore()
  }
}

/** The same for pictures that are seldom hovered over: nothing is remembered until something is drawn over them. The
 * returned function has to be told whether that is about to happen.
 * @param {HTMLCanvasElement} canvas */
export function keepLater(canvas) {
  /** @type {(() => void) | null} */
  let restore = null
  return (/** @type {boolean} */ isDrawnOver) => {
    if (restore) restore()
    else if (isDrawnOver) restore = keep(canvas)
  }
}

/** Put the tip above a place on the canvas, which is `width` wide and begins `from` the top; below, if there is no room.
 * @param {HTMLElement} tip @param {Omit<Box, "w">} place @param {number} width @param {number} [from] */
export function placeTip(tip, { x, y, h }, width, from = 0) {
  const above = y - tip.offsetHeight - 8
  tip.style.left = Math.max(0, Math.min(x - tip.offsetWidth / 2, width - tip.offsetWidth)) + "px"
  tip.style.top = from + (above > 0 ? above : y + h + 10) + "px"
}

/** For "PNG" beside the picture; with a `foot` the file says below the picture where its numbers come from.
 * @param {HTMLCanvasElement} canvas @param {string} name @param {string} [foot]
 * @param {Skin} [skin] */
export function save(canvas, name, foot, skin) {
  const file = foot && skin ? footed(canvas, foot, skin) : canvas
  Object.assign(document.createElement("a"), { download: name, href: file.toDataURL() }).click()
}

/** @param {HTMLCanvasElement} canvas @param {string} foot @param {Skin} skin */
function footed(canvas, foot, { rem, family, paper, muted }) {
  const file = document.createElement("canvas"), context = contextOf(file), size = rem * devicePixelRatio
  const font = context.font = `${13 * size}px ${family}`
  const lines = packed(foot.split(" · "), " · ", line => context.measureText(line).width <= canvas.width)
  file.width = canvas.width
  file.height = canvas.height + (17 * lines.length + 10) * size
  context.fillStyle = paper
  context.fillRect(0, 0, file.width, file.height)
  if (canvas.height) context.drawImage(canvas, 0, 0)
  Object.assign(context, { font, fillStyle: muted, textBaseline: "middle" }) // a new size forgets them
  lines.forEach((line, i) => context.fillText(line, 0, canvas.height + (17 * i + 13) * size, file.width))
  return file
}

/** Draw before the next paint, again with every size of the element, and when the page turns dark or light, as soon as
 * it has put on its new colours; returns how to stop.
 * @param {HTMLElement} element @param {() => void} draw */
export function watch(element, draw) {
  const sizes = new ResizeObserver(draw), mode = matchMedia("(prefers-color-scheme: dark)")
  const later = () => setTimeout(draw, 300)
  sizes.observe(element)
  mode.addEventListener("change", later)
  return () => { sizes.disconnect(); mode.removeEventListener("change", later) }
}
