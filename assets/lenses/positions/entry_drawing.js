/* How the rows of entry.js are laid out and painted, in CSS pixels. A step is what came from the server; `layOut` adds
   {x, y, w} of its box. */

import { layersBand, line, plate, surface, write } from "../../pictures/pen.js"

const COLOURS = { A: 0, B: 1 } // of the heads' colours, as everywhere on the page

/** @param {number} rem */
const sizes = rem => ({
  box: 34 * rem, arrow: 16 * rem, title: 28 * rem, pad: 9 * rem, chip: 20 * rem, band: 8 * rem,
})

const SMALLEST = 13 / 16, LARGEST = 3 // how much smaller or larger letters and boxes are than they would be

/** The picture at a size that fits: enlarged where it is to fill its room, else at most at its usual size.
 * @param {Context} context @param {EntryHeader} header @param {number} width @param {Pick<Skin, "rem" | "family">} skin
 * @param {Room} room */
export function fitted(context, header, width, { rem, family }, { high, fill }) {
  /** @param {number} scale */
  const at = scale => ({ ...layOut(context, header, width, { rem: rem * scale, family }), rem: rem * scale })
  for (let scale = fill ? LARGEST : 1; scale > (fill ? 1 : SMALLEST); scale *= 0.97) {
    const picture = at(scale)
    if (picture.height <= high && widest(picture) <= width) return picture
  }
  return at(fill ? 1 : SMALLEST)
}

/** How far to the right boxes reach.
 * @param {ReturnType<typeof layOut>} picture */
const widest = ({ rows }) => Math.max(0, ...rows.flatMap(row => row.lines.flat().map(({ x, w }) => x + w)))

/** Boxes flow to the right and break into lines like words.
 * @param {Context} context @param {EntryHeader} header @param {number} width
 * @param {Pick<Skin, "rem" | "family">} skin */
export function layOut(context, header, width, { rem, family }) {
  const size = sizes(rem)
  let y = 0
  const rows = header.rows.map(row => {
    /** @type {EntryBox[][]} */
    const lines = [[]]
    let x = size.band
    for (const step of row.steps) {
      context.font = `600 ${15 * rem}px ${family}`
      const inner = context.measureText(step.text).width
      context.font = `${13 * rem}px ${family}`
      const chips = step.marks.reduce((sum, [side, name]) => sum + chipWidth(context, side, name, rem) + 4 * rem, 0)
      const w = Math.max(inner + 2 * size.pad, context.measureText(step.note).width + 4, chips)
      const after = step === row.steps.at(-1) ? 2 : size.arrow // to its right: the arrow, or the row's end
      if (x + w + after > width && lines[lines.length - 1].length) { lines.push([]); x = size.band + size.arrow }
      lines[lines.length - 1].push({ ...step, x, y: 0, w })
      x += w + size.arrow
    }
    const top = y
    y += size.title
    for (const line of lines) {
      const over = line.some(step => step.layer || step.marks.length) ? size.chip + 8 * rem : 6 * rem
      const under = line.some(step => step.note) ? 24 * rem : 10 * rem
      for (const step of line) step.y = y + over
      y += over + size.box + under
    }
    y += 8 * rem
    return { ...row, lines, top }
  })
  return { rows, height: y }
}

/** @param {"A" | "B"} side @param {string} name */
const chipText = (side, name) => `${side}: ${name}`
/** @param {Context} context @param {"A" | "B"} side @param {string} name @param {number} rem */
const chipWidth = (context, side, name, rem) => context.measureText(chipText(side, name)).width + 14 * rem

