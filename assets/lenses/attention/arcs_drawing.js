/* How the arcs are laid out and painted. A scene is {context, data, settings, window, focus, skin, layout}: the
   canvas, what came from the server, what the reader has set, the part of a long text that is seen, and the tokens looked at. */

import { hidden } from "./arcs_lines.js"
import { grouped, rounded } from "../../pictures/paint.js"
import { disc, fillBox, ringAround, stroke, write } from "../../pictures/pen.js"

export const WHOLE = 40 // texts of up to this many tokens a side are shown whole, without a window
export const LOWEST = 15 // the least height of a token's line, in pixels at a root font of 16
const PER_HEAD = 4 // with up to this many heads, each has its own column of numbers

/** Where everything goes, in CSS pixels.
 * @param {Context} context @param {ArcsData} data @param {ArcsSettings} settings @param {ArcsWindow} window
 * @param {number} width @param {Pick<Skin, "rem" | "family">} skin @param {Room} room */
export function layOut(context, data, settings, window, width, { rem, family }, { high, fill }) {
  const phone = width < 560 * rem, tall = Math.min(window.rows, Math.max(data.Q, data.K))
  const ends = [data.Q, data.K].some(count => count > window.rows) ? 2 : 0, y = 26 * rem, below = 6 * rem
  const natural = Math.max(22 * rem, Math.min(34 * rem, 340 * rem / tall)), most = (high - y - below) / (tall + ends)
  const step = Math.max(Math.min(natural, 13 * rem), fill ? Math.min(most, 90 * rem) : Math.min(natural, most))
  const size = Math.min((phone ? 14 : step > 44 * rem ? 20 : 15) * rem, Math.max(13 * rem, 0.9 * step))
  context.font = `700 ${size}px ${family}`
  const names = Math.ceil(Math.max(...[...data.queries, ...data.keys].map(name => context.measureText(name).width)))
  context.font = `${13 * rem}px ${family}`
  const number = context.measureText(data.sparse ? "≥ 0.0000" : "0.0000").width + 8 * rem, bar = phone ? 0 : 72 * rem
  /** @param {number} each */
  const wide = each => names + 16 * rem + bar + number * (1 + each), heads = settings.maps.length
  const each = heads > 1 && heads <= PER_HEAD && width > 2 * wide(heads) + 280 * rem ? heads : 0, side = wide(each)
  const full = fill ? width : Math.min(width, 2 * side + 480 * rem), from = (width - full) / 2
  return {
    rem, phone, size, family, names, number, bar, each, side, width, step, y, height: y + (ends + tall) * step + below,
    x: [from + side, from + full - side],
    low: [data.Q, data.K].map(count => y + ends / 2 * step + (tall - Math.min(count, window.rows)) * step / 2),
  }
}

/** The height of a token's middle. A token outside the window has the height of the end where such tokens are gathered.
 * @param {Pick<ArcsScene, "data" | "window" | "layout">} scene @param {number} side @param {number} i */
export function height({ data, window, layout: { low, step } }, side, i) {
  const rows = Math.min(window.rows, side ? data.K : data.Q), at = i - window.tops[side]
  return low[side] + (Math.max(-1, Math.min(rows, at)) + 0.5) * step
}

/** @param {ArcsScene} scene @param {ArcsLines} lines */
export function paint(scene, lines) {
  const { context, layout, skin } = scene
  fillBox(context, skin.paper, 0, 0, layout.width, layout.height)
  strokes(scene, lines)
  names(scene, lines)
}

/** @param {ArcsScene} scene @param {ArcsLines} lines */
function strokes(scene, { drawn, top }) {
  const { context, data, settings, window, skin, layout: { x, rem, step } } = scene, ends = new Map(), kept = []
  /** @param {number} side @param {number} i */
  const outside = (side, i) => i < window.tops[side] ? -1 : i >= window.tops[side] + window.rows ? 1 : 0
  for (const line of drawn) { // lines that end outside the window are gathered into one line for each end
    const out = [outside(0, line.q), outside(1, line.k)]
    if (!out[0] && !out[1]) { kept.push(line); continue }
    const name = `${line.m} ${out[0] ? "e" + out[0] : line.q} ${out[1] ? "e" + out[1] : line.k}`, bundle = ends.get(name)
    if (bundle) bundle.w += line.w
    else ends.set(name, { ...line, many: true })
  }
  const gap = 7 * rem, bend = (x[1] - x[0]) / 2, many = settings.maps.length
  /** @param {number} m */
  const beside = m => (settings.maps.indexOf(m) - (many - 1) / 2) * Math.min(4 * rem, step * 0.7 / many) // heads lie side by side
  for (const { m, q, k, w, many: gathered } of [...ends.values(), ...kept].sort((a, b) => a.w - b.w)) {
    const share = Math.min(1, w / top), a = height(scene, 0, q) + beside(m), b = height(scene, 1, k) + beside(m)
    context.globalAlpha = gathered ? 0.3 : 0.1 + 0.85 * share // a sum of gathered weights has another scale than single ones: its number is printed
    context.setLineDash(data.heads && m >= 8 ? [6 * rem, 4 * rem] : [])
    context.beginPath()
    context.moveTo(x[0] + gap, a)
    context.bezierCurveTo(x[0] + bend, a, x[1] - bend, b, x[1] - gap, b)
    const wide = (0.5 + (gathered ? Math.min(1, w) : 3.5 * share)) * rem
    stroke(context, data.heads ? skin.heads[m % 8] : skin.weights[11], wide)
  }
  context.globalAlpha = 1
  context.setLineDash([])
}

