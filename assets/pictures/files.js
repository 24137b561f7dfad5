/* A picture as a file that is made for slides: wide enough, with a title above it, and below it its caption, where its
   numbers come from, and the link that shows it again. */

import { denser, density } from "./canvas.js"
import { contextOf, packed } from "./paint.js"

const FILE_WIDTH = 1600 // px, the least width of a file
const FILE_EDGE = 20 // around the picture, in pixels at a root font of 16

/** @typedef {{ text: string, x?: number, y: number, size: number, weight: number, colour: string }} FileLine a line of words,
 * where its middle is, and how far to the right of the picture's edge it begins
 * @typedef {{ width: number, height: number, edge: number, top: number, lines: FileLine[], paper: string, family: string }} Frame
 * what stands around a picture, in CSS pixels; the picture begins at (edge, top) */

/** How many pixels a file needs to one CSS pixel of a picture of this width.
 * @param {number} width */
export const densityFor = width => Math.max(Math.ceil(devicePixelRatio), Math.ceil(FILE_WIDTH / (width + 2 * FILE_EDGE)))

/** The words around a picture of this size.
 * @param {HTMLElement} root @param {{ width: number, height: number }} picture
 * @param {FileWords} words @returns {Frame} */
export function frameOf(root, { width, height }, words) {
  const around = wordsAround(root), { title = around.title, caption = around.caption, link = location.href, foot = "" } = words
  const { weights = around.weights } = words
  const style = getComputedStyle(root), family = style.fontFamily, pen = contextOf(new OffscreenCanvas(1, 1))
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, edge = FILE_EDGE * rem
  /** @param {string} name */
  const colour = name => style.getPropertyValue(name).trim()
  const ink = colour("--st-text-color"), muted = colour("--muted") || ink
  /** @type {FileLine[]} */
  const lines = []
  let y = edge
  /** @param {string} text @param {string} glue @param {number} size @param {number} weight @param {string} colour */
  function write(text, glue, size, weight, colour) {
    pen.font = `${weight} ${size * rem}px ${family}`
    for (const line of packed(text.split(glue), glue, each => pen.measureText(each).width <= width)) {
      lines.push({ text: shortened(line, width, pen), y: y + 0.7 * size * rem, size: size * rem, weight, colour })
      y += 1.4 * size * rem
    }
  }
  if (title) write(title, " ", 22, 600, ink)
  const top = title ? y + 10 * rem : edge
  y = top + height + 12 * rem
  let x = 0
  pen.font = `600 ${14 * rem}px ${family}`
  for (const { name, colour } of words.legend ?? []) {
    const text = `■ ${name}`, across = pen.measureText(text).width + 16 * rem
    if (x && x + across > width) { x = 0; y += 20 * rem }
    lines.push({ text, x, y: y + 8 * rem, size: 14 * rem, weight: 600, colour })
    x += across
  }
  if (x) y += 24 * rem
  for (const [i, line] of (words.derived ?? []).entries()) write(line, " ", 15, i ? 400 : 600, ink)
  if (words.derived) y += 8 * rem
  if (caption) write(caption, " ", 15, 400, ink)
  const source = [weights, foot].filter(Boolean).join(" · ")
  if (source) write(source, " · ", 13, 400, muted)
  if (link.startsWith("http")) write(link, "", 13, 400, muted) // whole, or it could not be followed
  return { width: width + 2 * edge, height: y + edge - 8 * rem, edge, top, lines, paper: colour("--st-background-color"), family }
}

/** What the page says of a picture: its panel's title and sentence, and which weights the page shows; nothing where it stands
 * alone. @param {HTMLElement} root */
function wordsAround(root) {
  const inside = root.getRootNode(), panel = (inside instanceof ShadowRoot ? inside.host : root).closest('[class*="st-key-panel_"]')
  /** @param {ParentNode | null | undefined} where @param {string} place */
  const said = (where, place) => where?.querySelector(place)?.textContent?.trim() ?? ""
  const weights = panel ? said(document, ".st-key-_facts button p") || said(document, ".badge") : ""
  return { title: said(panel, "[data-words^=title_]"), caption: said(panel, "[data-words^=said_]"), weights }
}

/** A text that is too long for its line ends in an ellipsis.
 * @param {string} text @param {number} width @param {Context | OffscreenCanvasRenderingContext2D} pen */
function shortened(text, width, pen) {
  if (pen.measureText(text).width <= width) return text
  let count = text.length
  while (count && pen.measureText(text.slice(0, count) + "…").width > width) count--
  return text.slice(0, count) + "…"
}

/** The picture within its frame, as the address of a PNG.
 * @param {CanvasImageSource} picture @param {{ width: number, height: number }} size in CSS pixels @param {Frame} frame
 * @param {number} scale */
export function asPng(picture, size, { width, height, edge, top, lines, paper, family }, scale) {
  const file = document.createElement("canvas"), context = contextOf(file)
  file.width = Math.ceil(width * scale)
  file.height = Math.ceil(height * scale)
  context.scale(scale, scale)
  context.fillStyle = paper
  context.fillRect(0, 0, width, height)
  if (size.width && size.height) context.drawImage(picture, edge, top, size.width, size.height)
  context.textBaseline = "middle"
  for (const { text, x = 0, y, size, weight, colour } of lines) {
    context.font = `${weight} ${size}px ${family}`
    context.fillStyle = colour
    context.fillText(text, edge + x, y)
  }
  return file.toDataURL()
}

/** @param {string} href @param {string} name */
export const download = (href, name) => Object.assign(document.createElement("a"), { download: name, href }).click()

/** Save a picture that lies on a canvas. It is drawn again with as many pixels as the file needs, and once more as it was.
 * @param {PictureRoot} root @param {string} name @param {FileWords} words
 * @param {{ width: number, draw: () => void, sheet: () => HTMLCanvasElement }} picture its width on the page, how it is
 * drawn, and the canvas that holds it then, `density()` pixels to one of the page */
export function save(root, name, words, { width, draw, sheet }) {
  denser(densityFor(width), () => {
    draw()
    const canvas = sheet(), size = { width: canvas.width / density(), height: canvas.height / density() }
    download(asPng(canvas, size, frameOf(root, size, words), density()), name)
  })
  draw()
}
