/* Where clocks go, and how one is painted. */

import { grouped, powered } from "../../pictures/paint.js"
import { disc, fillBox, line, stroke, write } from "../../pictures/pen.js"

const ROOM = 68, LARGEST = 128, BELOW = 38 // a clock's least and largest width, and the height of the text below it, in pixels at a root font of 16

/** Where clocks go: in rows of equal length, as far as that is possible.
 * @param {number} count @param {number} width @param {number} rem @param {Room} room */
export function layOut(count, width, rem, room) {
  const { across, side } = sidesOf(count, width, rem, room)
  const tall = side + BELOW * rem, rows = Math.ceil(count / across)
  return {
    across, tall, height: rows * tall,
    /** @param {number} i */
    at: i => ({ x: (i % across) * side, y: Math.floor(i / across) * tall, side }),
    /** @param {number} x @param {number} y */
    under(x, y) {
      const column = Math.floor(x / side), row = Math.floor(y / tall), i = row * across + column
      return column >= 0 && column < across && row >= 0 && i < count ? i : null
    },
  }
}

/** How many clocks are in a row, and how wide each is: by the width alone, or as large as they can be in a room.
 * @param {number} count @param {number} width @param {number} rem @param {Room} room */
function sidesOf(count, width, rem, { high, fill }) {
  const most = Math.max(1, Math.min(count, Math.floor(width / (ROOM * rem))))
  /** @param {number} rows */
  const inRows = rows => {
    const across = Math.max(1, Math.ceil(count / rows)), largest = fill ? Infinity : LARGEST * rem
    return { across, side: Math.max(24, Math.min(width / across, largest, high / rows - BELOW * rem)) }
  }
  const fewest = inRows(Math.max(1, Math.ceil(count / most)))
  if (high === Infinity) return fewest
  const ways = Array.from({ length: Math.max(1, count) }, (_, i) => inRows(i + 1))
  return ways.reduce((best, way) => way.side > best.side + 0.5 ? way : best)
}

/** @param {Context} context @param {Clock} clock @param {{ x: number, y: number, side: number }} place
 * @param {Skin} skin */
export function face(context, { pair, dimensions, isNamed, wavelength, hands: [qc, qs, kc, ks] }, { x, y, side }, skin) {
  const { rem, family } = skin, cx = x + side / 2, cy = y + side / 2, r = side / 2 - 7 * rem
  context.beginPath()
  context.arc(cx, cy, r, 0, 7)
  stroke(context, skin.muted, 1)
  fillBox(context, skin.muted, cx + r - 4 * rem, cy - 0.5, 8 * rem, 1) // where both pointed before they were turned
  const from = Math.atan2(ks, kc), turn = Math.atan2(qs * kc - qc * ks, qc * kc + qs * ks) // from key to query, the short way
  context.fillStyle = skin.rule
  context.globalAlpha = 0.8
  context.beginPath()
  context.moveTo(cx, cy)
  context.arc(cx, cy, r * 0.55, -from, -from - turn, turn > 0) // upwards is plus, as in mathematics
  context.fill()
  context.globalAlpha = 1
  hand(context, cx, cy, r * kc, -r * ks, skin.key, true, rem)
  hand(context, cx, cy, r * qc, -r * qs, skin.query, false, rem)
  const look = { font: `${13 * rem}px ${family}`, room: side - 8 * rem }
  write(context, isNamed ? `pair ${pair}: ${dimensions.join(", ")}` : `pair ${pair}`, cx, y + side + 6 * rem, skin.ink, "center", look)
  write(context, `λ ${brief(wavelength)}`, cx, y + side + 23 * rem, skin.muted, "center", look)
}

/** A hand ends in a dot, the key's in a hollow one: they are told apart without their colours.
 * @param {Context} context @param {number} cx @param {number} cy @param {number} dx @param {number} dy
 * @param {string} colour @param {boolean} hollow @param {number} rem */
function hand(context, cx, cy, dx, dy, colour, hollow, rem) {
  const size = Math.hypot(dx, dy), short = hollow && size > 5 * rem ? 1 - 5 * rem / size : 1
  line(context, colour, 2.5 * rem, [cx, cy], [cx + dx * short, cy + dy * short])
  if (!hollow) return disc(context, colour, [cx + dx, cy + dy], 4 * rem)
  context.beginPath()
  context.arc(cx + dx, cy + dy, 5 * rem, 0, 7)
  context.stroke()
}

/** @param {number} number */
const brief = number => number < 1000 ? `${+number.toPrecision(3)}` : number < 1e7 ? grouped(number) : powered(number)
