/* How a graph is painted: bands for layers, curved edges, the nodes over them, and the logit above all. */

import { TO_LOGIT } from "./graph_data.js"
import { ink, palette, rounded } from "../../pictures/paint.js"
import { disc, fillBox, outlineBox, plate, stroke, turned, write } from "../../pictures/pen.js"

const LEAST = 0.42 // of the way from paper to the end of the scale: where colours begin, so that small numbers can be seen
const THINNEST = 0.75, THICKEST = 9, LIT = 1.75 // of lines, and of those that are lit at least, in pixels at a root font of 16
/** @type {Map<string, string[]>} */
const palettes = new Map()

/** The colour of a value: the further from 0, the further from the paper.
 * @param {Skin} skin @param {number} value @param {number} top the value at the end of the scale */
export function toneOf({ signed }, value, top) {
  const key = signed[0], colours = palettes.get(key) ?? palette(signed)
  palettes.set(key, colours)
  if (!value) return colours[128]
  const far = LEAST + (1 - LEAST) * Math.min(1, Math.abs(value) / top)
  return colours[Math.round(127.5 + 127.5 * Math.sign(value) * far)]
}

/** @param {GraphScene} scene */
export function paintGraph(scene) {
  const { context, layout, skin } = scene
  fillBox(context, skin.paper, 0, 0, layout.width, layout.height)
  ground(scene)
  lines(scene)
  circles(scene)
  logitPlate(scene)
  rowNames(scene)
  if (scene.data.nodes.length) scaleBar(scene)
}

/** @param {GraphScene} scene */
function ground({ context, layout, skin, data }) {
  const { rem, margin, size } = layout, font = `${size.small}px ${skin.family}`
  for (const { y, h } of layout.bands) fillBox(context, skin.rule, margin - 2 * rem, y, layout.width - margin, h, 0.28)
  for (const { stack, y, h, turn, columns } of layout.feet) {
    const isAsked = stack === data.header.stacks.length - 1
    for (const { at, x, name } of columns) {
      const asked = isAsked && at === data.header.asked.at, colour = asked ? skin.ink : skin.muted
      context.font = `${asked ? 700 : 400} ${size.normal}px ${skin.family}`
      if (turn === "level" || at < 0) write(context, name, x, y + (turn === "level" ? h / 2 : 10 * rem), colour, "center")
      else turned(context, x, y + 5 * rem, turn === "upright" ? Math.PI / 2 : Math.PI / 4, () => write(context, name, 0, 0, colour, "right"))
    }
  }
  if (layout.biases !== null) {
    write(context, "biases", layout.biases, layout.feet[0].y + 12 * rem, skin.muted, "center", { font })
  }
}

/** The names of the rows, at the left of what is seen of a graph that is wider than its place.
 * @param {GraphScene} scene */
function rowNames({ context, layout, skin, from }) {
  const { rem, margin, size } = layout, font = `${size.small}px ${skin.family}`
  if (from) { // over what is scrolled away
    const top = layout.logit.y + layout.logit.h / 2 + 2 * rem, foot = layout.feet[0]
    fillBox(context, skin.paper, from, top, margin - 2 * rem, foot.y + foot.h - top)
  }
  for (const { y, h, name } of layout.rows) write(context, name, from + margin - 7 * rem, y + h / 2 + 1, skin.muted, "right", { font })
}

/** Which nodes an edge in focus touches; null where nothing is in focus.
 * @param {GraphScene} scene */
function touched({ data, focus }) {
  if (focus === null) return null
  return new Set([focus, ...data.edges.flatMap(({ from, to }) => from === focus ? [to] : to === focus ? [from] : [])])
}

/** @param {GraphScene} scene */
function lines({ context, data, layout, skin, focus }) {
  const { rem } = layout, largest = Math.abs(data.edges[0]?.weight ?? 1)
  const isLit = (/** @type {GraphEdge} */ edge) => focus !== null && (edge.from === focus || edge.to === focus)
  const falling = [...data.edges].reverse(), order = [...falling.filter(edge => !isLit(edge)), ...falling.filter(isLit)]
  const plain = data.edges.length <= 40 ? 0.5 : data.edges.length <= 120 ? 0.42 : 0.34 // many would hide each other
  context.lineCap = "round"
  for (const edge of order) {
    const share = Math.abs(edge.weight) / largest, lit = isLit(edge)
    context.globalAlpha = lit ? 0.95 : focus !== null ? 0.07 : plain + 0.45 * share
    path(context, layout, edge)
    stroke(context, toneOf(skin, edge.weight, data.header.top), Math.max(lit ? LIT : 0, THINNEST + (THICKEST - THINNEST) * share) * rem)
  }
  context.globalAlpha = 1
  context.lineCap = "butt"
}

/** Begin the curve of an edge: it leaves a node upwards, and arrives at another from below. Between nodes that stand above
 * each other it bends around those in between.
 * @param {Context} context @param {GraphLayout} layout @param {GraphEdge} edge */
