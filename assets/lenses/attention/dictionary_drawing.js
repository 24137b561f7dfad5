/* Paints the plane of a soft dictionary. A scene is {header, weights, work, skin, rem, family}: `work` holds keys,
   values and query as they are now, while a point is dragged ahead of what the server has answered. */

import { density } from "../../pictures/canvas.js"
import { contextOf, rounded } from "../../pictures/paint.js"

const HALO = 44 // radius of a key's disc if the key had all the weight, in pixels at a root font of 16
const INSET = 24 // between the plane's edge and its lowest and highest number, in pixels at a root font of 16

/** Where a point of the plane goes in a square of this side, and back.
 * @param {number} side @param {Point} point @param {number} rem */
export const mapping = (side, [low, high], rem) => {
  const room = side - 2 * INSET * rem
  return {
    /** @param {Point} point */
    to: ([x, y]) => /** @type {Point} */ ([INSET * rem + (x - low) / (high - low) * room, INSET * rem + (high - y) / (high - low) * room]),
    /** @param {number} across @param {number} down */
    back: (across, down) => [low + (across - INSET * rem) / room * (high - low), high - (down - INSET * rem) / room * (high - low)],
  }
}

/** 0.41, 10, −1.5: two decimals at most, without zeros at their end.
 * @param {number} value */
export const brief = value => rounded(value, 2).replace(/\.?0+$/, "")

/** @param {Context} context @param {number} side @param {DictionaryScene} scene @param {boolean} withPoints */
export function paint(context, side, scene, withPoints) {
  const { header, weights, work, skin, rem, family } = scene
  const { to } = mapping(side, header.plane, rem), [low, high] = header.plane, line = path(context)
  context.lineWidth = 1
  context.strokeStyle = skin.rule
  context.font = `${13 * rem}px ${family}`
  context.textBaseline = "middle"
  context.textAlign = "center"
  for (let n = low; n <= high; n++) {
    line(to([n, low]), to([n, high]))
    line(to([low, n]), to([high, n]))
    context.fillStyle = skin.muted
    const [x, y] = to([n, low])
    context.fillText(brief(n), x, y + 12 * rem)
    if (n > low) context.fillText(brief(n), INSET * rem / 2, to([low, n])[1])
  }
  const [left, top] = to([low, high]), [right, bottom] = to([high, low])
  context.textAlign = "left"
  context.fillText("dimension 2 ↑", left + 4, top - 12 * rem)
  context.textAlign = "right"
  context.fillText("dimension 1 →", right - 4, bottom - 10 * rem)
  context.strokeStyle = skin.muted
  line(to([0, low]), to([0, high]))
  line(to([low, 0]), to([high, 0]))
  work.keys.forEach((key, i) => {
    context.fillStyle = skin.weights[8]
    context.globalAlpha = 0.5
    disc(context, to(key), Math.sqrt(weights[i]) * HALO * rem)
    context.globalAlpha = 1
  })
  const [qx, qy] = work.query, length = qx * qx + qy * qy, origin = to([0, 0])
  if (length > 1e-9) {
    const reach = 4 * (high - low) / Math.sqrt(length)
    context.save()
    context.beginPath()
    context.rect(INSET * rem, INSET * rem, side - 2 * INSET * rem, side - 2 * INSET * rem)
    context.clip()
    context.strokeStyle = context.fillStyle = skin.query
    context.setLineDash([1, 5])
    line(to([-qx * reach, -qy * reach]), to([qx * reach, qy * reach]))
    for (const [x, y] of work.keys) { // where each key lies along the query: its q·k, but for the query's length
      const along = (x * qx + y * qy) / length, foot = to([along * qx, along * qy])
      context.setLineDash([2, 4])
      context.strokeStyle = skin.key
      line(to([x, y]), foot)
      context.fillStyle = skin.key
      disc(context, foot, 3 * rem)
    }
    context.restore()
  }
  context.setLineDash([])
  context.lineWidth = 1.5 * rem
  context.strokeStyle = skin.key
  for (const key of work.keys) line(origin, to(key))
  context.lineWidth = 3 * rem
  context.strokeStyle = skin.query
  line(origin, to(work.query))
  labels(context, side, scene, to)
  if (withPoints) points(context, scene, to)
}

/** @param {Context} context */
const path = context => (/** @type {Point} */ a, /** @type {Point} */ b) => {
  context.beginPath()
  context.moveTo(...a)
  context.lineTo(...b)
  context.stroke()
}

/** @param {Context} context @param {Point} point @param {number} radius */
function disc(context, [x, y], radius) {
  context.beginPath()
  context.arc(x, y, radius, 0, 7)
  context.fill()
}

/** Each key's value beside it, on the side with room.
 * @param {Context} context @param {number} side @param {DictionaryScene} scene @param {ToPlane} to */
function labels(context, side, { work, skin, rem, family }, to) {
  context.font = `600 ${15 * rem}px ${family}`
  context.fillStyle = skin.value
  work.keys.forEach((key, i) => {
    const [x, y] = to(key), text = brief(work.values[i]), fits = x + 18 * rem + context.measureText(text).width < side
    context.textAlign = fits ? "left" : "right"
    context.fillText(text, x + (fits ? 18 : -18) * rem, y)
  })
}

/** Paint the points, which on the page are buttons, into the canvas: a saved file has no buttons.
 * @param {Context} context @param {DictionaryScene} scene @param {ToPlane} to */
function points(context, { header, work, skin, rem, family }, to) {
  context.textAlign = "center"
  context.font = `600 ${15 * rem}px ${family}`
  work.keys.forEach((key, i) => {
    const [x, y] = to(key)
    context.fillStyle = skin.paper
    disc(context, [x, y], 13 * rem)
    context.lineWidth = 2 * rem
    context.strokeStyle = context.fillStyle = skin.key
    context.stroke()
    context.fillText(header.names[i], x, y)
  })
  context.fillStyle = skin.query
  disc(context, to(work.query), 10 * rem)
  context.fillStyle = skin.paper
  context.fillText("q", ...to(work.query))
}

/** How wide the file is that a reader saves, in CSS pixels.
 * @param {DictionaryScene} scene @param {number} side @param {string[]} lines */
export function fileWidth({ rem, family }, side, lines) {
  const pen = contextOf(new OffscreenCanvas(1, 1))
  pen.font = `${15 * rem}px ${family}`
  return Math.ceil(side + 40 * rem + Math.max(...lines.map(line => pen.measureText(line).width)))
}

/** Paint the plane, and the text that stands beside it on the page, on one canvas: the file that a reader saves.
 * @param {DictionaryScene} scene @param {number} side @param {string[]} lines */
export function file(scene, side, lines) {
  const { skin, rem, family } = scene, canvas = document.createElement("canvas"), context = contextOf(canvas)
  const width = fileWidth(scene, side, lines), height = Math.max(side, (lines.length + 1) * 24 * rem)
  canvas.width = width * density()
  canvas.height = height * density()
  context.scale(density(), density())
  context.fillStyle = skin.paper
  context.fillRect(0, 0, width, height)
  paint(context, side, scene, true)
  context.textAlign = "left"
  context.fillStyle = skin.ink
  context.font = `${15 * rem}px ${family}`
  lines.forEach((text, i) => context.fillText(text, side + 20 * rem, (i + 1.5) * 24 * rem))
  return canvas
}
