/* Cells of a first map of ticks that are painted by hand: a drag over cells hides them all if the first one was visible,
   and shows them all if it was hidden. The map is drawn again at once, the others follow; when the hand lets go, the page and its link.

   memory.stroke outlives updates: what was painted since the numbers were asked for, as cells "row.column" -> [shown, brush];
   the brush is s, h, or u where a cell comes back to what is composed. */

import { rawAt } from "./maps_layout.js"
import { composedAt, setCell } from "./maps_ticks.js"

/** @param {MapsTable & Omit<Picture<MapsHeader>, "numbers" | "local" | "settling" | "retract" | "setTriggerValue"> & { memory: any }} header */
export function brushOf({ header, values, memory, root, alone, late, preview, commit }) {
  const { painting, part } = header, row = root.querySelector(".brush"), canvas = root.querySelector("canvas")
  row.hidden = !painting || Boolean(alone) // a page of its own has no server to ask
  if (!painting || alone) return null
  const stroke = memory.stroke ??= { on: !matchMedia("(pointer: coarse)").matches, cells: new Map(), busy: false }
  const scene = { header, values }, top = part?.top ?? 0, left = part?.left ?? 0
  const Q = header.rows.names.length, K = header.columns.names.length
  if (!late) {
    stroke.base = painting.text // with all that was painted so far
    stroke.cells.clear()
  }
  for (const [name, [shown, brush]] of stroke.cells) {
    const [q, k] = name.split(".").map(Number)
    if (q > top && k > left && q <= top + Q && k <= left + K) setCell(scene, q - 1 - top, k - 1 - left, shown, brush)
  }

  function written() {
    /** @type {Record<string, string[]>} */
    const strokes = { u: [], s: [], h: [] }
    for (const [name, [, brush]] of stroke.cells) strokes[brush].push(name)
    const texts = Object.entries(strokes).map(([brush, cells]) => cells.length ? `~${brush}${cells.join("_")}` : "")
    return stroke.base + texts.join("")
  }
  const wish = () => ({ [painting.parameter]: written() })

  /** @param {number} q @param {number} k */
  function paint(q, k) {
    if (!isNaN(rawAt(scene, 0, q, k)) === stroke.shown) return false
    const brush = stroke.shown === composedAt(scene, q, k) ? "u" : stroke.shown ? "s" : "h"
    setCell(scene, q, k, stroke.shown, brush)
    stroke.cells.set(`${top + q + 1}.${left + k + 1}`, [stroke.shown, brush])
    return true
  }
  /** @param {CellAt} at */
  function start({ q, k }) {
    stroke.shown = isNaN(rawAt(scene, 0, q, k))
    stroke.last = { q, k }
    paint(q, k)
    preview(wish(), true)
  }

  const button = row.querySelector("button")
  function say() {
    button.ariaPressed = stroke.on
    const coarse = matchMedia("(pointer: coarse)").matches
    const off = coarse ? "off: a tap reads a cell" : "off: dragging zooms"
    row.querySelector("span").textContent = stroke.on ? "drag over the mask’s cells to hide or show them" : off
  }
  button.onclick = () => { stroke.on = !stroke.on; say() }
  button.onkeydown = event => event.stopPropagation() // the page has keys of its own
  say()

  return {
    get on() { return stroke.on },
    get busy() { return stroke.busy },
    /** @param {CellAt | null} at */
    takes: at => stroke.on && at?.i === 0,
    /** @param {CellAt | null} at */
    begin(at) {
      if (!at || !this.takes(at)) return false
      stroke.busy = true
      start(at)
      return true
    },
    /** Paint the cells between this one and the last, too: a fast hand skips some.
     * @param {CellAt | null} at */
    pass(at) {
      if (!at || at.i !== 0) return
      const { q, k } = stroke.last ?? at, steps = Math.max(Math.abs(at.q - q), Math.abs(at.k - k), 1)
      let changed = false
      for (let step = 1; step <= steps; step++)
        changed = paint(Math.round(q + (at.q - q) * step / steps), Math.round(k + (at.k - k) * step / steps)) || changed
      stroke.last = { q: at.q, k: at.k }
      if (changed) preview(wish(), true)
    },
    end() {
      if (!stroke.busy) return
      stroke.busy = false
      commit(wish(), true)
    },
    /** @param {CellAt} at */
    dab(at) {
      start(at)
      commit(wish(), true)
    },
    /** @param {CellAt | null} at */
    hover: at => { canvas.style.cursor = stroke.on && at?.i === 0 ? "crosshair" : "" },
  }
}
