/* What is on screen of elements, on a canvas of its own: boxes, their edges, and words where they stand. */

import { fontOf, sheetOf } from "../../pictures/canvas.js"
import { fillBox, outlineBox, write } from "../../pictures/pen.js"

/** @param {HTMLElement} root @param {Skin} skin @param {string} boxes the elements that have a ground or an edge
 * @param {string} words those that have words and no other elements */
export function posterOf(root, skin, boxes, words) {
  const place = root.getBoundingClientRect(), context = sheetOf(place.width, place.height, skin.paper)
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(boxes))) {
    const { left, top, width, height } = element.getBoundingClientRect(), style = getComputedStyle(element)
    const x = left - place.left, y = top - place.top
    fillBox(context, style.backgroundColor, x, y, width, height)
    const wide = parseFloat(style.borderTopWidth) || 0
    if (wide) outlineBox(context, style.borderTopColor, wide, x + wide / 2, y + wide / 2, width - wide, height - wide)
  }
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(words))) {
    const { left, top, height } = element.getBoundingClientRect()
    const lines = linesOf(element)
    context.font = fontOf(element)
    for (const { text, x, y } of lines.length ? lines : [{ text: element.textContent ?? "", x: left, y: top + height / 2 }]) {
      write(context, text, x - place.left, y - place.top, getComputedStyle(element).color)
    }
  }
  return context.canvas
}

/** The words of an element, line by line. @param {HTMLElement} element */
function linesOf(element) {
  const node = element.firstChild
  if (!node || node.nodeType !== Node.TEXT_NODE) return []
  const range = document.createRange()
  /** @type {{ text: string, x: number, y: number }[]} */
  const lines = []
  let at = 0
  for (const word of (node.textContent ?? "").split(/(?<=\s)/)) {
    range.setStart(node, at)
    range.setEnd(node, at += word.length)
    const { left, top, height } = range.getBoundingClientRect(), y = top + height / 2, last = lines.at(-1)
    if (last && Math.abs(last.y - y) < height / 2) last.text += word
    else lines.push({ text: word, x: left, y })
  }
  return lines
}
