/* Where the parts of a graph stand: columns are tokens, rows are parts of layers, from the tokens up to the logit. Rows
   without a node have no room, nor have the tokens of a long text that are far from all nodes. All numbers are CSS pixels. */

import { clamp } from "../../pictures/paint.js"

/* Of a root font of 16: the least and the largest radius of a node, also on phones; the radius that holds a letter; the
   least width of a column, also on phones, the most, and that of a column with many nodes; the gap between nodes; the
   height of the logit, and of the legend; the width of a gap in a long text; the height of a graph in endless room. */
const SMALLEST = 4.5, LARGEST = 19, ON_PHONES = 12, LETTERED = 8.5, COLUMN = 27, NARROW = 20, WIDEST = 120, CROWDED = 230
const BESIDE = 4, LOGIT = 48, LEGEND = 30, MORE = 16, HIGH = 860
const SMALL = 13, NORMAL = 14 // sizes of letters
const MANY = 6, SCROLLED = 96 // nodes of a column that is crowded, and its width in a graph that is scrolled
const FAR = 3 // tokens side by side that have no node
const BOLD = 1.08 // how much wider bold letters are

/** @typedef {{ at: number, x: number, w: number, name: string }} GraphColumn a token, or with `at` -1 a gap
 * @typedef {{ y: number, h: number, name: string }} GraphRow
 * @typedef {{ y: number, h: number }} GraphBand a layer
 * @typedef {{ stack: number, y: number, h: number, turn: "level" | "slanted" | "upright", columns: GraphColumn[] }} GraphFoot
 * @typedef {{ x: number, y: number, r: number, beside: boolean, line: string }} GraphPlace `beside`: its letter has no room
 * within; `line`: nodes of the same row have the same
 * @typedef {{ width: number, rem: number, high: number, fill: boolean, measure: Measure }} GraphRoom
 * @typedef {{ largest: number, between: number, merged: boolean }} GraphSizes the largest radius, the gap between rows, and
 * whether a layer is a single row */

/** The largest graph that fits the room; while presenting it fills it.
 * @param {GraphData} data @param {GraphRoom} room */
export function layOutGraph(data, room) {
  const { width, rem, high, fill } = room, phone = width < 560 * rem, most = phone ? ON_PHONES : LARGEST
  const limit = Number.isFinite(high) ? Math.max(high, 300 * rem) : HIGH * rem
  /** @type {GraphSizes[]} */
  const ways = []
  for (const merged of [false, true]) {
    for (let r = most; r >= 10; r--) ways.push({ largest: r, between: 10, merged })
    for (let r = 10; r >= 8; r--) ways.push({ largest: r, between: 4, merged })
    if (merged) ways.push({ largest: 7.5, between: 0, merged })
  }
  /** @type {Map<GraphSizes, ReturnType<typeof arranged>>} */
  const tried = new Map(), all = ways.map(way => () => {
    const made = tried.get(way) ?? arranged(data, room, way)
    tried.set(way, made)
    return made
  })
  let made = first(all, ({ height, width }) => height <= limit && width <= room.width) ?? first(all, ({ height }) => height <= limit)
    ?? all[all.length - 1]()
  if (!fill) return made
  for (let r = made.largest + 1; r <= 36; r++) {
    const larger = arranged(data, room, { largest: r, between: 10 + r - most, merged: false })
    if (larger.height > limit || larger.width > made.width) break
    made = larger
  }
  return made
}

/** The first that is as it should be; null if none is.
 * @template Made @param {(() => Made)[]} makers @param {(made: Made) => boolean} isFine */
function first(makers, isFine) {
  for (const make of makers) {
    const made = make()
    if (isFine(made)) return made
  }
  return null
}

/** Everything in its place.
 * @param {GraphData} data @param {GraphRoom} room @param {GraphSizes} sizes */
