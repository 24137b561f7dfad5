/* How maps that share rows and columns are painted. A scene is {context, header, values, kinds, view, skin, tables, layout}:
   the canvas, what came from the server, which kinds of empty cells there are, the window of cells that is shown, the
   colours, where everything goes. */

import { NUMBERED, box, inDigits, largestOf, tint, valueAt } from "./maps_layout.js"
import { bar, cross, marksInWords } from "./maps_legend.js"
import { aroundTicks, paintMarks, tick } from "./maps_ticks.js"
import { image, ink, isLeftOut, paste, word } from "./paint.js"
import { fillBox, hatch, outlineBox, ringAround, stroke, surface, turned, veil, write, writeAbove } from "./pen.js"

const STROKED = 24 // in maps of up to this many rows and columns, masked cells are hatched

/** @param {MapsScene} scene */
export function paintMaps(scene) {
  const { header, layout } = scene
  header.maps.forEach((map, i) => {
    if (Math.min(layout.cw, layout.ch) >= 8) fields(scene, i)
    else points(scene, i)
    if (map.ticks) paintMarks(scene, i)
    unread(scene, i)
    if (!layout.bare) labels(scene, i)
    if (!i || !layout.wrapped) bar(scene, i)
  })
  for (const mark of header.marks) below(scene, mark)
  for (const [i, q, k] of header.crosses) cross(scene, box(scene, i, q, k), layout.ch >= 36 * layout.rem && numbered(scene, i))
  ring(scene)
  marksInWords(scene)
}

/** @param {MapsScene} scene @param {number} i */
function fields(scene, i) {
  const { context, header, view, skin, tables, layout } = scene, { cw, ch } = layout, map = header.maps[i]
  const gap = Math.min(cw, ch) >= 12 ? 2 : 1, most = Math.max(view.columns, view.rows)
  context.font = lettersOf(layout)
  const prints = numbered(scene, i), hatched = new Path2D()
  for (let q = view.top; q < view.top + view.rows; q++) for (let k = view.left; k < view.left + view.columns; k++) {
    const value = valueAt(scene, i, q, k), { x, y, w, h } = /** @type {Box} */ (box(scene, i, q, k))
    if (value === Infinity) { // there is no such cell
      outlineBox(context, skin.rule, 1, x + 0.5, y + 0.5, w - gap - 1, h - gap - 1)
      continue
    }
    const fill = isNaN(value) ? skin.masked : map.ticks ? skin.paper : tables[i][tint(value, map)]
    fillBox(context, fill, x, y, w - gap, h - gap)
    if (isNaN(value)) {
      if (most <= STROKED) hatch(hatched, x, y, w - gap, h - gap)
    } else if (map.ticks) tick(context, skin, { x, y, w: w - gap, h: h - gap })
    else if (prints && q < header.read) {
      const text = printed(value, map, isNarrow(map, layout), layout.fill)
      const fits = !map.words || context.measureText(text).width < w - gap - 2
      if (fits) write(context, text, x + (w - gap) / 2, y + (h - gap) / 2 + 1, ink(fill), "center")
    }
  }
  stroke(context, skin.hatch, 1, hatched)
}

/** A number as a cell has room for it: a narrow one leaves out the zero before the point, where letters fill the screen
 * also what exceeds two digits.
 * @param {number} value @param {MapsHeader["maps"][number]} map @param {boolean} narrow @param {boolean} [fill] */
export function printed(value, map, narrow, fill) {
  const text = inDigits(value, map, narrow && fill && Math.abs(value) >= 1 ? 1 : 2)
  if (isLeftOut(text, map.low === 0)) return ""
  return narrow && (fill || map.low < 0) || /^[<>]/.test(text) ? text.replace(/^([+<>]?−?)0\./, "$1.") : text
}

/** Whether a number leaves out the zero before its point.
 * @param {MapScale} map @param {MapsLayout} layout */
const isNarrow = (map, { cw, rem }) => cw < (map.low < 0 ? 36 : 30) * rem

/** The letters of numbers in cells.
 * @param {MapsLayout} layout */
