/* Maps that are a part of a larger table, pooled by the server (tfm_ui/live/windows.py): a move of the window asks for another
   part. What is there is shown enlarged until it comes. */

import { grouped } from "./paint.js"

const REST = 300 // ms after the last turn of the wheel or key press until the page is told

/** The `grid` that cells.js reads a part of a table with: which of its rows and columns each cell stands for. Undefined if the
 * cells are the whole table. A move asks for another part in all pictures of the page, as those with the same rows or columns
 * are linked.
 * @param {MapsHeader} header @param {any} memory
 * @param {Pick<Picture, "alone" | "late" | "preview" | "commit" | "retract">} picture @param {PictureRoot} root */
export function gridOf({ part }, memory, { alone, late, preview, commit, retract }, root) {
  if (!part) return
  const { top, left, rows, columns, height, width, block: [down, over], parameter, first } = part
  const here = { top, left, rows, columns }, reachable = parameter && !alone // otherwise there is no server to ask
  const grid = { part: here, down, over, first, height, width, keep: late || !reachable }
  if (!reachable) return { ...grid, within: here }
  /** @param {Part} window */
  const written = window => inLink(window, height, width)
  if (!late) memory.asked = written(here)

  /** @param {Part} window @param {boolean} rests */
  function seek(window, rests) {
    const value = written(window)
    memory.before ??= memory.asked // where the wheel began to turn
    const moved = value !== memory.asked
    memory.asked = value
    clearTimeout(memory.resting)
    if (rests) return rest()
    if (moved) preview({ [parameter]: value }, true)
    memory.resting = setTimeout(() => root.isConnected && rest(), REST)
  }
  function rest() {
    const { before } = memory
    memory.before = null
    if (memory.asked === before) retract(true)
    else commit({ [parameter]: memory.asked }, true)
  }
  return { ...grid, within: { top: 0, left: 0, rows: height, columns: width }, seek }
}

/** "top,left,rows,columns", where 0 rows or columns are all of them, of however many there will be.
 * @param {Part} window @param {number} height @param {number} width */
const inLink = ({ top, left, rows, columns }, height, width) => [top, left, rows < height ? rows : 0, columns < width ? columns : 0].join()

/** Which rows or columns of the table a cell stands for, "16–31".
 * @param {number} first @param {number} count @param {number} block @param {number} at */
export function range(first, count, block, at) {
  const from = first + at * block, to = Math.min(from + block, first + count) - 1
  return from === to ? grouped(from) : `${grouped(from)}–${grouped(to)}`
}
