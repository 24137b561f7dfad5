/* How a step is painted: a row for each candidate, from its logit to what is left of its probability; beside them the bar of
   all that is left, from 0 to 1, with the random number on it. */

import { clamp, percent, rounded } from "../../pictures/paint.js"
import { fillBox, line, maskedBox, write } from "../../pictures/pen.js"
import { label } from "./text_flow.js"

const ROW = 24, HEAD = 40, NARROW = 560 // pixels at a root font of 16
const BAR = 0.16 // of the width, that the cumulative bar and its words have

/** @param {number} value */
const signed = value => rounded(value, 2)

/** How a token came about, in words. @param {WriteHeader} header @param {WriteStep} step @param {Candidate} [candidate] */
export function inWords({ sampling, pieces }, step, candidate) {
  if (candidate) {
    const { logit, share, final, cut } = candidate
    const before = `logit ${signed(logit)}, ${percent(share)} at temperature ${sampling.temperature}`
    if (sampling.greedy) return before
    return `${before}, ${cut ? `cut by ${cut}` : `${percent(final)} of what is left`}`
  }
  const name = `“${pieces[step.token]}”`
  if (step.forced) return `${name} was put here; its probability was ${percent(step.share)}.`
  if (sampling.greedy) return `${name} is the likeliest, with ${percent(step.share)}.`
  return `${name}: the random number ${rounded(step.number, 4, 1)} falls between ${rounded(step.begin, 4, 1)} and ${rounded(step.end, 4, 1)}.`
}

/** @param {Skin} skin @param {WriteStep} step @param {number} width */
export function heightOf({ rem }, step, width) {
  const below = width < NARROW * rem ? 64 : 0
  return Math.ceil((HEAD + ROW * step.candidates.length + 10 + below) * rem)
}

/** Where things stand. @param {WriteScene} scene @param {number} height */
function layOut({ skin: { rem }, width, step, header }, height) {
  const narrow = width < NARROW * rem, below = narrow ? 64 * rem : 0
  const row = (height - HEAD * rem - 10 * rem - below) / step.candidates.length
  const bar = narrow || header.sampling.greedy ? 0 : Math.max(170 * rem, BAR * width)
  const name = Math.min(150 * rem, (width - bar) * 0.24), rest = width - bar - name, gap = 12 * rem
  const columns = narrow ? 2 : 3
  const wide = (rest - gap * columns) / columns
  return { narrow, row, bar, name, gap, wide, top: HEAD * rem, below }
}

/** @param {WriteScene} scene @param {number} row @param {number} height */
export function rowBox(scene, row, height) {
  const { row: high, top, name, bar } = layOut(scene, height)
  return { x: name + (scene.width - bar - name) / 2, y: top + row * high, h: high }
}

/** The candidate under the hand, -1 for none. @param {WriteScene | undefined} scene @param {MouseEvent} event
 * @param {HTMLCanvasElement} canvas */
export function rowAt(scene, event, canvas) {
  if (!scene) return -1
  const { row, top, bar } = layOut(scene, canvas.clientHeight), at = Math.floor((event.offsetY - top) / row)
  return event.offsetX < scene.width - bar && at >= 0 && at < scene.step.candidates.length ? at : -1
}

/** @param {WriteScene} scene @param {number} height */
export function paintStep(scene, height) {
  const { context, skin, step, header, width, lit } = scene, { rem, family } = skin, places = layOut(scene, height)
  const { narrow, row, name, gap, wide, top, bar } = places, { sampling } = header
  const size = Math.round(14 * rem)
  const at = sampling.greedy || sampling.temperature === 1 || narrow ? "" : ` at temperature ${sampling.temperature}`
  const heads = [...narrow ? [] : ["logit"], `probability${at}`, sampling.greedy ? "the likeliest is taken" : "after the cuts"]
  context.font = `600 ${size}px ${family}`
  write(context, "token", name - 8 * rem, top / 2, skin.muted, "right")
  heads.forEach((head, i) => write(context, head, name + i * (wide + gap), top / 2, skin.muted, "left", { room: wide }))
  const logits = step.candidates.map(({ logit }) => logit), high = Math.max(...logits), low = Math.min(...logits, high - 1)
  const most = Math.max(...step.candidates.map(({ share }) => share))
  const left = Math.max(...step.candidates.map(({ final }) => final), most)
  step.candidates.forEach((candidate, i) => {
    const y = top + i * row, isIt = candidate.id === step.token
    if (isIt) fillBox(context, skin.ring, 0, y, width - bar, row - 1, 0.28)
    else if (i === lit) fillBox(context, skin.rule, 0, y, width - bar, row - 1, 0.5)
    const font = `${isIt ? 600 : 400} ${size}px ${family}`, rank = candidate.rank > i ? `#${candidate.rank + 1} ` : ""
    write(context, rank + label(candidate.piece), name - 8 * rem, y + row / 2, skin.ink, "right", { font, room: name - 10 * rem })
    const { logit, share, final, cut } = candidate, isCut = false
    const columns = [
      ...narrow ? [] : [{ length: 0.15 + 0.85 * (logit - low) / (high - low), text: signed(logit), colour: skin.muted, isCut }],
      { length: share / most, text: percent(share), colour: skin.query, isCut },
      { length: final / left, text: cut ? `cut by ${cut}` : percent(final), colour: skin.result, isCut: Boolean(cut) },
    ]
    columns.forEach(({ length, text, colour, isCut }, column) => {
      const x = name + column * (wide + gap), words = 74 * rem, room = wide - words, w = Math.max(1, length * room)
      if (isCut) maskedBox(context, skin, x, y + row * 0.22, 18 * rem, row * 0.5)
      else fillBox(context, colour, x, y + row * 0.22, w, row * 0.5, column === heads.length - 3 ? 0.45 : 0.85)
      write(context, text, x + (isCut ? 18 * rem : w) + 6 * rem, y + row / 2, skin.ink, "left", { room: words + room - w })
    })
  })
  if (sampling.greedy) return
  if (narrow) across(scene, height - places.below)
  else upright(scene, places, height)
}