function lettersOf({ cw, ch, rem, least, family }) {
  const side = Math.min(cw, 1.5 * ch)
  return `${Math.max(least, (side >= 64 * rem ? 17 : side >= 40 * rem ? 14 : side >= 34 * rem ? 13 : 11) * rem)}px ${family}`
}

/** Whether the cells of a map have room for their numbers: a word of one digit needs less than a signed number does.
 * @param {MapsScene} scene @param {number} i */
function numbered(scene, i) {
  const { context, header, view, layout } = scene, { cw, ch, rem, fill } = layout, map = header.maps[i]
  if (Math.max(view.columns, view.rows) > NUMBERED * (header.square ? 1 : 2) || ch < (fill ? 18 : 24) * rem) return false
  if (cw >= (fill ? 24 : 26) * rem) return true
  context.font = lettersOf(layout)
  for (let q = view.top; q < Math.min(view.top + view.rows, header.read); q++) for (let k = view.left; k < view.left + view.columns; k++) {
    const value = valueAt(scene, i, q, k)
    if (isFinite(value) && context.measureText(printed(value, map, isNarrow(map, layout), fill)).width > cw - 3) return false
  }
  return true
}

/** Cells too small for borders: a pixel, or several cells to a pixel, of which the largest counts.
 * @param {MapsScene} scene @param {number} i */
function points(scene, i) {
  const { context, header, view, skin, tables, layout } = scene, { cw, ch, block: [down, over], origins } = layout
  const words = tables[i].map(word), masked = word(skin.masked), paper = word(skin.paper), map = header.maps[i]
  const wide = Math.ceil(view.columns / over), high = Math.ceil(view.rows / down), apart = down === 1 && over === 1
  const tile = image(wide, high, at => {
    const q = view.top + Math.floor(at / wide) * down, k = view.left + at % wide * over
    const cell = apart ? { q, k } : largestOf(scene, i, q, k)
    const value = valueAt(scene, i, cell.q, cell.k)
    return value === Infinity ? paper : isNaN(value) ? masked : map.ticks ? paper : words[tint(value, map)]
  })
  const all = { ...origins[i], w: cw * view.columns, h: ch * view.rows }
  paste(context, tile, all, wide * over * cw, high * down * ch)
  if (map.ticks) aroundTicks(context, skin, all)
}

/** @param {MapsScene} scene @param {number} i */
function labels(scene, i) {
  const { context, header, view, skin, layout } = scene, { origins, ch, size, family, rem, every, ticks } = layout
  const { stacked, head, gutter, wrapped, low, across } = layout
  const { x, y } = origins[i], first = stacked || i % across === 0, top = y - (wrapped && i >= across ? low : head)
  context.font = `${size}px ${family}`
  const hasNames = !layout.isShared || !wrapped || i < across
  if (hasNames && ticks[1]) for (const { at, text } of ticks[1]) columnName(scene, i, at, text)
  else if (hasNames) for (let k = 0; k < view.columns; k += every[1]) columnName(scene, i, k + 0.5, header.columns.names[view.left + k])
  if (first && ticks[0]) for (const { at, text } of ticks[0]) rowName(scene, i, at, text)
  else if (first) for (let q = 0; q < view.rows; q += every[0]) rowName(scene, i, q + 0.5, header.rows.names[view.top + q])
  const from = Math.min(x, stacked ? gutter : x), many = header.maps.length > 1
  const isLast = i === header.maps.length - 1, room = stacked || isLast && !wrapped ? layout.width - from : layout.apart + layout.spare - 8
  const look = /** @type {const} */ ({ room, baseline: "top" })
  if (many) write(context, header.maps[i].name, from, top + 2, skin.ink, "left", { ...look, font: `600 ${15 * rem}px ${family}` })
  context.font = `${13 * rem}px ${family}`
  const { title, noun, role } = header.columns, text = context.measureText(title).width > room ? noun : title
  if (!wrapped || i < across) write(context, text, from, top + (many ? 22 * rem : 2), skin[role], "left", look)
  if (!first) return
  const { rows } = header, named = ch * view.rows > 130 * rem ? rows.title : rows.noun
  turned(context, 2, y + ch * view.rows / 2, Math.PI / 2, () =>
    write(context, named, 0, 0, skin[rows.role], "center", { baseline: "top" }))
}

