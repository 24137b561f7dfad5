/* How the maps of a run are laid out and painted: a row for each layer, a column for each head. */

import { decimals, inCell, ink } from "../../pictures/paint.js"
import { colourBar, fillBox, hatch, outlineBox, stroke, write } from "../../pictures/pen.js"

/* In pixels at a root font of 16: the gap between maps, the line above a map, the scale below all, the largest cell, the least
   cell whose token is named, and the least in which a number stands. */
const BETWEEN = 18, HEADING = 24, SCALE = 34, LARGEST = 44, NAMES = 12, NUMBERS = 30

/** @param {Context} context @param {LearnHeader} header @param {number} width @param {Skin} skin
 * @param {number} high how high all of it may be @param {boolean} fill */
function layOut(context, { rows }, width, { rem, family }, high, fill) {
  const size = 13 * rem, gap = BETWEEN * rem, heads = Math.max(...rows.map(row => row.heads))
  context.font = `${size}px ${family}`
  const longest = Math.max(...rows.flatMap(row => [...row.queries, ...row.keys]).map(token => context.measureText(token).width))
  const sides = rows.map(row => Math.max(row.queries.length, row.keys.length))
  /** How large cells can be with `abreast` rows beside each other. @param {number} abreast */
  function fit(abreast) {
    const across = heads * abreast, down = Math.ceil(rows.length / abreast)
    const wide = (width - gap * (across - 1)) / across, tall = (high - SCALE * rem) / down - gap - HEADING * rem
    const fits = (/** @type {number} */ label, /** @type {number} */ upright) => Math.min(...sides.map(count =>
      Math.min((wide - label) / count, (tall - upright) / count, (fill ? Infinity : LARGEST) * rem)))
    const named = fits(longest + 8, size + 6), isNamed = named >= NAMES * rem && named * 1.02 >= longest
    return { abreast, wide, isNamed, cell: Math.max(2, isNamed ? Math.floor(named) : fits(0, 0)) }
  }
  const best = rows.map((_, i) => fit(i + 1)).reduce((a, b) => b.cell > a.cell + 0.5 ? b : a)
  const { abreast, wide, isNamed, cell } = best, label = isNamed ? longest + 8 : 0, upright = isNamed ? size + 6 : 0
  /** @type {LearnPlace[]} */
  const places = []
  let y = 0, from = 0, deepest = 0
  for (const [number, row] of rows.entries()) {
    if (number && number % abreast === 0) { y += deepest; deepest = 0 }
    deepest = Math.max(deepest, HEADING * rem + upright + cell * row.queries.length + gap)
    for (let head = 0; head < row.heads; head++) {
      const column = number % abreast * heads + head
      places.push({ row, head, from, x: column * (wide + gap) + label, y: y + HEADING * rem + upright, cell })
      from += row.queries.length * row.keys.length
    }
  }
  return { places, fill, height: Math.ceil(y + deepest - gap + SCALE * rem + 8 * rem), isNamed, wide, size }
}

/** Where the maps go, above their example; where the letters are large, it may stand beside them, if that makes cells larger.
 * @param {HTMLElement} maps @param {HTMLElement} example @param {Context} context @param {LearnHeader} header @param {Skin} skin
 * @param {Room} room */
export function layOutBeside(maps, example, context, header, skin, { high, fill }) {
  maps.classList.remove("beside")
  const width = maps.clientWidth, above = high === Infinity ? 420 * skin.rem : high - example.offsetHeight - 6
  const usual = { ...layOut(context, header, width, skin, above, fill), width }
  if (!fill) return usual
  const less = width - Math.max(0, ...[...example.children].map(row => widthOf(/** @type {HTMLElement} */ (row)))) - 24
  const beside = { ...layOut(context, header, less, skin, high, fill), width: less }
  maps.classList.toggle("beside", beside.places[0].cell > usual.places[0].cell)
  return maps.classList.contains("beside") ? beside : usual
}

/** @param {HTMLElement} row of words, which may be narrower than its place */
const widthOf = row => (row.lastElementChild?.getBoundingClientRect().right ?? 0) - row.getBoundingClientRect().left

/** @param {LearnScene} scene @param {ReturnType<typeof layOut>} layout */
export function paintMaps(scene, layout) {
  for (const place of scene.places) paintMap(scene, place, layout)
  legend(scene, layout)
}

