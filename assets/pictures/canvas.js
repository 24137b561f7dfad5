/* What every picture needs for its canvas: how much room there is, set its size, take back what a hover has drawn, place
   the tip, draw again when the room changes. */

import { contextOf, dress } from "./paint.js"
import { fillBox } from "./pen.js"

const UNREAD = "Tap a place in the picture to read its value."
const NO_LOWER = 96 // the least height of a picture in pixels, however little room there is

let fileDensity = 0 // while a file is made: device pixels to a CSS pixel that it needs

/** How many device pixels a canvas has to one CSS pixel. */
export const density = () => Math.max(devicePixelRatio, fileDensity)

/** Draw with at least this density while `act` makes a file.
 * @param {number} least @param {() => void} act */
export function denser(least, act) {
  fileDensity = least
  try { act() } finally { fileDensity = 0 }
}

/** How high this part of a picture may be, in CSS pixels, and whether it shall fill that height. The page sets both for its main
 * picture: `--room` is the height of the whole picture (0px, or none: no limit), `--fill` is 1 while presenting.
 * @param {PictureRoot} root @param {HTMLElement} part a canvas, say; what stands above and below it takes its share
 * @returns {Room} */
export function room(root, part) {
  const style = getComputedStyle(root), high = parseFloat(style.getPropertyValue("--room")) || 0
  if (!(high > 0)) return { high: Infinity, fill: false }
  const others = root.offsetHeight - part.offsetHeight
  return { high: Math.max(NO_LOWER, Math.floor(high - others)), fill: Number(style.getPropertyValue("--fill")) > 0 }
}

/** A height that fits the room: from a `least` share of what is usual to all of it; while presenting up to 1.6 times, to fill it.
 * @param {number} usual @param {number} high @param {boolean} fill @param {number} [least] */
export const fitting = (usual, high, fill, least = 0.62) => Math.max(least * usual, Math.min(high, fill ? 1.6 * usual : usual))

/** The element by whose size is seen that the room, the window's height or the size of letters has changed.
 * @param {Element} element in the picture */
function gaugeIn(element) {
  const root = element.closest("[data-picture]") ?? element
  const gauge = [...root.children].find(child => child.className === "gauge") ?? Object.assign(document.createElement("i"), { className: "gauge" })
  if (!gauge.isConnected) root.append(gauge)
  return gauge
}

/** Set a canvas's size in CSS pixels, in which everything is drawn from now on, and fill it with the paper's colour; returns
 * what draws on it.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {string} paper */
export function stretch(canvas, width, height, paper) {
  const context = contextOf(canvas)
  canvas.style.height = height + "px"
  canvas.width = width * density()
  canvas.height = height * density()
  context.scale(density(), density())
  fillBox(context, paper, 0, 0, width, height)
  return context
}

/** What draws on a canvas of its own, which becomes a file.
 * @param {number} width in CSS pixels @param {number} height @param {string} paper */
export const sheetOf = (width, height, paper) => stretch(document.createElement("canvas"), width, height, paper)

/** The letters of an element, as a canvas wants them.
 * @param {Element} element */
export function fontOf(element) {
  const { fontWeight, fontSize, fontFamily } = getComputedStyle(element)
  return `${fontWeight} ${fontSize} ${fontFamily}`
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

/** Whether the reader has fingers and no mouse: then a drag scrolls the page, and nothing hovers. */
export const isTouched = matchMedia("(pointer: coarse)").matches

/** The line below a picture in which the value that a finger has read stays, as its tip leaves with the finger: of one place and
 * height, whatever it says. There is none where a pointer hovers, or where there is no tip.
 * @param {HTMLElement} root */
function readingIn(root) {
  const tip = root.querySelector(".tip"), line = root.querySelector(":scope > .read")
  if (line || !tip || !isTouched) return line
  const added = Object.assign(document.createElement("output"), { className: "read", textContent: UNREAD })
  root.append(added)
  return added
}

/** Say what a place of the picture holds, beside it and, under a finger, in the line that keeps it; "" of none.
 * @param {HTMLElement} tip @param {string} text */
export function tell(tip, text) {
  tip.textContent = text
  const root = /** @type {HTMLElement | null} */ (tip.closest("[data-picture]")), line = root && readingIn(root)
  if (line) line.textContent = text || UNREAD
}

/** Put the tip above a place on the canvas, which is `width` wide and begins `from` the top; below, if there is no room.
 * @param {HTMLElement} tip @param {Omit<Box, "w">} place @param {number} width @param {number} [from] */
export function placeTip(tip, { x, y, h }, width, from = 0) {
  const above = y - tip.offsetHeight - 8
  tip.style.left = Math.max(0, Math.min(x - tip.offsetWidth / 2, width - tip.offsetWidth)) + "px"
  tip.style.top = from + (above > 0 ? above : y + h + 10) + "px"
}

/** Frame what is being drawn around, from one place to another.
 * @param {HTMLCanvasElement} canvas @param {string} colour @param {Box} corner @param {Box} other */
export function frame(canvas, colour, corner, other) {
  const context = contextOf(canvas), x = Math.min(corner.x, other.x), y = Math.min(corner.y, other.y)
  context.strokeStyle = colour
  context.setLineDash([5, 4])
  context.strokeRect(x, y, Math.abs(corner.x - other.x) + corner.w, Math.abs(corner.y - other.y) + corner.h)
  context.setLineDash([])
}

/** Draw before the next paint, again with every size of the element and of its room, and when the page turns dark or light,
 * as soon as it has put on its new colours; returns how to stop.
 * @param {HTMLElement} element @param {() => void} draw
 * @param {() => void} [hide] takes the tip away as soon as the reader scrolls: it would stand beside another place */
export function watch(element, draw, hide = () => {}) {
  const sizes = new ResizeObserver(draw), unwatch = watchMode(draw), root = /** @type {HTMLElement | null} */ (element.closest("[data-picture]"))
  if (root) readingIn(root)
  sizes.observe(element)
  sizes.observe(gaugeIn(element))
  addEventListener("scroll", hide, { capture: true, passive: true })
  return () => {
    sizes.disconnect()
    unwatch()
    removeEventListener("scroll", hide, { capture: true })
  }
}

/** Dress a picture that is not drawn, now and whenever the page has turned dark or light; returns how to stop.
 * @param {HTMLElement} root */
export function keepDressed(root) {
  dress(root)
  return watchMode(() => dress(root))
}

/** @param {() => void} act once the page has put on its new colours */
function watchMode(act) {
  const mode = matchMedia("(prefers-color-scheme: dark)"), later = () => setTimeout(act, 300)
  mode.addEventListener("change", later)
  return () => mode.removeEventListener("change", later)
}
