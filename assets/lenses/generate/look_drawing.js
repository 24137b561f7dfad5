/* How a step's weights are painted: arcs from the token that wrote to those it looked at, below them a row for each head; at the
   right, or below in narrow places, the likeliest tokens. All columns stand below the same tokens. */

import { decimals, percent } from "../../pictures/paint.js"
import { colourBar, fillBox, ringAround, stroke, turned, write } from "../../pictures/pen.js"
import { label } from "./text_flow.js"

/* In pixels at a root font of 16. */
const ARCS = 74, NAMES = 66, ROW = 15, GAP = 8, SIDE = 100, LIST = 300, LINE = 24, SCALE = 40, NARROW = 700
const MOST_ARCS = 12

/** @param {{ rem: number }} skin @param {LookHeader} header @param {number} width */
export function heightOf({ rem }, header, width) {
  const list = width < NARROW * rem ? (header.likeliest[0]?.length ?? 0) * LINE + 40 : 0
  return Math.ceil((ARCS + NAMES + header.layers * (header.heads * ROW + GAP) + SCALE + list) * rem)
}

/** @param {LookScene} scene @param {HTMLCanvasElement} canvas */
function layOut({ skin: { rem }, header, keys }, canvas) {
  const more = canvas.clientHeight - heightOf({ rem }, header, canvas.clientWidth), heads = header.layers * header.heads
  const arcs = Math.max(34 * rem, ARCS * rem + Math.min(0, more / 3)), row = ROW * rem + (more + ARCS * rem - arcs) / heads
  const isNarrow = canvas.clientWidth < NARROW * rem, side = SIDE * rem
  const width = canvas.clientWidth - side - (isNarrow ? 0 : LIST * rem) - 10 * rem
  const column = Math.min(width / keys, 40 * rem)
  const y = (/** @type {number} */ layer, /** @type {number} */ head) =>
    arcs + (NAMES + layer * GAP) * rem + (layer * header.heads + head) * row
  return { isNarrow, side, width, column, row, y, top: arcs, foot: y(header.layers, 0) }
}

/** @param {LookScene} scene @param {MouseEvent} event @param {HTMLCanvasElement} canvas */
export function cellAt(scene, event, canvas) {
  const { header, keys } = scene, { side, column, row, y } = layOut(scene, canvas)
  const key = Math.floor((event.offsetX - side) / column)
  if (key < 0 || key >= keys) return undefined
  for (let layer = 0; layer < header.layers; layer++) {
    const head = Math.floor((event.offsetY - y(layer, 0)) / row)
    if (head < 0 || head >= header.heads) continue
    return { layer, head, key, box: { x: side + (key + 0.5) * column, y: y(layer, head), h: row } }
  }
  return undefined
}

/** @param {LookScene} scene @param {HTMLCanvasElement} canvas */
export function paintLook(scene, canvas) {
  const places = layOut(scene, canvas)
  arcs(scene, places)
  names(scene, places)
  rows(scene, places)
  list(scene, places, canvas)
}

/** The chosen head's largest weights. @param {LookScene} scene @param {ReturnType<typeof layOut>} places */
function arcs({ context, header, skin, weights, keys }, { side, column, top }) {
  const { rem } = skin, [layer, head] = header.picked, from = (layer * header.heads + head) * keys
  const chosen = weights.subarray(from, from + keys)
  const largest = [...chosen.keys()].sort((a, b) => chosen[b] - chosen[a]).slice(0, MOST_ARCS).filter(key => chosen[key] >= 0.02)
  const x = (/** @type {number} */ key) => side + (key + 0.5) * column, begin = x(keys - 1)
  for (const key of largest) {
    const end = x(key), high = Math.min(top - 10 * rem, 14 * rem + Math.abs(begin - end) * 0.5)
    context.globalAlpha = 0.25 + 0.75 * chosen[key]
    context.beginPath()
    if (key === keys - 1) context.arc(begin, top - 8 * rem, 6 * rem, 0, 2 * Math.PI)
    else {
      context.moveTo(begin, top)
      context.bezierCurveTo(begin, top - high * 1.3, end, top - high * 1.3, end, top)
    }
    stroke(context, skin.query, (1 + 7 * chosen[key]) * rem)
  }
  context.globalAlpha = 1
}

