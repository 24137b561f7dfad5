/* One head, large: a cell per query and key, their names, exact values, zoom.

   payload, behind the header: float32 [query][key], the weights; -1 where masked.
   All of it happens in the browser. User text reaches the page through textContent and fillText alone. */

import { stretch } from "../../pictures/canvas.js"
import { browse } from "../../pictures/cells.js"
import { MASKED, PRINTED, layOut, lightUp, paintMap } from "./head_map_drawing.js"
import { contextOf, decimals, dress, floats, palette } from "../../pictures/paint.js"

/** @param {Picture<HeadMapHeader>} picture */
export default function ({ header, numbers, root }) {
  const memory = root._memory ??= {} // what outlives an update
  const weights = floats(numbers)
  const { queries, keys } = header, Q = queries.length, K = keys.length
  Object.assign(memory, { weights, header })
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)
  /** @param {CellAt} at */
  const weight = ({ q, k }) => weights[q * K + k]
  const many = Math.max(Q, K) > PRINTED
  /** @type {HeadMapScene} */
  let scene
  /** @type {HeadMapScene["layout"]} */
  let layout

  /** @param {Room} room */
  function paint(room) {
    const skin = dress(root)
    layout = memory.layout = layOut(context, header, memory.view, root.clientWidth, skin, room)
    scene = { context, header, weights, view: memory.view, skin, table: palette(skin.weights), layout }
    stretch(canvas, layout.width, layout.height, skin.paper)
    paintMap(scene)
    root.classList.toggle("low", !many && !layout.phone) // then there is room beside the colour bar
  }

  /** @param {CellAt} at */
  const read = ({ q, k }) => `query ${q + 1} “${queries[q]}” → key ${k + 1} “${keys[k]}”\n` + (weight({ q, k }) === MASKED
    ? "masked: may not attend, weight 0" : `weight ${decimals(weight({ q, k }), 4)} = ${header.formula}`)

  /** The cell under the pointer; of cells smaller than a pixel, the largest weight of those drawn there.
   * @param {MouseEvent} event */
  function under(event) {
    const edges = canvas.getBoundingClientRect(), { x, y, cell, wide, block } = layout, { left, top, columns, rows } = memory.view
    const c = Math.floor((event.clientX - edges.left - x) / (wide * block)) * block
    const r = Math.floor((event.clientY - edges.top - y) / (cell * block)) * block
    if (c < 0 || r < 0 || c >= columns || r >= rows) return null
    let best = { q: top + r, k: left + c }
    for (let q = best.q; q < Math.min(best.q + block, top + rows, Q); q++)
      for (let k = left + c; k < Math.min(left + c + block, left + columns, K); k++)
        if (weight({ q, k }) > weight(best)) best = { q, k }
    return best
  }

  /** @param {CellAt} at */
  function box({ q, k }) {
    const { x, y, cell, wide } = layout, { left, top } = memory.view
    return { x: x + (k - left) * wide, y: y + (q - top) * cell, w: wide, h: cell }
  }

  /** @param {string} part @param {string} how */
  const exact = (part, how) => part + (layout.block > 1 ? `pooled: the largest of ${layout.block} × ${layout.block} cells; ${how}`
    : many && !part ? `one cell per number, ${how}` : many || part ? "one cell per number" : "") // few cells have their numbers

  canvas.setAttribute("aria-label", `${header.about} Arrow keys read the cells, + and − zoom.`)
  const called = ["queries", "keys"],
    light = (/** @type {CellAt} */ at) => lightUp(scene, at)
  return browse(root, memory, { Q, K, many, called, paint, under, box, light, read, exact })
}
