/* How strips are laid out and painted. */

import { colourOf } from "./lines_curves.js"
import { axis, cutOff, written } from "./lines_drawing.js"

const STRIP = 21, TEXT = 17, APART = 9 // the heights of a strip, of a line of words, and of the gap between rows, in pixels at a root font of 16

/** @param {Skin} skin @param {number} [size] @param {string} [weight] */
const font = (skin, size = 14, weight = "") => `${weight} ${size * skin.rem}px ${skin.family}`

/** Strips that follow each other with the same name and detail stand together.
 * @param {Strip[]} strips */
function rowsOf(strips) {
  /** @type {StripRow[]} */
  const rows = []
  strips.forEach((strip, i) => {
    const last = rows.at(-1)
    if (last && last.name === strip.name && last.detail === strip.detail) last.strips.push(i)
    else rows.push({ name: strip.name, detail: strip.detail, strips: [i], top: 0 })
  })
  return rows
}

/** Where everything goes: names beside the strips if there is room, above them if not; then what stands at a strip's end
 * goes `above` it too where it is long. A place in `strips` has the `spots` of the dots.
 * @param {Context} context @param {StripsHeader} header @param {Strip[]} strips @param {number} width
 * @param {Skin} skin */
export function layOutStrips(context, header, strips, width, skin) {
  const { rem } = skin, rows = rowsOf(strips), strip = STRIP * rem, text = TEXT * rem
  context.font = font(skin)
  /** @param {string} words */
  const wide = words => context.measureText(words).width
  /** @param {string[]} all */
  const widest = all => Math.max(0, ...all.map(wide))
  const names = widest(rows.flatMap(row => [row.name, row.detail])) + 14 * rem
  const ends = widest(strips.map(each => each.end)) + 12 * rem
  const beside = names + ends <= 0.56 * width, above = !beside && ends > 0.3 * width
  const deep = above && rows.some(row => wide(headOf(row)) + wide(strips[row.strips[0]].end) + 14 * rem > width)
  const begin = (beside ? names : 0) + 8 * rem, right = width - 8 * rem - (above ? 0 : ends)
  const reach = header.line ? [header.line.x] : []
  const scale = axis([...strips.flatMap(s => [s.dots, [s.low, s.middle, s.high]]), reach], header.scale,
    Math.max(2, Math.floor((right - begin) / (40 * rem))), true)
  context.font = font(skin, 13)
  const left = begin + cutOff(context, scale, begin, right - begin)
  /** @param {number} x */
  const at = x => left + scale.to(x) * (right - left)
  const top = (header.groups.length > 1 ? 24 : 2) * rem + (header.line ? 18 * rem : 0), /** @type {StripPlace[]} */ places = []
  let y = top
  for (const row of rows) {
    row.top = y
    const needed = row.strips.length * strip, height = beside ? Math.max((row.detail ? 2 : 1) * text, needed) : needed
    if (beside) y += (height - needed) / 2
    else if (deep || !above) y += text
    for (const i of row.strips) {
      const first = row.strips[0] === i ? row.top : y
      if (above) y += text
      const middle = y + strip / 2
      const spots = strips[i].dots.map((x, n) =>
        Number.isFinite(at(x)) ? /** @type {Point} */ ([at(x), middle + ((n * 2) % 5 - 2) * 1.7 * rem]) : null)
      y += strip
      places[i] = { top: first, height: y - first, middle, spots, left, right, at }
    }
    if (beside) y += (height - needed) / 2
    y += APART * rem
  }
  const bottom = y - APART * rem / 2
  return { rows, beside, above, left, right, top, bottom, scale, at, strips: places, width, height: rows.length ? bottom + 46 * rem : 0 }
}

/** @param {StripRow} row */
const headOf = row => `${row.name}  ${row.detail}`

/** @param {Context} context @param {StripsHeader} header @param {Strip[]} strips @param {StripsLayout} layout
 * @param {Skin} skin */
export function paintStrips(context, header, strips, layout, skin) {
  const { rem } = skin
  context.textBaseline = "middle"
  legend(context, header, skin)
  grid(context, header, layout, skin)
  layout.rows.forEach((row, i) => {
    if (i) {
      context.fillStyle = skin.rule
      context.globalAlpha = 0.6
      context.fillRect(0, Math.round(row.top - 5 * rem), layout.width, 1)
      context.globalAlpha = 1
    }
    heading(context, row, layout, skin)
    for (const which of row.strips) strip(context, header, strips[which], layout.strips[which], layout, skin)
  })
}

/** @param {Context} context @param {StripsHeader} header @param {Skin} skin */
function legend(context, header, skin) {
  const { rem } = skin
  let x = 8 * rem
  context.font = font(skin)
  context.textAlign = "left"
  if (header.groups.length > 1) for (const group of header.groups) {
    spot(context, [x, 10 * rem], group, colourOf(skin, group), rem)
    context.fillStyle = skin.ink
    context.fillText(group.name, x + 9 * rem, 10 * rem)
    x += context.measureText(group.name).width + 30 * rem
  }
}