function arranged(data, { width, rem, measure }, { largest, between, merged }) {
  const { nodes, header } = data, phone = width < 560 * rem, top = Math.max(...data.values.map(Math.abs), 1e-12)
  const radii = data.values.map(value => Math.max(SMALLEST, largest * Math.sqrt(Math.abs(value) / top)) * rem)
  const beside = radii.map(r => r < LETTERED * rem)
  const wide = nodes.map(({ letter }, i) => 2 * radii[i] + (beside[i] ? measure(letter, SMALL * rem) * BOLD + rem : 0) + BESIDE * rem)
  const rowsBy = header.stacks.map((stack, s) => rowsOf(data, stack, s, phone, merged))
  const named = rowsBy.flat().map(({ name }) => measure(name, SMALL * rem))
  const margin = Math.ceil(Math.max(...named, 0)) + 8 * rem
  const hasBiases = nodes.some(({ at }) => at < 0)
  const ofBiases = hasBiases ? Math.max(measure("biases", SMALL * rem), 2 * largest * rem) + 6 * rem : 0
  const left = margin + ofBiases
  const sides = header.stacks.map((stack, s) => columnsOf(data, stack, s, { room: width - left - 2, rem, phone, wide, merged }))
  const across = Math.max(width, left + 2 + Math.max(...sides.map(columns => columns.reduce((sum, { w }) => sum + w, 0))))
  /** @type {GraphPlace[]} */
  const places = []
  /** @type {GraphRow[]} */
  const rows = []
  /** @type {GraphFoot[]} */
  const feet = []
  /** @type {GraphBand[]} */
  const bands = []
  let y = 0 // from below; turned at the end
  header.stacks.forEach((_, s) => {
    const columns = sides[s]
    let x = left + Math.max(0, (across - left - columns.reduce((sum, { w }) => sum + w, 0)) / 2)
    for (const column of columns) {
      column.x = x + column.w / 2
      x += column.w
    }
    const foot = footOf(columns, { measure, rem, phone })
    feet.push({ stack: s, y, ...foot, columns })
    y += foot.h + 4 * rem
    let layer = NaN
    for (const row of rowsBy[s]) {
      if (row.layer !== layer) y += Number.isNaN(layer) ? 0 : Math.min(4, 2 + between) * rem
      const h = row.inside.length ? rowInto(row, s, columns, y) : 15 * rem
      rows.push({ y, h, name: row.name })
      const band = bands[bands.length - 1]
      if (row.inside.length && row.layer === layer) band.h += h
      else if (row.inside.length) bands.push({ y, h })
      layer = row.layer
      y += h
    }
    y += (s < header.stacks.length - 1 ? 14 : 12) * rem
  })
  const text = measure(header.asked.text, (NORMAL + 1) * rem) * BOLD + 24 * rem, w = Math.min(width - 4, Math.max(text, 90 * rem))
  const asked = sides[sides.length - 1].find(({ at }) => at === header.asked.at)?.x ?? across / 2
  const x = clamp(asked, 2 + w / 2, across - 2 - w / 2), reached = clamp(asked, x - w / 2 + 9 * rem, x + w / 2 - 9 * rem)
  const logit = { x, y: y + LOGIT * rem / 2, w, h: LOGIT * rem, reached }
  const foot = nodes.length ? LEGEND * rem : 0, height = Math.ceil(y + LOGIT * rem + foot + 4 * rem)
  /** @template {{ y: number, h?: number }} Part @param {Part} part */
  const turned = part => ({ ...part, y: height - foot - part.y - (part.h ?? 0) })
  return {
    width: across, height, rem, phone, margin, largest, size: { small: SMALL * rem, normal: NORMAL * rem },
    places: places.map(turned), rows: rows.map(turned), bands: bands.map(turned), feet: feet.map(turned),
    biases: hasBiases ? margin + ofBiases / 2 : null, logit: { ...logit, y: height - foot - logit.y }, legend: height - foot / 2 + 4 * rem,
  }

  /** Put the nodes of a row into its cells; returns how high it is.
   * @param {ReturnType<typeof rowsOf>[number]} row @param {number} s @param {GraphColumn[]} columns @param {number} from */
  function rowInto({ row, inside, part }, s, columns, from) {
    const line = `${s} ${row}`, ofToken = inside.filter(i => nodes[i].at >= 0)
    const cells = columns.map(({ at, x, w }) => ({ x, w, lines: broken(ofToken.filter(i => nodes[i].at === at), w) }))
    const tallest = Math.max(6 * rem, ...inside.map(i => radii[i])), each = 2 * tallest + BESIDE * rem
    const h = Math.max(1, ...cells.map(({ lines }) => lines.length)) * each + between * rem
    for (const { x, w, lines } of cells) lines.forEach((members, at) => {
      const used = members.reduce((sum, i) => sum + wide[i], 0), spare = Math.max(0, 0.84 * w - used)
      const gap = members.length > 1 ? Math.min(10 * rem, spare / members.length) : 0, whole = used + gap * (members.length - 1)
      const side = part === "network" ? 1 : part === "heads" ? -1 : 0 // so that an edge passes by what stands between
      let right = x + side * Math.min(0.16 * w, Math.max(0, (w - whole) / 2)) - whole / 2
      const middle = from + h / 2 + (at - (lines.length - 1) / 2) * each // in the order in which they write, from below
      for (const i of members) {
        places[i] = { x: right + BESIDE * rem / 2 + radii[i], y: middle, r: radii[i], beside: beside[i], line }
        right += wide[i] + gap
      }
    })
    for (const i of inside.filter(i => nodes[i].at < 0)) {
      places[i] = { x: margin + ofBiases / 2, y: from + h / 2, r: radii[i], beside: beside[i], line }
    }
    return h
  }

  /** Nodes of a cell in lines that fit its width.
   * @param {number[]} inside @param {number} w */
  function broken(inside, w) {
    /** @type {number[][]} */
    const lines = []
    let used = 0
    for (const i of inside) {
      if (!lines.length || used + wide[i] > w + 1) {
        lines.push([])
        used = 0
      }
      lines[lines.length - 1].push(i)
      used += wide[i]
    }
    return lines
  }
}

