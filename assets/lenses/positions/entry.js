/* Where positional schemes enter a model: rows of boxes that a token passes from left to right, as lines of text are
   read, so that they fit any width. Nothing is to be clicked. */

import { save, stretch, watch } from "../../pictures/canvas.js"
import { layOut, paintRow } from "./entry_drawing.js"
import { contextOf, dress } from "../../pictures/paint.js"

/** @param {Picture<EntryHeader>} picture */
export default function ({ header, root }) {
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)

  function draw() {
    const width = root.clientWidth
    if (!width) return // the picture is being removed from the page
    const skin = dress(root, header.skin)
    const { rows, height } = layOut(context, header, width, skin)
    stretch(canvas, width, height, skin.paper)
    for (const row of rows) paintRow(context, row, header, skin)
    root._memory = { header, rows, height }
  }

  canvas.setAttribute("aria-label", header.about)
  root.savePicture = name => save(canvas, name)
  return watch(root, draw)
}