/** @param {Context} context @param {StripsHeader} header @param {StripsLayout} layout @param {Skin} skin */
function grid(context, header, { scale, at, top, bottom, left, right, width }, skin) {
  const { rem } = skin
  context.font = font(skin, 13)
  context.textAlign = "center"
  for (const tick of scale.ticks) {
    context.fillStyle = skin.rule
    context.fillRect(Math.round(at(tick)), top, 1, bottom - top)
    context.fillStyle = skin.muted
    context.fillText(written(tick), at(tick), bottom + 12 * rem)
  }
  context.fillStyle = skin.muted
  const half = context.measureText(header.axis).width / 2
  context.fillText(header.axis, Math.max(half, Math.min((left + right) / 2, width - half)), bottom + 31 * rem)
  if (!header.line) return
  const x = at(header.line.x), name = context.measureText(header.line.name).width / 2
  context.strokeStyle = context.fillStyle = skin.ink
  context.lineWidth = 1.5 * rem
  context.setLineDash([4 * rem, 3 * rem])
  context.beginPath()
  context.moveTo(x, top - 4 * rem)
  context.lineTo(x, bottom)
  context.stroke()
  context.setLineDash([])
  context.fillText(header.line.name, Math.max(name, Math.min(x, width - name)), top - 12 * rem)
}

/** @param {Context} context @param {StripRow} row @param {StripsLayout} layout @param {Skin} skin */
function heading(context, row, { beside, strips: places }, skin) {
  const { rem } = skin, two = row.strips.length > 1, { middle } = places[row.strips[0]]
  context.font = font(skin)
  if (!beside) {
    words(context, row.name, 0, row.top + TEXT / 2 * rem, "left", skin.ink, skin)
    return words(context, row.detail, context.measureText(`${row.name}  `).width, row.top + TEXT / 2 * rem, "left", skin.muted, skin)
  }
  const y = two || !row.detail ? middle : middle - TEXT / 2 * rem
  words(context, row.name, 0, y, "left", skin.ink, skin)
  words(context, row.detail, 0, y + (two ? STRIP : TEXT) * rem, "left", skin.muted, skin)
}

/** Write words on a patch of the page's colour, so that no line of the grid runs through them.
 * @param {Context} context @param {string} text @param {number} x @param {number} y @param {Align} align
 * @param {string} colour @param {Skin} skin */
function words(context, text, x, y, align, colour, { paper, rem }) {
  const wide = context.measureText(text).width + 6 * rem
  context.fillStyle = paper
  if (text) context.fillRect(x + (align === "right" ? 3 * rem - wide : -3 * rem), y - 8 * rem, wide, 16 * rem)
  context.fillStyle = colour
  context.textAlign = align
  context.fillText(text, x, y)
}

/** @param {Context} context @param {StripsHeader} header @param {Strip} strip @param {StripPlace} place
 * @param {StripsLayout} layout @param {Skin} skin */
function strip(context, header, { low, middle, high, dots, end, ...group }, { middle: y, spots, at }, { above, right, width }, skin) {
  const { rem } = skin, colour = colourOf(skin, group), tall = 15 * rem
  if (Number.isFinite(at(low)) && Number.isFinite(at(high))) {
    const from = at(low), wide = Math.max(at(high) - from, 2)
    context.fillStyle = context.strokeStyle = colour
    context.globalAlpha = 0.22
    context.fillRect(from, y - tall / 2, wide, tall)
    context.globalAlpha = 1
    context.lineWidth = 1
    context.strokeRect(from, y - tall / 2, wide, tall)
  }
  context.globalAlpha = 0.75
  for (const place of spots) if (place) spot(context, place, group, colour, rem)
  context.globalAlpha = 1
  context.fillStyle = skin.ink
  if (Number.isFinite(at(middle))) context.fillRect(at(middle) - 1.25 * rem, y - 10 * rem, 2.5 * rem, 20 * rem)
  const least = header.least && dots.length ? at(Math.min(...dots)) : NaN
  if (Number.isFinite(least)) triangle(context, least, y + 10.5 * rem, rem)
  context.font = font(skin)
  const [x, down] = above ? [width, y - (STRIP + TEXT) / 2 * rem] : [right + 16 * rem, y]
  words(context, end, x, down, above ? "right" : "left", dots.length ? skin.ink : skin.muted, skin)
}

/** @param {Context} context @param {Point} point @param {{ hollow: boolean }} group @param {string} colour
 * @param {number} rem */
function spot(context, [x, y], { hollow }, colour, rem) {
  context.beginPath()
  context.arc(x, y, (hollow ? 3 : 3.2) * rem, 0, 7)
  context.fillStyle = context.strokeStyle = colour
  context.lineWidth = 1.5 * rem
  hollow ? context.stroke() : context.fill()
}

/** @param {Context} context @param {number} x @param {number} y @param {number} rem */
function triangle(context, x, y, rem) {
  context.beginPath()
  context.moveTo(x, y - 5 * rem)
  context.lineTo(x - 4 * rem, y + 1.5 * rem)
  context.lineTo(x + 4 * rem, y + 1.5 * rem)
  context.fill()
}

/** Mark what the reader points at: frame a whole strip, or ring one dot. Returns where that is.
 * @param {Context} context @param {Strip} strip @param {StripPlace} place @param {number | null} dot
 * @param {string} colour @param {Skin} skin */
export function markStrip(context, strip, { middle, spots, left, right, at }, dot, colour, { ink, rem }) {
  context.strokeStyle = ink
  context.lineWidth = 1.5 * rem
  if (dot !== null && spots[dot]) {
    const [x, y] = spots[dot]
    spot(context, [x, y], { hollow: false }, colour, rem * 1.4)
    context.strokeStyle = ink
    context.stroke()
    return { x, y: y - 6 * rem, h: 12 * rem }
  }
  context.strokeRect(left - 6 * rem, middle - 10.5 * rem, right - left + 12 * rem, 21 * rem)
  const x = Number.isFinite(at(strip.middle)) ? at(strip.middle) : (left + right) / 2
  return { x, y: middle - 10 * rem, h: 20 * rem }
}
