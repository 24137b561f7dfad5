/* How keys and values are laid out and painted: a row a token, a column a number, the heads side by side. */

import { image, palette, rounded, word } from "../../pictures/paint.js"
import { colourBar, fillBox, outlineBox, write } from "../../pictures/pen.js"

/* In pixels at a root font of 16: the largest row, the gap between heads and between the two maps, what stands above a map and
   below it, the widest name of a token, the least row that has a name of its own, and rows where there is no limit. */
const ROW = 22, BETWEEN = 5, APART = 28, ABOVE = 44, BELOW = 30, NAME = 104, NAMED = 13, TALL = 300
const SIDES = /** @type {["key", "value"]} */ (["key", "value"])

/** How a number is written. @param {number} value */
export const written = value => rounded(value, 3)

/** Where everything stands.
 * @param {KeptHeader} header @param {number} width @param {Skin} skin @param {Room} room @param {Context} context */
export function layOut(header, width, skin, { high, fill }, context) {
  const { rem } = skin, isStacked = width < 620 * rem, most = Math.max(1, ...header.parts.map(part => part.rows))
  context.font = `${13 * rem}px ${skin.family}`
  const longest = Math.max(0, ...header.tokens.map(name => context.measureText(name).width))
  const gutter = Math.min(longest, NAME * rem) + 34 * rem
  const each = (high === Infinity ? TALL * rem * (isStacked ? 1 : 1.6) : isStacked ? high / 2 : high) - (ABOVE + BELOW) * rem
  const row = Math.min(Math.max(each, 80) / most, (fill ? 2 : 1) * ROW * rem)
  const across = isStacked ? width - gutter : (width - gutter - APART * rem) / 2
  const slice = (across - (header.heads - 1) * BETWEEN * rem) / header.heads
  const whole = ABOVE * rem + most * row + BELOW * rem
  const maps = SIDES.map((role, side) => ({
    role,
    x: isStacked ? gutter : gutter + side * (across + APART * rem),
    y: ABOVE * rem + (isStacked ? side * whole : 0),
    named: isStacked || !side,
  }))
  return { maps, row, most, across, slice, step: slice + BETWEEN * rem, gutter, height: whole * (isStacked ? 2 : 1) }
}

/** The numbers of each context as images in the colours of the mode.
 * @param {KeptHeader} header @param {Float32Array} numbers @param {Skin} skin */
export function imagesOf(header, numbers, skin) {
  const words = palette(skin.signed).map(word)
  let begin = 0
  return header.parts.map(({ rows }) => header.scales.map(({ high }) => {
    const part = numbers.subarray(begin, begin += rows * header.width)
    return image(header.width, rows, at => words[Math.round(127.5 * (1 + part[at] / high))])
  }))
}

/** What is stored at the step on screen. @param {KeptScene} scene */
export function paint(scene) {
  const { context, header, skin, layout } = scene, { rem } = skin
  fillBox(context, skin.paper, 0, 0, context.canvas.width, layout.height)
  const step = header.steps[scene.at]
  if (!step) return
  const before = header.steps[scene.at - 1], fresh = before?.part === step.part ? before.rows : 0
  for (const [side, map] of layout.maps.entries()) {
    const colour = skin[map.role], name = map.role === "key" ? "Keys" : "Values", tall = step.rows * layout.row
    const heading = { font: `600 ${15 * rem}px ${skin.family}` }
    write(context, `${name} of layer ${header.layer}`, map.x, map.y - 32 * rem, colour, "left", heading)
    const picture = scene.images[step.part][side]
    for (let head = 0; head < header.heads; head++) {
      const x = map.x + head * layout.step, wide = header.width / header.heads
      const says = layout.slice > (header.owner ? 120 : 46) * rem ? `${header.owner ?? "head"} ${head + 1}` : `${head + 1}`
      write(context, says, x + layout.slice / 2, map.y - 11 * rem, skin.muted, "center", { font: `${13 * rem}px ${skin.family}` })
      context.imageSmoothingEnabled = layout.row < 1 || layout.slice < wide
      context.drawImage(picture, head * wide, 0, wide, step.rows, x, map.y, layout.slice, tall)
      outlineBox(context, skin.rule, 1, x - .5, map.y - .5, layout.slice + 1, layout.most * layout.row + 1)
    }
    // What this step has added:
    fillBox(context, colour, map.x - 6 * rem, map.y + fresh * layout.row, 3 * rem, (step.rows - fresh) * layout.row)
    if (map.named) nameRows(scene, map.x - 10 * rem, map.y, fresh)
    const empty = (layout.most - step.rows) * layout.row
    if (empty > 24 * rem) {
      const middle = map.y + tall + empty / 2
      write(context, "not read yet", map.x + layout.across / 2, middle, skin.muted, "center", { font: `${14 * rem}px ${skin.family}` })
    }
    const { lowText, highText } = header.scales[side], bar = Math.min(170 * rem, layout.across - 150 * rem)
    context.font = `${13 * rem}px ${skin.family}`
    const edge = context.measureText(lowText).width + 6
    const foot = map.y + layout.most * layout.row + 12 * rem
    colourBar(context, skin, skin.signed, { x: map.x + edge, y: foot, w: Math.max(40, bar) }, lowText, highText)
  }
}