/** @type {Role[]} */
const ROLES = ["query", "key"]

/** @param {ArcsScene} scene @param {ArcsLines} lines */
function names(scene, { away }) {
  const { context, data, settings, window, focus, skin, layout } = scene, { x, size, family, rem, step, phone } = layout
  for (const side of [0, 1]) {
    const all = side ? data.keys : data.queries, sign = side ? 1 : -1, edge = x[side] + sign * 4 * rem
    const colour = skin[ROLES[side]], align = side ? "left" : "right"
    const title = ["query: looks", "key: is looked at"][side].split(phone ? ":" : "\n")[0]
    write(context, title, edge, 12 * rem, colour, align, { font: `${14 * rem}px ${family}` })
    const rows = Math.min(window.rows, all.length)
    for (let i = window.tops[side]; i < window.tops[side] + rows; i++) {
      const y = height(scene, side, i)
      const chosen = settings.side === side && settings.tokens.includes(i), lit = focus?.side === side && focus.tokens.includes(i)
      context.globalAlpha = hidden(data, settings, side, i) ? 0.45 : 1
      write(context, all[i], edge, y + 1, colour, align, { font: `${lit ? 700 : 400} ${size}px ${family}` })
      context.globalAlpha = 1
      if (lit) disc(context, colour, [x[side] - sign * 3 * rem, y], 3.5 * rem)
      if (chosen) {
        const w = context.measureText(all[i]).width + 10 * rem, x = edge - (side ? 5 * rem : w - 5 * rem)
        ringAround(context, skin, { x, y: y - step / 2 + 2 * rem, w, h: step - 4 * rem }, 4 * rem, 2.5 * rem)
      }
      if (side === 0 && !data.seen[i] && !focus) note(scene, "may see nothing", x[0] + 10 * rem, y, "left")
    }
    for (const end of [-1, 1]) {
      const more = end < 0 ? window.tops[side] : all.length - rows - window.tops[side]
      const y = layout.low[side] + (end < 0 ? -0.5 : rows + 0.5) * step
      const weight = side && !focus ? `, ${rounded(away[end + 1], 2, 1).replace("<", "under ").replace(">", "over ")} of a row` : ""
      if (more > 0) note(scene, `${end < 0 ? "↑" : "↓"} ${grouped(more)} more${weight}`, edge, y, align)
    }
  }
}

/** @param {ArcsScene} scene @param {string} text @param {number} x @param {number} y @param {Align} align */
function note({ context, skin, layout: { rem, family } }, text, x, y, align) {
  write(context, text, x, y + 1, skin.muted, align, { font: `${13 * rem}px ${family}` })
}

/** @param {Sum} w */
export const exact = w => w === undefined ? "–" : w === null ? "masked" : w === 0 ? "0" : rounded(w, 4, 1)

/** Paint bars and numbers beside the tokens of the other side: their weights with the tokens in focus.
 * @param {ArcsScene & { focus: ArcsFocus }} scene @param {ArcsSums} sums */
export function values(scene, { each, total, least }) {
  const { context, data, settings, window, focus, skin, layout } = scene, { x, rem, names, bar, number, family } = layout
  const side = 1 - focus.side, sign = side ? 1 : -1, rows = Math.min(window.rows, total.length)
  const from = x[side] + sign * (names + 12 * rem), top = Math.max(1e-12, ...total.map(w => w ?? 0)), outside = [0, 0]
  /** @param {number} at */
  const right = at => side ? from + bar + number * (at + 1) - 2 * rem : from - bar - 6 * rem - number * at
  total.forEach((w, i) => {
    if (i < window.tops[side]) outside[0] += w ?? 0
    else if (i >= window.tops[side] + rows) outside[1] += w ?? 0
    else if (w !== undefined) line(w, settings.maps.map((_, at) => each[at][i]), height(scene, side, i), least[i])
  })
  outside.forEach((w, end) => w && line(w, [], layout.low[side] + (end ? rows + 0.5 : -0.5) * layout.step, data.sparse))
  if (layout.each) ["mean", ...settings.maps.map(m => `head ${m + 1}`)].forEach((text, at) => {
    note(scene, text, right(at), 12 * rem, "right")
  })

  /** @param {Sum} w @param {Sum[]} heads @param {number} y @param {boolean} least */
  function line(w, heads, y, least) {
    if (bar && w) {
      const long = Math.max(1, bar * Math.min(1, w / top))
      fillBox(context, skin.result, side ? from : from - long, y - 5 * rem, long, 10 * rem, 0.8)
    }
    const isKnown = w !== null && w !== undefined, text = (least && w !== null ? "≥ " : "") + exact(w)
    write(context, text, right(0), y + 1, isKnown ? skin.ink : skin.muted, "right", { font: `${13 * rem}px ${family}` })
    if (layout.each && isKnown) heads.forEach((weight, at) => {
      write(context, exact(weight), right(at + 1), y + 1, skin.heads[settings.maps[at] % 8], "right")
    })
  }
}
