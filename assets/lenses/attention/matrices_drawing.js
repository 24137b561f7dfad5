/* One matrix on its canvas: cells in its colours, names of rows and columns, a ring around the cell in focus, and
   outlines around the cells that it was computed from. */

import { fontOf, sheetOf } from "../../pictures/canvas.js"
import { make } from "../../pictures/elements.js"
import { named } from "./matrices_layout.js"
import { image, inCell, ink, rounded, word } from "../../pictures/paint.js"
import { fillBox, hatch, outlineBox, ringAround, stroke, write, writeAbove } from "../../pictures/pen.js"

const PRINTS = 26 // a cell of at least this many pixels prints its number
const LONGEST = 9 // characters of a name; a longer one is cut

/** Which of the scale's colours a value has, 0 to 255; -1 if it is masked.
 * @param {number} value @param {Matrix} matrix */
function shade(value, { weights, top }) {
  if (value === -Infinity) return -1
  return Math.round(Math.max(0, Math.min(1, weights ? value / top : (value / top + 1) / 2)) * 255)
}

/** @param {Context} context @param {Matrix} matrix @param {Float32Array} numbers @param {MatrixLayout} layout
 * @param {Skin} skin @param {Record<"weights" | "signed", string[]>} tables
 * @param {(axis: string, i: number) => string} names @param {number} [upTo] */
export function paint(context, matrix, numbers, layout, skin, tables, names, upTo = Infinity) {
  const { left, top, cell } = layout, { rows, columns } = matrix
  const table = matrix.weights ? tables.weights : tables.signed
  fillBox(context, skin.paper, 0, 0, layout.width, layout.height)
  const shown = Math.min(rows, upTo), small = cell.x < 6 || cell.y < 6
  if (small && shown) {
    const tile = image(columns, shown, i => {
      const at = shade(numbers[i], matrix)
      return word(at < 0 ? skin.masked : table[at])
    })
    context.imageSmoothingEnabled = false
    context.drawImage(tile, left, top, columns * cell.x, shown * cell.y)
  } else cells(context, matrix, numbers, layout, skin, table, shown)
  outlineBox(context, skin.rule, 1, left - 0.5, top - 0.5, columns * cell.x + 1, rows * cell.y + 1)
  labels(context, matrix, layout, skin, names)
}

/** The names of rows and columns, or their numbers, as many as have room.
 * @param {Context} context @param {Matrix} matrix @param {MatrixLayout} layout @param {Skin} skin
 * @param {(axis: string, i: number) => string} names */
function labels(context, { rows, columns, axes }, { left, top, cell, size, family, angle, hasRows, hasColumns, longest }, skin, names) {
  context.font = `${size}px ${family}`
  /** @param {string} axis */
  const colour = axis => named(axis) ? skin[axis] : skin.muted
  if (hasRows) for (const r of round(rows, Math.ceil(size / cell.y), named(axes[0])))
    write(context, cut(context, names(axes[0], r), longest), left - 5, top + (r + 0.5) * cell.y, colour(axes[0]), "right")
  if (!hasColumns) return
  const wide = named(axes[1]) ? size : context.measureText(names(axes[1], columns - 1)).width + 0.4 * size
  for (const c of round(columns, Math.ceil((named(axes[1]) ? 1.2 : 1) * wide / cell.x), named(axes[1]))) {
    const x = left + (c + 0.5) * cell.x, y = top - (named(axes[1]) ? 5 : 0.6 * size)
    writeAbove(context, cut(context, names(axes[1], c), longest), x, y, colour(axes[1]), angle)
  }
}

/** A name that is as long as its room, with the sign of what is left out.
 * @param {Context} context @param {string} name @param {number} room in pixels */
function cut(context, name, room) {
  const letters = [...name]
  for (let count = letters.length; count > 1; count--) {
    const text = count < letters.length ? letters.slice(0, count).join("") + "…" : name
    if (context.measureText(text).width <= room) return text
  }
  return letters[0] ?? ""
}

/** Every n-th of some rows or columns, from 0. Numbers are round ones: 1, 5, 10, or 1, 8, 16.
 * @param {number} count @param {number} every @param {boolean} isNamed */
function round(count, every, isNamed) {
  const step = isNamed || every < 2 ? Math.max(1, every) : /** @type {number} */ ([2, 4, 5, 8, 16, 32, 64, 128, 256].find(n => n >= every) ?? every)
  const all = [...Array(count).keys()]
  return isNamed || step < 2 ? all.filter(i => i % step === 0) : all.filter(i => (i + 1) % step === 0 || !i && step > 2)
}

/** @param {Context} context @param {Matrix} matrix @param {Float32Array} numbers @param {MatrixLayout} layout
 * @param {Skin} skin @param {string[]} table @param {number} shown */