/** @param {LearnScene} scene @param {LearnPlace} place @param {ReturnType<typeof layOut>} layout */
function paintMap({ context, header, weights, skin, table, at }, { row, head, from, x, y, cell }, { isNamed, size, wide, fill }) {
  const { rem, family } = skin, K = row.keys.length, gap = cell >= 12 ? 2 : cell >= 6 ? 1 : 0, masked = new Path2D()
  const letters = `${fill ? 13 * rem : Math.min(13 * rem, cell * 0.36)}px ${family}`
  context.font = letters
  const prints = K <= 12 && (fill ? cell >= context.measureText(">.99").width + 2 : cell >= NUMBERS * rem)
  const named = `${row.name}, head ${head + 1}`, heading = y - (isNamed ? size + 6 : 0) - HEADING * rem / 2
  write(context, named, x, heading, skin.ink, "left", { font: `600 ${size}px ${family}`, room: wide })
  const scores = (row.scores[at] ?? []).map(({ pattern, heads }) => `${header.patterns[pattern].name} ${decimals(heads[head], 2)}`)
  const begins = context.measureText(named).width + 10 * rem
  const look = { font: `${size}px ${family}`, room: wide - begins }
  if (begins < wide * 0.6) write(context, scores.join(", "), x + begins, heading, skin.muted, "left", look)
  for (let q = 0; q < row.queries.length; q++) for (let k = 0; k < K; k++) {
    const left = x + k * cell, top = y + q * cell, side = cell - gap, isMasked = row.causal && k > q
    const weight = weights[from + q * K + k], colour = isMasked ? skin.masked : table[Math.min(255, Math.round(255 * weight))]
    fillBox(context, colour, left, top, side, side)
    if (isMasked && cell >= 10) hatch(masked, left, top, side, side)
    if (isMasked || !prints) continue
    const text = weight === 1 ? "1" : inCell(weight, 1).replace(/^0\./, ".")
    write(context, text, left + side / 2, top + side / 2, ink(colour), "center", { font: letters })
  }
  stroke(context, skin.hatch, 1, masked)
  outline(context, header, row, { x, y, cell, gap }, skin)
  if (isNamed) names(context, row, { x, y, cell }, skin, size)
}

/** Outline the cells where the answer stands.
 * @param {Context} context @param {LearnHeader} header @param {LearnRow} row
 * @param {{ x: number, y: number, cell: number, gap: number }} place @param {Skin} skin */
function outline(context, { patterns }, { kind }, { x, y, cell, gap }, skin) {
  for (const [number, pattern] of patterns.entries()) {
    if (pattern.kind !== kind) continue
    const colour = number ? skin.value : skin.key, side = cell - gap - 2
    context.setLineDash(number ? [3, 2] : [])
    for (const [q, k] of pattern.cells) outlineBox(context, colour, cell >= 12 ? 2 : 1, x + k * cell + 1, y + q * cell + 1, side, side)
  }
  context.setLineDash([])
}

/** @param {Context} context @param {LearnRow} row @param {{ x: number, y: number, cell: number }} place @param {Skin} skin
 * @param {number} size */
function names(context, { queries, keys }, { x, y, cell }, skin, size) {
  context.font = `${size}px ${skin.family}`
  queries.forEach((token, q) => write(context, token, x - 6, y + (q + 0.5) * cell, skin.query, "right"))
  keys.forEach((token, k) => write(context, token, x + (k + 0.5) * cell - 1, y - size / 2 - 3, skin.key, "center"))
}

/** @param {LearnScene} scene @param {ReturnType<typeof layOut>} layout */
function legend({ context, header, skin }, { height, size }) {
  const { rem } = skin, y = height - 20 * rem
  context.font = `${size}px ${skin.family}`
  colourBar(context, skin, skin.weights, { x: 14 * rem, y, w: 80 * rem }, "0", "1 weight")
  let x = 14 * rem + 80 * rem + context.measureText("1 weight").width + 26 * rem
  for (const [number, pattern] of header.patterns.entries()) {
    if (!pattern.cells.length) continue
    context.setLineDash(number ? [3, 2] : [])
    outlineBox(context, number ? skin.value : skin.key, 2, x, y - 1 * rem, 12 * rem, 12 * rem)
    context.setLineDash([])
    write(context, pattern.name, x + 18 * rem, y + 5 * rem, skin.muted)
    x += context.measureText(pattern.name).width + 38 * rem
  }
  if (!header.rows.some(row => row.causal)) return
  fillBox(context, skin.masked, x, y - 1 * rem, 12 * rem, 12 * rem)
  write(context, "masked", x + 18 * rem, y + 5 * rem, skin.muted)
}

/** The cell under the pointer, in words; null beside all maps.
 * @param {LearnScene} scene @param {MouseEvent} event @param {HTMLCanvasElement} canvas */
export function under({ header, weights, places, at }, event, canvas) {
  const edges = canvas.getBoundingClientRect(), left = event.clientX - edges.left, top = event.clientY - edges.top
  for (const { row, head, from, x, y, cell } of places) {
    const q = Math.floor((top - y) / cell), k = Math.floor((left - x) / cell)
    if (q < 0 || k < 0 || q >= row.queries.length || k >= row.keys.length) continue
    const value = row.causal && k > q ? "masked" : `weight ${decimals(weights[from + q * row.keys.length + k], 4)}`
    const pair = `query ${q + 1} “${row.queries[q]}” → key ${k + 1} “${row.keys[k]}”`
    const words = `${row.name}, head ${head + 1}, step ${header.snapshots[at]}\n${pair}\n${value}`
    return { words, box: { x: x + k * cell, y: y + q * cell, w: cell, h: cell } }
  }
  return null
}

/** @param {LearnScene} scene @param {{ box: Box }} place */
export const lightUp = ({ context, skin }, { box: { x, y, w, h } }) => outlineBox(context, skin.ink, 2, x - 1, y - 1, w, h)