/** @param {Context} context @param {EntryRow} row @param {EntryHeader} header @param {Skin} skin */
export function paintRow(context, row, header, skin) {
  const { rem, family } = skin, size = sizes(rem)
  write(context, row.title, 0, row.top + 12 * rem, skin.ink, "left", { font: `600 ${15 * rem}px ${family}` })
  row.lines.forEach((line, i) => {
    band(context, line, header, skin, size, i === row.lines.findIndex(other => other.some(step => step.layer)))
    line.forEach((step, k) => {
      const last = k === line.length - 1
      if (i && !k) arrow(context, step.x - size.arrow, step.x, step.y + size.box / 2, skin)
      if (!last) arrow(context, step.x + step.w, line[k + 1].x, step.y + size.box / 2, skin)
      else if (i < row.lines.length - 1) arrow(context, step.x + step.w, step.x + step.w + size.arrow, step.y + size.box / 2, skin)
      box(context, step, skin, size)
    })
  })
}

/** What is repeated in each layer lies on a band.
 * @param {Context} context @param {EntryBox[]} line @param {EntryHeader} header @param {Skin} skin
 * @param {EntrySizes} size @param {boolean} first */
function band(context, line, { layers }, skin, size, first) {
  const inside = line.filter(step => step.layer)
  if (!inside.length) return
  const { rem, family } = skin, { x, y } = inside[0], last = inside[inside.length - 1], end = last.x + last.w
  layersBand(context, skin, x - size.band, y - 26 * rem, end - x + 2 * size.band, size.box + 34 * rem)
  context.font = `${13 * rem}px ${family}`
  const text = layers === 1 ? "1 layer" : `${layers} layers`, full = layers === 1 ? text : `${text}, each:`
  const fits = context.measureText(full).width <= end - x
  write(context, !first ? "…" : fits ? full : text, x, y - 13 * rem, skin.muted, "left", { room: end - x })
}

/** @param {Context} context @param {number} from @param {number} to @param {number} y @param {Skin} skin */
function arrow(context, from, to, y, { muted, rem }) {
  const head = 3.5 * rem, start = from + 2 * rem, end = to - 2 * rem
  line(context, muted, 1.5 * rem, [start, y], [end - head, y])
  surface(context, muted, [end, y], [end - 1.5 * head, y - head], [end - 1.5 * head, y + head])
}

/** A place where schemes can enter is dashed and pale as long as none does.
 * @param {Context} context @param {EntryBox} step @param {Skin} skin @param {EntrySizes} size */
function box(context, { text, note, marks, place, x, y, w }, skin, size) {
  const { rem, family } = skin, pale = place && !marks.length, colour = marks.length ? skin.heads[COLOURS[marks[0][0]]] : skin.muted
  context.setLineDash(pale ? [4 * rem, 4 * rem] : [])
  plate(context, skin.paper, colour, (marks.length ? 3 : 1) * rem, x, y, w, size.box, 6 * rem)
  context.setLineDash([])
  const font = `${pale ? 400 : 600} ${15 * rem}px ${family}`
  write(context, text, x + w / 2, y + size.box / 2 + 1, pale ? skin.muted : skin.ink, "center", { font })
  write(context, note, x + w / 2, y + size.box + 13 * rem, skin.muted, "center", { font: `${13 * rem}px ${family}` })
  let at = x
  for (const [side, name] of marks) at = chip(context, side, name, at, y - size.chip - 5 * rem, skin, size)
}

/** Which scheme enters here; its side is a letter too, not a colour alone.
 * @param {Context} context @param {"A" | "B"} side @param {string} name @param {number} x @param {number} y
 * @param {Skin} skin @param {EntrySizes} size */
function chip(context, side, name, x, y, skin, size) {
  const { rem } = skin, w = chipWidth(context, side, name, rem)
  context.setLineDash(side === "B" ? [5 * rem, 3 * rem] : []) // as B's lines are
  plate(context, skin.paper, skin.heads[COLOURS[side]], 2 * rem, x, y, w, size.chip, size.chip / 2)
  context.setLineDash([])
  write(context, chipText(side, name), x + w / 2, y + size.chip / 2 + 1, skin.ink, "center")
  return x + w + 4 * rem
}
