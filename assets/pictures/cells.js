/* Reading a table of cells through a window: drag, wheel, keys and buttons move and zoom it, and the pointer or arrow keys
   read one cell, memory.at: {q, k} and, of maps beside each other, i. memory.view is what is seen of the cells.

   A picture is Q rows by K columns, `many` if zooming needs buttons, `called` what rows and columns are called, `grid`
   which rows and columns of a larger table its cells stand for, if there is one (maps_window.js); the window,
   memory.window, counts in rows and columns of the table. And:
   paint(room)        draws the window in so much room, and leaves in memory.layout where everything is
   under(event)       the cell there, or null
   box(at)            where a cell is on the canvas
   light(at)          lights it, and returns where its tip points
   read(at)           it in words
   exact(part, how)   what stands below: which part is seen, "" for all, how to zoom, and whether cells are exact
   lock(at)           what a click does, if anything
   brush              what a drag does first, if anything (maps_brush.js). */

import { frame, isTouched, keepLater, placeTip, room, tell, watch } from "./canvas.js"
import { partsOf } from "./elements.js"
import { save } from "./files.js"
import { clamp, grouped } from "./paint.js"

const FEWEST = 4 // rows and columns that a window shows
const FINGER = 36 // px that a tip keeps away from a finger, which hides what is below it
const DOUBLE = 250 // ms within which a second click makes a double one

/** A table whose cells are all there.
 * @param {number} Q @param {number} K */
function complete(Q, K) {
  const all = { left: 0, top: 0, columns: K, rows: Q }
  return { part: all, within: all, down: 1, over: 1, first: 1, height: Q, width: K, keep: true }
}

