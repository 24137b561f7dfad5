/* The machine: each stack as a column of boxes from the tokens at the bottom to its end at the top, beside each box what
   flows out of it, its parameters and what it costs. The canvas is what one sees; over each box lies a real button, which
   brings click, focus, touch and screen readers. */

import { room, stretch, watch } from "../../pictures/canvas.js"
import { save } from "../../pictures/files.js"
import { contextOf, dress } from "../../pictures/paint.js"
import { layOut, paint } from "./diagram_drawing.js"

/** @param {Picture<DiagramHeader>} picture */
export default function ({ header, root, alone, commit }) {
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)
  const shelf = /** @type {HTMLElement} */ (root.querySelector(".boxes"))

  function draw() {
    const width = root.clientWidth
    if (!width) return // the picture is being removed from the page
    const skin = dress(root)
    const picture = layOut(context, header, width, skin, room(root, canvas))
    stretch(canvas, width, picture.height, skin.paper)
    paint(context, picture, skin)
    place(picture.sides.flatMap(side => side.boxes.map(box => ({ ...box, stack: side.title }))))
    root._memory = picture
  }

  /** Buttons are kept from one drawing to the next: the focus stays where it is.
   * @param {(DiagramBox & { stack: string })[]} boxes */
  function place(boxes) {
    const acts = alone ? [] : boxes.filter(({ sets }) => Object.keys(sets).length)
    while (shelf.children.length > acts.length) shelf.lastElementChild?.remove()
    while (shelf.children.length < acts.length) shelf.append(document.createElement("button"))
    acts.forEach(({ x, y, w, h, sets, text, stack, picked, kind, cells }, i) => {
      const button = /** @type {HTMLButtonElement} */ (shelf.children[i])
      const told = cells.map(([long]) => long).filter(Boolean).join("; ")
      Object.assign(button.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px` })
      button.setAttribute("aria-label", `${stack}: ${text}${told ? `. ${told}` : ""}`)
      const isBlock = kind !== "fold" && kind !== "layer", opens = "model_view" in sets
      // The block that was opened last is the current one; of a shape that is only counted, a click chooses a block.
      for (const [state, isThis] of /** @type {const} */ ([["aria-current", opens], ["aria-pressed", !opens]])) {
        if (isBlock && isThis) button.setAttribute(state, String(picked))
        else button.removeAttribute(state)
      }
      button.onclick = () => commit(sets)
    })
  }

  canvas.setAttribute("aria-label", header.about)
  root.savePicture = (name, words = {}) => save(root, name, words, { width: root.clientWidth, draw, sheet: () => canvas })
  return watch(root, draw)
}
