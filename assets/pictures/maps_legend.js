/* What stands below maps that share rows and columns: colour bars, and what their marks mean. */

import { coloursOf } from "./maps_layout.js"
import { corner, painted, tick } from "./maps_ticks.js"
import { colourBar, maskedBox, outlineBox, stroke, write } from "./pen.js"

/** The colour bar below a map; rows of maps share the first one's.
 * @param {MapsScene} scene @param {number} i */
export function bar({ context, header, view, skin, layout }, i) {
  const { rem, family, origins, ch, spare, width, wrapped, stacked, apart, pins } = layout, map = header.maps[i]
  const y = origins[wrapped ? origins.length - 1 : i].y + ch * view.rows + (wrapped ? 14 : 10) * rem + pins
  context.font = `${13 * rem}px ${family}`
  if (map.ticks) return write(context, map.unit, origins[i].x, y + 5 * rem, skin.ink) // a map of ticks has no scale
  const differ = wrapped && header.maps.some(other => other.low !== map.low || other.high !== map.high)
  const [low, end] = differ ? endsOfEach(map) : [map.lowText, map.highText]
  const high = `${end} ${map.unit}`
  const before = context.measureText(low).width + 6, room = stacked || wrapped ? 190 * rem : apart + spare - 12 * rem
  const w = Math.max(30 * rem, Math.min(120 * rem, room - before - context.measureText(high).width - 6))
  const x = Math.max(2, Math.min(origins[i].x, width - room - 2)) + before
  colourBar(context, skin, coloursOf(map, skin), { x, y, w }, low, high, Math.max(20, room - before - w - 5))
}

/** What stands at the ends of scales that differ from map to map.
 * @param {MapScale} scale */
function endsOfEach({ low, high }) {
  if (low < 0) return high > 0 ? ["−", "+ each one’s own largest"] : ["each one’s own lowest", "0"]
  return ["0", "each one’s own largest"]
}

/** What grey, an empty frame, a tick, a corner and a cross mean, where there are any.
 * @param {MapsScene} scene */
export function marksInWords(scene) {
  const { context, kinds: { masked, absent }, header, skin, layout } = scene
  const { rem, family, origins, height } = layout, y = height - 20 * rem, side = 13 * rem
  let x = layout.stacked ? 20 * rem : origins[0].x
  const marks = /** @type {([string, () => void] | false | undefined)[]} */ ([
    masked && [header.blank, () => maskedBox(context, skin, x, y, side, side)],
    absent && [header.absent, () => outlineBox(context, skin.muted, 1, x + 0.5, y + 0.5, side - 1, side - 1)],
    header.maps[0].ticks && ["may attend", () => tick(context, skin, { x, y, w: side, h: side })],
    painted(scene) && ["painted by hand", () => corner(context, skin, { x, y, w: side, h: side })],
    header.crosses.length > 0 && [header.crossed, () => cross({ context, skin }, { x, y, w: side, h: side })],
  ])
  context.font = `${13 * rem}px ${family}`
  const shown = marks.filter(mark => !!mark), apart = side + 22 * rem
  const long = shown.reduce((sum, [text]) => sum + apart + context.measureText(text).width, side + 6 - apart)
  x = Math.max(2, Math.min(x, layout.width - long)) // further left where it would not fit
  for (const [text, mark] of shown) {
    if (x + side + 6 + context.measureText(text).width > layout.width) break
    mark()
    write(context, text, x + side + 6, y + side / 2, skin.muted)
    x += apart + context.measureText(text).width
  }
}

/** Draw a cross over the cell, or in the corner of a framed one whose number is to be read.
 * @param {Pick<MapsScene, "context" | "skin">} scene @param {Box | null} at @param {boolean} [numbered] */
export function cross({ context, skin }, at, numbered) {
  if (!at) return
  const side = Math.min(at.w, at.h), arm = numbered ? side * 0.12 : Math.max(4, side * 0.42), arms = new Path2D()
  const middle = numbered ? [at.x + at.w - 2 - side * 0.2, at.y + side * 0.2] : [at.x + at.w / 2, at.y + at.h / 2]
  if (numbered) outlineBox(context, skin.leak, 2.5, at.x + 1, at.y + 1, at.w - 4, at.h - 4)
  for (const s of [-1, 1]) {
    arms.moveTo(middle[0] - arm, middle[1] - arm * s)
    arms.lineTo(middle[0] + arm, middle[1] + arm * s)
  }
  stroke(context, skin.paper, 5, arms)
  stroke(context, skin.leak, 2.5, arms)
}
