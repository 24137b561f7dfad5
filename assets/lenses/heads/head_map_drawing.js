/* How a head's map is laid out and painted. A scene is {context, header, weights, view, skin, table, layout}: the canvas,
   what came from the server, the window of cells that is shown, the colours, and where everything goes. */

import { decimals, image, inCell, ink, paste, pool, rounded, word } from "../../pictures/paint.js"
import { colourBar, disc, fillBox, hatch, maskedBox, outlineBox, stroke, turned, veil, write, writeAbove } from "../../pictures/pen.js"

export const MASKED = -1 // stands in place of a weight that the mask forbids
export const PRINTED = 12 // in maps of up to this many tokens a side, each cell that has room prints its number
const HATCHED = 24 // in maps of up to this many tokens a side, masked cells are hatched
const SIDE = 384, OF_WINDOW = 0.5 // the largest side: in pixels at a root font of 16, and, where the page sets no limit, as a share of the window
const WIDER = 1.3 // how many times as wide as high a cell may be that fills the room and has a number
const GLANCE = 240 // px at a root font of 16: a picture that may be no higher has no names, as it only has room for cells
const SLANT = 40 * Math.PI / 180

/** Where everything goes, in CSS pixels; `cell` is a cell's height and `wide` its width, `block` how many cells a pixel stands
 * for, along each side.
 * @param {Context} context @param {HeadMapHeader} header @param {Part} window @param {number} width
 * @param {Pick<Skin, "rem" | "family">} skin @param {Room} room */
export function layOut(context, { queries, keys }, { left, top, columns, rows }, width, { rem, family }, { high: limit, fill }) {
  const longest = Math.max(columns, rows)
  const size = (longest <= 12 ? 15 : longest <= 24 || fill ? 13 : 11) * rem, phone = width < 480
  context.font = `${size}px ${family}`
  /** @param {string[]} names */
  const widest = names => Math.ceil(Math.max(...names.map(name => context.measureText(name).width)))
  const shown = keys.slice(left, left + columns), long = widest(shown)
  const bare = limit < GLANCE * rem, gutter = bare ? 2 : widest(queries.slice(top, top + rows)) + size + 22 * rem
  const most = fill ? Infinity : 56 * rem
  /** @param {number} over @param {number} head the height of what stands above the cells */
  function fit(over, head) {
    const high = Math.min(highest(limit, fill, rem, head) / rows, most), across = (width - gutter - over) / columns
    const wide = whole(Math.min(across, fill && !bare ? WIDER * whole(high) : high))
    return { wide, cell: whole(Math.min(high, wide)) }
  }
  /** @param {number} angle */
  const headOf = angle => bare ? 2 : 22 * rem + size + long * Math.sin(angle)
  const levelled = fit(8, headOf(0)).wide, level = long + 6 <= levelled * stepOf(size, levelled)
  const angle = level || bare ? 0 : columns <= 12 && !phone ? SLANT : Math.PI / 2, head = headOf(angle)
  const over = angle === SLANT ? Math.max(8, context.measureText(shown[shown.length - 1]).width * Math.cos(SLANT)) : 8
  const { cell, wide } = fit(over, head)
  return {
    rem, phone, long, width, bare, size, family, angle, cell, wide, fill, y: head, height: head + cell * rows + 36 * rem,
    least: (fill ? 13 : 11) * rem,
    x: gutter + Math.max(0, (width - gutter - over - wide * columns) / 2),
    step: { row: stepOf(size, cell), column: stepOf(size, wide) }, block: Math.max(1, Math.ceil(1 / (cell * devicePixelRatio) - 0.01)),
  }
}

/** How high all cells may be together. Without a limit by the page they leave the half of the window free.
 * @param {number} limit of the whole picture @param {boolean} fill @param {number} rem @param {number} head */
function highest(limit, fill, rem, head) {
  if (limit === Infinity) return Math.max(180, Math.min(SIDE * rem, innerHeight * OF_WINDOW))
  const high = Math.max(24, limit - head - 36 * rem)
  return fill ? high : Math.min(SIDE * rem, high)
}

/** @param {number} n */
const whole = n => n >= 8 ? Math.floor(n) : n

/** Every n-th row and column is named, so that names do not overlap.
 * @param {number} size @param {number} cell */
const stepOf = (size, cell) => Math.max(1, Math.ceil(size * 1.05 / cell))

/** @param {HeadMapScene} scene */
export function paintMap(scene) {
  if (scene.layout.cell >= 8) cells(scene)
  else pixels(scene)
  unread(scene)
  if (!scene.layout.bare) names(scene)
  scale(scene)
}

/** @param {number} w @param {number} top */
const shade = (w, top) => Math.min(255, Math.round(w / top * 255))

/** @param {HeadMapScene} scene */
function cells({ context, header, weights, view, skin, table, layout }) {
  const { x, y, cell, wide, rem, least } = layout, { left, top: first, columns, rows } = view, K = header.keys.length, Q = header.queries.length
  const gap = cell >= 12 ? 2 : 1, tall = cell - gap, side = wide - gap, hatched = Math.max(columns, rows) <= HATCHED
  const prints = Math.max(columns, rows) <= PRINTED && wide >= 28 * rem && cell >= (layout.fill ? 18 : 28) * rem
  const masked = new Path2D()
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
    const w = weights[(first + r) * K + left + c], at = x + c * wide, down = y + r * cell
    const fill = w === MASKED ? skin.masked : table[shade(w, header.top)]
    fillBox(context, fill, at, down, side, tall)
    if (w === MASKED && hatched) hatch(masked, at, down, side, tall)
    if (w === MASKED || !prints || first + r >= header.read) continue
    context.font = `${Math.max(least, (cell >= 64 * rem ? 18 : cell >= 40 * rem ? 15 : cell >= 34 * rem ? 13 : 11) * rem)}px ${layout.family}`
    const digits = columns === K && rows === Q ? 2 : /** @type {number} */ (
      [4, 3, 2].find(n => n === 2 || context.measureText(`>${rounded(0, n)}`).width < side - 4))
    const text = columns === K && rows === Q ? inCell(w, 1) : decimals(w, digits)
    write(context, text, at + side / 2, down + tall / 2 + 1, ink(fill), "center")
  }
  stroke(context, skin.hatch, 1, masked)
}

