/* How the stacks of diagram.js are laid out and painted, in CSS pixels, from the tokens at the bottom upwards. */

import { fillBox, layersBand, line, plate, ringAround, surface, write } from "../../pictures/pen.js"

const GAP = 28 // between two stacks, in pixels at a root font of 16, as all sizes here
const GUTTER = 26 // left of the boxes, for the residual connections
const NARROWEST = 148, WIDEST = 250 // of a box
const LEAST = 17, USUAL = 36, MOST = 62 // the height of a row: at least, where nothing limits it, where it fills the room
const TITLE = 26, HEADS = 20, END = 10 // above the boxes, and below them

/** @param {Context} context @param {DiagramHeader} header @param {number} width @param {Skin} skin @param {Room} room */
export function layOut(context, header, width, skin, { high, fill }) {
  const { rem } = skin, { stacks } = header
  const most = Math.max(...stacks.map(({ rows }) => rows.length)), ends = (TITLE + HEADS + END) * rem
  const fitting = high < Infinity ? (high - ends) / most : USUAL * rem
  const tall = Math.max(LEAST * rem, Math.min(fitting, (fill ? MOST : USUAL + 6) * rem))
  const least = (fill ? 13 : 12) * rem, size = Math.max(least, Math.min(0.42 * tall, (fill ? 22 : 15) * rem)) // of letters
  const small = Math.max(least, 0.87 * size)
  const gap = (stacks.length > 1 ? GAP : 0) * rem, each = (width - gap * (stacks.length - 1)) / stacks.length
  const height = Math.ceil(ends + most * tall)
  context.font = `${small}px ${skin.family}`
  const columns = columnsOf(context, header.columns, stacks.flatMap(({ rows }) => rows), each - (GUTTER + NARROWEST) * rem, rem)
  const taken = columns.reduce((sum, { width }) => sum + width, 0)
  const sides = stacks.map(({ title, rows }, i) => {
    const left = i * (each + gap)
    const w = Math.min(WIDEST * size / 15, each - GUTTER * rem - taken - 8 * rem)
    let right = left + GUTTER * rem + w
    const boxes = rows.map((row, k) => {
      const low = row.kind === "fold" || row.kind === "layer", space = Math.min(10 * rem, tall * 0.24)
      return { ...row, x: left + GUTTER * rem, y: height - END * rem - (k + 1) * tall + space / 2, w, h: tall - (low ? space / 2 : space) }
    })
    const spread = Math.min(40 * rem, Math.max(0, (each - GUTTER * rem - w - taken) / Math.max(1, columns.length)))
    const placed = columns.map(column => ({ ...column, right: right += column.width + spread }))
    return { title, left, boxes, columns: placed, right: Math.max(right, left + GUTTER * rem + w) }
  })
  return { sides, height, tall, size, small, least }
}

/** The columns that fit, the first ones first, with their long texts where these fit.
 * @param {Context} context @param {string[]} names @param {DiagramRow[]} rows @param {number} space @param {number} rem */
function columnsOf(context, names, rows, space, rem) {
  const widths = names.map((name, index) => /** @type {const} */ ([0, 1]).map(long =>
    14 * rem + Math.max(context.measureText(name).width, ...rows.map(({ cells }) => context.measureText(cells[index]?.[long] ?? "").width))))
  /** @type {{ name: string, index: number, long: 0 | 1, width: number }[]} */
  const columns = names.map((name, index) => ({ name, index, long: 1, width: widths[index][1] }))
  const taken = () => columns.reduce((sum, { width }) => sum + width, 0)
  while (columns.length && taken() > space) columns.pop()
  for (const column of columns) {
    const longer = widths[column.index][0]
    if (taken() - column.width + longer <= space) Object.assign(column, { long: 0, width: longer })
  }
  return columns
}

/** @param {Context} context @param {ReturnType<typeof layOut>} picture @param {Skin} skin */
export function paint(context, picture, skin) {
  const { sides, size, small, least, tall } = picture, { rem, family, ink, muted } = skin
  const font = `${small}px ${family}`
  for (const { title, left, boxes, columns, right: end } of sides) {
    const room = Math.max(boxes[0].w, end - left - GUTTER * rem) // above the columns nothing else stands in this line
    write(context, title, left + GUTTER * rem, 12 * rem, ink, "left", { font: `600 ${size}px ${family}`, room })
    for (const { name, right } of columns) write(context, name, right, (TITLE + HEADS / 2) * rem, muted, "right", { font })
    band(context, boxes, skin)
    boxes.forEach((box, k) => {
      if (k && box.kind !== "fold") arrow(context, box.x + box.w / 2, boxes[k - 1].y, box.y + box.h, skin)
      if (box.begins >= 0) bypass(context, box, boxes[box.begins], skin, tall)
    })
    for (const box of boxes) paintBox(context, box, skin, { size, small, least })
    for (const box of boxes) for (const { index, long, right } of columns) {
      write(context, box.cells[index]?.[long] ?? "", right, box.y + box.h / 2, box.picked ? ink : muted, "right", { font })
    }
  }
  if (sides.length > 1) across(context, sides[0], sides[1], skin)
}

/** The layers lie on a band.
 * @param {Context} context @param {DiagramBox[]} boxes @param {Skin} skin */
