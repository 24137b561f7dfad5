/* Where positional schemes enter a model: rows of boxes that a token passes from left to right, as lines of text are
   read, so that they fit any width. Nothing is to be clicked. */

import { room, stretch, watch } from "../../pictures/canvas.js"
import { save } from "../../pictures/files.js"
import { fitted, paintRow } from "./entry_drawing.js"
import { contextOf, dress } from "../../pictures/paint.js"

/** @param {Picture<EntryHeader>} picture */
export default function ({ header, root }) {
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)

  function draw() {
    const width = root.clientWidth
    if (!width) return // the picture is being removed from the page
    const skin = dress(root)
    const { rows, height, rem } = fitted(context, header, width, skin, room(root, canvas))
    stretch(canvas, width, height, skin.paper)
    for (const row of rows) paintRow(context, row, header, { ...skin, rem })
    root._memory = { header, rows, height }
  }

  canvas.setAttribute("aria-label", header.about)
  root.savePicture = (name, words = {}) => save(root, name, words, { width: root.clientWidth, draw, sheet: () => canvas })
  return watch(root, draw)
}