/** The columns of a stack, as wide as their nodes want it, as far as there is room.
 * @param {GraphData} data @param {GraphStack} stack @param {number} s
 * @param {{ room: number, rem: number, phone: boolean, wide: number[], merged: boolean }} sizes @returns {GraphColumn[]} */
function columnsOf({ nodes, header }, stack, s, { room, rem, phone, wide, merged }) {
  const narrowest = (phone ? NARROW : COLUMN) * rem, used = new Set(nodes.filter(node => node.stack === s).map(({ at }) => at))
  if (s === header.stacks.length - 1) used.add(header.asked.at)
  const isLong = stack.at.length * narrowest > room
  const wants = (isLong ? without(withGaps(stack), used) : withGaps(stack)).map(at => {
    if (at < 0) return { at, least: MORE * rem, most: MORE * rem, count: 0 }
    const here = nodes.map((_, i) => i).filter(i => nodes[i].stack === s && nodes[i].at === at)
    const cells = /** @type {Record<number, number>} */ ({})
    for (const i of here) {
      const row = rowIn(nodes[i], stack, merged)
      cells[row] = (cells[row] ?? 0) + wide[i]
    }
    const single = Math.max(0, ...here.map(i => wide[i]))
    return { at, least: Math.max(narrowest, single), most: Math.max(narrowest, ...Object.values(cells)), count: here.length }
  })
  /** @param {(want: typeof wants[number]) => number} of */
  const sum = of => wants.reduce((sum, want) => sum + of(want), 0)
  const least = sum(want => want.least), wanted = sum(want => want.most)
  const share = wanted > least ? clamp((room - least) / (wanted - least), 0, 1) : 1
  const wider = least > room, spare = Math.max(0, room - wanted) / sum(({ at, count }) => at < 0 ? 0 : 1 + 0.2 * count)
  return wants.map(({ at, least, most, count }) => {
    const isWider = wider && count >= MANY // it is scrolled in any case
    const w = isWider ? Math.min(most, SCROLLED * rem) : least + share * (most - least), end = (count >= MANY ? CROWDED : WIDEST) * rem
    if (at < 0) return { at, x: 0, w, name: "…" }
    return { at, x: 0, w: Math.max(w, Math.min(end, w + spare * (1 + 0.2 * count))), name: stack.tokens[stack.at.indexOf(at)] }
  })
}

