/* Paints the plane of a soft dictionary. A scene is {header, weights, work, skin, rem, family}: `work` holds keys,
   values and query as they are now, while a point is dragged ahead of what the server has answered. */

import { sheetOf } from "../../pictures/canvas.js"
import { contextOf, rounded } from "../../pictures/paint.js"
import { disc, line, plate, write } from "../../pictures/pen.js"

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
  const { to } = mapping(side, header.plane, rem), [low, high] = header.plane
  context.font = `${13 * rem}px ${family}`
  for (let n = low; n <= high; n++) {
    line(context, skin.rule, 1, to([n, low]), to([n, high]))
    line(context, skin.rule, 1, to([low, n]), to([high, n]))
    const [x, y] = to([n, low])
    write(context, brief(n), x, y + 12 * rem, skin.muted, "center")
    if (n > low) write(context, brief(n), INSET * rem / 2, to([low, n])[1], skin.muted, "center")
  }
  const [left, top] = to([low, high]), [right, bottom] = to([high, low])
  write(context, "dimension 2 ↑", left + 4, top - 12 * rem, skin.muted)
  write(context, "dimension 1 →", right - 4, bottom - 10 * rem, skin.muted, "right")
  line(context, skin.muted, 1, to([0, low]), to([0, high]))
  line(context, skin.muted, 1, to([low, 0]), to([high, 0]))
  context.globalAlpha = 0.5
  work.keys.forEach((key, i) => disc(context, skin.weights[8], to(key), Math.sqrt(weights[i]) * HALO * rem))
  context.globalAlpha = 1
  const [qx, qy] = work.query, length = qx * qx + qy * qy, origin = to([0, 0])
  if (length > 1e-9) {
    const reach = 4 * (high - low) / Math.sqrt(length)
    context.save()
    context.beginPath()
    context.rect(INSET * rem, INSET * rem, side - 2 * INSET * rem, side - 2 * INSET * rem)
    context.clip()
    context.setLineDash([1, 5])
    line(context, skin.query, 1, to([-qx * reach, -qy * reach]), to([qx * reach, qy * reach]))
    context.setLineDash([2, 4])
    for (const [x, y] of work.keys) { // where each key lies along the query: its q·k, but for the query's length
      const along = (x * qx + y * qy) / length, foot = to([along * qx, along * qy])
      line(context, skin.key, 1, to([x, y]), foot)
      disc(context, skin.key, foot, 3 * rem)
    }
    context.restore()
  }
  for (const key of work.keys) line(context, skin.key, 1.5 * rem, origin, to(key))
  line(context, skin.query, 3 * rem, origin, to(work.query))
  labels(context, side, scene, to)
  if (withPoints) points(context, scene, to)
}

/** Half of the width of what a name is written on.
 * @param {Context} context @param {string} name @param {number} rem @param {number} least */
const half = (context, name, rem, least) =>
  name.length > 1 ? Math.max(least * rem, context.measureText(name).width / 2 + 8 * rem) : least * rem

/** Each key's value beside it, on the side with room.
 * @param {Context} context @param {number} side @param {DictionaryScene} scene @param {ToPlane} to */
function labels(context, side, { header, work, skin, rem, family }, to) {
  context.font = `600 ${15 * rem}px ${family}`
  work.keys.forEach((key, i) => {
    const [x, y] = to(key), text = brief(work.values[i]), beside = half(context, header.names[i], rem, 14) + 4 * rem
    const fits = x + beside + context.measureText(text).width < side
    write(context, text, x + (fits ? beside : -beside), y, skin.value, fits ? "left" : "right")
  })
}

/** Paint the points, which on the page are buttons, into the canvas: a saved file has no buttons.
 * @param {Context} context @param {DictionaryScene} scene @param {ToPlane} to */
function points(context, { header, work, skin, rem, family }, to) {
  context.font = `600 ${15 * rem}px ${family}`
  /** @param {Point} point @param {string} name @param {number} high @param {string} paper @param {string} edge @param {string} ink */
  const named = ([x, y], name, high, paper, edge, ink) => {
    const wide = half(context, name, rem, high)
    plate(context, paper, edge, 2 * rem, x - wide, y - high * rem, 2 * wide, 2 * high * rem, high * rem)
    write(context, name, x, y, ink, "center")
  }
  work.keys.forEach((key, i) => named(to(key), header.names[i], 13, skin.paper, skin.key, skin.key))
  named(to(work.query), header.askedName || "q", 10, skin.query, skin.query, skin.paper)
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
  const { skin, rem, family } = scene
  const context = sheetOf(fileWidth(scene, side, lines), Math.max(side, (lines.length + 1) * 24 * rem), skin.paper)
  paint(context, side, scene, true)
  const font = `${15 * rem}px ${family}`
  lines.forEach((text, i) => write(context, text, side + 20 * rem, (i + 1.5) * 24 * rem, skin.ink, "left", { font }))
  return context.canvas
}