/** The segments of the bar, from 0 on: the candidates that are left, as far as they follow each other, and the others as one.
 * @param {WriteStep} step */
function segments(step) {
  let sum = 0
  const named = step.candidates.filter(({ rank, final }, i) => rank === i && final > 0).map(candidate => {
    const begin = sum
    sum += candidate.final
    return { begin, end: sum, candidate }
  })
  return { named, sum: Math.min(1, sum) }
}

/** @param {WriteScene} scene @param {ReturnType<typeof layOut>} places @param {number} height */
function upright({ context, skin, step, width }, { bar, top }, height) {
  const { rem, family } = skin, x = width - bar + 56 * rem, w = 44 * rem, high = height - top - 14 * rem, size = Math.round(13 * rem)
  const y = (/** @type {number} */ share) => top + share * high
  const { named, sum } = segments(step)
  /** @param {string} text @param {number} begin @param {number} end @param {string} colour */
  const beside = (text, begin, end, colour) =>
    write(context, text, x + w + 6 * rem, (y(begin) + y(end)) / 2, colour, "left", { room: width - x - w - 6 * rem })
  write(context, "the draw", width - bar + 12 * rem, top / 2, skin.muted, "left", { font: `600 ${Math.round(14 * rem)}px ${family}` })
  context.font = `${size}px ${family}`
  for (const { begin, end, candidate } of named) {
    const isIt = candidate.id === step.token && !step.forced
    fillBox(context, skin.result, x, y(begin), w, Math.max(0.5, y(end) - y(begin) - 1), isIt ? 0.95 : 0.35)
    if (y(end) - y(begin) > size) beside(label(candidate.piece), begin, end, skin.ink)
  }
  if (sum < 0.9995) {
    const isIt = step.rank >= named.length && !step.forced
    fillBox(context, skin.masked, x, y(sum), w, y(1) - y(sum))
    if (isIt) fillBox(context, skin.result, x, y(step.begin), w, Math.max(2, y(step.end) - y(step.begin)))
    if (y(1) - y(sum) > size) beside(`${Math.max(0, step.left[2] - named.length)} more`, sum, 1, skin.muted)
  }
  const at = y(step.number)
  line(context, skin.ink, 2, [x - 8 * rem, at], [x + w, at])
  const middle = clamp(at, top + 6 * rem, height - 20 * rem)
  write(context, rounded(step.number, 3, 1), x - 10 * rem, middle, skin.ink, "right", { font: `600 ${size}px ${family}` })
}

/** The bar across, which lies below the rows on phones. @param {WriteScene} scene @param {number} top */
function across({ context, skin, step, width }, top) {
  const { rem, family } = skin, size = Math.round(13 * rem), y = top + 30 * rem, high = 22 * rem
  const x = (/** @type {number} */ share) => share * width
  const { named, sum } = segments(step)
  const words = `random number ${rounded(step.number, 3, 1)}`, align = step.number > 0.5 ? "right" : "left"
  write(context, words, x(step.number), top + 14 * rem, skin.ink, align, { font: `600 ${size}px ${family}` })
  for (const { begin, end, candidate } of named) {
    const alpha = candidate.id === step.token && !step.forced ? 0.95 : 0.35
    fillBox(context, skin.result, x(begin), y, Math.max(0.5, x(end) - x(begin) - 1), high, alpha)
  }
  if (sum < 0.9995) fillBox(context, skin.masked, x(sum), y, width - x(sum), high)
  if (step.rank >= named.length && !step.forced)
    fillBox(context, skin.result, x(step.begin), y, Math.max(2, x(step.end) - x(step.begin)), high)
  line(context, skin.ink, 2, [x(step.number), y - 6 * rem], [x(step.number), y + high])
}