/** `at` in cells from the left, and from the top.
 * @param {MapsScene} scene @param {number} i @param {number} at @param {string} name */
function columnName({ context, header, skin, layout: { origins, cw, angle } }, i, at, name) {
  writeAbove(context, name, origins[i].x + at * cw, origins[i].y - 8, skin[header.columns.role], angle)
}

/** @param {MapsScene} scene @param {number} i @param {number} at @param {string} name */
function rowName({ context, header, skin, layout: { across, stacked, origins, ch } }, i, at, name) {
  write(context, name, origins[stacked ? i : i - i % across].x - 8, origins[i].y + at * ch, skin[header.rows.role], "right")
}

/** A column that another picture shows, in its colour there: from below, where no name stands.
 * @param {MapsScene} scene @param {MapsHeader["marks"][number]} header */
function below(scene, { column, colour }) {
  const { context, header, view, skin, layout } = scene, { origins, cw, ch, rem } = layout
  if (column < view.left || column >= view.left + view.columns) return
  header.maps.forEach((_, i) => {
    const x = origins[i].x + (column - view.left + 0.5) * cw, y = origins[i].y + ch * view.rows + 1
    surface(context, skin.heads[colour], [x, y], [x - 5 * rem, y + 8 * rem], [x + 5 * rem, y + 8 * rem])
  })
}

/** Ring the cell that is locked, or its whole row.
 * @param {MapsScene} scene */
function ring(scene) {
  const { context, header, view, skin } = scene
  const { picked } = header
  if (!picked) return
  header.maps.forEach((_, i) => {
    const [q, k] = picked, at = header.wholeRow ? box(scene, i, q, view.left, view.columns) : box(scene, i, q, k)
    if (!at) return
    const around = { x: at.x - 2, y: at.y - 2, w: at.w + 2, h: at.h + 2 } // the ring lies around the cell: a small cell would vanish below it
    ringAround(context, skin, around, 4, 2)
  })
}

/** @param {MapsScene} scene @param {number} i */
function unread({ context, header, view, skin, layout: { origins, cw, ch } }, i) {
  const from = Math.max(0, header.read - view.top)
  if (from >= view.rows) return
  veil(context, skin.paper, origins[i].x, origins[i].y + from * ch, cw * view.columns, (view.rows - from) * ch)
}

/** The cell that is read, in all maps, and its two names.
 * @param {MapsScene} scene @param {CellAt} at */
export function lightUp(scene, { q, k }) {
  const { context, header, view, skin, layout } = scene
  const { size, family, angle, cw, ch, long, origins, stacked, across } = layout
  header.maps.forEach((_, i) => {
    const at = /** @type {Box} */ (box(scene, i, q, k))
    outlineBox(context, skin.ink, 2, at.x, at.y, Math.max(at.w - 1, 4), Math.max(at.h - 1, 4))
    context.font = `700 ${size}px ${family}`
    const column = layout.isShared && layout.wrapped && i >= across ? "" : header.columns.names[k], row = header.rows.names[q]
    const wide = context.measureText(column).width + 4, tall = size * 1.2
    // Paper under the name, which may lie over its neighbours':
    if (column) turned(context, at.x + cw / 2, origins[i].y - 8, angle, () =>
      fillBox(context, skin.paper, angle ? -2 : -wide / 2, -tall / 2, cw < tall && angle ? long + 4 : wide, tall))
    columnName(scene, i, k - view.left + 0.5, column)
    if (!stacked && i % across) return
    const broad = context.measureText(row).width + 4, middle = origins[i].y + (q - view.top + 0.5) * ch
    fillBox(context, skin.paper, origins[i].x - 8 - broad, middle - tall / 2, broad + 2, tall)
    rowName(scene, i, q - view.top + 0.5, row)
  })
}