function band(context, boxes, skin) {
  const inside = boxes.filter(box => box.inside), { rem } = skin
  if (!inside.length) return
  const top = Math.min(...inside.map(({ y }) => y)), foot = Math.max(...inside.map(({ y, h }) => y + h)), { x, w } = inside[0]
  layersBand(context, skin, x - (GUTTER - 4) * rem, top - 3 * rem, w + (GUTTER + 2) * rem, foot - top + 6 * rem)
}

/** @param {Context} context @param {DiagramBox} box @param {Skin} skin @param {{ size: number, small: number, least: number }} letters */
function paintBox(context, { x, y, w, h, kind, text, mark, picked, sets }, skin, { size, small, least }) {
  const { rem, family } = skin, bare = kind === "tokens" || kind === "fold"
  if (!bare) {
    const wide = (kind === "norm" || kind === "sum" || kind === "layer" ? 1 : 2) * rem
    plate(context, skin.paper, colourOf(kind, skin), wide, x, y, w, h, 6 * rem)
    if (picked) ringAround(context, skin, { x: x - 2 * rem, y: y - 2 * rem, w: w + 4 * rem, h: h + 4 * rem }, 4 * rem, 2.5 * rem)
  }
  const colour = kind === "tokens" || (kind === "fold" && !Object.keys(sets).length) ? skin.muted : skin.ink
  context.font = `${bare || kind === "layer" ? 400 : 600} ${bare ? small : size}px ${family}`
  const marked = mark && context.measureText(`${text} ${mark}`).width > w - 16 * rem
  write(context, text, x + w / 2, y + h / 2 + (marked ? 0.12 * h : 0) + 0.5, colour, "center", { room: w - 8 * rem })
  if (kind === "fold" && Object.keys(sets).length) underline(context, text, x + w / 2, y + h / 2 + 0.6 * small, skin)
  if (mark) chip(context, mark, x + w + 4 * rem, y, skin, least, w / 2 - 8 * rem)
}

/** @param {Context} context @param {string} text @param {number} middle @param {number} y @param {Skin} skin */
function underline(context, text, middle, y, { muted, rem }) {
  const half = context.measureText(text).width / 2
  fillBox(context, muted, middle - half, y, 2 * half, rem)
}

/** What enters a box from outside, on its upper right corner: its name alone where more would reach the arrow.
 * @param {Context} context @param {string} text @param {number} right @param {number} y @param {Skin} skin
 * @param {number} least the size of the letters @param {number} most how wide it may be */
function chip(context, text, right, y, skin, least, most) {
  const { rem } = skin
  context.font = `600 ${least}px ${skin.family}`
  const long = context.measureText(text).width + 12 * rem, named = long > most ? text.split(" ")[0] : text
  const w = context.measureText(named).width + 12 * rem, h = 1.4 * least, x = right - w
  plate(context, skin.paper, skin.heads[1], 1.5 * rem, x, y - 0.55 * h, w, h, h / 2)
  write(context, named, x + w / 2, y - 0.05 * h + 0.5, skin.ink, "center")
}

/** @param {string} kind @param {Skin} skin */
const colourOf = (kind, skin) => ({
  self_attention: skin.query, cross_attention: skin.key, feed_forward: skin.value, position: skin.heads[1],
  embedding: skin.result, logits: skin.result, head: skin.result, token_types: skin.heads[1], transform: skin.result,
  pooler: skin.result,
})[kind] ?? skin.muted

/** An arrow upwards, from one box to the next.
 * @param {Context} context @param {number} x @param {number} from @param {number} to @param {Skin} skin */
function arrow(context, x, from, to, { muted, rem }) {
  line(context, muted, 1.5 * rem, [x, from], [x, to])
  head(context, muted, x, to, 0, rem)
}

/** The residual connection: it leaves the stream before the first box of the sub-layer, and comes back at the sum.
 * @param {Context} context @param {DiagramBox} sum @param {DiagramBox} first @param {Skin} skin @param {number} tall */
function bypass(context, sum, first, { muted, rem }, tall) {
  const x = sum.x - 13 * rem, low = first.y + first.h + Math.min(5 * rem, 0.12 * tall), high = sum.y + sum.h / 2
  line(context, muted, 1.5 * rem, [first.x + first.w / 2, low], [x, low], [x, high], [sum.x, high])
  head(context, muted, sum.x, high, 1, rem)
}

/** The encoder's output flows into each cross-attention of the decoder.
 * @param {Context} context @param {DiagramSide} encoder @param {DiagramSide} decoder @param {Skin} skin */
function across(context, encoder, decoder, { key, rem }) {
  const top = encoder.boxes[encoder.boxes.length - 1], x = decoder.left + 2 * rem, y = top.y - 5 * rem
  const middle = top.x + top.w / 2
  for (const box of decoder.boxes.filter(({ looks }) => looks)) {
    const to = box.y + 0.72 * box.h
    line(context, key, 2 * rem, [middle, top.y], [middle, y], [x, y], [x, to], [box.x, to])
    head(context, key, box.x, to, 1, rem)
  }
}

/** The head of an arrow, upwards, or turned by a quarter to the right.
 * @param {Context} context @param {string} colour @param {number} x @param {number} y @param {0 | 1} right @param {number} rem */
function head(context, colour, x, y, right, rem) {
  const long = 6 * rem, half = 3.5 * rem
  if (right) surface(context, colour, [x, y], [x - long, y - half], [x - long, y + half])
  else surface(context, colour, [x, y], [x - half, y + long], [x + half, y + long])
}
