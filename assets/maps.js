/* Maps that share rows and columns, read together: a hover lights the same cell in all of them, a click locks it.

   payload, behind the header: float32 [map][row][column]; NaN where a value may not be, infinity where there is no cell.
   User text reaches the page through textContent and fillText alone. */

import { lightUp, paintMaps } from "./maps_drawing.js"
import { NUMBERED, arrange, box, inDigits, largestOf, valueAt } from "./maps_layout.js"
import { dress, palette, save, watchMode } from "./paint.js"

export default function ({ header, numbers, root, alone, preview, commit }) {
  const $ = selector => root.querySelector(selector)
  const memory = root._memory ??= { shape: "" } // what outlives an update
  const values = new Float32Array(numbers.buffer, numbers.byteOffset, numbers.byteLength / 4)
  const Q = header.rows.names.length, K = header.columns.names.length
  if (memory.shape !== `${Q}x${K}`)
    Object.assign(memory, { shape: `${Q}x${K}`, view: { left: 0, top: 0, columns: K, rows: Q }, at: null })
  Object.assign(memory, { values, header })
  const canvas = $("canvas"), context = canvas.getContext("2d"), ratio = devicePixelRatio || 1
  const isWhole = () => memory.view.columns === K && memory.view.rows === Q
  const kinds = { masked: false, absent: false }
  for (const value of values) { kinds.masked ||= isNaN(value); kinds.absent ||= value === Infinity }
  const legend = kinds.masked || kinds.absent || header.crosses.length
  let scene, layout, base

  function draw() {
    if (!root.clientWidth) return // on its way out of the page
    const skin = dress(root, header.skin)
    layout = arrange(context, header, legend, memory.view, root.clientWidth, ratio, getComputedStyle(root).fontFamily)
    const tables = header.maps.map(map => palette(map.signed ? skin.signed : skin.weights))
    scene = { context, header, values, kinds, view: memory.view, skin, tables, layout }
    memory.layout = layout
    canvas.style.height = layout.height + "px"
    canvas.width = layout.width * ratio
    canvas.height = layout.height * ratio
    context.scale(ratio, ratio)
    paintMaps(scene)
    base = new OffscreenCanvas(canvas.width, canvas.height)
    base.getContext("2d").drawImage(canvas, 0, 0)
    foot()
    look(memory.at)
  }

  /* Light one cell, {q, k, i}, or none; i is the map that it is read in. */
  function look(at) {
    memory.at = at
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.drawImage(base, 0, 0)
    context.scale(ratio, ratio)
    const tip = $(".tip")
    tip.hidden = !at
    $(".say").textContent = tip.textContent = at ? read(at) : ""
    if (!at) return
    lightUp(scene, at)
    const { x, y, h } = box(scene, at.i ?? 0, at.q, at.k), at0 = canvas.offsetTop, above = at0 + y - tip.offsetHeight - 8
    tip.style.left = Math.min(Math.max(0, x - tip.offsetWidth / 2), layout.width - tip.offsetWidth) + "px"
    tip.style.top = (y > tip.offsetHeight + 8 ? above : at0 + y + h + 10) + "px"
  }

  function read({ q, k }) {
    const crossed = new Set(header.crosses.filter(([, row, column]) => row === q && column === k).map(([i]) => i))
    const said = header.maps.map((map, i) => {
      const value = valueAt(scene, i, q, k)
      const text = value === Infinity ? "no such token" : isNaN(value) ? "masked, 0" : inDigits(value, map, 4)
      return `${map.name}: ${text}${crossed.has(i) ? " ✕ leak: the mask forbids it" : ""}`
    })
    const { rows, columns } = header
    return `${rows.noun} ${header.places[0][q]} “${rows.names[q]}” → ${columns.noun} ${header.places[1][k]} “${columns.names[k]}”\n${said.join("\n")}`
  }

  /* The cell under the pointer; of cells smaller than a pixel, the largest of those drawn there. */
  function under(event) {
    const edges = canvas.getBoundingClientRect(), { cw, ch, origins, block: [down, over] } = layout, { left, top, columns, rows } = memory.view
    for (let i = 0; i < origins.length; i++) {
      const k = Math.floor((event.clientX - edges.left - origins[i].x) / (cw * over)) * over
      const q = Math.floor((event.clientY - edges.top - origins[i].y) / (ch * down)) * down
      if (k >= 0 && q >= 0 && k < columns && q < rows) return { ...largestOf(scene, i, top + q, left + k), i }
    }
    return null
  }

  const clamp = (value, low, high) => Math.max(low, Math.min(high, value))
  function show(left, top, columns, rows) {
    columns = clamp(Math.round(columns), Math.min(4, K), K)
    rows = clamp(Math.round(rows), Math.min(4, Q), Q)
    memory.view = { columns, rows, left: clamp(Math.round(left), 0, K - columns), top: clamp(Math.round(top), 0, Q - rows) }
    const { view, at } = memory
    if (at && (at.q < view.top || at.q >= view.top + rows || at.k < view.left || at.k >= view.left + columns)) memory.at = null
    draw()
  }
  function zoom(by, at = memory.at) {
    const { left, top, columns, rows } = memory.view, factor = 2 ** -by
    if (!by) return show(0, 0, K, Q)
    const k = at ? at.k + 0.5 : left + columns / 2, q = at ? at.q + 0.5 : top + rows / 2
    show(k - (k - left) * factor, q - (q - top) * factor, columns * factor, rows * factor)
  }
  function foot() {
    const { left, top, columns, rows } = memory.view, many = Math.max(Q, K) > NUMBERED * 2
    $(".zoom").hidden = !many
    root.querySelectorAll(".zoom button").forEach(button => {
      button.onclick = () => zoom(+button.dataset.by)
      button.disabled = button.dataset.by === "1" ? columns <= 4 && rows <= 4 : isWhole()
    })
    const [down, over] = layout.block, how = matchMedia("(pointer: coarse)").matches ? "+ zooms in" : "drag to zoom"
    const part = isWhole() ? "" : `rows ${top + 1}–${top + rows} of ${Q}, columns ${left + 1}–${left + columns} of ${K}; `
    const pooled = down > 1 || over > 1
    $(".exact").textContent = many || pooled ? part + (pooled ? `pooled: the largest of ${down} × ${over} cells; ${how}` : `exact, ${how}`) : ""
  }

  function lock(at) {
    if (!at || !header.asks) return
    commit({ [header.asks[0]]: header.places[0][at.q], [header.asks[1]]: header.places[1][at.k] })
  }

  let from = null // where a drag began
  canvas.onpointerdown = event => {
    if (event.pointerType !== "mouse" || event.button) return
    from = under(event)
    if (from) canvas.setPointerCapture(event.pointerId)
  }
  canvas.onpointermove = event => {
    if (event.pointerType !== "mouse") return
    const at = under(event)
    if (at?.q !== memory.at?.q || at?.k !== memory.at?.k || at?.i !== memory.at?.i) look(at)
    if (from && at && at.i === from.i) frame(from, at)
  }
  function frame(a, b) {
    const [one, other] = [a, b].map(({ i, q, k }) => box(scene, i, q, k)), w = layout.cw, h = layout.ch
    context.strokeStyle = scene.skin.ink
    context.setLineDash([5, 4])
    context.strokeRect(Math.min(one.x, other.x), Math.min(one.y, other.y), Math.abs(one.x - other.x) + w, Math.abs(one.y - other.y) + h)
    context.setLineDash([])
  }
  canvas.onpointerup = event => {
    const to = under(event), start = from
    from = null
    if (event.pointerType !== "mouse") { look(to); return lock(to) }
    if (!start || !to || start.i !== to.i) return
    if (Math.abs(to.k - start.k) + Math.abs(to.q - start.q) < 2) return lock(to)
    show(Math.min(start.k, to.k), Math.min(start.q, to.q), Math.abs(to.k - start.k) + 1, Math.abs(to.q - start.q) + 1)
  }
  canvas.onpointerleave = event => event.pointerType === "mouse" && look(null)
  canvas.onkeydown = event => {
    const at = memory.at, { key } = event
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -K], End: [0, K] }[key]
    if (step) {
      const next = at ? { i: at.i, q: clamp(at.q + step[0], 0, Q - 1), k: clamp(at.k + step[1], 0, K - 1) } : { i: 0, q: memory.view.top, k: memory.view.left }
      const { left, top, columns, rows } = memory.view
      memory.at = next
      if (next.k < left || next.k >= left + columns || next.q < top || next.q >= top + rows)
        show(clamp(left, next.k - columns + 1, next.k), clamp(top, next.q - rows + 1, next.q), columns, rows)
      else look(next)
    } else if ((key === "Enter" || key === " ") && at) lock(at)
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
    zoom(event.deltaY < 0 ? 0.5 : -0.5, under(event))
  }
  canvas.setAttribute("aria-label", `${header.about} Arrow keys read the cells${header.asks ? ", Enter locks one" : ""}.`)

  /* A weight that is dragged: the picture follows at once, the page when it is let go. */
  function edit() {
    const { slider } = header, label = $(".edit"), input = $("input"), output = $("output")
    label.hidden = !slider || alone // a page of its own has no server to ask
    if (!slider) return
    $(".edit span").textContent = slider.label
    const value = () => ({ [slider.parameter]: `${slider.before}${+input.value}${slider.after}` })
    if (!memory.dragging) input.value = slider.value
    output.textContent = (+input.value).toFixed(2)
    input.oninput = () => {
      memory.dragging = true
      output.textContent = (+input.value).toFixed(2)
      preview(value())
    }
    input.onchange = () => { memory.dragging = false; commit(value()) }
    input.onkeydown = event => event.stopPropagation()
  }
  edit()

  root.savePicture = name => { look(null); save(canvas, name) }
  memory.watch?.disconnect()
  memory.watch = new ResizeObserver(draw) // it also draws now, before the next paint
  memory.watch.observe(root)
  const unwatch = watchMode(draw)
  return () => { memory.watch.disconnect(); unwatch() }
}
