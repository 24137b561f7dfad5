/* The parts of the picture "surprise": a text as coloured tokens, what is told of one, and the text on a sheet for a file. */

import { fontOf, sheetOf } from "../../pictures/canvas.js"
import { make } from "../../pictures/elements.js"
import { clamp, grouped, ink, powered, rounded } from "../../pictures/paint.js"
import { fillBox, write } from "../../pictures/pen.js"
import { shown } from "./text_flow.js"

const PART = /^(<0x[0-9A-F]{2}>)+$/ // bytes that are no whole character
const WRITTEN = ".side b, .token, .start, .legend span, .detail b, .detail p, .detail li span, .detail output" // stands in a file, too

/** What is known of a token. @param {SurpriseHeader} header @param {Float32Array} numbers @param {SurprisePlace} at @returns {Rated} */
export function ratedAt({ sides, names, count }, numbers, { side, place }) {
  const wide = 4 + 2 * count, before = sides.slice(0, side).reduce((sum, { tokens }) => sum + tokens.length, 0)
  const [bits, share, rank, entropy, ...rest] = numbers.subarray((before + place) * wide, (before + place + 1) * wide)
  const likeliest = Array.from({ length: count }, (_, i) => ({ name: names[rest[i]] ?? "", share: rest[count + i] }))
  return { bits, share, rank, entropy, likeliest: likeliest.filter(({ share }) => !Number.isNaN(share)) }
}

/** A probability, with four digits that count. @param {number} share */
export const probability = share => share >= 0.001 ? share.toPrecision(4) : powered(share, 3)

/** A side as flowing text. @param {SurpriseSide} side @returns {SurpriseFlow} */
export function flowOf(side) {
  const text = make("p", { className: "flow", tabIndex: 0, dir: "auto" })
  text.setAttribute("role", "application")
  const spans = side.tokens.map((piece, place) => {
    const span = make("span", { className: PART.test(piece) ? "token part" : "token", textContent: shown(piece) })
    span.dataset.place = String(place)
    return span
  })
  text.append(...spans)
  return { element: make("div", { className: "side" }, make("b", { textContent: side.title }), text), text, spans }
}

/** Colour all tokens of a side. @param {SurpriseFlow} flow @param {Rated[]} rated @param {number} top @param {string[]} table */
export function colour({ spans }, rated, top, table) {
  for (const [place, span] of spans.entries()) {
    const { bits } = rated[place], isRated = !Number.isNaN(bits)
    span.classList.toggle("unrated", !isRated)
    const paint = isRated ? table[Math.round(255 * clamp(top ? bits / top : 0, 0, 1))] : ""
    span.style.background = paint
    span.style.color = paint ? ink(paint) : ""
  }
}

/** What is told of a token, for each side that has it.
 * @param {SurpriseHeader} header @param {SurprisePlace} at @param {{ side: SurpriseSide, rated: Rated }[]} told */
export function detail(header, { place }, told) {
  const label = told[0].side.labels[place]
  return told.map(({ side, rated }) => {
    const name = header.sides.length > 1 ? `${side.name}: ` : ""
    const head = make("b", { textContent: `${name}“${label}”, token ${place + 1} of ${side.tokens.length}` })
    if (Number.isNaN(rated.bits)) return make("div", {}, head, make("p", { textContent: "It has no probability: nothing stands before it." }))
    const words = `${rounded(rated.bits, 2)} bits · probability ${probability(rated.share)} · rank ${grouped(rated.rank)} of ${grouped(header.vocab)}`
    const list = make("ol", {}, ...rated.likeliest.map(({ name, share }, i) => row(name, share, rated.rank === i + 1 && share === rated.share)))
    const title = `The entropy of all probabilities in this place: ${rounded(rated.entropy, 2)} bits`
    const about = make("p", { textContent: words, title })
    return make("div", {}, head, about, list)
  })
}

/** @param {string} name @param {number} share @param {boolean} isIt */
function row(name, share, isIt) {
  const bar = make("i"), said = make("output", { textContent: probability(share) })
  bar.style.width = `${100 * share}%`
  return make("li", { className: isIt ? "it" : "" }, make("span", { textContent: name }), make("u", {}, bar), said)
}

/** The same in a sentence. @param {SurpriseHeader} header @param {SurprisePlace} at @param {{ side: SurpriseSide, rated: Rated }[]} told */
export const inWords = (header, at, told) => detail(header, at, told).map(element => {
  const [head, about, list] = element.children
  const rows = [...list?.children ?? []].map(line => [...line.children].map(part => part.textContent).filter(Boolean).join(" "))
  return [head.textContent, about.textContent, rows.length ? `Expected: ${rows.join("; ")}` : ""].filter(Boolean).join(". ")
}).join(". ")

/** All that is on screen, on a canvas of its own. @param {HTMLElement} root @param {Skin} skin */
export function poster(root, skin) {
  const place = root.getBoundingClientRect(), context = sheetOf(place.width, place.height, skin.paper)
  /** @param {DOMRect} box @param {string} colour */
  const fill = ({ left, top, width, height }, colour) => fillBox(context, colour, left - place.left, top - place.top, width, height)
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(WRITTEN))) {
    const style = getComputedStyle(element)
    if (style.visibility === "hidden") continue
    for (const box of element.getClientRects()) fill(box, style.backgroundColor)
    context.font = fontOf(element)
    for (const { text, x, y } of pieces(element)) write(context, text, x - place.left, y - place.top, style.color)
  }
  for (const bar of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".detail u, .detail u i"))) {
    fill(bar.getBoundingClientRect(), getComputedStyle(bar).backgroundColor)
  }
  const bar = root.querySelector(".legend i").getBoundingClientRect()
  const gradient = context.createLinearGradient(bar.left - place.left, 0, bar.right - place.left, 0)
  skin.weights.forEach((stop, i) => gradient.addColorStop(i / (skin.weights.length - 1), stop))
  context.fillStyle = gradient
  context.fillRect(bar.left - place.left, bar.top - place.top, bar.width, bar.height)
  return context.canvas
}

/** The text of an element where it stands: in one piece if it is in one line, else sign by sign. @param {HTMLElement} element */
function pieces(element) {
  const node = element.firstChild, text = element.textContent ?? "", lines = element.getClientRects()
  if (!node || node.nodeType !== Node.TEXT_NODE || !lines.length) return []
  if (lines.length === 1) return [{ text, x: lines[0].left, y: lines[0].top + lines[0].height / 2 }]
  const range = document.createRange()
  let at = 0
  return [...text].map(sign => {
    range.setStart(node, at)
    range.setEnd(node, at += sign.length)
    const { left, top, height } = range.getBoundingClientRect()
    return { text: sign === "\n" ? "" : sign, x: left, y: top + height / 2 }
  })
}
