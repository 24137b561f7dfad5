/* A first map of ticks: where something may be, why not elsewhere, and which cells were painted by hand. */

import { rawAt } from "./maps_layout.js"
import { fillBox, line, outlineBox, surface } from "./pen.js"

const PAINTS = 4 // a code is 4 times the sum of 2 ** i of all that hide a cell, and how it is painted
const SEEN = 1, LEAST = 3 // px of a cell whose paint can be marked

/** @param {MapsTable} scene @param {number} q @param {number} k */
const codeOf = (scene, q, k) => scene.header.why ? rawAt(scene, scene.header.maps.length, q, k) : 0

/** @param {Context} context @param {Skin} skin @param {Box} box */
export function tick(context, skin, { x, y, w, h }) {
  outlineBox(context, skin.rule, 1, x + 0.5, y + 0.5, w - 1, h - 1)
  const size = Math.min(w, h, 30) * 0.5, a = x + w / 2, b = y + h / 2
  if (size < 5) return
  line(context, skin.muted, Math.max(1.2, size / 8),
    [a - size / 2, b + size * 0.05], [a - size * 0.12, b + size * 0.4], [a + size / 2, b - size * 0.4])
}

/** Frame a map of ticks: its cells have no borders, so that without a frame they would look like the page.
 * @param {Context} context @param {Skin} skin @param {Box} box */
export const aroundTicks = (context, skin, { x, y, w, h }) => outlineBox(context, skin.rule, 1, x - 0.5, y - 0.5, w + 1, h + 1)

/** Whether any cell is painted.
 * @param {MapsTable} scene */
export function painted(scene) {
  const { header: { why, maps, rows, columns }, values } = scene
  return !!why && values.subarray(maps.length * rows.names.length * columns.names.length).some(code => code % PAINTS)
}

/** A dark corner on each cell that was painted, in small ones a dot.
 * @param {MapsScene} scene @param {number} i */
export function paintMarks(scene, i) {
  const { context, header, skin, view, layout: { cw, ch, origins } } = scene
  if (!header.why || Math.min(cw, ch) < LEAST) return
  const gap = Math.min(cw, ch) >= 12 ? 2 : 1
  for (let q = view.top; q < view.top + view.rows; q++) for (let k = view.left; k < view.left + view.columns; k++) {
    if (!(codeOf(scene, q, k) % PAINTS)) continue
    const x = origins[i].x + (k - view.left) * cw, y = origins[i].y + (q - view.top) * ch
    if (Math.min(cw, ch) >= 10) corner(context, skin, { x, y, w: cw - gap, h: ch - gap })
    else fillBox(context, skin.ink, x + cw / 4, y + ch / 4, cw / 2, ch / 2)
  }
}

/** @param {Context} context @param {Skin} skin @param {Box} box */
export function corner(context, skin, { x, y, w, h }) {
  const arm = Math.max(5, Math.min(w, h) * 0.36)
  surface(context, skin.ink, [x + w, y], [x + w, y + arm], [x + w - arm, y])
}

/** Whether a cell may attend, and what hides it, in words.
 * @param {MapsTable} scene @param {number} q @param {number} k @param {string} pooled */
export function whyOf(scene, q, k, pooled) {
  const visible = !isNaN(rawAt(scene, 0, q, k)), { why } = scene.header
  if (pooled) return visible ? "some of its pairs may attend" : "none of its pairs may attend"
  const code = codeOf(scene, q, k), paint = code % PAINTS
  const by = (why ?? []).filter((_, i) => code / PAINTS >> i & 1).join(" and ")
  if (!paint) return visible ? "may attend" : by ? `hidden by ${by}` : "hidden"
  return paint === SEEN ? `shown by paint${by && `, else hidden by ${by}`}` : `hidden by paint${by && `, and by ${by}`}`
}

/** Whether the composition shows a cell, whatever is painted over it.
 * @param {MapsTable} scene @param {number} q @param {number} k */
export const composedAt = (scene, q, k) => codeOf(scene, q, k) < PAINTS
/** @param {MapsTable} table @param {number} q @param {number} k @param {boolean} visible @param {string} brush */
export function setCell({ header, values }, q, k, visible, brush) {
  const K = header.columns.names.length, at = q * K + k, code = header.maps.length * header.rows.names.length * K + at
  values[at] = visible ? 1 : NaN
  values[code] = values[code] - values[code] % PAINTS + "ush".indexOf(brush)
}