function path(context, { places, logit, rem, width, margin }, { from, to }) {
  const a = places[from], b = to < 0 ? { x: logit.reached, y: logit.y, r: logit.h / 2 } : places[to]
  const low = a.y - 0.7 * a.r, high = b.y + (to < 0 ? b.r : 0.7 * b.r), far = low - high
  const isSteep = Math.abs(a.x - b.x) < 0.25 * far && far > 50 * rem, bend = isSteep ? Math.min(46 * rem, 0.16 * far) : 0
  const isLeft = Math.min(a.x, b.x) - bend < margin, isRight = Math.max(a.x, b.x) + bend > width
  const aside = bend * (isLeft ? 1 : isRight || from % 2 ? -1 : 1)
  context.beginPath()
  if (Math.abs(far) < 2 * rem + a.r) { // within a row that holds a whole layer
    const over = Math.min(a.y - a.r, b.y - b.r)
    context.moveTo(a.x, a.y - a.r)
    context.quadraticCurveTo((a.x + b.x) / 2, over - 14 * rem, b.x, b.y - b.r)
    return
  }
  context.moveTo(a.x, low)
  context.bezierCurveTo(a.x + aside, low - 0.45 * far, b.x + aside, high + 0.45 * far, b.x, high)
}

/** @param {GraphScene} scene */
function circles(scene) {
  const { context, data, layout, skin, focus, locked } = scene, { rem, size } = layout, lit = touched(scene)
  layout.places.forEach(({ x, y, r, beside }, i) => {
    const colour = toneOf(skin, data.values[i], data.header.top), { letter } = data.nodes[i]
    disc(context, skin.paper, [x, y], r + 1.5 * rem)
    context.globalAlpha = !lit || lit.has(i) ? 1 : 0.28
    disc(context, colour, [x, y], r)
    circle(context, x, y, r)
    stroke(context, toneOf(skin, Math.sign(data.values[i]) * data.header.top, data.header.top), rem)
    const letters = `600 ${beside ? size.small : Math.min(size.normal, Math.max(size.small, r))}px ${skin.family}`
    if (beside) write(context, letter, x + r + 2 * rem, y + 1, skin.muted, "left", { font: letters })
    else write(context, letter, x, y + 0.5, ink(colour), "center", { font: letters })
    context.globalAlpha = 1
    if (i === locked) {
      circle(context, x, y, r + 3 * rem)
      stroke(context, skin.ringInk, 4.5 * rem)
      stroke(context, skin.ring, 2.5 * rem)
    } else if (i === focus) {
      circle(context, x, y, r + 2.5 * rem)
      stroke(context, skin.ink, 2 * rem)
    }
  })
}

/** @param {Context} context @param {number} x @param {number} y @param {number} r */
function circle(context, x, y, r) {
  context.beginPath()
  context.arc(x, y, r, 0, 7)
}

/** @param {GraphScene} scene */
function logitPlate({ context, data, layout, skin, focus }) {
  const { x, y, w, h } = layout.logit, { rem, size } = layout
  const edge = toneOf(skin, Math.sign(data.total) * data.header.top, data.header.top)
  plate(context, skin.paper, focus === TO_LOGIT ? skin.ink : edge, (focus === TO_LOGIT ? 3 : 2) * rem, x - w / 2, y - h / 2, w, h, 8 * rem)
  const bold = `700 ${size.normal + rem}px ${skin.family}`
  write(context, data.header.asked.text, x, y - 9 * rem, skin.ink, "center", { font: bold, room: w - 12 * rem })
  write(context, signedText(data.total), x, y + 11 * rem, skin.ink, "center", { font: `${size.normal}px ${skin.family}` })
}

/** The colours of the scale, as nodes and edges have them.
 * @param {GraphScene} scene */
function scaleBar({ context, data, layout, skin, from }) {
  const { rem, legend: y, size, margin, phone } = layout, { top, topText } = data.header, w = (phone ? 96 : 150) * rem, steps = 60
  context.font = `${size.small}px ${skin.family}`
  const low = `−${topText}`, x = from + (phone ? 2 : margin - 2 * rem) + context.measureText(low).width + 6 * rem
  for (let i = 0; i < steps; i++) { // each over the end of the one before it
    const value = ((i + 0.5) / steps * 2 - 1) * top, begin = i / steps * w
    fillBox(context, toneOf(skin, value, top), x + begin, y - 5 * rem, w - begin, 10 * rem)
  }
  outlineBox(context, skin.rule, 1, x, y - 5 * rem, w, 10 * rem)
  write(context, low, x - 6 * rem, y + 1, skin.muted, "right")
  write(context, `+${topText} ${phone ? "logits" : "logits; area of a node and width of an edge: size"}`, x + w + 6 * rem, y + 1, skin.muted)
}

/** A number with its sign: +3.10, −0.42.
 * @param {number} value */
export function signedText(value) {
  const text = rounded(value, Math.abs(value) >= 0.1 || !value ? 2 : 3)
  return value > 0 && !text.startsWith("<") ? `+${text}` : text
}
