/* Reading a table of cells through a window, memory.view: drag, wheel, keys and buttons move and zoom it, and the pointer
   or arrow keys read one cell, memory.at: {q, k} and, of maps beside each other, i.

   A picture is Q rows by K columns, `many` if zooming needs buttons, `called` what rows and columns are called, and:
   paint()            draws the window, and leaves in memory.layout where everything is
   under(event)       the cell there, or null
   box(at)            where a cell is on the canvas
   light(at)          lights it, and returns where its tip points
   read(at)           it in words
   exact(part, how)   what stands below: which part is seen, "" for all, how to zoom, and whether cells are exact
   lock(at)           what a click does, if anything. */

import { keep, placeTip, save, watch } from "./canvas.js"
import { clamp } from "./paint.js"

const FEWEST = 4 // rows and columns that a window shows

export function browse(root, memory, { Q, K, many, called, paint, under, box, light, read, exact, lock }) {
  const $ = selector => root.querySelector(selector), canvas = $("canvas"), buttons = [...root.querySelectorAll(".zoom button")]
  if (memory.shape !== `${Q}x${K}`)
    Object.assign(memory, { shape: `${Q}x${K}`, view: { left: 0, top: 0, columns: K, rows: Q }, at: null })
  let bare = null

  function draw() {
    if (!root.clientWidth) return // on its way out of the page
    paint()
    bare = keep(canvas)
    foot()
    look(memory.at)
  }

  /* Light one cell, or none. */
  function look(at) {
    memory.at = at
    if (!bare) return // not drawn yet
    bare()
    const tip = $(".tip")
    tip.hidden = !at
    $(".say").textContent = tip.textContent = at ? read(at) : ""
    if (at) placeTip(tip, light(at), canvas.clientWidth, canvas.offsetTop)
  }

  const isWhole = () => memory.view.columns === K && memory.view.rows === Q
  function foot() {
    const { left, top, columns, rows } = memory.view
    $(".zoom").hidden = !many
    for (const button of buttons) button.disabled = button.dataset.by === "1" ? columns <= FEWEST && rows <= FEWEST : isWhole()
    const part = isWhole() ? "" : `${called[0]} ${top + 1}–${top + rows} of ${Q}, ${called[1]} ${left + 1}–${left + columns} of ${K}; `
    $(".exact").textContent = exact(part, matchMedia("(pointer: coarse)").matches ? "+ zooms in" : "drag to zoom")
  }

  function show(left, top, columns, rows) {
    columns = clamp(Math.round(columns), Math.min(FEWEST, K), K)
    rows = clamp(Math.round(rows), Math.min(FEWEST, Q), Q)
    memory.view = { columns, rows, left: clamp(Math.round(left), 0, K - columns), top: clamp(Math.round(top), 0, Q - rows) }
    if (memory.at && !inSight(memory.at)) memory.at = null
    draw()
  }
  function inSight({ q, k }) {
    const { left, top, columns, rows } = memory.view
    return q >= top && q < top + rows && k >= left && k < left + columns
  }

  function zoom(by, at = memory.at) {
    const { left, top, columns, rows } = memory.view, factor = 2 ** -by
    if (!by) return show(0, 0, K, Q)
    const k = at ? at.k + 0.5 : left + columns / 2, q = at ? at.q + 0.5 : top + rows / 2
    show(k - (k - left) * factor, q - (q - top) * factor, columns * factor, rows * factor)
  }
  buttons.forEach(button => button.onclick = () => zoom(+button.dataset.by))

  const seen = event => bare && under(event)
  let from = null // where a drag began
  canvas.onpointerdown = event => {
    if (event.pointerType !== "mouse" || event.button) return
    from = seen(event)
    if (from) canvas.setPointerCapture(event.pointerId)
  }
  canvas.onpointermove = event => {
    if (event.pointerType !== "mouse") return
    const at = seen(event)
    if (at?.q !== memory.at?.q || at?.k !== memory.at?.k || at?.i !== memory.at?.i) look(at)
    if (from && at && at.i === from.i) frame(box(from), box(at))
  }
  function frame(one, other) {
    const context = canvas.getContext("2d"), x = Math.min(one.x, other.x), y = Math.min(one.y, other.y)
    context.strokeStyle = root.style.getPropertyValue("--ink")
    context.setLineDash([5, 4])
    context.strokeRect(x, y, Math.abs(one.x - other.x) + one.w, Math.abs(one.y - other.y) + one.h)
    context.setLineDash([])
  }
  canvas.onpointerup = event => {
    const to = seen(event), start = from
    from = null
    if (event.pointerType !== "mouse") {
      look(to)
      if (to) lock?.(to)
      return
    }
    if (!start || !to || start.i !== to.i) return
    const across = Math.abs(to.k - start.k), down = Math.abs(to.q - start.q)
    if (across + down < 2) lock?.(to)
    else show(Math.min(start.k, to.k), Math.min(start.q, to.q), across + 1, down + 1)
  }
  canvas.onpointerleave = event => event.pointerType === "mouse" && look(null)
  canvas.ondblclick = event => {
    zoom(0)
    look(seen(event)) // another cell than before
  }

  function walk([down, across]) {
    const { at, view: { left, top, columns, rows } } = memory
    const next = at ? { ...at, q: clamp(at.q + down, 0, Q - 1), k: clamp(at.k + across, 0, K - 1) } : { i: 0, q: top, k: left }
    if (inSight(next)) return look(next)
    memory.at = next
    show(clamp(left, next.k - columns + 1, next.k), clamp(top, next.q - rows + 1, next.q), columns, rows)
  }
  canvas.onkeydown = event => {
    const { at } = memory, { key } = event
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -K], End: [0, K] }[key]
    if (step) walk(step)
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
    zoom(event.deltaY < 0 ? 0.5 : -0.5, seen(event))
  }

  root.savePicture = name => { look(null); save(canvas, name) }
  return watch(root, draw)
}