/** How the names below the columns stand, and how high they are.
 * @param {GraphColumn[]} columns @param {Pick<GraphRoom, "measure" | "rem"> & { phone: boolean }} place
 * @returns {Pick<GraphFoot, "h" | "turn">} */
function footOf(columns, { measure, rem, phone }) {
  const widths = columns.map(({ name }) => measure(name, NORMAL * rem) * BOLD), longest = Math.max(...widths)
  if (columns.every(({ w, at }, i) => at < 0 || widths[i] <= w - 4 * rem)) return { h: 24 * rem, turn: "level" }
  const isNarrow = phone || columns.some(({ at, w }) => at >= 0 && w < 26 * rem)
  return isNarrow ? { h: longest + 10 * rem, turn: "upright" } : { h: 0.71 * longest + 18 * rem, turn: "slanted" }
}

/** The positions that are shown, with -1 where others lie between.
 * @param {GraphStack} stack */
const withGaps = ({ at }) => at.flatMap((position, i) => position > (i ? at[i - 1] : -1) + 1 ? [-1, position] : [position])

/** The same where there is little room: tokens in a row that have no nodes are a gap.
 * @param {number[]} shown @param {Set<number>} used */
function without(shown, used) {
  const isEmpty = shown.map(at => at < 0 || !used.has(at)), left = /** @type {number[]} */ ([])
  shown.forEach((at, i) => {
    let from = i, to = i
    while (isEmpty[from] && isEmpty[from - 1]) from--
    while (isEmpty[to] && isEmpty[to + 1]) to++
    const isGap = isEmpty[i] && (at < 0 || to - from + 1 >= FAR)
    if (!isGap || left[left.length - 1] !== -1) left.push(isGap ? -1 : at)
  })
  return left
}

/** The row of a node: where a layer is a single row, the first of its layer.
 * @param {GraphNode} node @param {GraphStack} stack @param {boolean} merged */
const rowIn = ({ row }, { parts }, merged) => merged && row ? row - (row - 1) % parts.length : row

/** The rows of a stack that have nodes, from below, and between them how many layers have none.
 * @param {GraphData} data @param {GraphStack} stack @param {number} s @param {boolean} phone @param {boolean} merged */
export function rowsOf({ nodes }, stack, s, phone, merged) {
  const { name, parts } = stack, short = /** @type {Record<string, string>} */ ({ heads: "", cross: " X", network: " N" })
  const here = nodes.map((node, i) => ({ i, row: rowIn(node, stack, merged) })).filter(({ i }) => nodes[i].stack === s)
  /** @type {{ row: number, name: string, part: string, layer: number, inside: number[] }[]} */
  const rows = []
  let before = -1
  for (const row of [...new Set(here.map(({ row }) => row))].sort((a, b) => a - b)) {
    const layer = row ? Math.floor((row - 1) / parts.length) : -1, part = row && !merged ? parts[(row - 1) % parts.length] : ""
    if (layer > before + 1) {
      const range = layer > before + 2 ? `${before + 2}–${layer}` : layer
      rows.push({ row: -1, name: phone ? "…" : `L${range} …`, part: "", layer: layer - 0.5, inside: [] })
    }
    const ofPart = !part ? "" : phone ? short[part] : ` ${part}`
    const called = row ? `L${layer + 1}${ofPart}` : name && phone ? name.slice(0, 3) : name || (phone ? "" : "tokens")
    rows.push({ row, name: called, part, layer, inside: here.filter(each => each.row === row).map(({ i }) => i) })
    before = layer
  }
  return rows
}
