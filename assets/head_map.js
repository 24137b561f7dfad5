/* One head, large: a cell per query and key, their names, exact values, zoom.

   payload, behind the header: float32 [query][key], the weights; -1 where masked.
   All of it happens in the browser. User text reaches the page through textContent and fillText alone. */

import { MASKED, PRINTED, light, measure, paint, written } from "./head_map_drawing.js"
import { dress, palette, save, watchMode } from "./paint.js"

export default function ({ header, numbers, root }) {
  const $ = selector => root.querySelector(selector)
  const memory = root._memory ??= { shape: "" } // what outlives an update
  const weights = new Float32Array(numbers.buffer, numbers.byteOffset, numbers.byteLength / 4)
  const { queries, keys } = header, Q = queries.length, K = keys.length
  if (memory.shape !== `${Q}x${K}`)
    Object.assign(memory, { shape: `${Q}x${K}`, view: { left: 0, top: 0, columns: K, rows: Q }, at: null })
  Object.assign(memory, { weights, header })
  const canvas = $("canvas"), context = canvas.getContext("2d"), ratio = devicePixelRatio || 1
  const weight = ({ q, k }) => weights[q * K + k]
  const isWhole = () => memory.view.columns === K && memory.view.rows === Q
  let scene, layout, base

  function draw() {
    if (!root.clientWidth) return // on its way out of the page
    const skin = dress(root, header.skin)
    layout = measure(context, header, memory.view, root.clientWidth, ratio, getComputedStyle(root).fontFamily)
    scene = { context, header, weights, view: memory.view, skin, table: palette(skin.weights), layout }
    memory.layout = layout
    canvas.style.height = layout.height + "px"
    canvas.width = layout.width * ratio
    canvas.height = layout.height * ratio
    context.scale(ratio, ratio)
    paint(scene)
    base = new OffscreenCanvas(canvas.width, canvas.height)
    base.getContext("2d").drawImage(canvas, 0, 0)
    foot()
    look(memory.at)
  }

  /* Light one cell, {q, k}, or none. */
  function look(at) {
    memory.at = at
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.drawImage(base, 0, 0)
    context.scale(ratio, ratio)
    const tip = $(".tip")
    tip.hidden = !at
    $(".say").textContent = tip.textContent = at ? read(at) : ""
    if (!at) return
    const { left, top, side } = light(scene, at), above = top - tip.offsetHeight - 8
    tip.style.left = Math.min(Math.max(0, left - tip.offsetWidth / 2), layout.width - tip.offsetWidth) + "px"
    tip.style.top = (above > 0 ? above : top + side + 10) + "px"
  }

  const read = ({ q, k }) => `query ${q + 1} “${queries[q]}” → key ${k + 1} “${keys[k]}”\n` + (weight({ q, k }) === MASKED
    ? "masked: may not attend, weight 0" : `weight ${written(weight({ q, k }), 4)} = ${header.formula}`)

  /* The cell under the pointer; of cells smaller than a pixel, the largest weight of those drawn there. */
  function under(event) {
    const box = canvas.getBoundingClientRect(), { x, y, cell, block } = layout, { left, top: first, columns, rows } = memory.view
    const c = Math.floor((event.clientX - box.left - x) / (cell * block)) * block, r = Math.floor((event.clientY - box.top - y) / (cell * block)) * block
    if (c < 0 || r < 0 || c >= columns || r >= rows) return null
    let best = { q: first + r, k: left + c }
    for (let q = best.q; q < Math.min(best.q + block, first + rows, Q); q++)
      for (let k = left + c; k < Math.min(left + c + block, left + columns, K); k++)
        if (weight({ q, k }) > weight(best)) best = { q, k }
    return best
  }

  const clamp = (value, low, high) => Math.max(low, Math.min(high, value))
  function show(left, top, columns, rows) {
    columns = clamp(Math.round(columns), Math.min(4, K), K)
    rows = clamp(Math.round(rows), Math.min(4, Q), Q)
    memory.view = { columns, rows, left: clamp(Math.round(left), 0, K - columns), top: clamp(Math.round(top), 0, Q - rows) }
    draw()
  }
  function zoom(by, at = memory.at) {
    const { left, top, columns, rows } = memory.view, factor = 2 ** -by
    if (!by) { memory.at = null; return show(0, 0, K, Q) }
    const k = at ? at.k + 0.5 : left + columns / 2, q = at ? at.q + 0.5 : top + rows / 2
    show(k - (k - left) * factor, q - (q - top) * factor, columns * factor, rows * factor)
  }
  function foot() {
    const { left, top, columns, rows } = memory.view, many = Math.max(Q, K) > PRINTED
    $(".zoom").hidden = !many
    root.classList.toggle("low", !many && !layout.phone) // then there is room beside the colour bar
    root.querySelectorAll(".zoom button").forEach(button => {
      button.onclick = () => zoom(+button.dataset.by)
      button.disabled = button.dataset.by === "1" ? columns <= 4 && rows <= 4 : isWhole()
    })
    const part = isWhole() ? "" : `queries ${top + 1}–${top + rows} of ${Q}, keys ${left + 1}–${left + columns} of ${K}; `
    const { block } = layout
    const how = matchMedia("(pointer: coarse)").matches ? "+ zooms in" : "drag to zoom"
    $(".exact").textContent = part + (block > 1 ? `pooled: the largest of ${block} × ${block} cells; ${how}` : "exact") +
      (block === 1 && many && isWhole() ? `, ${how}` : "")
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
    if (at?.q !== memory.at?.q || at?.k !== memory.at?.k) look(at)
    if (from && at) frame(from, at)
  }
  function frame(a, b) {
    const { x, y, cell } = layout, { left, top: first } = memory.view
    context.strokeStyle = scene.skin.ink
    context.setLineDash([5, 4])
    context.strokeRect(x + (Math.min(a.k, b.k) - left) * cell, y + (Math.min(a.q, b.q) - first) * cell,
      (Math.abs(a.k - b.k) + 1) * cell, (Math.abs(a.q - b.q) + 1) * cell)
    context.setLineDash([])
  }
  canvas.onpointerup = event => {
    const to = under(event), start = from
    from = null
    if (event.pointerType !== "mouse") return look(to)
    if (!start || !to || Math.abs(to.k - start.k) + Math.abs(to.q - start.q) < 2) return
    show(Math.min(start.k, to.k), Math.min(start.q, to.q), Math.abs(to.k - start.k) + 1, Math.abs(to.q - start.q) + 1)
  }
  canvas.onpointerleave = event => event.pointerType === "mouse" && look(null)
  canvas.ondblclick = () => zoom(0)
  canvas.onkeydown = event => {
    const at = memory.at, { key } = event
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -K], End: [0, K] }[key]
    if (step) {
      const next = at ? { q: clamp(at.q + step[0], 0, Q - 1), k: clamp(at.k + step[1], 0, K - 1) } : { q: memory.view.top, k: memory.view.left }
      const { left, top, columns, rows } = memory.view
      memory.at = next
      if (next.k < left || next.k >= left + columns || next.q < top || next.q >= top + rows)
        show(clamp(left, next.k - columns + 1, next.k), clamp(top, next.q - rows + 1, next.q), columns, rows)
      else look(next)
    } else if (key === "+" || key === "=") zoom(1)
    else if (key === "-") zoom(-1)
    else if (key === "0") zoom(0)
    else if (key === "Escape" && memory.at) look(null)
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
  canvas.setAttribute("aria-label", `${header.about} Arrow keys read the cells, + and − zoom.`)

  root.savePicture = name => { look(null); save(canvas, name) }
  memory.watch?.disconnect()
  memory.watch = new ResizeObserver(draw) // it also draws now, before the next paint
  memory.watch.observe(root)
  const unwatch = watchMode(draw)
  return () => { memory.watch.disconnect(); unwatch() }
}
