/* How a step is painted: a row for each candidate, from its logit to what is left of its probability; beside them the bar of
   all that is left, from 0 to 1, with the random number on it. */

import { clamp, hatch, percent, rounded } from "../../pictures/paint.js"
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
  context.textBaseline = "middle"
  context.font = `600 ${size}px ${family}`
  context.fillStyle = skin.muted
  context.textAlign = "right"
  context.fillText("token", name - 8 * rem, top / 2)
  context.textAlign = "left"
  heads.forEach((head, i) => context.fillText(head, name + i * (wide + gap), top / 2, wide))
  const logits = step.candidates.map(({ logit }) => logit), high = Math.max(...logits), low = Math.min(...logits, high - 1)
  const most = Math.max(...step.candidates.map(({ share }) => share))
  const left = Math.max(...step.candidates.map(({ final }) => final), most)
  step.candidates.forEach((candidate, i) => {
    const y = top + i * row, isIt = candidate.id === step.token
    if (i === lit || isIt) {
      context.fillStyle = isIt ? skin.ring : skin.rule
      context.globalAlpha = isIt ? 0.28 : 0.5
      context.fillRect(0, y, width - bar, row - 1)
      context.globalAlpha = 1
    }
    context.font = `${isIt ? 600 : 400} ${size}px ${family}`
    context.fillStyle = skin.ink
    context.textAlign = "right"
    const isLater = candidate.rank > i
    context.fillText(`${isLater ? `#${candidate.rank + 1} ` : ""}${label(candidate.piece)}`, name - 8 * rem, y + row / 2, name - 10 * rem)
    context.textAlign = "left"
    const { logit, share, final, cut } = candidate, isCut = false
    const columns = [
      ...narrow ? [] : [{ length: 0.15 + 0.85 * (logit - low) / (high - low), text: signed(logit), colour: skin.muted, isCut }],
      { length: share / most, text: percent(share), colour: skin.query, isCut },
      { length: final / left, text: cut ? `cut by ${cut}` : percent(final), colour: skin.result, isCut: Boolean(cut) },
    ]
    columns.forEach(({ length, text, colour, isCut }, column) => {
      const x = name + column * (wide + gap), words = 74 * rem, room = wide - words, w = Math.max(1, length * room)
      if (isCut) {
        context.fillStyle = skin.masked
        context.fillRect(x, y + row * 0.22, 18 * rem, row * 0.5)
        const lines = new Path2D()
        hatch(lines, x, y + row * 0.22, 18 * rem, row * 0.5)
        context.strokeStyle = skin.hatch
        context.stroke(lines)
      } else {
        context.fillStyle = colour
        context.globalAlpha = column === heads.length - 3 ? 0.45 : 0.85
        context.fillRect(x, y + row * 0.22, w, row * 0.5)
        context.globalAlpha = 1
      }
      context.fillStyle = skin.ink
      context.fillText(text, x + (isCut ? 18 * rem : w) + 6 * rem, y + row / 2, words + room - w)
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
  context.font = `600 ${Math.round(14 * rem)}px ${family}`
  context.fillStyle = skin.muted
  context.textAlign = "left"
  context.fillText("the draw", width - bar + 12 * rem, top / 2)
  context.font = `${size}px ${family}`
  for (const { begin, end, candidate } of named) {
    const isIt = candidate.id === step.token && !step.forced
    context.fillStyle = skin.result
    context.globalAlpha = isIt ? 0.95 : 0.35
    context.fillRect(x, y(begin), w, Math.max(0.5, y(end) - y(begin) - 1))
    context.globalAlpha = 1
    if (y(end) - y(begin) > size) {
      context.fillStyle = skin.ink
      context.fillText(label(candidate.piece), x + w + 6 * rem, (y(begin) + y(end)) / 2, width - x - w - 6 * rem)
    }
  }
  if (sum < 0.9995) {
    context.fillStyle = skin.masked
    context.fillRect(x, y(sum), w, y(1) - y(sum))
    const isIt = step.rank >= named.length && !step.forced
    if (isIt) {
      context.fillStyle = skin.result
      context.fillRect(x, y(step.begin), w, Math.max(2, y(step.end) - y(step.begin)))
    }
    if (y(1) - y(sum) > size) {
      context.fillStyle = skin.muted
      context.fillText(`${Math.max(0, step.left[2] - named.length)} more`, x + w + 6 * rem, (y(sum) + y(1)) / 2, width - x - w - 6 * rem)
    }
  }
  const at = y(step.number)
  context.strokeStyle = skin.ink
  context.lineWidth = 2
  context.beginPath()
  context.moveTo(x - 8 * rem, at)
  context.lineTo(x + w, at)
  context.stroke()
  context.fillStyle = skin.ink
  context.textAlign = "right"
  context.font = `600 ${size}px ${family}`
  context.fillText(rounded(step.number, 3, 1), x - 10 * rem, clamp(at, top + 6 * rem, height - 20 * rem))
  context.textAlign = "left"
}

/** The bar across, which lies below the rows on phones. @param {WriteScene} scene @param {number} top */
function across({ context, skin, step, width }, top) {
  const { rem, family } = skin, size = Math.round(13 * rem), y = top + 30 * rem, high = 22 * rem
  const x = (/** @type {number} */ share) => share * width
  const { named, sum } = segments(step)
  context.font = `600 ${size}px ${family}`
  context.fillStyle = skin.ink
  context.textAlign = step.number > 0.5 ? "right" : "left"
  context.fillText(`random number ${rounded(step.number, 3, 1)}`, x(step.number), top + 14 * rem)
  for (const { begin, end, candidate } of named) {
    context.fillStyle = skin.result
    context.globalAlpha = candidate.id === step.token && !step.forced ? 0.95 : 0.35
    context.fillRect(x(begin), y, Math.max(0.5, x(end) - x(begin) - 1), high)
    context.globalAlpha = 1
  }
  context.fillStyle = skin.masked
  if (sum < 0.9995) context.fillRect(x(sum), y, width - x(sum), high)
  context.fillStyle = skin.result
  if (step.rank >= named.length && !step.forced) context.fillRect(x(step.begin), y, Math.max(2, x(step.end) - x(step.begin)), high)
  context.strokeStyle = skin.ink
  context.lineWidth = 2
  context.beginPath()
  context.moveTo(x(step.number), y - 6 * rem)
  context.lineTo(x(step.number), y + high)
  context.stroke()
  context.textAlign = "left"
}