/** The tokens above their columns, as many as fit. @param {LookScene} scene @param {ReturnType<typeof layOut>} places */
function names({ context, header, skin, keys, begin }, { side, column, top }) {
  const { rem, family } = skin, text = [...header.prompt, ...header.tokens], every = Math.ceil(14 * rem / column)
  const more = { font: `${13 * rem}px ${family}`, room: (NAMES - 6) * rem }
  for (let key = keys - 1; key >= 0; key -= every) turned(context, side + (key + 0.5) * column, top + 4 * rem, Math.PI / 2, () => {
    write(context, label(text[begin + key]), 0, 0, key === keys - 1 ? skin.query : skin.key, "right", more)
  })
}

/** @param {LookScene} scene @param {ReturnType<typeof layOut>} places */
function rows({ context, header, skin, table, weights, keys }, { side, column, row, y, foot, width }) {
  const { rem, family } = skin, high = row, gap = column >= 8 * rem ? 1 : 0
  const areNamed = high >= 11 * rem
  for (let layer = 0; layer < header.layers; layer++) {
    if (!areNamed) {
      const font = `${layer === header.picked[0] ? 600 : 400} ${13 * rem}px ${family}`, room = side - 8 * rem
      write(context, `layer ${layer + 1}`, room, y(layer, header.heads / 2), skin.muted, "right", { font, room })
    }
    for (let head = 0; head < header.heads; head++) {
      const top = y(layer, head), from = (layer * header.heads + head) * keys
      const isPicked = layer === header.picked[0] && head === header.picked[1]
      const name = head === 0 || isPicked ? `layer ${layer + 1}, head ${head + 1}` : `head ${head + 1}`
      const font = `${isPicked ? 600 : 400} ${13 * rem}px ${family}`
      if (areNamed) write(context, name, side - 8 * rem, top + high / 2, isPicked ? skin.ink : skin.muted, "right", { font })
      for (let key = 0; key < keys; key++) {
        const colour = table[Math.round(255 * Math.min(1, weights[from + key] / header.largest))]
        fillBox(context, colour, side + key * column, top, Math.max(1, column - gap), high - 1)
      }
    }
  }
  const [layer, head] = header.picked
  ringAround(context, skin, { x: side, y: y(layer, head), w: keys * column - gap, h: high - 1 }, 4, 2)
  context.font = `${13 * rem}px ${family}`
  const scale = { x: side + 14 * rem, y: foot + 12 * rem, w: Math.min(160 * rem, width / 2) }
  colourBar(context, skin, skin.weights, scale, "0", decimals(header.largest, 2))
}

/** The distribution from which the token was drawn. @param {LookScene} scene @param {ReturnType<typeof layOut>} places
 * @param {HTMLCanvasElement} canvas */
function list({ context, header, skin, at }, { isNarrow, foot }, canvas) {
  const { rem, family } = skin, x = isNarrow ? 0 : canvas.clientWidth - (LIST - 30) * rem, top = isNarrow ? foot + SCALE * rem : 14 * rem
  const token = header.tokens[at], entries = [...header.likeliest[at]]
  if (!entries.some(([piece]) => piece === token)) entries[entries.length - 1] = [token, header.chances[at]]
  const most = Math.max(...entries.map(([, share]) => share), 1e-9), name = 112 * rem, room = canvas.clientWidth - x - name - 62 * rem
  write(context, "the next token", x, top + 6 * rem, skin.muted, "left", { font: `600 ${14 * rem}px ${family}` })
  entries.forEach(([piece, share], i) => {
    const y = top + (26 + i * LINE) * rem, isIt = piece === token
    if (isIt) fillBox(context, skin.ring, x, y, canvas.clientWidth - x, (LINE - 1) * rem, 0.28)
    const font = `${isIt ? 600 : 400} ${14 * rem}px ${family}`, middle = y + LINE / 2 * rem
    write(context, label(piece), x + 4 * rem, middle, skin.ink, "left", { font, room: name - 10 * rem })
    fillBox(context, skin.result, x + name, y + 5 * rem, Math.max(1, share / most * room), (LINE - 10) * rem, 0.85)
    write(context, percent(share), x + name + share / most * room + 6 * rem, middle, skin.ink)
  })
}