/** @param {PictureRoot} root @param {any} memory @param {Cells} picture */
export function browse(root, memory, { Q, K, many, called, grid = complete(Q, K), brush, paint, under, box, light, read, exact, lock }) {
  const $ = partsOf(root), canvas = root.querySelector("canvas"), buttons = [...root.querySelectorAll(".zoom button")]
  const { part, within, down, over } = grid, shape = `${grid.height}x${grid.width}`
  const resized = memory.shape !== shape
  if (resized) Object.assign(memory, { shape, spot: null })
  if (resized || !grid.keep) memory.window = part
  memory.view = seenOf(memory.window)
  memory.at = cellOf(memory.spot)
  /** @type {((isDrawnOver: boolean) => void) | null} */
  let bare = null

  /** Which of the cells that are there a window sees: those within it; until others come, all if it reaches beyond.
   * @param {Part} window */
  function seenOf({ left, top, columns, rows }) {
    const beyond = left < part.left || top < part.top || left + columns > part.left + part.columns || top + rows > part.top + part.rows
    if (beyond) return { left: 0, top: 0, columns: K, rows: Q }
    const [x, y] = [(left - part.left) / over, (top - part.top) / down].map(Math.floor)
    return {
      left: x, columns: Math.ceil((left + columns - part.left) / over) - x,
      top: y, rows: Math.ceil((top + rows - part.top) / down) - y,
    }
  }

  /** Where a cell begins in the table, and the cell that holds a place of it.
   * @param {CellAt} at */
  const spotOf = ({ q, k, i }) => ({ i, row: part.top + q * down, column: part.left + k * over })
  /** @param {any} spot */
  function cellOf(spot) {
    if (!spot) return null
    const q = Math.floor((spot.row - part.top) / down), k = Math.floor((spot.column - part.left) / over)
    return q >= 0 && k >= 0 && q < Q && k < K ? { q, k, i: spot.i } : null
  }

  function draw() {
    if (!root.clientWidth) return // the picture is being removed from the page
    paint(room(root, canvas))
    bare = keepLater(canvas)
    foot()
    look(memory.at && inSight(memory.at) ? memory.at : null, true)
  }

  /** Light one cell, or none. `again` says that this follows a drawing, which may have put the lit cell out of sight.
   * @param {CellAt | null} at @param {boolean} [again] */
  function look(at, again) {
    memory.at = at
    if (!again) memory.spot = at && spotOf(at)
    if (!bare) return // not drawn yet
    bare(Boolean(at))
    const tip = $(".tip"), place = at && light(at)
    tip.hidden = !at || memory.quiet
    tell(tip, $(".say").textContent = at ? read(at) : "")
    const apart = memory.touched ? FINGER : 0
    if (place) placeTip(tip, { x: place.x, y: place.y - apart, h: place.h + 2 * apart }, canvas.clientWidth, canvas.offsetTop)
  }
  const hush = () => { memory.quiet = $(".tip").hidden = true }

  const isWhole = () => /** @type {(keyof Part)[]} */ (["left", "top", "columns", "rows"]).every(side => memory.window[side] === within[side])
  function foot() {
    const { left, top, columns, rows } = memory.window, { first } = grid
    $(".zoom").hidden = !many && isWhole()
    for (const button of buttons) button.disabled = button.dataset.by === "1" ? columns <= FEWEST && rows <= FEWEST : isWhole()
    /** @param {number} from @param {number} count @param {number} of @param {string} name */
    const range = (from, count, of, name) => `${name} ${grouped(from + first)}–${grouped(from + count + first - 1)} of ${grouped(of)}`
    const part = isWhole() ? "" : `${range(top, rows, grid.height, called[0])}, ${range(left, columns, grid.width, called[1])}; `
    $(".exact").textContent = exact(part, isTouched ? "+ zooms in" : "drag to zoom")
  }

  /** Move the window. `rests` says that no further move follows at once, as it does while the reader drags.
   * @param {number} left @param {number} top @param {number} columns @param {number} rows
   * @param {boolean} [rests] */
  function show(left, top, columns, rows, rests = true) {
    columns = clamp(Math.round(columns), Math.min(FEWEST, within.columns), within.columns)
    rows = clamp(Math.round(rows), Math.min(FEWEST, within.rows), within.rows)
    memory.window = {
      left: clamp(Math.round(left), within.left, within.left + within.columns - columns), columns,
      top: clamp(Math.round(top), within.top, within.top + within.rows - rows), rows,
    }
    memory.view = seenOf(memory.window)
    if (memory.at && !inSight(memory.at)) memory.at = null
    draw()
    grid.seek?.(memory.window, rests)
  }
  /** @param {CellAt} at */
  function inSight({ q, k }) {
    const { left, top, columns, rows } = memory.view
    return q >= top && q < top + rows && k >= left && k < left + columns
  }

  /** @param {number} by @param {CellAt | null} [at] @param {boolean} [rests] */
  function zoom(by, at = memory.at, rests = true) {
    const { left, top, columns, rows } = memory.window, factor = 2 ** -by
    if (!by) return show(within.left, within.top, within.columns, within.rows)
    const k = at ? part.left + (at.k + 0.5) * over : left + columns / 2, q = at ? part.top + (at.q + 0.5) * down : top + rows / 2
    show(k - (k - left) * factor, q - (q - top) * factor, columns * factor, rows * factor, rests)
  }
  buttons.forEach(button => button.onclick = () => zoom(Number(button.dataset.by)))

  /** @param {MouseEvent} event */
  const cellUnder = event => bare ? under(event) : null
  /** @type {CellAt | null} */
  let from = null // where a drag began
  canvas.onpointerdown = event => {
    if (brush && !bare) draw() // new numbers have just arrived
    memory.touched = event.pointerType !== "mouse"
    memory.quiet = false
    if (!event.button && bare && brush?.begin(under(event))) {
      canvas.setPointerCapture(event.pointerId)
      memory.at = memory.spot = null // a tip would hide what is being painted
      return draw()
    }
    memory.before = memory.at // for a finger it stays until another cell is tapped
    if (memory.touched) return look(cellUnder(event))
    if (event.button) return
    from = cellUnder(event)
    if (from) canvas.setPointerCapture(event.pointerId)
  }
  canvas.onpointermove = event => {
    if (brush?.busy) {
      if (!bare) draw()
      const passed = event.getCoalescedEvents?.() ?? []
      for (const each of passed.length ? passed : [event]) brush.pass(cellUnder(each))
      memory.at = null
      return draw()
    }
    if (event.pointerType !== "mouse") return
    memory.quiet = memory.touched = false
    const at = cellUnder(event)
    brush?.hover(at)
    if (at?.q !== memory.at?.q || at?.k !== memory.at?.k || at?.i !== memory.at?.i || $(".tip").hidden === Boolean(at)) look(at)
    if (from && at && at.i === from.i) frame(canvas, root.style.getPropertyValue("--ink"), box(from), box(at))
  }
  canvas.onpointercancel = event => { // the finger scrolls the page
    brush?.end()
    if (event.pointerType !== "mouse") { look(memory.before); hush() }
  }
  canvas.ontouchstart = brush ? event => { // otherwise the first move of a finger scrolls the page
    if (bare && brush.takes(under(event.touches[0]))) event.preventDefault()
  } : null
  canvas.onpointerup = event => {
    if (brush?.busy) return brush.end()
    const to = cellUnder(event), start = from
    from = null
    if (event.pointerType !== "mouse") { // what was read stays below the picture
      look(to ?? memory.before)
      hush()
      if (to) lock?.(to)
      return
    }
    if (!start || !to || start.i !== to.i) return
    const across = Math.abs(to.k - start.k), along = Math.abs(to.q - start.q)
    if (across + along < 2) return click(to)
    const { row, column } = spotOf({ q: Math.min(start.q, to.q), k: Math.min(start.k, to.k) })
    show(column, row, (across + 1) * over, (along + 1) * down)
  }
  canvas.onpointerleave = event => event.pointerType === "mouse" && look(null)
  /** Lock a cell. Where a double click would show the whole table again, wait first whether a second click follows.
   * @param {CellAt} at */
  function click(at) {
    if (!lock) return
    if (isWhole() || !grid.seek) return lock(at)
    clearTimeout(memory.clicking)
    memory.clicking = setTimeout(() => root.isConnected && lock(at), DOUBLE)
  }
  canvas.ondblclick = event => {
    clearTimeout(memory.clicking)
    zoom(0)
    look(cellUnder(event)) // after the zoom, another cell lies under the pointer
  }

  /** @param {number[]} steps */
  function walk([rows, columns]) {
    const { at, view, window } = memory
    if (!at && !memory.spot) return look({ i: 0, q: view.top, k: view.left })
    const spot = at ? spotOf(at) : memory.spot // without a lit cell: the place that is waiting for its part of the table
    const most = { row: within.top + within.rows - 1, column: within.left + within.columns - 1 }
    const next = {
      ...spot,
      row: clamp(spot.row + rows * down, within.top, most.row),
      column: clamp(spot.column + columns * over, within.left, most.column),
    }
    const there = cellOf(next)
    if (there && inSight(there)) return look(there)
    memory.spot = next
    memory.at = there
    const left = clamp(window.left, next.column - window.columns + over, next.column)
    const top = clamp(window.top, next.row - window.rows + down, next.row)
    show(left, top, window.columns, window.rows, false)
  }
  canvas.onkeydown = event => {
    const { at } = memory, { key } = event
    memory.quiet = memory.touched = false
    const step = /** @type {ByKey<number[]>} */ ({
      ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0],
      Home: [0, -grid.width], End: [0, grid.width],
    })[key]
    if (step) walk(step)
    else if ((key === "Enter" || key === " ") && at && brush?.on) { brush.dab(at); draw() }
    else if ((key === "Enter" || key === " ") && at && lock) lock(at)
    else if (key === "+" || key === "=") zoom(1)
    else if (key === "-") zoom(-1)
    else if (key === "0") zoom(0)
    else if (key === "Escape" && at) look(null)
    else if (key === "Escape" && !isWhole()) zoom(0)
    else return
    event.preventDefault()
    event.stopPropagation() // the page has keys of its own
  }
  canvas.onwheel = event => {
    if (!event.ctrlKey) return // plain, it scrolls the page
    event.preventDefault()
    zoom(event.deltaY < 0 ? 0.5 : -0.5, cellUnder(event), false)
  }

  root.savePicture = (name, words = {}) => { look(null); save(root, name, words, { width: root.clientWidth, draw, sheet: () => canvas }) }
  return watch(root, draw, () => memory.touched && hush())
}