/** Names of tokens, as many as have room; those of the prompt are paler. @param {KeptScene} scene
 * @param {number} x @param {number} y @param {number} fresh */
function nameRows({ context, header, skin, layout, at }, x, y, fresh) {
  const { rem } = skin, step = header.steps[at], { begin } = header.parts[step.part], every = Math.ceil(NAMED * rem / layout.row)
  const last = step.rows - 1
  for (let row = 0; row < step.rows; row++) {
    if (row !== last && (row % every || last - row < every)) continue
    const isPrompt = begin + row < header.prompt, size = 13 * rem
    const font = `${row >= fresh ? 600 : 400} ${size}px ${skin.family}`
    const name = `${header.tokens[begin + row]} ${begin + row + 1}`
    const colour = isPrompt ? skin.muted : skin.ink
    write(context, name, x, y + (row + .5) * layout.row, colour, "right", { font, room: layout.gutter - 12 * rem })
  }
}

/** The cell at a place of the canvas, if something is stored there.
 * @param {KeptScene} scene @param {number} x @param {number} y @returns {KeptCell | null} */
export function under({ header, layout, at }, x, y) {
  const step = header.steps[at], wide = header.width / header.heads
  for (const [side, map] of layout.maps.entries()) {
    const row = Math.floor((y - map.y) / layout.row), head = Math.floor((x - map.x) / layout.step)
    const within = (x - map.x - head * layout.step) / layout.slice * wide
    if (!step || row < 0 || row >= step.rows || head < 0 || head >= header.heads || within >= wide) continue
    return { side, row, column: head * wide + Math.floor(within) }
  }
  return null
}

/** Where a cell is. @param {KeptScene} scene @param {KeptCell} cell @returns {Box} */
export function boxOf({ header, layout }, { side, row, column }) {
  const wide = header.width / header.heads, head = Math.floor(column / wide), map = layout.maps[side], w = layout.slice / wide
  return { x: map.x + head * layout.step + (column % wide) * w, y: map.y + row * layout.row, w, h: layout.row }
}

/** A cell in words. @param {KeptScene} scene @param {KeptCell} cell */
export function read({ header, numbers, at }, { side, row, column }) {
  const step = header.steps[at], { begin, rows } = header.parts[step.part], wide = header.width / header.heads
  const from = header.parts.slice(0, step.part).reduce((sum, part) => sum + 2 * part.rows, 0) * header.width
  const value = numbers[from + (side * rows + row) * header.width + column], place = begin + row
  const whence = place < header.prompt ? "of the prompt" : `written at step ${place - header.prompt + 1}`
  return `${SIDES[side]} of “${header.tokens[place]}”, token ${place + 1}, ${whence}\n` +
    `${header.owner ?? "head"} ${Math.floor(column / wide) + 1}, number ${column % wide + 1} of ${wide}: ${written(value)}`
}

/** Outline the cell that is read, and its row. @param {KeptScene} scene @param {KeptCell} cell */
export function lightUp(scene, cell) {
  const { context, skin, layout } = scene, box = boxOf(scene, cell), map = layout.maps[cell.side]
  outlineBox(context, skin.ink, 1, map.x - 1, box.y - .5, layout.across + 2, Math.max(2, box.h) + 1)
  outlineBox(context, skin.ink, 2, box.x - 1, box.y - 1, Math.max(3, box.w) + 2, Math.max(3, box.h) + 2)
}