function cells(context, matrix, numbers, { left, top, cell, rem, family, fill }, skin, table, shown) {
  const gap = Math.min(cell.x, cell.y) >= 12 ? 2 : 1, masked = new Path2D()
  context.font = `${(cell.x >= 64 * rem && cell.y >= 40 * rem ? 17 : cell.x >= 38 * rem || fill ? 13 : 11) * rem}px ${family}`
  const widest = () => Math.max(...numbers.subarray(0, matrix.rows * matrix.columns).map(value => // of all, also of those that appear later
    value === -Infinity && matrix.weights ? 0 : context.measureText(brief(value, matrix.weights, fill)).width))
  const prints = fill ? cell.y >= 0.8 * PRINTS * rem && cell.x >= widest() + 3 : Math.min(cell.x, cell.y) >= PRINTS * rem
  for (let r = 0; r < shown; r++) for (let c = 0; c < matrix.columns; c++) {
    const value = numbers[r * matrix.columns + c], at = shade(value, matrix)
    const x = left + c * cell.x, y = top + r * cell.y, wide = cell.x - gap, tall = cell.y - gap
    const colour = at < 0 ? skin.masked : table[at]
    fillBox(context, colour, x, y, wide, tall)
    if (at < 0) hatch(masked, x, y, wide, tall)
    if (!prints || at < 0 && matrix.weights) continue
    write(context, brief(value, matrix.weights, fill), x + wide / 2, y + tall / 2 + 1, at < 0 ? skin.muted : ink(colour), "center")
  }
  stroke(context, skin.hatch, 1, masked)
}

/** @param {string} text */
const minus = text => text.replace("-", "−")
/** A number as a cell has room for it; where letters fill the screen, it has no zero before its point, and two digits.
 * @param {number} value @param {boolean} weights @param {boolean} fill */
function brief(value, weights, fill) {
  if (value === -Infinity) return "−∞"
  const size = Math.abs(value)
  if (fill && size >= 1 && size < 99.5) return rounded(value, size < 9.95 ? 1 : 0)
  const text = weights ? inCell(value, 1) : size >= 99.5 ? rounded(value, 0) : size >= 9.95 ? rounded(value, 1) : inCell(value)
  return fill ? text.replace(/^([<>]?−?)0\./, "$1.") : text
}

/** A value with all its digits, as the tip shows it.
 * @param {number} value @param {boolean} weights */
export const exact = (value, weights) => value === -Infinity ? "−∞ (masked)"
  : value && Math.abs(value) < 0.0005 ? minus(value.toExponential(2)) : weights ? rounded(value, 4, 1) : rounded(value, 3)

/** Outline what fed the cell in focus; the more steps ago it was, the thinner the outline. The cell itself has an amber ring.
 * @param {Context} context @param {Matrix} matrix @param {MatrixLayout} layout @param {Skin} skin
 * @param {Lit[]} regions */
export function light(context, matrix, layout, skin, regions) {
  const { left, top, cell } = layout
  for (const [[row, column], steps] of regions) {
    if (row !== null && (row < 0 || row >= matrix.rows) || column !== null && (column < 0 || column >= matrix.columns)) continue
    const x = left + (column ?? 0) * cell.x, y = top + (row ?? 0) * cell.y
    const wide = column === null ? matrix.columns * cell.x : cell.x, tall = row === null ? matrix.rows * cell.y : cell.y
    if (steps === 0) ringAround(context, skin, { x, y, w: wide, h: tall }, 5, 3)
    else {
      context.setLineDash(steps === 1 ? [] : [3, 3])
      outlineBox(context, skin.ink, steps === 1 ? 2.5 : 1.25, x, y, wide, tall)
      context.setLineDash([])
    }
  }
}

/** @param {string} name */
export const short = name => [...name].length > LONGEST ? [...name].slice(0, LONGEST - 1).join("") + "…" : name

/** All figures of the scene on one sheet, for a file.
 * @param {HTMLElement} stage @param {string} paper */
export function poster(stage, paper) {
  const origin = stage.getBoundingClientRect(), context = sheetOf(origin.width, origin.height, paper)
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (stage.querySelectorAll("canvas, b, small, .sign"))) {
    const box = part.getBoundingClientRect(), x = box.left - origin.left, y = box.top - origin.top
    if (part instanceof HTMLCanvasElement) context.drawImage(part, x, y, box.width, box.height)
    else write(context, part.textContent, x, y, getComputedStyle(part).color, "left", { font: fontOf(part), baseline: "top" })
  }
  return context.canvas
}

/** Say in an element a text in which _Q or _model stands lower.
 * @param {Element} element @param {string} text */
export function nameAs(element, text) {
  element.replaceChildren(...text.split(/_(\w+)/).map((part, i) =>
    i % 2 ? make("sub", { textContent: part }) : part))
}