/** @param {HeadMapScene} scene */
function pixels({ context, header, weights, view, skin, table, layout }) {
  const { x, y, cell, wide, block } = layout, masked = word(skin.masked), words = table.map(word)
  const { largest, across, down } = pool(weights, header.keys.length, view, block, MASKED)
  const tile = image(across, down, i => largest[i] === MASKED ? masked : words[shade(largest[i], header.top)])
  paste(context, tile, { x, y, w: wide * view.columns, h: cell * view.rows }, across * block * wide, down * block * cell)
}

/** @param {HeadMapScene} scene */
function unread({ context, header, view, skin, layout }) {
  const { x, y, cell, wide } = layout, { top: first, columns, rows } = view, from = Math.max(0, header.read - first)
  if (from < rows) veil(context, skin.paper, x, y + from * cell, columns * wide, (rows - from) * cell)
}

/** @param {HeadMapScene} scene */
function names(scene) {
  const { context, header, view, skin, layout } = scene
  const { x, y, cell, wide, size, family, rem, step } = layout, { left, top: first, columns, rows } = view
  context.font = `${size}px ${family}`
  for (let r = 0; r < rows; r += step.row) name(scene, header.queries[first + r], "query", r)
  for (let c = 0; c < columns; c += step.column) name(scene, header.keys[left + c], "key", c)
  const look = /** @type {const} */ ({ font: `${14 * rem}px ${family}`, baseline: "top" })
  write(context, "key (column): is looked at", Math.max(x + wide * columns / 2, 80 * rem), 2, skin.key, "center", look)
  turned(context, 2, y + cell * rows / 2, Math.PI / 2, () =>
    write(context, cell * rows > 130 * rem ? "query (row): looks" : "query", 0, 0, skin.query, "center", look))
}

/** @param {HeadMapScene} scene @param {string} text @param {"query" | "key"} role @param {number} at */
function name({ context, skin, layout: { x, y, cell, wide, angle } }, text, role, at) {
  if (role === "query") write(context, text, x - 12, y + (at + 0.5) * cell, skin.query, "right")
  else writeAbove(context, text, x + (at + 0.5) * wide, y - 10, skin.key, angle)
}

/** The colour bar, and what grey means if there is any: centred below the map.
 * @param {HeadMapScene} scene */
function scale({ context, header, weights, view, skin, layout }) {
  const { rem, family, width, height, x, wide } = layout, y = height - 22 * rem
  const text = `${header.topText} weight`, masked = weights.includes(MASKED)
  context.font = `${13 * rem}px ${family}`
  const words = 6 + context.measureText(text).width + (masked ? 32 * rem + context.measureText("masked").width : 0)
  const bar = Math.max(24, Math.min(150 * rem, width - words - 24 * rem)), all = bar + words
  const chip = bar + 6 + context.measureText(text).width + 14 * rem
  const from = Math.max(18 * rem, Math.min(x + wide * view.columns / 2 - all / 2, width - all - 2))
  colourBar(context, skin, skin.weights, { x: from, y, w: bar }, "0", text)
  if (!masked) return
  write(context, "masked", from + chip + 18 * rem, y + 5 * rem, skin.muted)
  maskedBox(context, skin, from + chip, y - 1, 13 * rem, 12 * rem)
}

/** Outline the cell that the reader points at and light its two names; returns where the cell is.
 * @param {HeadMapScene} scene @param {CellAt} at */
export function lightUp(scene, { q, k }) {
  const { context, header, view, skin, layout } = scene, { x, y, cell, wide, size, family, block, rem, angle, long, step } = layout
  const tall = block * cell, side = block * wide
  const c = x + Math.floor((k - view.left) / block) * side, r = y + Math.floor((q - view.top) / block) * tall
  outlineBox(context, skin.ink, 2, c, r, Math.max(side - 1, 4), Math.max(tall - 1, 4))
  if (layout.bare) return { x: c, y: r, h: tall }
  context.font = `700 ${size}px ${family}`
  /** @type {["query" | "key", string, number][]} */
  const lit = [["query", header.queries[q], q - view.top], ["key", header.keys[k], k - view.left]]
  for (const [role, text, i] of lit) {
    const broad = context.measureText(text).width + 4, line = size * 1.2, middle = (i + 0.5) * (role === "query" ? cell : wide)
    // Paper under the name, which may lie over its neighbours':
    if (role === "query") fillBox(context, skin.paper, x - 12 - broad, y + middle - line / 2, broad + 2, line)
    else turned(context, x + middle, y - 10, angle, () =>
      fillBox(context, skin.paper, angle ? -2 : -broad / 2, -line / 2, step.column > 1 && angle ? long + 4 : broad, line))
    name(scene, text, role, i)
    disc(context, skin[role], role === "query" ? [x - 5, y + middle] : [x + middle, y - 5], 3.5 * rem)
  }
  return { x: c, y: r, h: tall }
}
